! Reading what Forebay stored, for Fortran: what forebay_read.h has, which also says what the calls mean. Compile
! forebay.f90 and this file with the program (a Fortran 2018 compiler) and link libforebay_read and libforebay. A complete
! program, which prints the mean of a plane of the newest step:
!
!   program plane_mean
!     use, intrinsic :: iso_fortran_env, only: int64, real64
!     use forebay, only: FOREBAY_OK, forebay_message
!     use forebay_reading
!     implicit none
!     type(forebay_run) :: run
!     type(forebay_step) :: step
!     type(forebay_array) :: facts
!     real(real64), allocatable :: plane(:, :)
!     character(len=4096) :: store, name
!     integer :: array, status
!
!     call get_command_argument(1, store)
!     call get_command_argument(2, name)
!     call forebay_read_open(run, store, status)
!     if (status == FOREBAY_OK) call forebay_read_open_step(run, -1_int64, step, status)
!     if (status == FOREBAY_OK) call forebay_read_find(step, name, array, status)
!     if (status == FOREBAY_OK) call forebay_read_inquire_array(step, array, facts, status)
!     if (status == FOREBAY_OK) then
!       if (size(facts%shape) /= 3) error stop "not of three dimensions"
!       allocate (plane(facts%shape(2), facts%shape(3)))
!       call forebay_read_box(step, array, plane, status, begin=[facts%shape(1) / 2 + 1, 1_int64, 1_int64], &
!                             count=[1_int64, facts%shape(2:3)])
!     end if
!     if (status /= FOREBAY_OK) then
!       print *, forebay_message()
!       error stop 1
!     end if
!     print *, sum(plane) / size(plane)
!     call forebay_read_close_step(step)
!     call forebay_read_close(run)
!   end program plane_mean
!
! `status` is FOREBAY_OK or another code of the module forebay, whose forebay_message() says why, unless what is wrong is seen
! before the library is called: a variable whose type is not that of the array, whose elements do not lie side by side,
! or begins without counts (FOREBAY_ARGUMENT).
!
! Arrays are numbered from 1, as are blocks, selections and attributes; steps from 0, oldest first, and -1 is the newest.
! Shapes, begins, counts and strides are in Fortran's order, the first dimension varies fastest, and the first element of a
! dimension is 1: an array that a C program wrote as a[nz][ny][nx] has the shape [nx, ny, nz] here. Values go into real and
! integer variables of 4 and 8 bytes whose type is that of the array; for any other type give c_loc(out) and the number
! of its bytes.
module forebay_reading
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: int32, int64, real32, real64
  use forebay, only: FOREBAY_OK, FOREBAY_ARGUMENT, forebay_text, forebay_time, forebay_to_c
  implicit none
  private

  integer, parameter, public :: FOREBAY_READ_OTHER = 0
  integer, parameter, public :: FOREBAY_READ_INT8 = 1
  integer, parameter, public :: FOREBAY_READ_INT16 = 2
  integer, parameter, public :: FOREBAY_READ_INT32 = 3
  integer, parameter, public :: FOREBAY_READ_INT64 = 4
  integer, parameter, public :: FOREBAY_READ_UINT8 = 5
  integer, parameter, public :: FOREBAY_READ_UINT16 = 6
  integer, parameter, public :: FOREBAY_READ_UINT32 = 7
  integer, parameter, public :: FOREBAY_READ_UINT64 = 8
  integer, parameter, public :: FOREBAY_READ_FLOAT16 = 9
  integer, parameter, public :: FOREBAY_READ_FLOAT32 = 10
  integer, parameter, public :: FOREBAY_READ_FLOAT64 = 11
  integer, parameter, public :: FOREBAY_READ_LONG_DOUBLE = 12
  integer, parameter, public :: FOREBAY_READ_COMPLEX64 = 13
  integer, parameter, public :: FOREBAY_READ_COMPLEX128 = 14
  integer, parameter, public :: FOREBAY_READ_STRING = 15
  integer, parameter, public :: FOREBAY_READ_SCALAR = 0
  integer, parameter, public :: FOREBAY_READ_GLOBAL = 1
  integer, parameter, public :: FOREBAY_READ_LOCAL = 2

  type, public :: forebay_run
    private
    type(c_ptr) :: handle = c_null_ptr
  end type forebay_run

  type, public :: forebay_step
    private
    type(c_ptr) :: handle = c_null_ptr
  end type forebay_step

  type, public :: forebay_plan
    private
    type(c_ptr) :: handle = c_null_ptr
  end type forebay_plan

  type, public :: forebay_step_info
    integer(int64) :: number = 0
    character(len=:), allocatable :: set
    logical :: has_step = .false., has_time = .false.
    integer(int64) :: step = 0
    real(real64) :: time = 0
    integer :: arrays = 0
  end type forebay_step_info

  ! Facts about values that are known without reading them.
  type, public :: forebay_values
    logical :: is_known = .false.
    integer(int64) :: count = 0, nans = 0, infinities = 0
    real(real64) :: min = 0, max = 0, sum = 0, sum_of_squares = 0
  end type forebay_values

  type, public :: forebay_array
    character(len=:), allocatable :: name, type_name
    integer :: type = FOREBAY_READ_OTHER, form = FOREBAY_READ_SCALAR, level = -1
    integer(int64) :: element_bytes = 0, blocks = 0
    integer(int64), allocatable :: shape(:)
    type(forebay_values) :: values
  end type forebay_array

  type, public :: forebay_block
    integer :: rank = 0
    integer(int64), allocatable :: begin(:), count(:)
    type(forebay_values) :: values
  end type forebay_block

  ! `value` has the bytes as they lie in memory: transfer() makes numbers of them.
  type, public :: forebay_attribute
    character(len=:), allocatable :: name, variable, type_name
    integer :: type = FOREBAY_READ_OTHER
    integer(int64) :: count = 0
    character(kind=c_char), allocatable :: value(:)
  end type forebay_attribute

  ! A box in which a query may hold, or with values an element for which it does.
  type, public :: forebay_match
    integer(int64) :: number = 0
    character(len=:), allocatable :: set
    logical :: has_time = .false., everywhere = .false.
    real(real64) :: time = 0
    integer, allocatable :: ranks(:)
    integer(int64), allocatable :: begin(:), count(:)
    real(real64), allocatable :: values(:)  ! of an element, of each variable in the order of the query
  end type forebay_match

  type, bind(c), public :: forebay_query_summary
    integer(c_size_t), private :: size = 0
    integer(c_int64_t) :: steps = 0, steps_found = 0
    integer(c_int64_t) :: blocks = 0, candidates = 0
    integer(c_int64_t) :: elements = 0
    integer(c_int64_t) :: failures = 0
    integer(c_int64_t) :: value_bytes = 0
    integer(c_int64_t) :: read_bytes = 0, decoded_bytes = 0, frames = 0, cached = 0
  end type forebay_query_summary

  abstract interface
    subroutine forebay_match_procedure(match)
      import :: forebay_match
      type(forebay_match), intent(in) :: match
    end subroutine forebay_match_procedure
  end interface

  public :: forebay_match_procedure
  public :: forebay_read_open, forebay_read_close, forebay_read_steps, forebay_read_follow
  public :: forebay_read_open_step, forebay_read_close_step, forebay_read_inquire_step
  public :: forebay_read_find, forebay_read_inquire_array, forebay_read_inquire_block
  public :: forebay_read_attributes, forebay_read_inquire_attribute
  public :: forebay_read_plan_new, forebay_read_plan_box, forebay_read_plan_block, forebay_read_perform
  public :: forebay_read_outcome, forebay_read_plan_free, forebay_read_box, forebay_read_query

  ! Adds a box of an array to a plan, whole or from `begin` on. `out` is kept until forebay_read_perform(): it needs the
  ! attribute target, and its elements lie side by side; else ARGUMENT.
  interface forebay_read_plan_box
    module procedure plan_box_real32, plan_box_real64, plan_box_int32, plan_box_int64, plan_box_bytes
  end interface forebay_read_plan_box

  ! Reads one box of an array, whole or from `begin` on, into `out`.
  interface forebay_read_box
    module procedure box_real32, box_real64, box_int32, box_int64
  end interface forebay_read_box

  type, bind(c) :: c_options
    integer(c_size_t) :: size
    integer(c_int64_t) :: memory_bytes
    integer(c_int) :: threads, stored
    type(c_ptr) :: series, set, layout
  end type c_options

  type, bind(c) :: c_step_info
    integer(c_int64_t) :: number
    type(c_ptr) :: set
    integer(c_int) :: has_step
    integer(c_int64_t) :: step
    integer(c_int) :: has_time
    real(c_double) :: time
    integer(c_size_t) :: arrays
  end type c_step_info

  type, bind(c) :: c_values
    integer(c_int64_t) :: count, nans, infinities
    real(c_double) :: min, max, sum, sum_of_squares
  end type c_values

  type, bind(c) :: c_array
    type(c_ptr) :: name
    integer(c_int) :: type
    type(c_ptr) :: type_name
    integer(c_int64_t) :: element_bytes
    integer(c_int) :: form
    integer(c_size_t) :: dimensions
    type(c_ptr) :: shape
    integer(c_int64_t) :: blocks
    integer(c_int) :: level
    type(c_ptr) :: values
  end type c_array

  type, bind(c) :: c_block
    integer(c_int32_t) :: rank
    type(c_ptr) :: begin, count
    integer(c_size_t) :: dimensions
    type(c_ptr) :: values
  end type c_block

  type, bind(c) :: c_attribute
    type(c_ptr) :: name, variable
    integer(c_int) :: type
    type(c_ptr) :: type_name
    integer(c_int64_t) :: count
    type(c_ptr) :: value
    integer(c_size_t) :: bytes
  end type c_attribute

  type, bind(c) :: c_match
    integer(c_int64_t) :: number
    type(c_ptr) :: set
    integer(c_int) :: has_time
    real(c_double) :: time
    type(c_ptr) :: ranks
    integer(c_size_t) :: rank_count, dimensions
    type(c_ptr) :: begin, count
    integer(c_int) :: everywhere
    type(c_ptr) :: values
    integer(c_size_t) :: variables
  end type c_match

  ! The context of a query, from which its matches come back.
  type :: listener
    procedure(forebay_match_procedure), pointer, nopass :: match => null()
  end type listener

  interface
    integer(c_int) function c_open(path, options, run) bind(c, name="forebay_read_open")
      import :: c_char, c_int, c_options, c_ptr
      character(kind=c_char), intent(in) :: path(*)
      type(c_options), intent(in) :: options
      type(c_ptr), intent(out) :: run
    end function c_open
    subroutine c_close(run) bind(c, name="forebay_read_close")
      import :: c_ptr
      type(c_ptr), value :: run
    end subroutine c_close
    integer(c_int64_t) function c_steps(run) bind(c, name="forebay_read_steps")
      import :: c_int64_t, c_ptr
      type(c_ptr), value :: run
    end function c_steps
    integer(c_int) function c_follow(run, known, timeout_ms, steps) bind(c, name="forebay_read_follow")
      import :: c_int, c_int64_t, c_ptr
      type(c_ptr), value :: run
      integer(c_int64_t), value :: known, timeout_ms
      integer(c_int64_t), intent(out) :: steps
    end function c_follow
    integer(c_int) function c_open_step(run, number, step) bind(c, name="forebay_read_open_step")
      import :: c_int, c_int64_t, c_ptr
      type(c_ptr), value :: run
      integer(c_int64_t), value :: number
      type(c_ptr), intent(out) :: step
    end function c_open_step
    subroutine c_close_step(step) bind(c, name="forebay_read_close_step")
      import :: c_ptr
      type(c_ptr), value :: step
    end subroutine c_close_step
    integer(c_int) function c_inquire_step(step, info) bind(c, name="forebay_read_inquire_step")
      import :: c_int, c_ptr
      type(c_ptr), value :: step
      type(c_ptr), intent(out) :: info
    end function c_inquire_step
    integer(c_int) function c_find(step, name, array) bind(c, name="forebay_read_find")
      import :: c_char, c_int, c_ptr, c_size_t
      type(c_ptr), value :: step
      character(kind=c_char), intent(in) :: name(*)
      integer(c_size_t), intent(out) :: array
    end function c_find
    integer(c_int) function c_inquire_array(step, array, facts) bind(c, name="forebay_read_inquire_array")
      import :: c_int, c_ptr, c_size_t
      type(c_ptr), value :: step
      integer(c_size_t), value :: array
      type(c_ptr), intent(out) :: facts
    end function c_inquire_array
    integer(c_int) function c_inquire_block(step, array, block, facts) bind(c, name="forebay_read_inquire_block")
      import :: c_int, c_int64_t, c_ptr, c_size_t
      type(c_ptr), value :: step
      integer(c_size_t), value :: array
      integer(c_int64_t), value :: block
      type(c_ptr), intent(out) :: facts
    end function c_inquire_block
    integer(c_int) function c_attributes(step, count) bind(c, name="forebay_read_attributes")
      import :: c_int, c_ptr, c_size_t
      type(c_ptr), value :: step
      integer(c_size_t), intent(out) :: count
    end function c_attributes
    integer(c_int) function c_inquire_attribute(step, attribute, facts) bind(c, name="forebay_read_inquire_attribute")
      import :: c_int, c_ptr, c_size_t
      type(c_ptr), value :: step
      integer(c_size_t), value :: attribute
      type(c_ptr), intent(out) :: facts
    end function c_inquire_attribute
    integer(c_int) function c_plan_new(plan) bind(c, name="forebay_read_plan_new")
      import :: c_int, c_ptr
      type(c_ptr), intent(out) :: plan
    end function c_plan_new
    integer(c_int) function c_plan_box(plan, step, array, dimensions, begin, count, stride, out, bytes) &
        bind(c, name="forebay_read_plan_box")
      import :: c_int, c_ptr, c_size_t
      type(c_ptr), value :: plan, step, begin, count, stride, out
      integer(c_size_t), value :: array, dimensions, bytes
    end function c_plan_box
    integer(c_int) function c_plan_block(plan, step, array, block, dimensions, begin, count, out, bytes) &
        bind(c, name="forebay_read_plan_block")
      import :: c_int, c_int64_t, c_ptr, c_size_t
      type(c_ptr), value :: plan, step, begin, count, out
      integer(c_size_t), value :: array, dimensions, bytes
      integer(c_int64_t), value :: block
    end function c_plan_block
    integer(c_int) function c_perform(plan) bind(c, name="forebay_read_perform")
      import :: c_int, c_ptr
      type(c_ptr), value :: plan
    end function c_perform
    integer(c_int) function c_outcome(plan, selection, holes) bind(c, name="forebay_read_outcome")
      import :: c_int, c_int64_t, c_ptr, c_size_t
      type(c_ptr), value :: plan
      integer(c_size_t), value :: selection
      integer(c_int64_t), intent(out) :: holes
    end function c_outcome
    integer(c_int) function c_query(run, query, begin, end, flags, match, context, summary) &
        bind(c, name="forebay_read_query")
      import :: c_char, c_funptr, c_int, c_int64_t, c_ptr, forebay_query_summary
      type(c_ptr), value :: run, context
      character(kind=c_char), intent(in) :: query(*)
      integer(c_int64_t), value :: begin, end
      integer(c_int), value :: flags
      type(c_funptr), value :: match
      type(forebay_query_summary), intent(inout) :: summary
    end function c_query
    subroutine c_plan_free(plan) bind(c, name="forebay_read_plan_free")
      import :: c_ptr
      type(c_ptr), value :: plan
    end subroutine c_plan_free
  end interface

contains

  ! `path`: a store, a file that grows, or a BP file of ADIOS 1.x. What is left out is the default of forebay_read_options.
  subroutine forebay_read_open(run, path, status, series, set, layout, memory_bytes, threads, stored)
    type(forebay_run), intent(inout) :: run
    character(len=*), intent(in) :: path
    integer, intent(out) :: status
    character(len=*), intent(in), optional :: series, set, layout
    integer(int64), intent(in), optional :: memory_bytes
    integer, intent(in), optional :: threads
    logical, intent(in), optional :: stored
    character(kind=c_char), allocatable, target :: of_series(:), of_set(:), of_layout(:)
    type(c_options) :: options

    options = c_options(c_sizeof(options), 0, 0, 0, c_null_ptr, c_null_ptr, c_null_ptr)
    if (present(memory_bytes)) options%memory_bytes = memory_bytes
    if (present(threads)) options%threads = int(threads, c_int)
    if (present(stored)) options%stored = merge(1_c_int, 0_c_int, stored)
    options%series = kept(series, of_series)
    options%set = kept(set, of_set)
    options%layout = kept(layout, of_layout)
    status = int(c_open(forebay_to_c(path), options, run%handle))
  end subroutine forebay_read_open

  subroutine forebay_read_close(run)
    type(forebay_run), intent(inout) :: run

    call c_close(run%handle)
    run%handle = c_null_ptr
  end subroutine forebay_read_close

  function forebay_read_steps(run) result(steps)
    type(forebay_run), intent(in) :: run
    integer(int64) :: steps

    steps = c_steps(run%handle)
  end function forebay_read_steps

  ! Waits until there are more than `known` steps.
  subroutine forebay_read_follow(run, known, steps, status, timeout_ms)
    type(forebay_run), intent(in) :: run
    integer(int64), intent(in) :: known
    integer(int64), intent(out) :: steps
    integer, intent(out) :: status
    integer(int64), intent(in), optional :: timeout_ms
    integer(c_int64_t) :: found

    found = known
    status = int(c_follow(run%handle, int(known, c_int64_t), forebay_time(timeout_ms), found))
    steps = found
  end subroutine forebay_read_follow

  subroutine forebay_read_open_step(run, number, step, status)
    type(forebay_run), intent(in) :: run
    integer(int64), intent(in) :: number
    type(forebay_step), intent(inout) :: step
    integer, intent(out) :: status

    status = int(c_open_step(run%handle, int(number, c_int64_t), step%handle))
  end subroutine forebay_read_open_step

  subroutine forebay_read_close_step(step)
    type(forebay_step), intent(inout) :: step

    call c_close_step(step%handle)
    step%handle = c_null_ptr
  end subroutine forebay_read_close_step

  subroutine forebay_read_inquire_step(step, info, status)
    type(forebay_step), intent(in) :: step
    type(forebay_step_info), intent(out) :: info
    integer, intent(out) :: status
    type(c_step_info), pointer :: found
    type(c_ptr) :: where

    status = int(c_inquire_step(step%handle, where))
    if (status /= FOREBAY_OK) return
    call c_f_pointer(where, found)
    info%number = found%number
    info%set = forebay_text(found%set)
    info%has_step = found%has_step /= 0
    info%step = found%step
    info%has_time = found%has_time /= 0
    info%time = found%time
    info%arrays = int(found%arrays)
  end subroutine forebay_read_inquire_step

  ! The number of the array of that name, with or without a '/' in front; 0 if the call has failed.
  subroutine forebay_read_find(step, name, array, status)
    type(forebay_step), intent(in) :: step
    character(len=*), intent(in) :: name
    integer, intent(out) :: array, status
    integer(c_size_t) :: found

    found = 0
    status = int(c_find(step%handle, forebay_to_c(name), found))
    array = 0
    if (status == FOREBAY_OK) array = int(found) + 1
  end subroutine forebay_read_find

  subroutine forebay_read_inquire_array(step, array, facts, status)
    type(forebay_step), intent(in) :: step
    integer, intent(in) :: array
    type(forebay_array), intent(out) :: facts
    integer, intent(out) :: status
    type(c_array), pointer :: found
    type(c_ptr) :: where

    status = int(c_inquire_array(step%handle, from_one(array), where))
    if (status /= FOREBAY_OK) return
    call c_f_pointer(where, found)
    facts%name = forebay_text(found%name)
    facts%type = int(found%type)
    facts%type_name = forebay_text(found%type_name)
    facts%element_bytes = found%element_bytes
    facts%form = int(found%form)
    facts%shape = reversed(found%shape, found%dimensions)
    facts%blocks = found%blocks
    facts%level = int(found%level)
    facts%values = values_at(found%values)
  end subroutine forebay_read_inquire_array

  subroutine forebay_read_inquire_block(step, array, block, facts, status)
    type(forebay_step), intent(in) :: step
    integer, intent(in) :: array
    integer(int64), intent(in) :: block
    type(forebay_block), intent(out) :: facts
    integer, intent(out) :: status
    type(c_block), pointer :: found
    type(c_ptr) :: where

    status = int(c_inquire_block(step%handle, from_one(array), int(block - 1, c_int64_t), where))
    if (status /= FOREBAY_OK) return
    call c_f_pointer(where, found)
    facts%rank = int(found%rank)
    facts%begin = reversed(found%begin, found%dimensions) + 1
    facts%count = reversed(found%count, found%dimensions)
    facts%values = values_at(found%values)
  end subroutine forebay_read_inquire_block

  subroutine forebay_read_attributes(step, attributes, status)
    type(forebay_step), intent(in) :: step
    integer, intent(out) :: attributes, status
    integer(c_size_t) :: found

    found = 0
    status = int(c_attributes(step%handle, found))
    attributes = int(found)
  end subroutine forebay_read_attributes

  subroutine forebay_read_inquire_attribute(step, attribute, facts, status)
    type(forebay_step), intent(in) :: step
    integer, intent(in) :: attribute
    type(forebay_attribute), intent(out) :: facts
    integer, intent(out) :: status
    type(c_attribute), pointer :: found
    character(kind=c_char), pointer :: bytes(:)
    type(c_ptr) :: where

    status = int(c_inquire_attribute(step%handle, from_one(attribute), where))
    if (status /= FOREBAY_OK) return
    call c_f_pointer(where, found)
    facts%name = forebay_text(found%name)
    facts%variable = forebay_text(found%variable)
    facts%type = int(found%type)
    facts%type_name = forebay_text(found%type_name)
    facts%count = found%count
    allocate (facts%value(found%bytes))
    if (found%bytes == 0) return
    call c_f_pointer(found%value, bytes, [found%bytes])
    facts%value = bytes
  end subroutine forebay_read_inquire_attribute

  subroutine forebay_read_plan_new(plan, status)
    type(forebay_plan), intent(inout) :: plan
    integer, intent(out) :: status

    status = int(c_plan_new(plan%handle))
  end subroutine forebay_read_plan_new

  ! A block as it was written. `out` as in forebay_read_plan_box(), as c_loc() of a variable with `bytes` bytes.
  subroutine forebay_read_plan_block(plan, step, array, block, out, bytes, status)
    type(forebay_plan), intent(in) :: plan
    type(forebay_step), intent(in) :: step
    integer, intent(in) :: array
    integer(int64), intent(in) :: block, bytes
    type(c_ptr), intent(in) :: out
    integer, intent(out) :: status

    status = int(c_plan_block(plan%handle, step%handle, from_one(array), int(block - 1, c_int64_t), 0_c_size_t, &
                              c_null_ptr, c_null_ptr, out, int(bytes, c_size_t)))
  end subroutine forebay_read_plan_block

  subroutine forebay_read_perform(plan, status)
    type(forebay_plan), intent(in) :: plan
    integer, intent(out) :: status

    status = int(c_perform(plan%handle))
  end subroutine forebay_read_perform

  ! The outcome of a selection of those that were performed last, numbered from 1 in the order in which they were added.
  subroutine forebay_read_outcome(plan, selection, holes, status)
    type(forebay_plan), intent(in) :: plan
    integer, intent(in) :: selection
    integer(int64), intent(out) :: holes
    integer, intent(out) :: status
    integer(c_int64_t) :: found

    found = 0
    status = int(c_outcome(plan%handle, from_one(selection), found))
    holes = found
  end subroutine forebay_read_outcome

  subroutine forebay_read_plan_free(plan)
    type(forebay_plan), intent(inout) :: plan

    call c_plan_free(plan%handle)
    plan%handle = c_null_ptr
  end subroutine forebay_read_plan_free

  ! Calls `match` for each box of the steps from `begin` up to, but without, `end` in which `query` may hold; with `values` for
  ! each element for which it does; with `first` not behind the first step in which it holds.
  subroutine forebay_read_query(run, query, match, status, begin, end, values, first, summary)
    type(forebay_run), intent(in) :: run
    character(len=*), intent(in) :: query
    procedure(forebay_match_procedure) :: match
    integer, intent(out) :: status
    integer(int64), intent(in), optional :: begin, end
    logical, intent(in), optional :: values, first
    type(forebay_query_summary), intent(out), optional :: summary
    type(forebay_query_summary) :: filled
    type(listener), target :: context
    integer(c_int64_t) :: from, to
    integer(c_int) :: flags

    from = 0
    to = -1  ! UINT64_MAX
    flags = 0
    if (present(begin)) from = begin
    if (present(end)) to = end
    if (present(values)) flags = flags + merge(1_c_int, 0_c_int, values)
    if (present(first)) flags = flags + merge(2_c_int, 0_c_int, first)
    filled%size = c_sizeof(filled)
    context%match => match
    status = int(c_query(run%handle, forebay_to_c(query), from, to, flags, c_funloc(hear), c_loc(context), filled))
    if (present(summary)) summary = filled
  end subroutine forebay_read_query

  subroutine hear(context, match) bind(c)
    type(c_ptr), value :: context
    type(c_match), intent(in) :: match
    type(listener), pointer :: to
    type(forebay_match) :: found
    integer(c_int32_t), pointer :: ranks(:)
    real(c_double), pointer :: values(:)

    found%number = match%number
    found%set = forebay_text(match%set)
    found%has_time = match%has_time /= 0
    found%time = match%time
    found%begin = reversed(match%begin, match%dimensions) + 1
    found%count = reversed(match%count, match%dimensions)
    found%everywhere = match%everywhere /= 0
    allocate (found%ranks(0), found%values(0))
    if (match%rank_count > 0) then
      call c_f_pointer(match%ranks, ranks, [match%rank_count])
      found%ranks = int(ranks)
    end if
    if (c_associated(match%values)) then
      call c_f_pointer(match%values, values, [match%variables])
      found%values = values
    end if
    call c_f_pointer(context, to)
    call to%match(found)
  end subroutine hear

  subroutine plan_box_bytes(plan, step, array, out, bytes, status, begin, count, stride)
    type(forebay_plan), intent(in) :: plan
    type(forebay_step), intent(in) :: step
    integer, intent(in) :: array
    type(c_ptr), intent(in) :: out
    integer(int64), intent(in) :: bytes
    integer, intent(out) :: status
    integer(int64), intent(in), optional :: begin(:), count(:), stride(:)
    integer(c_int64_t), allocatable, target :: at(:), number(:), step_of(:)

    status = FOREBAY_ARGUMENT
    if (present(begin) .neqv. present(count)) return
    if (present(stride) .and. .not. present(begin)) return
    if (.not. present(begin)) then
      status = int(c_plan_box(plan%handle, step%handle, from_one(array), 0_c_size_t, c_null_ptr, c_null_ptr, &
                              c_null_ptr, out, int(bytes, c_size_t)))
      return
    end if
    if (size(count) /= size(begin)) return
    at = begin(size(begin):1:-1) - 1
    number = count(size(count):1:-1)
    allocate (step_of(size(begin)), source=1_c_int64_t)
    if (present(stride)) then
      if (size(stride) /= size(begin)) return
      step_of = stride(size(stride):1:-1)
    end if
    status = int(c_plan_box(plan%handle, step%handle, from_one(array), size(begin, kind=c_size_t), c_loc(at), &
                            c_loc(number), c_loc(step_of), out, int(bytes, c_size_t)))
  end subroutine plan_box_bytes

  subroutine plan_box_real32(plan, step, array, out, status, begin, count, stride)
    type(forebay_plan), intent(in) :: plan
    type(forebay_step), intent(in) :: step
    integer, intent(in) :: array
    real(real32), intent(in), target :: out(..)
    integer, intent(out) :: status
    integer(int64), intent(in), optional :: begin(:), count(:), stride(:)

    status = FOREBAY_ARGUMENT
    if (.not. is_contiguous(out) .or. .not. has_type(step, array, FOREBAY_READ_FLOAT32)) return
    call plan_box_bytes(plan, step, array, c_loc(out), 4 * size(out, kind=int64), status, begin, count, stride)
  end subroutine plan_box_real32

  subroutine plan_box_real64(plan, step, array, out, status, begin, count, stride)
    type(forebay_plan), intent(in) :: plan
    type(forebay_step), intent(in) :: step
    integer, intent(in) :: array
    real(real64), intent(in), target :: out(..)
    integer, intent(out) :: status
    integer(int64), intent(in), optional :: begin(:), count(:), stride(:)

    status = FOREBAY_ARGUMENT
    if (.not. is_contiguous(out) .or. .not. has_type(step, array, FOREBAY_READ_FLOAT64)) return
    call plan_box_bytes(plan, step, array, c_loc(out), 8 * size(out, kind=int64), status, begin, count, stride)
  end subroutine plan_box_real64

  subroutine plan_box_int32(plan, step, array, out, status, begin, count, stride)
    type(forebay_plan), intent(in) :: plan
    type(forebay_step), intent(in) :: step
    integer, intent(in) :: array
    integer(int32), intent(in), target :: out(..)
    integer, intent(out) :: status
    integer(int64), intent(in), optional :: begin(:), count(:), stride(:)

    status = FOREBAY_ARGUMENT
    if (.not. is_contiguous(out) .or. .not. has_type(step, array, FOREBAY_READ_INT32)) return
    call plan_box_bytes(plan, step, array, c_loc(out), 4 * size(out, kind=int64), status, begin, count, stride)
  end subroutine plan_box_int32

  subroutine plan_box_int64(plan, step, array, out, status, begin, count, stride)
    type(forebay_plan), intent(in) :: plan
    type(forebay_step), intent(in) :: step
    integer, intent(in) :: array
    integer(int64), intent(in), target :: out(..)
    integer, intent(out) :: status
    integer(int64), intent(in), optional :: begin(:), count(:), stride(:)

    status = FOREBAY_ARGUMENT
    if (.not. is_contiguous(out) .or. .not. has_type(step, array, FOREBAY_READ_INT64)) return
    call plan_box_bytes(plan, step, array, c_loc(out), 8 * size(out, kind=int64), status, begin, count, stride)
  end subroutine plan_box_int64

  subroutine box_real32(step, array, out, status, begin, count, stride, holes)
    type(forebay_step), intent(in) :: step
    integer, intent(in) :: array
    real(real32), intent(inout), target, contiguous :: out(..)
    integer, intent(out) :: status
    integer(int64), intent(in), optional :: begin(:), count(:), stride(:)
    integer(int64), intent(out), optional :: holes
    type(forebay_plan) :: plan

    call forebay_read_plan_new(plan, status)
    if (status == FOREBAY_OK) call plan_box_real32(plan, step, array, out, status, begin, count, stride)
    call finish(plan, status, holes)
  end subroutine box_real32

  subroutine box_real64(step, array, out, status, begin, count, stride, holes)
    type(forebay_step), intent(in) :: step
    integer, intent(in) :: array
    real(real64), intent(inout), target, contiguous :: out(..)
    integer, intent(out) :: status
    integer(int64), intent(in), optional :: begin(:), count(:), stride(:)
    integer(int64), intent(out), optional :: holes
    type(forebay_plan) :: plan

    call forebay_read_plan_new(plan, status)
    if (status == FOREBAY_OK) call plan_box_real64(plan, step, array, out, status, begin, count, stride)
    call finish(plan, status, holes)
  end subroutine box_real64

  subroutine box_int32(step, array, out, status, begin, count, stride, holes)
    type(forebay_step), intent(in) :: step
    integer, intent(in) :: array
    integer(int32), intent(inout), target, contiguous :: out(..)
    integer, intent(out) :: status
    integer(int64), intent(in), optional :: begin(:), count(:), stride(:)
    integer(int64), intent(out), optional :: holes
    type(forebay_plan) :: plan

    call forebay_read_plan_new(plan, status)
    if (status == FOREBAY_OK) call plan_box_int32(plan, step, array, out, status, begin, count, stride)
    call finish(plan, status, holes)
  end subroutine box_int32

  subroutine box_int64(step, array, out, status, begin, count, stride, holes)
    type(forebay_step), intent(in) :: step
    integer, intent(in) :: array
    integer(int64), intent(inout), target, contiguous :: out(..)
    integer, intent(out) :: status
    integer(int64), intent(in), optional :: begin(:), count(:), stride(:)
    integer(int64), intent(out), optional :: holes
    type(forebay_plan) :: plan

    call forebay_read_plan_new(plan, status)
    if (status == FOREBAY_OK) call plan_box_int64(plan, step, array, out, status, begin, count, stride)
    call finish(plan, status, holes)
  end subroutine box_int64

  ! Performs the plan of one selection and frees it.
  subroutine finish(plan, status, holes)
    type(forebay_plan), intent(inout) :: plan
    integer, intent(inout) :: status
    integer(int64), intent(out), optional :: holes
    integer(int64) :: found

    found = 0
    if (status == FOREBAY_OK) call forebay_read_perform(plan, status)
    if (status == FOREBAY_OK) call forebay_read_outcome(plan, 1, found, status)
    if (present(holes)) holes = found
    call forebay_read_plan_free(plan)
  end subroutine finish

  function has_type(step, array, type) result(has)
    type(forebay_step), intent(in) :: step
    integer, intent(in) :: array, type
    logical :: has
    type(forebay_array) :: facts
    integer :: status

    call forebay_read_inquire_array(step, array, facts, status)
    has = status == FOREBAY_OK .and. facts%type == type
  end function has_type

  ! The text for as long as `kept_text` is; a null pointer if there is none.
  function kept(text, kept_text) result(where)
    character(len=*), intent(in), optional :: text
    character(kind=c_char), allocatable, target, intent(inout) :: kept_text(:)
    type(c_ptr) :: where

    where = c_null_ptr
    if (.not. present(text)) return
    allocate (kept_text, source=forebay_to_c(text))
    where = c_loc(kept_text)
  end function kept

  ! C's number of what is numbered from 1 here; of 0 and less one that nothing has.
  pure function from_one(number) result(in_c)
    integer, intent(in) :: number
    integer(c_size_t) :: in_c

    in_c = -1
    if (number >= 1) in_c = int(number, c_size_t) - 1
  end function from_one

  function reversed(where, dimensions) result(list)
    type(c_ptr), intent(in) :: where
    integer(c_size_t), intent(in) :: dimensions
    integer(int64), allocatable :: list(:)
    integer(c_int64_t), pointer :: in_c(:)

    allocate (list(dimensions))
    if (dimensions == 0) return
    call c_f_pointer(where, in_c, [dimensions])
    list = in_c(dimensions:1:-1)
  end function reversed

  function values_at(where) result(values)
    type(c_ptr), intent(in) :: where
    type(forebay_values) :: values
    type(c_values), pointer :: found

    if (.not. c_associated(where)) return
    call c_f_pointer(where, found)
    values = forebay_values(.true., found%count, found%nans, found%infinities, found%min, found%max, found%sum, &
                            found%sum_of_squares)
  end function values_at

end module forebay_reading
