! A program in free-form Fortran that uses SCR's interface as its own examples do: a file of each rank, which is checked after a
! restart. Options: --until N, the last set; --work MS, a pause before each.
program scr_program
  implicit none
  include 'mpif.h'
  include 'scrf.h'
  integer :: rank, ierror, flag, valid, first, number, last, work, i
  character(len=SCR_MAX_FILENAME) :: name, word

  last = 3
  work = 0
  do i = 1, command_argument_count() - 1
    call get_command_argument(i, name)
    call get_command_argument(i + 1, word)
    if (name == '--until') read (word, *) last
    if (name == '--work') read (word, *) work
  end do
  call mpi_init(ierror)
  call mpi_comm_rank(MPI_COMM_WORLD, rank, ierror)
  call scr_init(ierror)
  call must(ierror, 'SCR_INIT')

  first = 1
  do
    call scr_have_restart(flag, name, ierror)
    call must(ierror, 'SCR_HAVE_RESTART')
    if (flag == 0) exit
    call scr_start_restart(name, ierror)
    call must(ierror, 'SCR_START_RESTART')
    valid = read_file(name)
    call scr_complete_restart(valid, ierror)
    if (ierror == SCR_SUCCESS) then
      call say('restarted ' // trim(name))
      read (name(index(name, '.', .true.) + 1:), *) first
      first = first + 1
      exit
    end if
    call say('passed over ' // trim(name))
  end do
  if (first == 1) call say('restarted nothing')

  do number = first, last
    call pause_for(work)
    write (name, '(A,I0)') 'ckpt.', number
    call scr_need_checkpoint(flag, ierror)
    call must(ierror, 'SCR_NEED_CHECKPOINT')
    if (flag == 0) cycle
    call scr_start_output(name, SCR_FLAG_CHECKPOINT, ierror)
    call must(ierror, 'SCR_START_OUTPUT')
    valid = write_file(name)
    call scr_complete_output(valid, ierror)
    call must(ierror, 'SCR_COMPLETE_OUTPUT')
    call say('completed ' // trim(name))
  end do
  call scr_finalize(ierror)
  call must(ierror, 'SCR_FINALIZE')
  call mpi_finalize(ierror)

contains

  subroutine must(code, what)
    integer, intent(in) :: code
    character(len=*), intent(in) :: what
    integer :: fault
    if (code == SCR_SUCCESS) return
    call say('failed: ' // what)
    call mpi_abort(MPI_COMM_WORLD, 3, fault)
  end subroutine must

  subroutine say(what)
    character(len=*), intent(in) :: what
    if (rank /= 0) return
    print '(A)', what
    flush (6)
  end subroutine say

  subroutine pause_for(milliseconds)
    integer, intent(in) :: milliseconds
    double precision :: start
    start = mpi_wtime()
    do while (mpi_wtime() - start < milliseconds * 1d-3)
    end do
  end subroutine pause_for

  ! What rank's file of a set has at a place.
  integer function value_of(set, at)
    character(len=*), intent(in) :: set
    integer, intent(in) :: at
    integer :: k
    value_of = at * 31 + rank * 97
    do k = 1, len_trim(set)
      value_of = value_of + ichar(set(k:k)) * k
    end do
  end function value_of

  subroutine route(set, path, code)
    character(len=*), intent(in) :: set
    character(len=*), intent(out) :: path
    integer, intent(out) :: code
    character(len=SCR_MAX_FILENAME) :: file
    write (file, '(A,A,I0,A)') trim(set), '/rank_', rank, '.dat'
    call scr_route_file(file, path, code)
  end subroutine route

  integer function write_file(set)
    character(len=*), intent(in) :: set
    character(len=SCR_MAX_FILENAME) :: path
    integer :: code, k
    write_file = 0
    call route(set, path, code)
    if (code /= SCR_SUCCESS) return
    open (10, file=path, form='unformatted', access='stream', status='replace', iostat=code)
    if (code /= 0) return
    do k = 1, 5000
      write (10) value_of(set, k)
    end do
    close (10)
    write_file = 1
  end function write_file

  integer function read_file(set)
    character(len=*), intent(in) :: set
    character(len=SCR_MAX_FILENAME) :: path
    integer :: code, k, value
    read_file = 0
    call route(set, path, code)
    if (code /= SCR_SUCCESS) return
    open (10, file=path, form='unformatted', access='stream', status='old', iostat=code)
    if (code /= 0) return
    do k = 1, 5000
      read (10, iostat=code) value
      if (code /= 0 .or. value /= value_of(set, k)) then
        print '(A,I0,A,I0)', 'rank ', rank, ': wrong value ', k
        close (10)
        return
      end if
    end do
    close (10)
    read_file = 1
  end function read_file

end program scr_program
