# SPDX-FileCopyrightText: 2026 The tieropt authors
# SPDX-License-Identifier: Apache-2.0

# cmake -DINCLUDE=include -DCASES=tests/compile_fail -P tags.cmake
# Every tagged sentence of the library has a compile-fail case, and every case a sentence.

cmake_minimum_required(VERSION 3.22)

# tags_of(OUT PREFIX FILE...): the tags in the files, without brackets, which CMake's lists mistake.
function(tags_of out prefix)
  set(tags "")
  foreach(file IN LISTS ARGN)
    file(READ "${file}" text)
    string(REPLACE "[" "<" text "${text}")
    string(REPLACE "]" ">" text "${text}")
    string(REGEX MATCHALL "${prefix}<tieropt(-[a-z0-9]+)+>" found "${text}")
    list(APPEND tags ${found})
  endforeach()
  list(TRANSFORM tags REPLACE ".*<(.*)>" "\\1")
  list(REMOVE_DUPLICATES tags)
  set(${out} "${tags}" PARENT_SCOPE)
endfunction()

file(GLOB_RECURSE headers "${INCLUDE}/*.hpp" "${INCLUDE}/*.cuh")
file(GLOB cases "${CASES}/*.cpp" "${CASES}/*.cu")
tags_of(written "" ${headers})
tags_of(tested "// expect: " ${cases})

set(untested ${written})
list(REMOVE_ITEM untested ${tested})
set(stale ${tested})
list(REMOVE_ITEM stale ${written})
if(untested OR stale)
  message(FATAL_ERROR "sentences without a case in tests/compile_fail: ${untested}\n"
                      "cases without a sentence in include: ${stale}")
endif()
list(LENGTH written count)
message("${count} tagged sentences, each with a case")
