# SPDX-License-Identifier: BSD-3-Clause
# Installs the program with its inputs, and the gather-scatter as the shared libraries nekbone_k_gs
# and nekbone_k_gslib, which find_package(nekbone_k) and pkg-config find (docs/library.md).
include(GNUInstallDirs)
set_target_properties(nekbone-k PROPERTIES INSTALL_RPATH_USE_LINK_PATH ON)
install(TARGETS nekbone-k RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT program)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/inputs
  DESTINATION ${CMAKE_INSTALL_DATADIR}/nekbone-k COMPONENT program)
if(NOT NEKBONE_K_LIBRARY)
  return()
endif()

# nekbone_k_add_shared(NAME EXPORT_NAME LAYER LINKS...) makes the shared library NAME of a static
# library. It exports the symbols that cmake/NAME.map lists. A static Kokkos is inside and hidden, so
# that it does not meet the Kokkos of a program.
function(nekbone_k_add_shared name export_name layer)
  set(symbols ${PROJECT_SOURCE_DIR}/cmake/${name}.map)
  add_library(${name} SHARED $<TARGET_OBJECTS:${layer}>)
  target_link_libraries(${name} PRIVATE ${ARGN} nk_options)
  target_link_options(${name} PRIVATE -Wl,--version-script=${symbols})
  if(NOT NEKBONE_K_SANITIZE) # the program that loads the library provides what sanitizers need
    target_link_options(${name} PRIVATE -Wl,--no-undefined)
  endif()
  set_target_properties(${name} PROPERTIES
    LINKER_LANGUAGE CXX
    LINK_DEPENDS ${symbols}
    VERSION ${PROJECT_VERSION}
    SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}
    EXPORT_NAME ${export_name}
    INSTALL_RPATH $ORIGIN
    INSTALL_RPATH_USE_LINK_PATH ON)
endfunction()
nekbone_k_add_shared(nekbone_k_gs gs nk_library nk_tuning)
nekbone_k_add_shared(nekbone_k_gslib gslib nk_gslib nekbone_k_gs MPI::MPI_CXX)
set(nk_headers ${CMAKE_INSTALL_INCLUDEDIR}/nekbone_k)
target_include_directories(nekbone_k_gslib INTERFACE $<INSTALL_INTERFACE:${nk_headers}/gslib>)

# Users compile the module of Fortran themselves, because compilers cannot read each other's.
add_library(nekbone_k_gs_fortran INTERFACE)
set_target_properties(nekbone_k_gs_fortran PROPERTIES EXPORT_NAME gs_fortran)
target_sources(nekbone_k_gs_fortran INTERFACE
  $<INSTALL_INTERFACE:${nk_headers}/nekbone_k_gs.f90>)
target_link_libraries(nekbone_k_gs_fortran INTERFACE nekbone_k_gs)
foreach(language C CXX Fortran) # those that the user's project has
  set(targets nekbone_k_gs nekbone_k_gslib)
  if(language STREQUAL "Fortran")
    set(targets nekbone_k_gs_fortran)
  endif()
  foreach(target IN LISTS targets)
    target_link_libraries(${target} INTERFACE
      $<INSTALL_INTERFACE:$<TARGET_NAME_IF_EXISTS:MPI::MPI_${language}>>)
  endforeach()
endforeach()

set(nk_package ${CMAKE_INSTALL_LIBDIR}/cmake/nekbone_k)
install(TARGETS nekbone_k_gs nekbone_k_gslib nekbone_k_gs_fortran EXPORT nekbone_k
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT library
  INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(EXPORT nekbone_k NAMESPACE nekbone_k:: FILE nekbone_k-targets.cmake
  DESTINATION ${nk_package} COMPONENT library)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/src/library/nekbone_k/ DESTINATION ${nk_headers}
  COMPONENT library)
install(FILES ${PROJECT_SOURCE_DIR}/src/gslib/gslib.h DESTINATION ${nk_headers}/gslib
  COMPONENT library)

include(CMakePackageConfigHelpers)
set(nk_made ${PROJECT_BINARY_DIR}/package)
write_basic_package_version_file(${nk_made}/nekbone_k-config-version.cmake
  VERSION ${PROJECT_VERSION} COMPATIBILITY SameMinorVersion)
set(nk_pkgconfig ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
cmake_path(RELATIVE_PATH CMAKE_INSTALL_PREFIX BASE_DIRECTORY
  ${CMAKE_INSTALL_PREFIX}/${nk_pkgconfig} OUTPUT_VARIABLE nk_to_prefix)
foreach(nk_name IN ITEMS nekbone_k_gs nekbone_k_gslib)
  configure_file(${PROJECT_SOURCE_DIR}/cmake/${nk_name}.pc.in ${nk_made}/${nk_name}.pc @ONLY)
  install(FILES ${nk_made}/${nk_name}.pc DESTINATION ${nk_pkgconfig} COMPONENT library)
endforeach()
install(FILES ${PROJECT_SOURCE_DIR}/cmake/nekbone_k-config.cmake
              ${nk_made}/nekbone_k-config-version.cmake
  DESTINATION ${nk_package} COMPONENT library)
