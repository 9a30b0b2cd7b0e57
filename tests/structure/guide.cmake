# SPDX-FileCopyrightText: 2026 The tieropt authors
# SPDX-License-Identifier: Apache-2.0

# cmake -DGUIDE=guide.md -DSOURCE=program.cpp -P guide.cmake
# Every C++ block of a guide is part of the program that its readers can run.

cmake_minimum_required(VERSION 3.22)

file(READ "${GUIDE}" rest)
file(READ "${SOURCE}" source)
set(count 0)
while(rest MATCHES "\n```cpp\n")
  string(FIND "${rest}" "\n```cpp\n" begin)
  math(EXPR begin "${begin} + 8")
  string(SUBSTRING "${rest}" ${begin} -1 rest)
  string(FIND "${rest}" "```\n" end)
  string(SUBSTRING "${rest}" 0 ${end} block)
  string(FIND "${source}" "${block}" position)
  if(position EQUAL -1)
    message(FATAL_ERROR "not in ${SOURCE}:\n${block}")
  endif()
  math(EXPR count "${count} + 1")
endwhile()
if(count EQUAL 0)
  message(FATAL_ERROR "${GUIDE} shows no C++")
endif()
message("${count} blocks are in the program")
