! Forebay's native interface for Fortran: what forebay.h has, which also says what the calls mean. Compile this file with
! the program and link libforebay:
!
!   type(forebay_client) :: client
!   call forebay_connect(client, rank, ranks, status)
!   call forebay_begin(client, "dump_0040", 40_int64, status)
!   call forebay_path(client, "state.rank0003.h5", path, status)
!   ... write and close the file at trim(path) ...
!   call forebay_complete(client, status)
!
! `status` is FOREBAY_OK or another code. A timeout in milliseconds that is left out, or is < 0, waits for ever. Names and
! paths lose the blanks at their ends.
module forebay
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: int64
  implicit none
  private

  integer, parameter, public :: FOREBAY_OK = 0
  integer, parameter, public :: FOREBAY_ARGUMENT = 1
  integer, parameter, public :: FOREBAY_FAILED = 2
  integer, parameter, public :: FOREBAY_TIMEOUT = 3
  integer, parameter, public :: FOREBAY_NOT_FOUND = 4
  integer, parameter, public :: FOREBAY_DENIED = 5
  integer, parameter, public :: FOREBAY_LIMIT = 6
  integer, parameter, public :: FOREBAY_DAMAGED = 7
  integer, parameter, public :: FOREBAY_UNSUPPORTED = 8
  integer, parameter, public :: FOREBAY_NO_JOB = 16
  integer, parameter, public :: FOREBAY_NO_AGENT = 17
  integer, parameter, public :: FOREBAY_NONE = 18
  integer, parameter, public :: FOREBAY_OTHER_RANKS = 19
  integer, parameter, public :: FOREBAY_SKIPPED = 20
  integer, parameter, public :: FOREBAY_SET_FAILED = 21
  integer, parameter, public :: FOREBAY_CACHED = 22
  integer, parameter, public :: FOREBAY_BUSY = 32
  integer, parameter, public :: FOREBAY_LOST = 33
  integer, parameter, public :: FOREBAY_GONE = 48

  type, public :: forebay_client
    private
    type(c_ptr) :: handle = c_null_ptr
  end type forebay_client

  public :: forebay_connect, forebay_disconnect, forebay_begin, forebay_path, forebay_complete, forebay_wait
  public :: forebay_restart, forebay_restart_any, forebay_restart_path, forebay_message

  ! For the modules beside this one: texts and times between Fortran and C.
  public :: forebay_to_c, forebay_from_c, forebay_text, forebay_time

  interface
    integer(c_int) function c_connect(agent, rank, ranks, client) bind(c, name="forebay_connect")
      import :: c_int, c_ptr
      type(c_ptr), value :: agent
      integer(c_int), value :: rank, ranks
      type(c_ptr), intent(out) :: client
    end function c_connect
    subroutine c_disconnect(client) bind(c, name="forebay_disconnect")
      import :: c_ptr
      type(c_ptr), value :: client
    end subroutine c_disconnect
    integer(c_int) function c_begin(client, set, step, timeout_ms) bind(c, name="forebay_begin")
      import :: c_int, c_int64_t, c_ptr, c_char
      type(c_ptr), value :: client
      character(kind=c_char), intent(in) :: set(*)
      integer(c_int64_t), value :: step, timeout_ms
    end function c_begin
    integer(c_int) function c_path(client, file, path, size) bind(c, name="forebay_path")
      import :: c_int, c_size_t, c_ptr, c_char
      type(c_ptr), value :: client
      character(kind=c_char), intent(in) :: file(*)
      character(kind=c_char), intent(out) :: path(*)
      integer(c_size_t), value :: size
    end function c_path
    integer(c_int) function c_complete(client) bind(c, name="forebay_complete")
      import :: c_int, c_ptr
      type(c_ptr), value :: client
    end function c_complete
    integer(c_int) function c_wait(client, set, timeout_ms) bind(c, name="forebay_wait")
      import :: c_int, c_int64_t, c_ptr, c_char
      type(c_ptr), value :: client
      character(kind=c_char), intent(in) :: set(*)
      integer(c_int64_t), value :: timeout_ms
    end function c_wait
    integer(c_int) function c_restart(client, set, size, step, timeout_ms) bind(c, name="forebay_restart")
      import :: c_int, c_int64_t, c_size_t, c_ptr, c_char
      type(c_ptr), value :: client
      character(kind=c_char), intent(out) :: set(*)
      integer(c_size_t), value :: size
      integer(c_int64_t), intent(out) :: step
      integer(c_int64_t), value :: timeout_ms
    end function c_restart
    integer(c_int) function c_restart_any(client, set, size, step, set_ranks, timeout_ms) &
        bind(c, name="forebay_restart_any")
      import :: c_int, c_int64_t, c_size_t, c_ptr, c_char
      type(c_ptr), value :: client
      character(kind=c_char), intent(out) :: set(*)
      integer(c_size_t), value :: size
      integer(c_int64_t), intent(out) :: step
      integer(c_int), intent(out) :: set_ranks
      integer(c_int64_t), value :: timeout_ms
    end function c_restart_any
    integer(c_int) function c_restart_path(client, file, path, size) bind(c, name="forebay_restart_path")
      import :: c_int, c_size_t, c_ptr, c_char
      type(c_ptr), value :: client
      character(kind=c_char), intent(in) :: file(*)
      character(kind=c_char), intent(out) :: path(*)
      integer(c_size_t), value :: size
    end function c_restart_path
    type(c_ptr) function c_message() bind(c, name="forebay_message")
      import :: c_ptr
    end function c_message
    integer(c_size_t) function c_strlen(text) bind(c, name="strlen")
      import :: c_size_t, c_ptr
      type(c_ptr), value :: text
    end function c_strlen
  end interface

contains

  ! `stage` is the path of the agent's stage; without it $FOREBAY_STAGE is taken.
  subroutine forebay_connect(client, rank, ranks, status, stage)
    type(forebay_client), intent(inout) :: client
    integer, intent(in) :: rank, ranks
    integer, intent(out) :: status
    character(len=*), intent(in), optional :: stage
    character(kind=c_char), allocatable, target :: path(:)
    type(c_ptr) :: agent

    agent = c_null_ptr
    if (present(stage)) then
      allocate (path, source=forebay_to_c(stage))
      agent = c_loc(path)
    end if
    status = int(c_connect(agent, int(rank, c_int), int(ranks, c_int), client%handle))
  end subroutine forebay_connect

  subroutine forebay_disconnect(client)
    type(forebay_client), intent(inout) :: client

    call c_disconnect(client%handle)
    client%handle = c_null_ptr
  end subroutine forebay_disconnect

  subroutine forebay_begin(client, set, step, status, timeout_ms)
    type(forebay_client), intent(in) :: client
    character(len=*), intent(in) :: set
    integer(int64), intent(in) :: step
    integer, intent(out) :: status
    integer(int64), intent(in), optional :: timeout_ms

    status = int(c_begin(client%handle, forebay_to_c(set), int(step, c_int64_t), forebay_time(timeout_ms)))
  end subroutine forebay_begin

  subroutine forebay_path(client, file, path, status)
    type(forebay_client), intent(in) :: client
    character(len=*), intent(in) :: file
    character(len=*), intent(out) :: path
    integer, intent(out) :: status
    character(kind=c_char) :: found(len(path) + 1)

    status = int(c_path(client%handle, forebay_to_c(file), found, size(found, kind=c_size_t)))
    path = forebay_from_c(found, status, len(path))
  end subroutine forebay_path

  subroutine forebay_complete(client, status)
    type(forebay_client), intent(in) :: client
    integer, intent(out) :: status

    status = int(c_complete(client%handle))
  end subroutine forebay_complete

  subroutine forebay_wait(client, set, status, timeout_ms)
    type(forebay_client), intent(in) :: client
    character(len=*), intent(in) :: set
    integer, intent(out) :: status
    integer(int64), intent(in), optional :: timeout_ms

    status = int(c_wait(client%handle, forebay_to_c(set), forebay_time(timeout_ms)))
  end subroutine forebay_wait

  subroutine forebay_restart(client, set, step, status, timeout_ms)
    type(forebay_client), intent(in) :: client
    character(len=*), intent(out) :: set
    integer(int64), intent(out) :: step
    integer, intent(out) :: status
    integer(int64), intent(in), optional :: timeout_ms
    character(kind=c_char) :: found(len(set) + 1)
    integer(c_int64_t) :: found_step

    found_step = -1
    status = int(c_restart(client%handle, found, size(found, kind=c_size_t), found_step, forebay_time(timeout_ms)))
    set = forebay_from_c(found, status, len(set))
    step = found_step
  end subroutine forebay_restart

  ! For programs that can read the files of any number of ranks; `set_ranks` is the set's.
  subroutine forebay_restart_any(client, set, step, set_ranks, status, timeout_ms)
    type(forebay_client), intent(in) :: client
    character(len=*), intent(out) :: set
    integer(int64), intent(out) :: step
    integer, intent(out) :: set_ranks, status
    integer(int64), intent(in), optional :: timeout_ms
    character(kind=c_char) :: found(len(set) + 1)
    integer(c_int64_t) :: found_step
    integer(c_int) :: found_ranks

    found_step = -1
    found_ranks = 0
    status = int(c_restart_any(client%handle, found, size(found, kind=c_size_t), found_step, found_ranks, &
                               forebay_time(timeout_ms)))
    set = forebay_from_c(found, status, len(set))
    step = found_step
    set_ranks = int(found_ranks)
  end subroutine forebay_restart_any

  subroutine forebay_restart_path(client, file, path, status)
    type(forebay_client), intent(in) :: client
    character(len=*), intent(in) :: file
    character(len=*), intent(out) :: path
    integer, intent(out) :: status
    character(kind=c_char) :: found(len(path) + 1)

    status = int(c_restart_path(client%handle, forebay_to_c(file), found, size(found, kind=c_size_t)))
    path = forebay_from_c(found, status, len(path))
  end subroutine forebay_restart_path

  ! The reason why the last call of this thread failed that did.
  function forebay_message() result(message)
    character(len=:), allocatable :: message

    message = forebay_text(c_message())
  end function forebay_message

  ! The text at `where`, which ends with NUL; of a null pointer the empty one.
  function forebay_text(where) result(text)
    type(c_ptr), intent(in) :: where
    character(len=:), allocatable :: text
    character(kind=c_char), pointer :: letters(:)
    integer :: i

    if (.not. c_associated(where)) then
      text = ""
      return
    end if
    call c_f_pointer(where, letters, [c_strlen(where)])
    allocate (character(len=size(letters)) :: text)
    do i = 1, size(letters)
      text(i:i) = letters(i)
    end do
  end function forebay_text

  function forebay_to_c(text) result(c)
    character(len=*), intent(in) :: text
    character(kind=c_char) :: c(len_trim(text) + 1)
    integer :: i

    do i = 1, len_trim(text)
      c(i) = text(i:i)
    end do
    c(len_trim(text) + 1) = c_null_char
  end function forebay_to_c

  ! Blank if the call has failed.
  function forebay_from_c(c, status, length) result(text)
    character(kind=c_char), intent(in) :: c(:)
    integer, intent(in) :: status, length
    character(len=length) :: text
    integer :: i

    text = " "
    if (status /= FOREBAY_OK) return
    do i = 1, min(size(c), length)
      if (c(i) == c_null_char) exit
      text(i:i) = c(i)
    end do
  end function forebay_from_c

  function forebay_time(timeout_ms) result(time)
    integer(int64), intent(in), optional :: timeout_ms
    integer(c_int64_t) :: time

    time = -1
    if (present(timeout_ms)) time = timeout_ms
  end function forebay_time

end module forebay
