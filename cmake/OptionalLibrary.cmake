# SPDX-License-Identifier: BSD-3-Clause
# nekbone_k_optional_library(NAME HEADER header NAMES library... INCLUDES suffix... LIBRARIES suffix...)
#
# Makes the target nk_<name>, and sets NEKBONE_K_HAVE_<NAME> to whether it has the library. The cache
# variable NEKBONE_K_<NAME> says whether to use it: AUTO if it is there, ON or OFF. <NAME>_ROOT names
# an additional place to search.
function(nekbone_k_optional_library name)
  cmake_parse_arguments(lib "" "HEADER" "NAMES;INCLUDES;LIBRARIES" ${ARGN})
  set(option NEKBONE_K_${name})
  set(root ${name}_ROOT)
  find_path(${option}_INCLUDE ${lib_HEADER} HINTS ${${root}} ENV ${root}
            PATH_SUFFIXES ${lib_INCLUDES})
  find_library(${option}_LIBRARY NAMES ${lib_NAMES} HINTS ${${root}} ENV ${root}
               PATH_SUFFIXES ${lib_LIBRARIES})
  mark_as_advanced(${option}_INCLUDE ${option}_LIBRARY)
  string(TOLOWER ${name} target)
  if(${option}_INCLUDE AND ${option}_LIBRARY)
    set(NEKBONE_K_HAVE_${name} ON PARENT_SCOPE)
    target_include_directories(nk_${target} SYSTEM INTERFACE ${${option}_INCLUDE})
    target_link_libraries(nk_${target} INTERFACE ${${option}_LIBRARY})
    message(STATUS "${name}: ${${option}_LIBRARY}")
  elseif(${option} STREQUAL "AUTO")
    message(STATUS "${name}: not found, so the strategy ${target} will not be there; ${root} helps")
  else()
    message(FATAL_ERROR "${name}: not found, but ${option} is ${${option}}. ${root} may name its "
                        "folder, or set ${option} to AUTO or OFF.")
  endif()
endfunction()
