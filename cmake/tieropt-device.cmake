# SPDX-FileCopyrightText: 2026 The tieropt authors
# SPDX-License-Identifier: Apache-2.0

# Programs that need nvcc: the target tieropt_device_developer carries their flags.
#
# TIEROPT_DEVICE is native (the GPU of this machine), an architecture such as 90, or emulated: PTX
# of compute_90 as plain text and a shared runtime, which a replacement of the runtime can run.

set(TIEROPT_DEVICE "" CACHE STRING "Build programs that need nvcc: native, an architecture, or emulated; empty for none")
option(TIEROPT_DEVICE_FAST_MATH "Build the device programs with --use_fast_math" OFF)
if(NOT TIEROPT_DEVICE)
  return()
endif()

if(TIEROPT_DEVICE STREQUAL "emulated")
  set(CMAKE_CUDA_ARCHITECTURES 90-virtual)
  set(CMAKE_CUDA_RUNTIME_LIBRARY Shared)
elseif(TIEROPT_DEVICE MATCHES "^[0-9]+[a-z]?$")
  set(CMAKE_CUDA_ARCHITECTURES ${TIEROPT_DEVICE}-real)
else()
  set(CMAKE_CUDA_ARCHITECTURES ${TIEROPT_DEVICE})
endif()
enable_language(CUDA)
# Of the host's code what counts is how long it compiles; the device's is optimised all the same.
string(REPLACE "-O3" "-O1" CMAKE_CUDA_FLAGS_RELEASE "${CMAKE_CUDA_FLAGS_RELEASE}")
if(NOT CMAKE_CUDA20_STANDARD_COMPILE_OPTION) # CMake 3.25 does not know nvcc's own flag
  set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION "-std=c++20")
  set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION "-std=c++20")
endif()
set(CMAKE_CUDA_STANDARD 20)
set(CMAKE_CUDA_STANDARD_REQUIRED ON)
set(CMAKE_CUDA_EXTENSIONS OFF)

add_library(tieropt_device_developer INTERFACE)
target_link_libraries(tieropt_device_developer INTERFACE tieropt::tieropt)
# One -Xcompiler for each: nvcc splits a list at its commas.
set(host_flags -Wall -Wextra)
if(TIEROPT_MARCH)
  list(APPEND host_flags "-march=${TIEROPT_MARCH}")
endif()
if(OpenMP_CXX_FOUND)
  list(APPEND host_flags ${OpenMP_CXX_FLAGS})
  target_link_libraries(tieropt_device_developer INTERFACE OpenMP::OpenMP_CXX)
endif()
list(TRANSFORM host_flags PREPEND "SHELL:-Xcompiler ")
target_compile_options(tieropt_device_developer INTERFACE
  "$<$<COMPILE_LANGUAGE:CUDA>:${host_flags};-lineinfo>"
  $<$<COMPILE_LANGUAGE:CUDA>:$<$<BOOL:${TIEROPT_DEVICE_FAST_MATH}>:--use_fast_math>>)
if(TIEROPT_DEVICE STREQUAL "emulated")
  target_compile_options(tieropt_device_developer INTERFACE $<$<COMPILE_LANGUAGE:CUDA>:--no-compress>)
  target_link_options(tieropt_device_developer INTERFACE $<DEVICE_LINK:--no-compress>)
endif()
