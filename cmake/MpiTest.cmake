# SPDX-License-Identifier: BSD-3-Clause
# nekbone_k_add_mpi_test(NAME <n> NP <ranks> [THREADS <per rank>] LABELS <label>...
#                        COMMAND <program> <arg>...)
# adds a CTest test that runs a program under MPI. NP 0 runs it without mpiexec. THREADS is the
# number of OpenMP threads per rank, by default 1. In builds for GPUs, tests also get the label gpu.
# nk_mpiexec is the launch command as a list, without "-n <ranks>".

execute_process(COMMAND ${MPIEXEC_EXECUTABLE} --version
                OUTPUT_VARIABLE nk_mpiexec_version ERROR_VARIABLE nk_mpiexec_version)
set(nk_mpiexec ${MPIEXEC_EXECUTABLE} ${MPIEXEC_PREFLAGS})
if(nk_mpiexec_version MATCHES "Open MPI|OpenRTE|PRRTE")
  list(APPEND nk_mpiexec --oversubscribe) # 7 ranks on 2 cores are intended
  set(nk_ranks_yield TRUE) # while they wait
  set(nk_test_timeout 300)
else()
  # Ranks of MPICH spin while they wait. With more ranks than cores, a test takes many times as
  # long.
  set(nk_test_timeout 1500)
endif()

# Tests run as root in containers, with more ranks than cores, and several at a time.
set(nk_test_environment
    OMPI_ALLOW_RUN_AS_ROOT=1
    OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
    OMPI_MCA_rmaps_base_oversubscribe=1
    OMPI_MCA_hwloc_base_binding_policy=none
    OMPI_MCA_mpi_yield_when_idle=1
    OMPI_MCA_btl_vader_single_copy_mechanism=none # containers forbid reading a peer's memory
    PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe # the name in Open MPI 5
    OMP_PROC_BIND=false
    OMP_WAIT_POLICY=passive) # more threads than cores are intended, too
if(NEKBONE_K_SANITIZE)
  # MPI libraries keep memory until exit, which the leak check would report.
  list(APPEND nk_test_environment
       ASAN_OPTIONS=detect_leaks=0:verify_asan_link_order=0 # LD_PRELOAD comes before it
       UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1)
endif()

# Ranks that wait sleep, because there are more ranks than cores. Tests on GPUs measure GPUs, and have
# a core per rank.
if(CMAKE_SYSTEM_NAME STREQUAL "Linux" AND NOT NEKBONE_K_BACKEND MATCHES "cuda|hip")
  add_library(nk_patient_yield MODULE ${PROJECT_SOURCE_DIR}/tests/patient_yield.cpp)
  target_compile_features(nk_patient_yield PRIVATE cxx_std_20)
  set(nk_test_libraries ${PROJECT_BINARY_DIR}/tests/lib)
  set_target_properties(nk_patient_yield PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${nk_test_libraries})
  list(APPEND nk_test_environment LD_PRELOAD=${nk_test_libraries}/libnk_patient_yield.so)
endif()

function(nekbone_k_add_mpi_test)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "NAME;NP;THREADS" "LABELS;COMMAND")
  if(NOT arg_THREADS)
    set(arg_THREADS 1)
  endif()
  if(NEKBONE_K_BACKEND MATCHES "cuda|hip")
    list(APPEND arg_LABELS gpu) # they need a GPU
  endif()
  if(arg_NP EQUAL 0)
    add_test(NAME ${arg_NAME} COMMAND ${arg_COMMAND})
    set(arg_NP 1)
  else()
    add_test(NAME ${arg_NAME}
             COMMAND ${nk_mpiexec} ${MPIEXEC_NUMPROC_FLAG} ${arg_NP} ${arg_COMMAND}
                     ${MPIEXEC_POSTFLAGS})
  endif()
  # Ranks that yield while they wait leave cores to the ranks of another test.
  math(EXPR processors "${arg_NP} * ${arg_THREADS}")
  if(nk_ranks_yield AND processors GREATER 2)
    set(processors 2)
  endif()
  set_tests_properties(${arg_NAME} PROPERTIES
    LABELS "${arg_LABELS}" PROCESSORS ${processors} TIMEOUT ${nk_test_timeout}
    ENVIRONMENT "${nk_test_environment};OMP_NUM_THREADS=${arg_THREADS}")
endfunction()
