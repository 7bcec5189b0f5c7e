! SPDX-License-Identifier: BSD-3-Clause
! Calls the gather-scatter as Nek5000 does, and does not free the handle. Prints "right" on each rank
! if all values are. With any argument it passes a wrong handle, which ends the program.
program like_nek
  use mpi
  implicit none
  integer :: handle, ranks, rank, code, i
  integer(8) :: ids(3)
  real(8) :: values(3), fields(4, 2)
  logical :: right

  call MPI_Init(code)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, code)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, code)
  ! The first id is on all ranks, the second is flagged on all but the first rank, the third is 0.
  ids = [5_8, merge(9_8, -9_8, rank == 0), 0_8]
  call fgslib_gs_setup(handle, ids, 3, MPI_COMM_WORLD, ranks)

  values = [1d0, 2d0 + rank, 3d0]
  call fgslib_gs_op(handle, values, 1, 1, 0)
  right = all(values == [1d0 * ranks, 2d0, 3d0])
  if (command_argument_count() > 0) call fgslib_gs_op(handle + 1, values, 1, 1, 0)

  do i = 1, 2
    fields(:, i) = [1d0 * (rank + i), 1d0, 3d0, 4d0]
  end do
  call fgslib_gs_op_fields(handle, fields, 4, 2, 1, 4, 1)
  do i = 1, 2
    right = right .and. all(fields(:, i) == [1d0 * (ranks - 1 + i), 1d0, 3d0, 4d0])
  end do
  if (right) print '(a)', 'right'
  call MPI_Finalize(code)
end program like_nek
