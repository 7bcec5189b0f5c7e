# SPDX-License-Identifier: BSD-3-Clause
# nk_nvshmem: NVSHMEM, if the backend can use it; otherwise empty. Only the host library is needed.
include(OptionalLibrary)
set(NEKBONE_K_NVSHMEM "AUTO" CACHE STRING "Use NVSHMEM: AUTO, if it is there; ON or OFF")
set_property(CACHE NEKBONE_K_NVSHMEM PROPERTY STRINGS AUTO ON OFF)
add_library(nk_nvshmem INTERFACE)
set(NEKBONE_K_HAVE_NVSHMEM OFF)
if(NOT NEKBONE_K_NVSHMEM)
  message(STATUS "NVSHMEM: not used, because NEKBONE_K_NVSHMEM is ${NEKBONE_K_NVSHMEM}")
elseif(NEKBONE_K_BACKEND STREQUAL "cuda")
  # Python's wheels have only the second name.
  nekbone_k_optional_library(NVSHMEM HEADER nvshmem_host.h NAMES nvshmem_host libnvshmem_host.so.3
                             INCLUDES include nvshmem_13 nvshmem_12
                             LIBRARIES lib nvshmem/13 nvshmem/12)
endif()
