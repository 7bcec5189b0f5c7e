! SPDX-License-Identifier: BSD-3-Clause
! A closed chain of elements with two points each: neighbours share a point, also across ranks.
program gs_from_fortran
  use, intrinsic :: iso_c_binding
  use mpi
  use nekbone_k_gs
  implicit none
  integer, parameter :: elements = 1000, points = 2 * elements ! of each rank
  type(nekbone_k_gs_handle) :: gs
  integer(c_int64_t) :: ids(points), element
  real(c_double), target :: values(points)
  integer :: rank, size, ierr, e, wrong

  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, size, ierr)
  do e = 1, elements
    element = int(rank, c_int64_t) * elements + e ! ids begin at 1: 0 takes no part
    ids(2 * e - 1) = element
    ids(2 * e) = 1 + mod(element, int(size, c_int64_t) * elements)
  end do
  values = 1

  call check(nekbone_k_gs_create(MPI_COMM_WORLD, ids, 'tuning.budget_seconds=0.2', gs))
  call check(nekbone_k_gs_tune(gs, NEKBONE_K_GS_DOUBLE, 1))
  call check(nekbone_k_gs_op(gs, c_loc(values), NEKBONE_K_GS_DOUBLE, 1, &
                             NEKBONE_K_GS_BY_COMPONENT, NEKBONE_K_GS_ADD))

  wrong = count(values /= 2)
  call MPI_Allreduce(MPI_IN_PLACE, wrong, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
  if (rank == 0) then
    print '(a)', nekbone_k_gs_report(gs)
    print '(i0, a)', wrong, ' points are wrong'
  end if
  call check(nekbone_k_gs_free(gs))
  call MPI_Finalize(ierr)
  if (wrong /= 0) stop 1

contains
  subroutine check(code)
    integer(c_int), intent(in) :: code
    integer :: ierr
    if (code == NEKBONE_K_GS_OK) return
    print '(2a)', 'gs_from_fortran: ', nekbone_k_gs_error_text()
    call MPI_Abort(MPI_COMM_WORLD, int(code), ierr)
  end subroutine check
end program gs_from_fortran
