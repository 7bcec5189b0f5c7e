# SPDX-License-Identifier: BSD-3-Clause
# nk_nccl: NCCL or RCCL, if the backend can use it; otherwise empty.
include(OptionalLibrary)
set(NEKBONE_K_NCCL "AUTO" CACHE STRING "Use NCCL or RCCL: AUTO, if it is there; ON or OFF")
set_property(CACHE NEKBONE_K_NCCL PROPERTY STRINGS AUTO ON OFF)
add_library(nk_nccl INTERFACE)
set(NEKBONE_K_HAVE_NCCL OFF)
if(NOT NEKBONE_K_NCCL)
  message(STATUS "NCCL: not used, because NEKBONE_K_NCCL is ${NEKBONE_K_NCCL}")
elseif(NEKBONE_K_BACKEND STREQUAL "cuda")
  # Python's wheels have only the second name.
  nekbone_k_optional_library(NCCL HEADER nccl.h NAMES nccl libnccl.so.2 INCLUDES include
                             LIBRARIES lib)
elseif(NEKBONE_K_BACKEND STREQUAL "hip")
  nekbone_k_optional_library(NCCL HEADER rccl/rccl.h NAMES rccl INCLUDES include LIBRARIES lib)
endif()
