# SPDX-FileCopyrightText: 2026 The tieropt authors
# SPDX-License-Identifier: Apache-2.0

# Finds the headers of CCCL 3 (libcu++, Thrust, CUB) and makes the target tieropt::cccl of them.
# Looked for, in this order: below TIEROPT_CCCL_DIR, in the CUDA toolkit, in the system's folders.
# No CUDA language, no compiler flag and no CCCL CMake package is needed.

include_guard(DIRECTORY)

set(TIEROPT_CCCL_DIR "" CACHE PATH
    "CCCL 3: the folder that holds cuda/std, the root of a checkout, or a folder with its CMake package")

function(tieropt_cccl_search_)
  # The three parts share a folder in a toolkit and have one each in a checkout of CCCL.
  set(suffixes . include/cccl include cccl
               libcudacxx/include thrust cub # a checkout
               ../../../include/cccl ../../../include ../../include/cccl ../include/cccl # lib/cmake/cccl, lib/cmake, lib
               ../libcudacxx/include ../thrust ../cub ../../.. ../.. ..)
  set(options PATH_SUFFIXES ${suffixes})
  if(TIEROPT_CCCL_DIR)
    set(where PATHS "${TIEROPT_CCCL_DIR}" NO_DEFAULT_PATH)
  else()
    find_package(CUDAToolkit QUIET)
    set(where HINTS ${CUDAToolkit_INCLUDE_DIRS} ENV CUDA_HOME ENV CUDA_PATH)
  endif()
  if(NOT "${TIEROPT_CCCL_DIR}" STREQUAL "${TIEROPT_CCCL_SEARCHED_IN_}")
    unset(TIEROPT_LIBCUDACXX_INCLUDE_DIR CACHE)
    unset(TIEROPT_THRUST_INCLUDE_DIR CACHE)
    unset(TIEROPT_CUB_INCLUDE_DIR CACHE)
  endif()
  set(TIEROPT_CCCL_SEARCHED_IN_ "${TIEROPT_CCCL_DIR}" CACHE INTERNAL "")
  find_path(TIEROPT_LIBCUDACXX_INCLUDE_DIR cuda/std/mdspan ${where} ${options})
  find_path(TIEROPT_THRUST_INCLUDE_DIR thrust/version.h ${where} ${options})
  find_path(TIEROPT_CUB_INCLUDE_DIR cub/version.cuh ${where} ${options})
  foreach(part LIBCUDACXX THRUST CUB)
    string(REGEX REPLACE "/\\.$" "" folder "${TIEROPT_${part}_INCLUDE_DIR}")
    if(folder MATCHES "/\\.\\.")
      file(REAL_PATH "${folder}" folder)
    endif()
    set_property(CACHE TIEROPT_${part}_INCLUDE_DIR PROPERTY VALUE "${folder}")
  endforeach()
  mark_as_advanced(TIEROPT_LIBCUDACXX_INCLUDE_DIR TIEROPT_THRUST_INCLUDE_DIR TIEROPT_CUB_INCLUDE_DIR)
endfunction()

function(tieropt_add_cccl_target_)
  tieropt_cccl_search_()
  set(advice "Install the CUDA toolkit 13 (Debian, Ubuntu: the package cuda-cccl-13-0 is enough) or a checkout "
             "of github.com/NVIDIA/cccl, and set TIEROPT_CCCL_DIR to the folder that holds cuda/std, "
             "for example -DTIEROPT_CCCL_DIR=<toolkit>/include/cccl")
  list(JOIN advice "" advice)
  if(NOT TIEROPT_LIBCUDACXX_INCLUDE_DIR OR NOT TIEROPT_THRUST_INCLUDE_DIR)
    set(place "in the CUDA toolkit and the system's include folders")
    if(TIEROPT_CCCL_DIR)
      set(place "in or near TIEROPT_CCCL_DIR = ${TIEROPT_CCCL_DIR}")
    endif()
    message(FATAL_ERROR "tieropt needs the headers of CCCL 3; none found ${place}. ${advice}")
  endif()

  set(version_file "${TIEROPT_LIBCUDACXX_INCLUDE_DIR}/cuda/std/__cccl/version.h")
  set(version 0)
  if(EXISTS "${version_file}")
    file(STRINGS "${version_file}" line REGEX "^#define CCCL_VERSION [0-9]+")
    string(REGEX REPLACE "[^0-9]+" "" version "${line}")
  endif()
  if(version LESS 3000000)
    message(FATAL_ERROR "tieropt needs CCCL 3; ${TIEROPT_LIBCUDACXX_INCLUDE_DIR} holds an older one. ${advice}")
  endif()

  set(folders "${TIEROPT_LIBCUDACXX_INCLUDE_DIR}" "${TIEROPT_THRUST_INCLUDE_DIR}")
  if(TIEROPT_CUB_INCLUDE_DIR) # only the .cuh headers use it
    list(APPEND folders "${TIEROPT_CUB_INCLUDE_DIR}")
  endif()
  list(REMOVE_DUPLICATES folders)
  add_library(tieropt::cccl INTERFACE IMPORTED GLOBAL)
  target_include_directories(tieropt::cccl SYSTEM INTERFACE ${folders})
  if(NOT tieropt_FIND_QUIETLY)
    message(STATUS "tieropt: CCCL ${version} in ${folders}")
  endif()
endfunction()

if(NOT TARGET tieropt::cccl)
  tieropt_add_cccl_target_()
endif()
