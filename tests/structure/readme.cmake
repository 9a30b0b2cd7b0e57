# SPDX-FileCopyrightText: 2026 The tieropt authors
# SPDX-License-Identifier: Apache-2.0

# cmake -DREADME= -DSOURCE=quickstart.cpp -DPROGRAM=quickstart -P readme.cmake
# The README shows the quickstart as it is, and its output as it comes.

cmake_minimum_required(VERSION 3.22)

file(READ "${README}" readme)
file(READ "${SOURCE}" source)
string(REGEX REPLACE "^(// SPDX[^\n]*\n)+\n" "" source "${source}")
string(FIND "${readme}" "\n```cpp\n${source}```\n" position)
if(position EQUAL -1)
  message(FATAL_ERROR "the README's first program is not ${SOURCE}, from its first #include to its end")
endif()
execute_process(COMMAND "${PROGRAM}" RESULT_VARIABLE code OUTPUT_VARIABLE output)
if(NOT code EQUAL 0)
  message(FATAL_ERROR "the quickstart fails: ${code}\n${output}")
endif()
string(FIND "${readme}" "\n```text\n${output}```\n" position)
if(position EQUAL -1)
  message(FATAL_ERROR "the README shows another output than the quickstart's:\n${output}")
endif()
