# SPDX-License-Identifier: BSD-3-Clause
# Uses ccache if it is installed and no launcher is set; never requires it.
find_program(NEKBONE_K_CCACHE ccache)
mark_as_advanced(NEKBONE_K_CCACHE)
if(NEKBONE_K_CCACHE)
  foreach(language CXX CUDA)
    if(NOT DEFINED CMAKE_${language}_COMPILER_LAUNCHER)
      set(CMAKE_${language}_COMPILER_LAUNCHER ${NEKBONE_K_CCACHE})
    endif()
  endforeach()
endif()
