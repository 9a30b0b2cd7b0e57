# SPDX-FileCopyrightText: 2026 The tieropt authors
# SPDX-License-Identifier: Apache-2.0

# cmake -DSOURCE= -DCOMPILER= -DFLAGS='a|b' -DINCLUDE= -DSTAMP= [-DEXPECT_TAG=ON] -P compile_check.cmake
#
# Compiles SOURCE and fails if it doesn't compile. With EXPECT_TAG the source is a case of
# tests/compile_fail: it must be refused with the tag that its line `// expect: [tag]` names, and
# accepted with -DFIXED. Flags of a line `// fail-flags:` belong to the refused variant only.
# An outcome is kept in STAMP until a header, the source, the compiler or a flag changes.

cmake_minimum_required(VERSION 3.22)
string(REPLACE "|" ";" FLAGS "${FLAGS}")

file(GLOB_RECURSE inputs "${INCLUDE}/*")
list(SORT inputs)
list(APPEND inputs "${SOURCE}" "${CMAKE_CURRENT_LIST_FILE}")
set(key "${COMPILER} ${FLAGS} ${EXPECT_TAG}")
foreach(input IN LISTS inputs)
  file(SHA256 "${input}" hash)
  string(APPEND key "\n${input} ${hash}")
endforeach()
if(EXISTS "${STAMP}")
  file(READ "${STAMP}" old)
  if(old STREQUAL key)
    message("unchanged since it passed")
    return()
  endif()
endif()

function(compile) # compile(FLAG...): sets code and output
  execute_process(COMMAND ${COMPILER} ${FLAGS} ${ARGN} "${SOURCE}"
                  RESULT_VARIABLE result OUTPUT_VARIABLE text ERROR_VARIABLE text)
  set(code "${result}" PARENT_SCOPE)
  set(output "${text}" PARENT_SCOPE)
endfunction()

if(EXPECT_TAG)
  file(STRINGS "${SOURCE}" line REGEX "^// expect: ")
  string(REGEX REPLACE "^// expect: .(tieropt(-[a-z0-9]+)+).$" "\\1" tag "${line}")
  if(NOT tag MATCHES "^tieropt(-[a-z0-9]+)+$")
    message(FATAL_ERROR "${SOURCE} needs one line of the form `// expect: [tieropt-<area>-<part>]`")
  endif()
  file(STRINGS "${SOURCE}" fail_flags REGEX "^// fail-flags: ")
  string(REPLACE "// fail-flags: " "" fail_flags "${fail_flags}")
  separate_arguments(fail_flags)

  compile(${fail_flags})
  if(code EQUAL 0)
    message(FATAL_ERROR "${SOURCE} compiles; it should be refused with [${tag}]")
  endif()
  string(FIND "${output}" "[${tag}]" position)
  if(position EQUAL -1)
    message(FATAL_ERROR "${SOURCE} is refused, but not with [${tag}]:\n${output}")
  endif()
  compile(-DFIXED)
  if(NOT code EQUAL 0)
    message(FATAL_ERROR "${SOURCE} must compile with -DFIXED, so that it fails for its own reason:\n${output}")
  endif()
else()
  compile()
  if(NOT code EQUAL 0)
    message(FATAL_ERROR "${SOURCE} does not compile:\n${output}")
  endif()
endif()
file(WRITE "${STAMP}" "${key}")
