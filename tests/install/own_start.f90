! SPDX-License-Identifier: BSD-3-Clause
! As own_start.c, in Fortran: the library starts MPI and Kokkos, and ends both.
program own_start
  use, intrinsic :: iso_c_binding
  use mpi, only: MPI_COMM_WORLD
  use nekbone_k_gs
  implicit none
  type(nekbone_k_gs_handle) :: gs
  integer(c_int64_t) :: ids(2) = [7_c_int64_t, 0_c_int64_t]
  integer(c_int32_t), target :: values(2) = [1_c_int32_t, 42_c_int32_t]

  call check(nekbone_k_gs_create(MPI_COMM_WORLD, ids, '', gs))
  call check(nekbone_k_gs_op(gs, c_loc(values), NEKBONE_K_GS_INT32, 1, &
                             NEKBONE_K_GS_BY_COMPONENT, NEKBONE_K_GS_ADD))
  call check(nekbone_k_gs_free(gs))
  print '(i0, " ", i0)', values

contains
  subroutine check(code)
    integer(c_int), intent(in) :: code
    if (code == NEKBONE_K_GS_OK) return
    print '(a)', nekbone_k_gs_error_text()
    stop 1
  end subroutine check
end program own_start
