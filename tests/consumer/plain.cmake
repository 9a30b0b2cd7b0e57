# SPDX-FileCopyrightText: 2026 The tieropt authors
# SPDX-License-Identifier: Apache-2.0

# cmake -DCOMPILER= -DFLAGS='a|b' -DSOURCE= -DINCLUDE= -DPROGRAM= -P plain.cmake
# One compiler command, as in the README, and the program runs.

cmake_minimum_required(VERSION 3.22)
string(REPLACE "|" ";" FLAGS "${FLAGS}")

file(GLOB_RECURSE inputs "${INCLUDE}/*")
set(fresh OFF)
if(EXISTS "${PROGRAM}")
  set(fresh ON)
  foreach(input IN LISTS inputs ITEMS "${SOURCE}")
    if("${input}" IS_NEWER_THAN "${PROGRAM}")
      set(fresh OFF)
    endif()
  endforeach()
endif()
if(NOT fresh)
  execute_process(COMMAND ${COMPILER} ${FLAGS} "${SOURCE}" -o "${PROGRAM}" COMMAND_ECHO STDOUT
                  RESULT_VARIABLE code)
  if(NOT code EQUAL 0)
    message(FATAL_ERROR "it does not compile")
  endif()
endif()
execute_process(COMMAND "${PROGRAM}" RESULT_VARIABLE code)
if(NOT code EQUAL 0)
  message(FATAL_ERROR "the program fails: ${code}")
endif()
