# SPDX-License-Identifier: BSD-3-Clause
# nk_options: warnings and sanitizers of all targets of this project. They apply to the host
# compiler only: nvcc passes its generated code to the host compiler, which would warn about it.
add_library(nk_options INTERFACE)
set(nk_warnings -Wall -Wextra -Wshadow -Wnon-virtual-dtor -Woverloaded-virtual)
if(NEKBONE_K_WARNINGS_AS_ERRORS)
  list(APPEND nk_warnings -Werror)
endif()
if(NEKBONE_K_SANITIZE)
  # Instrumented code confuses GCC's flow analysis; the sanitizers find the real cases.
  list(APPEND nk_warnings -Wno-maybe-uninitialized)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  list(APPEND nk_warnings -Wno-restrict) # GCC bug 105651: warns about std::string's operator+
endif()
target_compile_options(nk_options INTERFACE "$<$<COMPILE_LANGUAGE:CXX>:${nk_warnings}>")
# GCC collects garbage only above 1 GB, which saves a tenth of its time. Large objects then take
# 1.7 instead of 1.4 GB.
target_compile_options(nk_options INTERFACE
  "$<$<COMPILE_LANG_AND_ID:CXX,GNU>:--param=ggc-min-heapsize=1000000>")

if(NEKBONE_K_SANITIZE)
  # Checks of every pointer double the compile time, and the address sanitizer finds most of the
  # same errors.
  set(nk_sanitizers -fsanitize=address,undefined -fno-sanitize=null,alignment,object-size,vptr
      -fno-omit-frame-pointer)
  target_compile_options(nk_options INTERFACE "$<$<COMPILE_LANGUAGE:CXX>:${nk_sanitizers}>")
  target_link_options(nk_options INTERFACE ${nk_sanitizers})
endif()

if(NEKBONE_K_BACKEND STREQUAL "cuda")
  target_compile_options(nk_options INTERFACE
    "$<$<COMPILE_LANGUAGE:CUDA>:--extended-lambda;--expt-relaxed-constexpr>")
  # fmt 9 disables part of constexpr for nvcc, which then conflicts with its own consteval.
  target_compile_definitions(nk_options INTERFACE
    "$<$<COMPILE_LANGUAGE:CUDA>:FMT_CONSTEVAL=;FMT_USE_CONSTEXPR=1>")
  if(Kokkos_VERSION VERSION_LESS 4.7 AND CMAKE_CUDA_COMPILER_VERSION VERSION_GREATER_EQUAL 13)
    target_compile_options(nk_options INTERFACE
      "$<$<COMPILE_LANGUAGE:CUDA>:SHELL:-include ${nk_cuda13_shim}>")
  endif()
endif()

# Makes nvcc compile the given sources if Kokkos wants CUDA as a CMake language. Call it in the
# directory that adds the target.
function(nekbone_k_device_sources)
  if(NEKBONE_K_BACKEND STREQUAL "cuda" AND Kokkos_ENABLE_COMPILE_AS_CMAKE_LANGUAGE)
    set_source_files_properties(${ARGN} PROPERTIES LANGUAGE CUDA)
  endif()
endfunction()

# Makes the Release build of a target compile faster at the cost of its run time. Host code only.
function(nekbone_k_compile_fast target)
  target_compile_options(${target} PRIVATE "$<$<AND:$<CONFIG:Release>,$<COMPILE_LANGUAGE:CXX>>:-O1>")
endfunction()

# nekbone_k_precompile(TARGET HEADERS <header>... | FROM <other target>) precompiles headers that
# all sources of a target include, or reuses those of another target with the same options. Does
# nothing for GPUs, because their compilers cannot precompile headers.
function(nekbone_k_precompile target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "FROM" "HEADERS")
  if(NOT NEKBONE_K_BACKEND MATCHES "^(serial|openmp)$")
    return()
  endif()
  if(arg_FROM)
    target_precompile_headers(${target} REUSE_FROM ${arg_FROM})
  else()
    target_precompile_headers(${target} PRIVATE ${arg_HEADERS})
  endif()
endfunction()
