# SPDX-FileCopyrightText: 2026 The tieropt authors
# SPDX-License-Identifier: Apache-2.0

# cmake -DBUILD= -DPREFIX= -P install.cmake: a fresh install of BUILD into PREFIX, free of its paths.

cmake_minimum_required(VERSION 3.22)

file(REMOVE_RECURSE "${PREFIX}")
execute_process(COMMAND ${CMAKE_COMMAND} --install "${BUILD}" --prefix "${PREFIX}"
                RESULT_VARIABLE code OUTPUT_VARIABLE output ERROR_VARIABLE output)
if(NOT code EQUAL 0)
  message(FATAL_ERROR "install failed:\n${output}")
endif()
file(GLOB_RECURSE files "${PREFIX}/share/*.cmake")
foreach(file IN LISTS files)
  file(READ "${file}" text)
  foreach(path "${BUILD}" "${PREFIX}")
    string(FIND "${text}" "${path}" position)
    if(NOT position EQUAL -1)
      message(FATAL_ERROR "${file} names ${path}: the package cannot be moved")
    endif()
  endforeach()
endforeach()
