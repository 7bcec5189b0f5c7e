# SPDX-License-Identifier: BSD-3-Clause
# nk_nvshmem: NVSHMEM if the backend can use it and CMake finds it; otherwise empty. NVSHMEM_ROOT
# names an additional place to search. Only the host library is needed.
option(NEKBONE_K_NVSHMEM "Use NVSHMEM if it is there" ON)
add_library(nk_nvshmem INTERFACE)
set(NEKBONE_K_HAVE_NVSHMEM OFF)
if(NOT NEKBONE_K_NVSHMEM)
  message(STATUS "NVSHMEM: not used (NEKBONE_K_NVSHMEM is OFF)")
elseif(NEKBONE_K_BACKEND STREQUAL "cuda")
  find_path(NEKBONE_K_NVSHMEM_INCLUDE nvshmem_host.h HINTS ${NVSHMEM_ROOT} ENV NVSHMEM_ROOT
            PATH_SUFFIXES include nvshmem_13 nvshmem_12)
  # Python's wheels have only the second name.
  find_library(NEKBONE_K_NVSHMEM_LIBRARY NAMES nvshmem_host libnvshmem_host.so.3
               HINTS ${NVSHMEM_ROOT} ENV NVSHMEM_ROOT PATH_SUFFIXES lib nvshmem/13 nvshmem/12)
  mark_as_advanced(NEKBONE_K_NVSHMEM_INCLUDE NEKBONE_K_NVSHMEM_LIBRARY)
  if(NEKBONE_K_NVSHMEM_INCLUDE AND NEKBONE_K_NVSHMEM_LIBRARY)
    set(NEKBONE_K_HAVE_NVSHMEM ON)
    target_include_directories(nk_nvshmem SYSTEM INTERFACE ${NEKBONE_K_NVSHMEM_INCLUDE})
    target_link_libraries(nk_nvshmem INTERFACE ${NEKBONE_K_NVSHMEM_LIBRARY})
    message(STATUS "NVSHMEM: ${NEKBONE_K_NVSHMEM_LIBRARY}")
  else()
    message(STATUS
            "NVSHMEM: not found, so the strategy nvshmem will not be there; NVSHMEM_ROOT helps")
  endif()
endif()
