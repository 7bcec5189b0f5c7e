# SPDX-License-Identifier: BSD-3-Clause
# nk_hdf5: parallel HDF5 if CMake finds one that was built with the MPI of this build; otherwise
# empty. HDF5_ROOT names an additional place to search.
option(NEKBONE_K_HDF5 "Use parallel HDF5 for checkpoints if it is there" ON)
add_library(nk_hdf5 INTERFACE)
set(NEKBONE_K_HAVE_HDF5 OFF)

# Whether the first library of `libraries` loads one of MPI_CXX_LIBRARIES. Two MPIs in one process
# crash it, and nothing fails before.
function(nekbone_k_has_our_mpi libraries result)
  list(GET libraries 0 first)
  execute_process(COMMAND ldd ${first} OUTPUT_VARIABLE loads ERROR_QUIET RESULT_VARIABLE failed)
  set(${result} TRUE PARENT_SCOPE)
  if(failed OR NOT loads MATCHES "libmpi") # a static library, or no ldd: believe it
    return()
  endif()
  foreach(library IN LISTS MPI_CXX_LIBRARIES)
    file(REAL_PATH ${library} real)
    cmake_path(GET real FILENAME name)
    string(REGEX REPLACE "(\\.so\\.[0-9]+).*" "\\1" name ${name})
    string(FIND "${loads}" "${name} " at)
    if(NOT at EQUAL -1)
      return()
    endif()
  endforeach()
  set(${result} FALSE PARENT_SCOPE)
endfunction()

if(NEKBONE_K_HDF5)
  enable_language(C) # FindHDF5 looks for its compiler
  set(HDF5_PREFER_PARALLEL ON)
  find_package(HDF5 QUIET COMPONENTS C)
  if(HDF5_FOUND AND HDF5_IS_PARALLEL)
    nekbone_k_has_our_mpi("${HDF5_C_LIBRARIES}" NEKBONE_K_HAVE_HDF5)
  endif()
  if(NEKBONE_K_HAVE_HDF5)
    target_include_directories(nk_hdf5 SYSTEM INTERFACE ${HDF5_C_INCLUDE_DIRS})
    target_link_libraries(nk_hdf5 INTERFACE ${HDF5_C_LIBRARIES})
    message(STATUS "HDF5: ${HDF5_VERSION}, parallel")
  else()
    message(STATUS "HDF5: none that is parallel with this MPI, so there are no checkpoints; "
                   "HDF5_ROOT helps")
  endif()
endif()
