# nk_options: warnings and sanitizers that all our targets share. Host compiler only: nvcc hands its
# own generated code to the host compiler, which would warn about that.
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
  list(APPEND nk_warnings -Wno-restrict) # GCC bug 105651: warns of std::string's own operator+
endif()
target_compile_options(nk_options INTERFACE "$<$<COMPILE_LANGUAGE:CXX>:${nk_warnings}>")

if(NEKBONE_K_SANITIZE)
  # The checks of every pointer double the time to compile, and the address sanitizer stops at most
  # of what they would find.
  set(nk_sanitizers -fsanitize=address,undefined -fno-sanitize=null,alignment,object-size,vptr
      -fno-omit-frame-pointer)
  target_compile_options(nk_options INTERFACE "$<$<COMPILE_LANGUAGE:CXX>:${nk_sanitizers}>")
  target_link_options(nk_options INTERFACE ${nk_sanitizers})
endif()

if(NEKBONE_K_BACKEND STREQUAL "cuda")
  target_compile_options(nk_options INTERFACE
    "$<$<COMPILE_LANGUAGE:CUDA>:--extended-lambda;--expt-relaxed-constexpr>")
  # fmt 9 half disables constexpr when it sees nvcc, and then trips over its own consteval.
  target_compile_definitions(nk_options INTERFACE
    "$<$<COMPILE_LANGUAGE:CUDA>:FMT_CONSTEVAL=;FMT_USE_CONSTEXPR=1>")
  if(Kokkos_VERSION VERSION_LESS 4.7 AND CMAKE_CUDA_COMPILER_VERSION VERSION_GREATER_EQUAL 13)
    target_compile_options(nk_options INTERFACE
      "$<$<COMPILE_LANGUAGE:CUDA>:SHELL:-include ${nk_cuda13_shim}>")
  endif()
endif()

# Makes nvcc compile the given sources where Kokkos wants CUDA as CMake's language. Call it in the
# directory that adds the target.
function(nekbone_k_device_sources)
  if(NEKBONE_K_BACKEND STREQUAL "cuda" AND Kokkos_ENABLE_COMPILE_AS_CMAKE_LANGUAGE)
    set_source_files_properties(${ARGN} PROPERTIES LANGUAGE CUDA)
  endif()
endfunction()
