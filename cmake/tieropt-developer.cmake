# SPDX-FileCopyrightText: 2026 The tieropt authors
# SPDX-License-Identifier: Apache-2.0

# Flags of the project's own programs: tests, benches, examples. Users never see them.

set(default_march "")
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|amd64)$" AND NOT MSVC)
  set(default_march x86-64-v3)
endif()
set(TIEROPT_MARCH "${default_march}" CACHE STRING
    "-march of the project's own programs; empty for none (std::fma is slow without -mfma)")
option(TIEROPT_WERROR "Warnings of the project's own programs are errors" OFF)
set(TIEROPT_SANITIZE "" CACHE STRING
    "-fsanitize= of the project's own programs: address,undefined for instance")

find_package(OpenMP QUIET COMPONENTS CXX)

add_library(tieropt_developer INTERFACE)
target_link_libraries(tieropt_developer INTERFACE tieropt::tieropt)
if(OpenMP_CXX_FOUND)
  target_link_libraries(tieropt_developer INTERFACE OpenMP::OpenMP_CXX)
else()
  message(STATUS "tieropt: no OpenMP, the host executor will run on one thread")
endif()
if(TIEROPT_MARCH)
  target_compile_options(tieropt_developer INTERFACE "-march=${TIEROPT_MARCH}")
endif()
if(NOT MSVC)
  # g++ 12 and 13 see an overlap in std::string's operator+ that isn't there (GCC bug 105651).
  target_compile_options(tieropt_developer INTERFACE
    -Wall -Wextra $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict> $<$<BOOL:${TIEROPT_WERROR}>:-Werror>)
endif()
if(TIEROPT_SANITIZE)
  set(sanitize -fsanitize=${TIEROPT_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  if(CMAKE_CXX_COMPILER_ID MATCHES Clang)
    # The gradient of what rests is null, and gets its offsets all the same. Loops that are watched
    # are not vectorised, which is no news.
    list(APPEND sanitize -fno-sanitize=pointer-overflow -Wno-pass-failed)
  endif()
  target_compile_options(tieropt_developer INTERFACE ${sanitize})
  target_link_options(tieropt_developer INTERFACE ${sanitize})
endif()
