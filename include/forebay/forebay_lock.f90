! Locks on lists of byte ranges of files, for Fortran: what forebay_lock.h has, which also says what the calls mean.
! Compile forebay.f90 and this file with the program and link libforebay. A complete program, which adds 1 to the number
! in a file that other programs change, too:
!
!   program count
!     use, intrinsic :: iso_fortran_env, only: int64
!     use forebay, only: FOREBAY_OK, forebay_message
!     use forebay_locks
!     implicit none
!     type(forebay_lock_client) :: client
!     type(forebay_lock) :: lock
!     character(len=4096) :: path, name
!     integer :: number, status, unit
!
!     call get_command_argument(1, path)
!     call forebay_lock_connect(client, status)
!     if (status /= FOREBAY_OK) error stop "no lock servers"
!     call forebay_lock_name(path, name, status)
!     if (status == FOREBAY_OK) then
!       call forebay_lock_lock(client, name, FOREBAY_LOCK_EXCLUSIVE, lock, status, [forebay_lock_term(0_int64, 16_int64)])
!     end if
!     if (status == FOREBAY_OK) call forebay_lock_keep(lock, 1000_int64, status)
!     if (status /= FOREBAY_OK) then
!       print *, forebay_message()
!       error stop 1
!     end if
!     open (newunit=unit, file=trim(path), access="stream", form="formatted", action="readwrite")
!     read (unit, *) number
!     rewind (unit)
!     write (unit, "(i0)") number + 1
!     close (unit)
!     call forebay_lock_unlock(lock, status)
!     call forebay_lock_disconnect(client)
!   end program count
!
! `status` is FOREBAY_OK or another code of the module forebay, whose forebay_message() says why. A timeout in milliseconds
! that is left out, or is < 0, waits for ever. Names and paths lose the blanks at their ends. Offsets are bytes from 0, as
! in the file; Fortran's stream positions count from 1.
module forebay_locks
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: int64
  use forebay, only: forebay_from_c, forebay_time, forebay_to_c
  implicit none
  private

  integer, parameter, public :: FOREBAY_LOCK_SHARED = 0
  integer, parameter, public :: FOREBAY_LOCK_EXCLUSIVE = 1

  ! `count` repetitions, each `stride` bytes after the one before.
  type, bind(c), public :: forebay_lock_level
    integer(c_int64_t) :: count
    integer(c_int64_t) :: stride
  end type forebay_lock_level

  ! `length` bytes at `start`, repeated by each of at most 8 levels, of which the last varies fastest.
  type, public :: forebay_lock_term
    integer(int64) :: start = 0
    integer(int64) :: length = 0
    type(forebay_lock_level), allocatable :: levels(:)
  end type forebay_lock_term

  ! Connections to lock servers.
  type, public :: forebay_lock_client
    private
    type(c_ptr) :: handle = c_null_ptr
  end type forebay_lock_client

  ! A lock, once a call has granted it. A copy of this is the same lock.
  type, public :: forebay_lock
    private
    type(c_ptr) :: handle = c_null_ptr
  end type forebay_lock

  public :: forebay_lock_connect, forebay_lock_disconnect, forebay_lock_lock, forebay_lock_try, forebay_lock_keep
  public :: forebay_lock_valid_ms, forebay_lock_unlock, forebay_lock_name

  type, bind(c) :: c_term
    integer(c_int64_t) :: start
    integer(c_int64_t) :: length
    type(c_ptr) :: levels
    integer(c_size_t) :: level_count
  end type c_term

  interface
    integer(c_int) function c_connect(servers, secret_file, client) bind(c, name="forebay_lock_connect")
      import :: c_int, c_ptr
      type(c_ptr), value :: servers, secret_file
      type(c_ptr), intent(out) :: client
    end function c_connect
    subroutine c_disconnect(client) bind(c, name="forebay_lock_disconnect")
      import :: c_ptr
      type(c_ptr), value :: client
    end subroutine c_disconnect
    integer(c_int) function c_lock(client, name, access, terms, term_count, timeout_ms, lock) &
        bind(c, name="forebay_lock_lock")
      import :: c_char, c_int, c_int64_t, c_ptr, c_size_t, c_term
      type(c_ptr), value :: client
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int), value :: access
      type(c_term), intent(in) :: terms(*)
      integer(c_size_t), value :: term_count
      integer(c_int64_t), value :: timeout_ms
      type(c_ptr), intent(out) :: lock
    end function c_lock
    integer(c_int) function c_try(client, name, access, terms, term_count, lock) bind(c, name="forebay_lock_try")
      import :: c_char, c_int, c_ptr, c_size_t, c_term
      type(c_ptr), value :: client
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int), value :: access
      type(c_term), intent(in) :: terms(*)
      integer(c_size_t), value :: term_count
      type(c_ptr), intent(out) :: lock
    end function c_try
    integer(c_int) function c_keep(lock, wanted_ms) bind(c, name="forebay_lock_keep")
      import :: c_int, c_int64_t, c_ptr
      type(c_ptr), value :: lock
      integer(c_int64_t), value :: wanted_ms
    end function c_keep
    integer(c_int64_t) function c_valid_ms(lock) bind(c, name="forebay_lock_valid_ms")
      import :: c_int64_t, c_ptr
      type(c_ptr), value :: lock
    end function c_valid_ms
    integer(c_int) function c_unlock(lock) bind(c, name="forebay_lock_unlock")
      import :: c_int, c_ptr
      type(c_ptr), value :: lock
    end function c_unlock
    integer(c_int) function c_name(path, name, size) bind(c, name="forebay_lock_name")
      import :: c_char, c_int, c_size_t
      character(kind=c_char), intent(in) :: path(*)
      character(kind=c_char), intent(out) :: name(*)
      integer(c_size_t), value :: size
    end function c_name
  end interface

contains

  ! Without `servers` or `secret_file` those of $FOREBAY_LOCK_SERVERS and $FOREBAY_LOCK_SECRET are taken.
  subroutine forebay_lock_connect(client, status, servers, secret_file)
    type(forebay_lock_client), intent(inout) :: client
    integer, intent(out) :: status
    character(len=*), intent(in), optional :: servers, secret_file
    character(kind=c_char), allocatable, target :: given_servers(:), given_secret(:)
    type(c_ptr) :: servers_at, secret_at

    servers_at = c_null_ptr
    secret_at = c_null_ptr
    if (present(servers)) then
      allocate (given_servers, source=forebay_to_c(servers))
      servers_at = c_loc(given_servers)
    end if
    if (present(secret_file)) then
      allocate (given_secret, source=forebay_to_c(secret_file))
      secret_at = c_loc(given_secret)
    end if
    status = int(c_connect(servers_at, secret_at, client%handle))
  end subroutine forebay_lock_connect

  subroutine forebay_lock_disconnect(client)
    type(forebay_lock_client), intent(inout) :: client

    call c_disconnect(client%handle)
    client%handle = c_null_ptr
  end subroutine forebay_lock_disconnect

  ! Without `terms` the whole file is locked.
  subroutine forebay_lock_lock(client, name, access, lock, status, terms, timeout_ms)
    type(forebay_lock_client), intent(in) :: client
    character(len=*), intent(in) :: name
    integer, intent(in) :: access
    type(forebay_lock), intent(inout) :: lock
    integer, intent(out) :: status
    type(forebay_lock_term), intent(in), optional, target :: terms(:)
    integer(int64), intent(in), optional :: timeout_ms
    type(c_term), allocatable :: list(:)

    call make_terms(terms, list)
    status = int(c_lock(client%handle, forebay_to_c(name), int(access, c_int), list, size(list, kind=c_size_t), &
                        forebay_time(timeout_ms), lock%handle))
  end subroutine forebay_lock_lock

  ! The same without waiting for others.
  subroutine forebay_lock_try(client, name, access, lock, status, terms)
    type(forebay_lock_client), intent(in) :: client
    character(len=*), intent(in) :: name
    integer, intent(in) :: access
    type(forebay_lock), intent(inout) :: lock
    integer, intent(out) :: status
    type(forebay_lock_term), intent(in), optional, target :: terms(:)
    type(c_term), allocatable :: list(:)

    call make_terms(terms, list)
    status = int(c_try(client%handle, forebay_to_c(name), int(access, c_int), list, size(list, kind=c_size_t), &
                       lock%handle))
  end subroutine forebay_lock_try

  subroutine forebay_lock_keep(lock, wanted_ms, status)
    type(forebay_lock), intent(in) :: lock
    integer(int64), intent(in) :: wanted_ms
    integer, intent(out) :: status

    status = int(c_keep(lock%handle, int(wanted_ms, c_int64_t)))
  end subroutine forebay_lock_keep

  function forebay_lock_valid_ms(lock) result(valid_ms)
    type(forebay_lock), intent(in) :: lock
    integer(int64) :: valid_ms

    valid_ms = c_valid_ms(lock%handle)
  end function forebay_lock_valid_ms

  subroutine forebay_lock_unlock(lock, status)
    type(forebay_lock), intent(inout) :: lock
    integer, intent(out) :: status

    status = int(c_unlock(lock%handle))
    lock%handle = c_null_ptr
  end subroutine forebay_lock_unlock

  ! The name of the file at `path`; `name` is blank if the call has failed.
  subroutine forebay_lock_name(path, name, status)
    character(len=*), intent(in) :: path
    character(len=*), intent(out) :: name
    integer, intent(out) :: status
    character(kind=c_char) :: found(len(name) + 1)

    status = int(c_name(forebay_to_c(path), found, size(found, kind=c_size_t)))
    name = forebay_from_c(found, status, len(name))
  end subroutine forebay_lock_name

  ! The terms as C has them, which point to the levels of `terms`.
  subroutine make_terms(terms, list)
    type(forebay_lock_term), intent(in), optional, target :: terms(:)
    type(c_term), allocatable, intent(out) :: list(:)
    integer :: i

    if (.not. present(terms)) then
      allocate (list(0))
      return
    end if
    allocate (list(size(terms)))
    do i = 1, size(terms)
      list(i) = c_term(terms(i)%start, terms(i)%length, c_null_ptr, 0_c_size_t)
      if (.not. allocated(terms(i)%levels)) cycle
      if (size(terms(i)%levels) == 0) cycle
      list(i)%levels = c_loc(terms(i)%levels)
      list(i)%level_count = size(terms(i)%levels, kind=c_size_t)
    end do
  end subroutine make_terms

end module forebay_locks
