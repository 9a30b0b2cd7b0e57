# SPDX-FileCopyrightText: 2026 The tieropt authors
# SPDX-License-Identifier: Apache-2.0

# cmake -DNM= -DOBJECTS='a|b' -P symbols.cmake: the objects export nothing of the library, so that two of
# them in one process cannot take each other's functions, built with other flags. What the standard
# libraries make of the library's plain types is no function of it.

cmake_minimum_required(VERSION 3.22)
string(REPLACE "|" ";" OBJECTS "${OBJECTS}")

foreach(object IN LISTS OBJECTS)
  execute_process(COMMAND ${NM} -DC --defined-only "${object}" RESULT_VARIABLE code OUTPUT_VARIABLE symbols)
  if(NOT code EQUAL 0 OR NOT symbols MATCHES "T run_steps")
    message(FATAL_ERROR "${object} exports no run_steps:\n${symbols}")
  endif()
  string(REGEX REPLACE "[^\n]* [A-Za-z] (cuda::)?std::[^\n]*\n" "" symbols "${symbols}")
  string(REGEX MATCHALL "[^\n]*tieropt::[^\n]*" found "${symbols}")
  if(found)
    string(REPLACE ";" "\n" found "${found}")
    message("${object} exports symbols of the library:\n${found}")
    message(FATAL_ERROR "the library's functions must be hidden, see above")
  endif()
endforeach()
