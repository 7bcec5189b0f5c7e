! SPDX-License-Identifier: BSD-3-Clause
! The gather-scatter of nekbone-k for Fortran 2003. nekbone_k/gs.h explains everything. Functions
! return a code: NEKBONE_K_GS_OK or the reason of a failure, with nekbone_k_gs_error_text().
module nekbone_k_gs
  use, intrinsic :: iso_c_binding
  implicit none
  private

  public :: nekbone_k_gs_handle, nekbone_k_gs_work
  public :: nekbone_k_gs_create, nekbone_k_gs_op, nekbone_k_gs_start, nekbone_k_gs_finish
  public :: nekbone_k_gs_tune, nekbone_k_gs_report, nekbone_k_gs_free
  public :: nekbone_k_gs_error_text, nekbone_k_gs_version

  integer(c_int), parameter, public :: NEKBONE_K_GS_OK = 0, NEKBONE_K_GS_INVALID = 1, &
    NEKBONE_K_GS_UNAVAILABLE = 2, NEKBONE_K_GS_NO_MEMORY = 3, NEKBONE_K_GS_FAILED = 4
  integer(c_int), parameter, public :: NEKBONE_K_GS_DOUBLE = 0, NEKBONE_K_GS_FLOAT = 1, &
    NEKBONE_K_GS_INT32 = 2, NEKBONE_K_GS_INT64 = 3
  integer(c_int), parameter, public :: NEKBONE_K_GS_ADD = 0, NEKBONE_K_GS_MUL = 1, &
    NEKBONE_K_GS_MIN = 2, NEKBONE_K_GS_MAX = 3
  integer(c_int), parameter, public :: NEKBONE_K_GS_BY_COMPONENT = 0, &
    NEKBONE_K_GS_INTERLEAVED = 1, NEKBONE_K_GS_SEPARATE = 2

  !> A gather-scatter.
  type :: nekbone_k_gs_handle
    private
    type(c_ptr) :: pointer = c_null_ptr
  end type nekbone_k_gs_handle

  abstract interface
    !> Work between start and finish; see the C type of this name. `data` is null.
    subroutine nekbone_k_gs_work(portion, data) bind(c)
      import :: c_double, c_ptr
      real(c_double), value :: portion
      type(c_ptr), value :: data
    end subroutine nekbone_k_gs_work
  end interface

  interface
    function c_create(comm, n, ids, options, gs) result(code) &
      bind(c, name='nekbone_k_gs_create_fortran')
      import :: c_int, c_int64_t, c_char, c_ptr
      integer(c_int), value :: comm
      integer(c_int64_t), value :: n
      integer(c_int64_t), intent(in) :: ids(*)
      character(kind=c_char), intent(in) :: options(*)
      type(c_ptr), intent(out) :: gs
      integer(c_int) :: code
    end function c_create

    function c_op(gs, values, value_type, components, layout, operation) result(code) &
      bind(c, name='nekbone_k_gs_op')
      import :: c_int, c_ptr
      type(c_ptr), value :: gs, values
      integer(c_int), value :: value_type, components, layout, operation
      integer(c_int) :: code
    end function c_op

    function c_start(gs, values, value_type, components, layout, operation) result(code) &
      bind(c, name='nekbone_k_gs_start')
      import :: c_int, c_ptr
      type(c_ptr), value :: gs, values
      integer(c_int), value :: value_type, components, layout, operation
      integer(c_int) :: code
    end function c_start

    function c_finish(gs) result(code) bind(c, name='nekbone_k_gs_finish')
      import :: c_int, c_ptr
      type(c_ptr), value :: gs
      integer(c_int) :: code
    end function c_finish

    function c_tune(gs, value_type, components, work, data) result(code) &
      bind(c, name='nekbone_k_gs_tune')
      import :: c_int, c_ptr, c_funptr
      type(c_ptr), value :: gs, data
      integer(c_int), value :: value_type, components
      type(c_funptr), value :: work
      integer(c_int) :: code
    end function c_tune

    function c_report(gs, json) result(code) bind(c, name='nekbone_k_gs_report')
      import :: c_int, c_ptr
      type(c_ptr), value :: gs
      type(c_ptr), intent(out) :: json
      integer(c_int) :: code
    end function c_report

    function c_free(gs) result(code) bind(c, name='nekbone_k_gs_free')
      import :: c_int, c_ptr
      type(c_ptr), intent(inout) :: gs
      integer(c_int) :: code
    end function c_free

    function c_error_text() result(text) bind(c, name='nekbone_k_gs_error_text')
      import :: c_ptr
      type(c_ptr) :: text
    end function c_error_text

    function c_version() result(text) bind(c, name='nekbone_k_gs_version')
      import :: c_ptr
      type(c_ptr) :: text
    end function c_version

    function c_strlen(text) result(length) bind(c, name='strlen')
      import :: c_ptr, c_size_t
      type(c_ptr), value :: text
      integer(c_size_t) :: length
    end function c_strlen
  end interface

contains

  !> `comm` is a communicator of the module mpi, or the component MPI_VAL of one of mpi_f08.
  function nekbone_k_gs_create(comm, ids, options, gs) result(code)
    integer, intent(in) :: comm
    integer(c_int64_t), intent(in) :: ids(:)
    character(len=*), intent(in) :: options
    type(nekbone_k_gs_handle), intent(out) :: gs
    integer(c_int) :: code
    code = c_create(int(comm, c_int), size(ids, kind=c_int64_t), ids, &
                    trim(options) // c_null_char, gs%pointer)
  end function nekbone_k_gs_create

  !> `values` is the address of the values: c_loc() of an array, or an address on a device.
  function nekbone_k_gs_op(gs, values, value_type, components, layout, operation) result(code)
    type(nekbone_k_gs_handle), intent(in) :: gs
    type(c_ptr), intent(in) :: values
    integer(c_int), intent(in) :: value_type, components, layout, operation
    integer(c_int) :: code
    code = c_op(gs%pointer, values, value_type, components, layout, operation)
  end function nekbone_k_gs_op

  function nekbone_k_gs_start(gs, values, value_type, components, layout, operation) result(code)
    type(nekbone_k_gs_handle), intent(in) :: gs
    type(c_ptr), intent(in) :: values
    integer(c_int), intent(in) :: value_type, components, layout, operation
    integer(c_int) :: code
    code = c_start(gs%pointer, values, value_type, components, layout, operation)
  end function nekbone_k_gs_start

  function nekbone_k_gs_finish(gs) result(code)
    type(nekbone_k_gs_handle), intent(in) :: gs
    integer(c_int) :: code
    code = c_finish(gs%pointer)
  end function nekbone_k_gs_finish

  function nekbone_k_gs_tune(gs, value_type, components, work) result(code)
    type(nekbone_k_gs_handle), intent(in) :: gs
    integer(c_int), intent(in) :: value_type, components
    procedure(nekbone_k_gs_work), optional :: work
    integer(c_int) :: code
    if (present(work)) then
      code = c_tune(gs%pointer, value_type, components, c_funloc(work), c_null_ptr)
    else
      code = c_tune(gs%pointer, value_type, components, c_null_funptr, c_null_ptr)
    end if
  end function nekbone_k_gs_tune

  !> The report as JSON; empty after a failure.
  function nekbone_k_gs_report(gs) result(json)
    type(nekbone_k_gs_handle), intent(in) :: gs
    character(len=:), allocatable :: json
    type(c_ptr) :: text
    json = ''
    if (c_report(gs%pointer, text) == NEKBONE_K_GS_OK) json = fortran_text(text)
  end function nekbone_k_gs_report

  function nekbone_k_gs_free(gs) result(code)
    type(nekbone_k_gs_handle), intent(inout) :: gs
    integer(c_int) :: code
    code = c_free(gs%pointer)
  end function nekbone_k_gs_free

  function nekbone_k_gs_error_text() result(text)
    character(len=:), allocatable :: text
    text = fortran_text(c_error_text())
  end function nekbone_k_gs_error_text

  function nekbone_k_gs_version() result(text)
    character(len=:), allocatable :: text
    text = fortran_text(c_version())
  end function nekbone_k_gs_version

  function fortran_text(address) result(text)
    type(c_ptr), intent(in) :: address
    character(len=:), allocatable :: text
    character(kind=c_char), pointer :: characters(:)
    integer(c_size_t) :: length, i
    length = c_strlen(address)
    call c_f_pointer(address, characters, [length])
    allocate (character(len=length) :: text)
    do i = 1, length
      text(i:i) = characters(i)
    end do
  end function fortran_text

end module nekbone_k_gs
