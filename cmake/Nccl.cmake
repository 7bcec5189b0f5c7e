# SPDX-License-Identifier: BSD-3-Clause
# nk_nccl: NCCL or RCCL if the backend can use it and CMake finds it; otherwise empty. NCCL_ROOT
# names an additional place to search.
option(NEKBONE_K_NCCL "Use NCCL or RCCL if it is there" ON)
add_library(nk_nccl INTERFACE)
set(NEKBONE_K_HAVE_NCCL OFF)
if(NOT NEKBONE_K_NCCL)
  message(STATUS "NCCL: not used (NEKBONE_K_NCCL is OFF)")
elseif(NEKBONE_K_BACKEND STREQUAL "cuda")
  set(nk_nccl_header nccl.h)
  set(nk_nccl_names nccl libnccl.so.2) # Python's wheels have only the second name
elseif(NEKBONE_K_BACKEND STREQUAL "hip")
  set(nk_nccl_header rccl/rccl.h)
  set(nk_nccl_names rccl)
endif()
if(nk_nccl_header)
  find_path(NEKBONE_K_NCCL_INCLUDE ${nk_nccl_header} HINTS ${NCCL_ROOT} ENV NCCL_ROOT
            PATH_SUFFIXES include)
  find_library(NEKBONE_K_NCCL_LIBRARY NAMES ${nk_nccl_names} HINTS ${NCCL_ROOT} ENV NCCL_ROOT
               PATH_SUFFIXES lib)
  mark_as_advanced(NEKBONE_K_NCCL_INCLUDE NEKBONE_K_NCCL_LIBRARY)
  if(NEKBONE_K_NCCL_INCLUDE AND NEKBONE_K_NCCL_LIBRARY)
    set(NEKBONE_K_HAVE_NCCL ON)
    target_include_directories(nk_nccl SYSTEM INTERFACE ${NEKBONE_K_NCCL_INCLUDE})
    target_link_libraries(nk_nccl INTERFACE ${NEKBONE_K_NCCL_LIBRARY})
    message(STATUS "NCCL: ${NEKBONE_K_NCCL_LIBRARY}")
  else()
    message(STATUS "NCCL: not found, so the strategy nccl will not be there; NCCL_ROOT helps")
  endif()
endif()
