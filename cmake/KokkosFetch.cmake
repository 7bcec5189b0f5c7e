# SPDX-License-Identifier: BSD-3-Clause
# Downloads, builds and caches the pinned Kokkos and Kokkos Kernels.
set(nk_kokkos_version 4.5.01)
set(nk_kokkos_sha256 52d003ffbbe05f30c89966e4009c017efb1662b02b2b73190670d3418719564c)
set(nk_kernels_sha256 c111a6561f23a85af9850d1df1e9015f37a586f1da0be4b6fb1e98001d75e074)
# The same two source trees, unmodified, travel in this Python source distribution. It is for sites
# that mirror Python packages and nothing else.
set(nk_bundle pycompadre)
set(nk_bundle_version 1.7.6)
set(nk_bundle_sha256 c766ec4d445ce076069be4b8c51a23ffac4ee79ea949ca86446bfd8c299b154c)

# Sets `result` to the directory of the cache.
function(nekbone_k_cache_directory result)
  if(DEFINED ENV{NEKBONE_K_CACHE})
    set(cache "$ENV{NEKBONE_K_CACHE}")
  elseif(DEFINED ENV{XDG_CACHE_HOME})
    set(cache "$ENV{XDG_CACHE_HOME}/nekbone-k")
  elseif(DEFINED ENV{HOME})
    set(cache "$ENV{HOME}/.cache/nekbone-k")
  else()
    set(cache "${PROJECT_BINARY_DIR}/cache")
  endif()
  cmake_path(ABSOLUTE_PATH cache BASE_DIRECTORY ${PROJECT_SOURCE_DIR} NORMALIZE)
  set(${result} ${cache} PARENT_SCOPE)
endfunction()

# Sets `result` to a text that names everything on which the built libraries depend.
function(nekbone_k_kokkos_key result)
  set(identity "${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION} ${CMAKE_CXX_FLAGS}")
  if(NEKBONE_K_BACKEND STREQUAL "cuda")
    set(architecture "sm${CMAKE_CUDA_ARCHITECTURES}")
    string(APPEND identity " nvcc ${CMAKE_CUDA_COMPILER_VERSION} ${CMAKE_CUDA_FLAGS}")
  elseif(NEKBONE_K_BACKEND STREQUAL "hip")
    set(architecture "${NEKBONE_K_HIP_ARCH}")
  else()
    set(architecture "native")
  endif()
  if(architecture STREQUAL "native")
    # A home directory may be shared by machines with different CPUs, so the key holds what
    # "native" means here: the macros that the compiler predefines for this CPU.
    execute_process(
      COMMAND ${CMAKE_CXX_COMPILER} -march=native -dM -E -x c++ /dev/null
      OUTPUT_VARIABLE macros ERROR_QUIET)
    string(APPEND identity "${macros}")
  endif()
  # The recipe is part of the identity: a changed flag below must not meet an old build.
  file(SHA256 ${CMAKE_CURRENT_FUNCTION_LIST_FILE} recipe)
  string(SHA256 digest "${identity} ${CMAKE_SYSTEM_PROCESSOR} ${recipe}")
  string(SUBSTRING ${digest} 0 12 digest)
  string(REPLACE ";" "-" key "${nk_kokkos_version}-${NEKBONE_K_BACKEND}-${architecture}")
  if(NEKBONE_K_BOUNDS_CHECK)
    string(APPEND key "-checked")
  endif()
  string(TOLOWER "${CMAKE_CXX_COMPILER_ID}${CMAKE_CXX_COMPILER_VERSION}" compiler)
  set(${result} "${key}-${compiler}-${digest}" PARENT_SCOPE)
endfunction()

# Sets `result` to the name by which the pinned Kokkos knows the CUDA architecture.
function(nekbone_k_cuda_generation result)
  foreach(generation VOLTA70 TURING75 AMPERE80 AMPERE86 ADA89 HOPPER90)
    if(generation MATCHES "[A-Z]${CMAKE_CUDA_ARCHITECTURES}$")
      set(${result} ${generation} PARENT_SCOPE)
      return()
    endif()
  endforeach()
  message(FATAL_ERROR
    "Kokkos ${nk_kokkos_version} is built for one of the CUDA architectures 70, 75, 80, 86, 89, 90; "
    "CMAKE_CUDA_ARCHITECTURES is '${CMAKE_CUDA_ARCHITECTURES}'. Install a newer Kokkos for others.")
endfunction()

# Unpacks `archive` so that its folder `inner` becomes `destination`, which appears only when whole.
function(nekbone_k_unpack archive inner destination)
  set(scratch ${destination}.unpack)
  file(REMOVE_RECURSE ${scratch})
  file(ARCHIVE_EXTRACT INPUT ${archive} DESTINATION ${scratch} PATTERNS "${inner}/*")
  file(RENAME ${scratch}/${inner} ${destination})
  file(REMOVE_RECURSE ${scratch})
endfunction()

# Downloads one upstream release; sets `result` to whether it arrived and has the right hash.
function(nekbone_k_download_release name sha256 directory result)
  set(archive ${directory}/${name}-${nk_kokkos_version}.tar.gz)
  set(url "https://github.com/kokkos/${name}/releases/download/${nk_kokkos_version}")
  string(APPEND url "/${name}-${nk_kokkos_version}.tar.gz")
  file(DOWNLOAD ${url} ${archive} STATUS status INACTIVITY_TIMEOUT 15 TIMEOUT 300)
  list(GET status 0 code)
  list(GET status 1 text)
  if(code EQUAL 0)
    file(SHA256 ${archive} actual)
    if(actual STREQUAL sha256)
      nekbone_k_unpack(${archive} ${name}-${nk_kokkos_version} ${directory}/${name})
      set(${result} TRUE PARENT_SCOPE)
      return()
    endif()
    set(text "its SHA-256 is ${actual}, not ${sha256}")
  endif()
  message(STATUS "No ${name} from upstream: ${text}")
  set(${result} FALSE PARENT_SCOPE)
endfunction()

# Downloads the bundle through pip, which knows the site's mirror.
function(nekbone_k_download_bundle directory)
  set(name ${nk_bundle}-${nk_bundle_version})
  set(archive ${directory}/${name}.tar.gz)
  set(last_error "no Python with pip was found")
  foreach(python python3 /usr/bin/python3 python)
    execute_process(
      COMMAND ${python} -m pip download --quiet --no-deps --dest ${directory}
              ${nk_bundle}==${nk_bundle_version}
      RESULT_VARIABLE code ERROR_VARIABLE error OUTPUT_QUIET)
    if(EXISTS ${archive})
      break()
    elseif(error)
      set(last_error "${error}")
    endif()
  endforeach()
  if(NOT EXISTS ${archive})
    message(FATAL_ERROR
      "Kokkos ${nk_kokkos_version} could be fetched neither from its release page nor as part of the "
      "Python package ${nk_bundle} ${nk_bundle_version}:\n${last_error}\n"
      "Install Kokkos and Kokkos Kernels 4.5 or newer and point CMAKE_PREFIX_PATH at them, or put "
      "their sources into ${directory}/kokkos and ${directory}/kokkos-kernels.")
  endif()
  file(SHA256 ${archive} actual)
  if(NOT actual STREQUAL nk_bundle_sha256)
    file(REMOVE ${archive})
    message(FATAL_ERROR "${name}.tar.gz has SHA-256 ${actual}, not ${nk_bundle_sha256}.")
  endif()
  foreach(part kokkos kokkos-kernels)
    if(NOT EXISTS ${directory}/${part})
      nekbone_k_unpack(${archive} ${name}/${part} ${directory}/${part})
    endif()
  endforeach()
endfunction()

# Makes sure that ${directory}/kokkos and ${directory}/kokkos-kernels hold the sources.
function(nekbone_k_download_kokkos directory)
  if(EXISTS ${directory}/kokkos AND EXISTS ${directory}/kokkos-kernels)
    return()
  endif()
  message(STATUS "Fetching Kokkos ${nk_kokkos_version} and Kokkos Kernels")
  file(MAKE_DIRECTORY ${directory})
  nekbone_k_download_release(kokkos ${nk_kokkos_sha256} ${directory} arrived)
  if(arrived)
    nekbone_k_download_release(kokkos-kernels ${nk_kernels_sha256} ${directory} arrived)
  endif()
  if(NOT arrived)
    nekbone_k_download_bundle(${directory})
  endif()
endfunction()

# Configures, builds and installs `source` to `prefix`. It is staged beside it and renamed last, so
# an interrupted build is never taken for a complete one.
function(nekbone_k_build_package source prefix)
  cmake_path(GET prefix FILENAME name)
  set(work ${prefix}.build)
  set(log ${prefix}.log)
  file(REMOVE_RECURSE ${work})
  file(REMOVE ${log})
  message(STATUS "Building ${name} ${nk_kokkos_version} once, into ${prefix}")
  cmake_host_system_information(RESULT cores QUERY NUMBER_OF_LOGICAL_CORES)
  if(DEFINED ENV{CMAKE_BUILD_PARALLEL_LEVEL})
    set(cores $ENV{CMAKE_BUILD_PARALLEL_LEVEL})
  endif()
  string(TIMESTAMP started "%s")
  foreach(step
      "-S;${source};-B;${work}/build;-G;${CMAKE_GENERATOR};-DCMAKE_INSTALL_PREFIX=${prefix};${ARGN}"
      "--build;${work}/build;--parallel;${cores}"
      "-E;env;DESTDIR=${work}/stage;${CMAKE_COMMAND};--install;${work}/build")
    execute_process(COMMAND ${CMAKE_COMMAND} ${step}
                    OUTPUT_FILE ${log}.part ERROR_FILE ${log}.part RESULT_VARIABLE code)
    file(READ ${log}.part text)
    file(APPEND ${log} "${text}")
    file(REMOVE ${log}.part)
    if(NOT code EQUAL 0)
      string(LENGTH "${text}" length)
      math(EXPR start "${length} > 3000 ? ${length} - 3000 : 0")
      string(SUBSTRING "${text}" ${start} -1 text)
      message(FATAL_ERROR "Building ${name} failed; the whole log is ${log}.\n...${text}")
    endif()
  endforeach()
  file(RENAME ${work}/stage${prefix} ${prefix})
  file(REMOVE_RECURSE ${work})
  string(TIMESTAMP ended "%s")
  math(EXPR seconds "${ended} - ${started}")
  message(STATUS "Building ${name} took ${seconds} s")
endfunction()

# Sets `kokkos_dir` and `kernels_dir` to the package directories of the pinned pair for the present
# backend, compiler and checks, building it when the cache has none.
function(nekbone_k_fetch_kokkos kokkos_dir kernels_dir)
  nekbone_k_cache_directory(cache)
  nekbone_k_kokkos_key(key)
  set(root ${cache}/${key})
  set(kokkos ${root}/kokkos)
  set(kernels ${root}/kokkos-kernels)
  set(${kokkos_dir} ${kokkos}/lib/cmake/Kokkos PARENT_SCOPE)
  set(${kernels_dir} ${kernels}/lib/cmake/KokkosKernels PARENT_SCOPE)
  if(EXISTS ${kokkos} AND EXISTS ${kernels})
    return()
  endif()

  file(MAKE_DIRECTORY ${root})
  file(LOCK ${cache} DIRECTORY GUARD FUNCTION) # two configures at once: the second one waits
  set(sources ${cache}/sources-${nk_kokkos_version})
  set(common
      -DCMAKE_BUILD_TYPE=Release
      -DCMAKE_CXX_STANDARD=20
      -DCMAKE_CXX_EXTENSIONS=OFF
      -DCMAKE_INSTALL_LIBDIR=lib
      -DCMAKE_POSITION_INDEPENDENT_CODE=ON
      -DBUILD_SHARED_LIBS=OFF
      -DCMAKE_CXX_COMPILER=${CMAKE_CXX_COMPILER}
      -DCMAKE_CXX_COMPILER_LAUNCHER=${CMAKE_CXX_COMPILER_LAUNCHER}
      -DCMAKE_MAKE_PROGRAM=${CMAKE_MAKE_PROGRAM}
      "-DCMAKE_CXX_FLAGS=${CMAKE_CXX_FLAGS}")
  set(backend -DKokkos_ENABLE_SERIAL=ON -DKokkos_ENABLE_DEBUG_BOUNDS_CHECK=${NEKBONE_K_BOUNDS_CHECK})
  if(NEKBONE_K_BACKEND STREQUAL "openmp")
    list(APPEND backend -DKokkos_ENABLE_OPENMP=ON -DKokkos_ARCH_NATIVE=ON)
  elseif(NEKBONE_K_BACKEND STREQUAL "serial")
    list(APPEND backend -DKokkos_ARCH_NATIVE=ON)
  elseif(NEKBONE_K_BACKEND STREQUAL "cuda")
    list(APPEND common
         -DCMAKE_CUDA_COMPILER=${CMAKE_CUDA_COMPILER}
         -DCMAKE_CUDA_COMPILER_LAUNCHER=${CMAKE_CUDA_COMPILER_LAUNCHER}
         -DCMAKE_CUDA_ARCHITECTURES=${CMAKE_CUDA_ARCHITECTURES}
         -DCMAKE_CUDA_STANDARD=20
         "-DCMAKE_CUDA_FLAGS=${CMAKE_CUDA_FLAGS} -std=c++20 -include ${nk_cuda13_shim}")
    nekbone_k_cuda_generation(generation)
    list(APPEND backend -DKokkos_ENABLE_CUDA=ON -DKokkos_ENABLE_COMPILE_AS_CMAKE_LANGUAGE=ON
         -DKokkos_ARCH_${generation}=ON)
  else()
    string(TOUPPER "${NEKBONE_K_HIP_ARCH}" architecture)
    list(APPEND backend -DKokkos_ENABLE_HIP=ON -DKokkos_ENABLE_ROCTHRUST=OFF
         -DKokkos_ARCH_AMD_${architecture}=ON)
  endif()

  nekbone_k_download_kokkos(${sources})
  if(NOT EXISTS ${kokkos})
    nekbone_k_build_package(${sources}/kokkos ${kokkos} ${common} ${backend})
  endif()
  if(NOT EXISTS ${kernels})
    # dot, axpby and nrm2 are templates; instantiating all of BLAS beforehand would take minutes.
    nekbone_k_build_package(
      ${sources}/kokkos-kernels ${kernels} ${common}
      -DKokkos_ROOT=${kokkos}
      -DKokkosKernels_ENABLE_ALL_COMPONENTS=OFF
      -DKokkosKernels_ENABLE_COMPONENT_BLAS=ON
      -DKokkosKernels_ADD_DEFAULT_ETI=OFF
      -DKokkosKernels_INST_DOUBLE=OFF
      -DKokkosKernels_ENABLE_TPL_BLAS=OFF
      -DKokkosKernels_ENABLE_TPL_LAPACK=OFF
      -DKokkosKernels_ENABLE_TPL_CUBLAS=OFF
      -DKokkosKernels_ENABLE_TPL_CUSPARSE=OFF
      -DKokkosKernels_ENABLE_TPL_CUSOLVER=OFF)
  endif()
endfunction()
