# SPDX-License-Identifier: BSD-3-Clause
# find_package(nekbone_k) gives nekbone_k::gs and nekbone_k::gslib, and nekbone_k::gs_fortran for
# Fortran (docs/library.md). It needs the MPI that the library was built with, for the languages that the
# project has.
include(CMakeFindDependencyMacro)
get_property(nekbone_k_languages GLOBAL PROPERTY ENABLED_LANGUAGES)
foreach(nekbone_k_language C CXX Fortran)
  if(nekbone_k_language IN_LIST nekbone_k_languages AND NOT TARGET MPI::MPI_${nekbone_k_language})
    set(MPI_CXX_SKIP_MPICXX ON)
    find_dependency(MPI COMPONENTS ${nekbone_k_language})
  endif()
endforeach()
include(${CMAKE_CURRENT_LIST_DIR}/nekbone_k-targets.cmake)
