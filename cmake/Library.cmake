# SPDX-License-Identifier: BSD-3-Clause
# Installs the program, and the gather-scatter as the shared library nekbone_k_gs, which
# find_package(nekbone_k) and pkg-config find (docs/library.md).
include(GNUInstallDirs)
set_target_properties(nekbone-k PROPERTIES INSTALL_RPATH_USE_LINK_PATH ON)
install(TARGETS nekbone-k RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT program)
if(NOT NEKBONE_K_LIBRARY)
  return()
endif()

# The library exports the functions of C only. A static Kokkos is inside and hidden, so that it does
# not meet the Kokkos of a program.
set(nk_symbols ${PROJECT_SOURCE_DIR}/cmake/nekbone_k_gs.map)
add_library(nekbone_k_gs SHARED $<TARGET_OBJECTS:nk_library>)
target_link_libraries(nekbone_k_gs PRIVATE nk_tuning nk_options)
target_link_options(nekbone_k_gs PRIVATE -Wl,--version-script=${nk_symbols})
if(NOT NEKBONE_K_SANITIZE) # the program that loads the library provides what sanitizers need
  target_link_options(nekbone_k_gs PRIVATE -Wl,--no-undefined)
endif()
set_target_properties(nekbone_k_gs PROPERTIES
  LINKER_LANGUAGE CXX
  LINK_DEPENDS ${nk_symbols}
  VERSION ${PROJECT_VERSION}
  SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}
  EXPORT_NAME gs
  INSTALL_RPATH_USE_LINK_PATH ON)

# Users compile the module of Fortran themselves, because compilers cannot read each other's.
add_library(nekbone_k_gs_fortran INTERFACE)
set_target_properties(nekbone_k_gs_fortran PROPERTIES EXPORT_NAME gs_fortran)
set(nk_headers ${CMAKE_INSTALL_INCLUDEDIR}/nekbone_k)
target_sources(nekbone_k_gs_fortran INTERFACE
  $<INSTALL_INTERFACE:${nk_headers}/nekbone_k_gs.f90>)
target_link_libraries(nekbone_k_gs_fortran INTERFACE nekbone_k_gs)
foreach(language C CXX Fortran) # those that the user's project has
  set(target nekbone_k_gs)
  if(language STREQUAL "Fortran")
    set(target nekbone_k_gs_fortran)
  endif()
  target_link_libraries(${target} INTERFACE
    $<INSTALL_INTERFACE:$<TARGET_NAME_IF_EXISTS:MPI::MPI_${language}>>)
endforeach()

set(nk_package ${CMAKE_INSTALL_LIBDIR}/cmake/nekbone_k)
install(TARGETS nekbone_k_gs nekbone_k_gs_fortran EXPORT nekbone_k
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT library
  INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(EXPORT nekbone_k NAMESPACE nekbone_k:: FILE nekbone_k-targets.cmake
  DESTINATION ${nk_package} COMPONENT library)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/src/library/nekbone_k/ DESTINATION ${nk_headers}
  COMPONENT library)

include(CMakePackageConfigHelpers)
set(nk_made ${PROJECT_BINARY_DIR}/package)
write_basic_package_version_file(${nk_made}/nekbone_k-config-version.cmake
  VERSION ${PROJECT_VERSION} COMPATIBILITY SameMinorVersion)
set(nk_pkgconfig ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
cmake_path(RELATIVE_PATH CMAKE_INSTALL_PREFIX BASE_DIRECTORY
  ${CMAKE_INSTALL_PREFIX}/${nk_pkgconfig} OUTPUT_VARIABLE nk_to_prefix)
configure_file(${PROJECT_SOURCE_DIR}/cmake/nekbone_k_gs.pc.in ${nk_made}/nekbone_k_gs.pc @ONLY)
install(FILES ${PROJECT_SOURCE_DIR}/cmake/nekbone_k-config.cmake
              ${nk_made}/nekbone_k-config-version.cmake
  DESTINATION ${nk_package} COMPONENT library)
install(FILES ${nk_made}/nekbone_k_gs.pc
  DESTINATION ${nk_pkgconfig} COMPONENT library)
