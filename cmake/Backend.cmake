# SPDX-License-Identifier: BSD-3-Clause
# Checks NEKBONE_K_BACKEND and enables the languages that it needs.
if(NOT NEKBONE_K_BACKEND MATCHES "^(serial|openmp|cuda|hip)$")
  message(FATAL_ERROR "NEKBONE_K_BACKEND is '${NEKBONE_K_BACKEND}'; "
                      "it must be serial, openmp, cuda or hip.")
endif()
foreach(order IN LISTS NEKBONE_K_ORDERS)
  if(NOT order MATCHES "^[1-9][0-9]?$")
    message(FATAL_ERROR "NEKBONE_K_ORDERS has '${order}'; it must be a list of orders, e.g. 3;7;11.")
  endif()
endforeach()

if(NEKBONE_K_BACKEND STREQUAL "cuda")
  # Older versions of CMake look for nvToolsExt, which CUDA 13 lacks.
  if(CMAKE_VERSION VERSION_LESS 3.31)
    message(FATAL_ERROR "The cuda backend needs CMake 3.31 or newer (this is ${CMAKE_VERSION}); "
                        "`python3 -m pip install cmake` in a virtual environment gives one.")
  endif()
  # Kokkos compiles through CMake's CUDA language: nvcc_wrapper of 4.5 does not know CUDA 13.
  if(NOT CMAKE_CUDA_ARCHITECTURES)
    set(CMAKE_CUDA_ARCHITECTURES 90 CACHE STRING "CUDA architectures")
  endif()
  if(NOT CMAKE_CUDA_COMPILER AND NOT DEFINED ENV{CUDACXX})
    find_program(NEKBONE_K_NVCC nvcc HINTS /usr/local/cuda/bin)
    mark_as_advanced(NEKBONE_K_NVCC)
    set(CMAKE_CUDA_COMPILER ${NEKBONE_K_NVCC})
  endif()
  set(CMAKE_CUDA_STANDARD 20)
  set(CMAKE_CUDA_STANDARD_REQUIRED ON)
  enable_language(CUDA)
endif()

set(NEKBONE_K_HIP_ARCH "gfx90a" CACHE STRING "AMD GPU architecture for a fetched Kokkos")
set(nk_cuda13_shim ${PROJECT_SOURCE_DIR}/cmake/cuda13_shim.hpp)
