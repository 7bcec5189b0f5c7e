# SPDX-License-Identifier: BSD-3-Clause
# Provides Kokkos::kokkos and Kokkos::kokkoskernels.
#
# 1. An installed pair takes precedence: Kokkos 4.5 to 5.x with the requested backend, and Kokkos
#    Kernels of the same version (CMAKE_PREFIX_PATH, Kokkos_ROOT, modules, Spack).
# 2. Otherwise a pinned pair is built once into a cache outside the source tree. Every later
#    configure with the same backend, architecture, compiler and checks reuses it. The cache is
#    $NEKBONE_K_CACHE, by default $XDG_CACHE_HOME/nekbone-k or ~/.cache/nekbone-k.
include(KokkosFetch)

# Lists the installed configurations of `package` as "file|version" without loading them, because a
# package that is loaded and then refused leaves its targets behind.
function(nekbone_k_list_installed package result)
  unset(${package}_DIR CACHE)
  find_package(${package} 9999 EXACT QUIET CONFIG) # no version fits, so none is loaded
  set(found "")
  foreach(config version IN ZIP_LISTS ${package}_CONSIDERED_CONFIGS ${package}_CONSIDERED_VERSIONS)
    list(APPEND found "${config}|${version}")
  endforeach()
  unset(${package}_DIR CACHE)
  set(${result} "${found}" PARENT_SCOPE)
endfunction()

# Finds an installed pair that fits. Sets `kokkos_dir` and `kernels_dir` in the caller, or neither.
function(nekbone_k_find_installed_kokkos)
  string(TOUPPER ${NEKBONE_K_BACKEND} device)
  nekbone_k_list_installed(KokkosKernels all_kernels)
  nekbone_k_list_installed(Kokkos all_kokkos)
  foreach(candidate IN LISTS all_kokkos)
    string(REGEX MATCH "^(.*)\\|(.*)$" _ "${candidate}")
    set(version ${CMAKE_MATCH_2})
    cmake_path(GET CMAKE_MATCH_1 PARENT_PATH dir)
    file(STRINGS ${dir}/KokkosConfigCommon.cmake settings REGEX "^SET\\(Kokkos_(DEVICES|OPTIONS) ")
    set(kernels ${all_kernels})
    list(FILTER kernels INCLUDE REGEX "\\|${version}$")

    if(version VERSION_LESS 4.5 OR version VERSION_GREATER_EQUAL 6)
      set(reason "version ${version} is not 4.5 to 5.x")
    elseif(NOT "${settings}" MATCHES "Kokkos_DEVICES [^)]*${device}")
      set(reason "it has no ${device} backend")
    elseif(NEKBONE_K_BOUNDS_CHECK AND NOT "${settings}" MATCHES "DEBUG_BOUNDS_CHECK")
      set(reason "it was built without bounds checks")
    elseif(NOT kernels)
      set(reason "no Kokkos Kernels ${version} was found")
    else()
      list(GET kernels 0 kernels)
      string(REGEX REPLACE "\\|.*$" "" kernels "${kernels}")
      cmake_path(GET kernels PARENT_PATH kernels_dir)
      set(kokkos_dir ${dir} PARENT_SCOPE)
      set(kernels_dir ${kernels_dir} PARENT_SCOPE)
      return()
    endif()
    message(STATUS "Kokkos in ${dir} not used: ${reason}")
  endforeach()
endfunction()

nekbone_k_find_installed_kokkos()
if(NOT kokkos_dir)
  nekbone_k_fetch_kokkos(kokkos_dir kernels_dir)
endif()
find_package(Kokkos REQUIRED CONFIG PATHS ${kokkos_dir} NO_DEFAULT_PATH)
find_package(KokkosKernels REQUIRED CONFIG PATHS ${kernels_dir} NO_DEFAULT_PATH)
message(STATUS "Kokkos ${Kokkos_VERSION} (${Kokkos_DEVICES}) in ${kokkos_dir}")
