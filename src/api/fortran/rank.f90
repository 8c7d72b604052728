! A rank of a job in Fortran, for the tests: completes the set dump_0007 and waits for it, then restarts from what is
! there. Ends with 0 if all went as it should. Usage: rank RANK RANKS
program rank_program
  use, intrinsic :: iso_fortran_env, only: int64, error_unit
  use forebay
  implicit none
  type(forebay_client) :: client
  character(len=16) :: argument
  character(len=4096) :: path
  character(len=128) :: set
  character(len=9) :: name
  integer :: rank, ranks, set_ranks, status, unit
  integer(int64) :: step

  call get_command_argument(1, argument)
  read (argument, *) rank
  call get_command_argument(2, argument)
  read (argument, *) ranks

  call forebay_connect(client, 0, 1, status, stage="/nonexistent")
  call expect(FOREBAY_NO_AGENT, "connect without an agent")
  if (len_trim(forebay_message()) == 0) error stop "no message"

  call forebay_connect(client, rank, ranks, status)
  call expect(FOREBAY_OK, "connect")
  call forebay_begin(client, "dump_0007", 7_int64, status, timeout_ms=5000_int64)
  call expect(FOREBAY_OK, "begin")
  write (name, '("rank",i1,".txt")') rank
  call forebay_path(client, name, path, status)
  call expect(FOREBAY_OK, "path")
  open (newunit=unit, file=trim(path), status="replace", action="write")
  write (unit, '("from rank ",i1)') rank
  close (unit)
  call forebay_path(client, name, path(1:3), status)
  call expect(FOREBAY_ARGUMENT, "path that does not fit")
  call forebay_complete(client, status)
  call expect(FOREBAY_OK, "complete")
  call forebay_wait(client, "dump_0007", status)
  call expect(FOREBAY_OK, "wait")

  call forebay_restart(client, set, step, status, timeout_ms=20000_int64)
  call expect(FOREBAY_OK, "restart")
  if (set /= "dump_0007" .or. step /= 7) error stop "another set"
  call forebay_restart_any(client, set, step, set_ranks, status, timeout_ms=20000_int64)
  call expect(FOREBAY_OK, "restart_any")
  if (set /= "dump_0007" .or. step /= 7 .or. set_ranks /= ranks) error stop "another set, from restart_any"
  call forebay_restart_path(client, "none", path, status)
  call expect(FOREBAY_ARGUMENT, "restart_path")
  call forebay_restart_path(client, name, path, status)
  call expect(FOREBAY_OK, "restart_path")
  open (newunit=unit, file=trim(path), status="old", action="read")
  read (unit, '(a)') set
  close (unit)
  if (set /= "from rank "//name(5:5)) error stop "another content"
  call forebay_disconnect(client)

contains

  subroutine expect(wanted, what)
    integer, intent(in) :: wanted
    character(len=*), intent(in) :: what

    if (status == wanted) return
    write (error_unit, *) what, ": ", status, " ", forebay_message()
    error stop 1
  end subroutine expect

end program rank_program
