# SPDX-FileCopyrightText: 2026 The tieropt authors
# SPDX-License-Identifier: Apache-2.0

# The target brings include folders and C++20, and nothing that changes the user's build.

foreach(target tieropt::tieropt tieropt::cccl)
  foreach(property INTERFACE_COMPILE_OPTIONS INTERFACE_COMPILE_DEFINITIONS INTERFACE_LINK_OPTIONS)
    get_target_property(value ${target} ${property})
    if(value)
      message(FATAL_ERROR "${target} sets ${property}: ${value}")
    endif()
  endforeach()
endforeach()
get_target_property(value tieropt::tieropt INTERFACE_LINK_LIBRARIES)
if(NOT value STREQUAL "tieropt::cccl")
  message(FATAL_ERROR "tieropt::tieropt links more than CCCL's headers: ${value}")
endif()
foreach(kind TESTS BENCH EXAMPLES)
  if(TIEROPT_BUILD_${kind})
    message(FATAL_ERROR "TIEROPT_BUILD_${kind} is on in a project that only uses the library")
  endif()
endforeach()
if(CMAKE_BUILD_TYPE)
  message(FATAL_ERROR "the library has set CMAKE_BUILD_TYPE to ${CMAKE_BUILD_TYPE}")
endif()
