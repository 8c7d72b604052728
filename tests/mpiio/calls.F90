! Calls the functions of MPI-IO from Fortran. Compiled three times: with mpif.h, with `use mpi` (USE_MPI) and with
! `use mpi_f08` (USE_MPI_F08); openmpi_is_there tells of Open MPI. Arguments: the path of a file, and "layer" if the layer has to be there.
#ifdef USE_MPI_F08
#define HANDLE(kind) type(kind)
#define STATUS_TYPE type(MPI_Status)
#else
#define HANDLE(kind) integer
#define STATUS_TYPE integer, dimension(MPI_STATUS_SIZE)
#endif

module checks
#ifdef USE_MPI_F08
  use mpi_f08
#elif defined(USE_MPI)
  use mpi
#endif
  implicit none
#if !defined(USE_MPI_F08) && !defined(USE_MPI)
  include 'mpif.h'
#endif
  integer, parameter :: n = 8
  integer :: failures = 0, rank, ranks
  character(len=1024) :: path
contains
  subroutine expect(good, what)
    logical, intent(in) :: good
    character(len=*), intent(in) :: what
    if (good) return
    failures = failures + 1
    print *, 'rank', rank, ': ', what
  end subroutine

  subroutine expect_count(status, what)
    STATUS_TYPE, intent(in) :: status
    character(len=*), intent(in) :: what
    integer :: found, ierr
    call MPI_Get_count(status, MPI_INTEGER, found, ierr)
    call expect(found == n, what // ': count')
  end subroutine

  function values(kind) result(data)
    integer, intent(in) :: kind
    integer :: data(n), i
    data = [(rank * 10000 + kind * 100 + i, i = 1, n)]
  end function

  subroutine expect_values(data, kind, what)
    integer, intent(in) :: data(n), kind
    character(len=*), intent(in) :: what
    call expect(all(data == values(kind)), what // ': data')
  end subroutine

  subroutine expect_layer(fh, wanted)
    HANDLE(MPI_File), intent(in) :: fh
    logical, intent(in) :: wanted
    HANDLE(MPI_Info) :: info
    character(len=64) :: text
    logical :: found
    integer :: ierr
    call MPI_File_get_info(fh, info, ierr)
    call MPI_Info_get(info, 'forebay_version', 60, text, found, ierr)
    call expect(found .eqv. wanted, 'whether the layer is there')
    call MPI_Info_free(info, ierr)
  end subroutine

  subroutine write_all_kinds(fh)
    HANDLE(MPI_File), intent(in) :: fh
    HANDLE(MPI_Request) :: request
    STATUS_TYPE :: status
    integer :: data(n), ierr
    integer(kind=MPI_OFFSET_KIND) :: at, position
    at = 0
    data = values(0)
    call MPI_File_write_at(fh, at, data, n, MPI_INTEGER, status, ierr)
    call expect(ierr == MPI_SUCCESS, 'write_at')
    call expect_count(status, 'write_at')
    at = n
    data = values(1)
    call MPI_File_write_at_all(fh, at, data, n, MPI_INTEGER, status, ierr)
    call expect_count(status, 'write_at_all')
    at = 2 * n
    data = values(2)
    call MPI_File_iwrite_at(fh, at, data, n, MPI_INTEGER, request, ierr)
    call MPI_Wait(request, status, ierr)
    call expect_count(status, 'iwrite_at')
    at = 3 * n
    data = values(3)
    call MPI_File_iwrite_at_all(fh, at, data, n, MPI_INTEGER, request, ierr)
    call MPI_Wait(request, status, ierr)
    call expect_count(status, 'iwrite_at_all')
    at = 4 * n
    data = values(4)
    call MPI_File_write_at_all_begin(fh, at, data, n, MPI_INTEGER, ierr)
    call MPI_File_write_at_all_end(fh, data, status, ierr)
    call expect_count(status, 'write_at_all_begin')
    at = 5 * n
    call MPI_File_seek(fh, at, MPI_SEEK_SET, ierr)
    data = values(5)
    call MPI_File_write(fh, data, n, MPI_INTEGER, MPI_STATUS_IGNORE, ierr)
    data = values(6)
    call MPI_File_iwrite(fh, data, n, MPI_INTEGER, request, ierr)
    call MPI_Wait(request, status, ierr)
    call expect_count(status, 'iwrite')
    data = values(7)
    call MPI_File_write_all(fh, data, n, MPI_INTEGER, status, ierr)
    call expect_count(status, 'write_all')
    data = values(8)
    call MPI_File_iwrite_all(fh, data, n, MPI_INTEGER, request, ierr)
    call MPI_Wait(request, MPI_STATUS_IGNORE, ierr)
    data = values(9)
    call MPI_File_write_all_begin(fh, data, n, MPI_INTEGER, ierr)
    call MPI_File_write_all_end(fh, data, status, ierr)
    call expect_count(status, 'write_all_begin')
    call MPI_File_get_position(fh, position, ierr)
    call expect(position == 10 * n, 'position after writes')
  end subroutine

  subroutine read_all_kinds(fh)
    HANDLE(MPI_File), intent(in) :: fh
    HANDLE(MPI_Request) :: request
    STATUS_TYPE :: status
    integer :: data(n), ierr
    integer(kind=MPI_OFFSET_KIND) :: at, position
    at = 0
    call MPI_File_read_at(fh, at, data, n, MPI_INTEGER, status, ierr)
    call expect_count(status, 'read_at')
    call expect_values(data, 0, 'read_at')
    at = n
    call MPI_File_read_at_all(fh, at, data, n, MPI_INTEGER, status, ierr)
    call expect_count(status, 'read_at_all')
    call expect_values(data, 1, 'read_at_all')
    at = 2 * n
    call MPI_File_iread_at(fh, at, data, n, MPI_INTEGER, request, ierr)
    call MPI_Wait(request, status, ierr)
    call expect_count(status, 'iread_at')
    call expect_values(data, 2, 'iread_at')
    at = 3 * n
    call MPI_File_iread_at_all(fh, at, data, n, MPI_INTEGER, request, ierr)
    call MPI_Wait(request, status, ierr)
    call expect_values(data, 3, 'iread_at_all')
    at = 4 * n
    call MPI_File_read_at_all_begin(fh, at, data, n, MPI_INTEGER, ierr)
    call MPI_File_read_at_all_end(fh, data, status, ierr)
    call expect_count(status, 'read_at_all_begin')
    call expect_values(data, 4, 'read_at_all_begin')
    at = 5 * n
    call MPI_File_seek(fh, at, MPI_SEEK_SET, ierr)
    call MPI_File_read(fh, data, n, MPI_INTEGER, status, ierr)
    call expect_count(status, 'read')
    call expect_values(data, 5, 'read')
    call MPI_File_iread(fh, data, n, MPI_INTEGER, request, ierr)
    call MPI_Wait(request, status, ierr)
    call expect_values(data, 6, 'iread')
    call MPI_File_read_all(fh, data, n, MPI_INTEGER, status, ierr)
    call expect_count(status, 'read_all')
    call expect_values(data, 7, 'read_all')
    call MPI_File_iread_all(fh, data, n, MPI_INTEGER, request, ierr)
    call MPI_Wait(request, status, ierr)
    call expect_values(data, 8, 'iread_all')
    call MPI_File_read_all_begin(fh, data, n, MPI_INTEGER, ierr)
    call MPI_File_read_all_end(fh, data, status, ierr)
    call expect_values(data, 9, 'read_all_begin')
    call MPI_File_get_position(fh, position, ierr)
    call expect(position == 10 * n, 'position after reads')
  end subroutine

  ! One after another where ranks would race.
  subroutine shared_kinds(fh)
    HANDLE(MPI_File), intent(in) :: fh
    HANDLE(MPI_Request) :: request
    STATUS_TYPE :: status
    integer :: data(n), ierr, turn
    integer(kind=MPI_OFFSET_KIND) :: at, position
    at = 0
    call MPI_File_set_view(fh, at, MPI_INTEGER, MPI_INTEGER, 'native', MPI_INFO_NULL, ierr)
    call expect(ierr == MPI_SUCCESS, 'set_view')
    data = values(20)
    call MPI_File_write_ordered(fh, data, n, MPI_INTEGER, status, ierr)
    call expect_count(status, 'write_ordered')
    data = values(21)
    call MPI_File_write_ordered_begin(fh, data, n, MPI_INTEGER, ierr)
    call MPI_File_write_ordered_end(fh, data, status, ierr)
    call expect_count(status, 'write_ordered_begin')
    call MPI_Barrier(MPI_COMM_WORLD, ierr)
    do turn = 0, ranks - 1
      if (turn == rank) then
        data = values(22)
        call MPI_File_write_shared(fh, data, n, MPI_INTEGER, status, ierr)
        call expect_count(status, 'write_shared')
        data = values(23)
        call MPI_File_iwrite_shared(fh, data, n, MPI_INTEGER, request, ierr)
        call MPI_Wait(request, status, ierr)
        call MPI_File_get_position_shared(fh, position, ierr)
        call expect(position == 2 * n * (ranks + rank + 1), 'position_shared')
      end if
      call MPI_Barrier(MPI_COMM_WORLD, ierr)
    end do
    call MPI_File_sync(fh, ierr)
    call MPI_File_seek_shared(fh, at, MPI_SEEK_SET, ierr)
    call MPI_File_read_ordered(fh, data, n, MPI_INTEGER, status, ierr)
    call expect_count(status, 'read_ordered')
    call expect_values(data, 20, 'read_ordered')
    call MPI_File_read_ordered_begin(fh, data, n, MPI_INTEGER, ierr)
    call MPI_File_read_ordered_end(fh, data, status, ierr)
    call expect_values(data, 21, 'read_ordered_begin')
    call MPI_Barrier(MPI_COMM_WORLD, ierr)
    do turn = 0, ranks - 1
      if (turn == rank) then
        call MPI_File_read_shared(fh, data, n, MPI_INTEGER, status, ierr)
        call expect_values(data, 22, 'read_shared')
        call MPI_File_iread_shared(fh, data, n, MPI_INTEGER, request, ierr)
        call MPI_Wait(request, status, ierr)
        call expect_values(data, 23, 'iread_shared')
      end if
      call MPI_Barrier(MPI_COMM_WORLD, ierr)
    end do
  end subroutine

  subroutine free_type(handle)
    HANDLE(MPI_Datatype), intent(inout) :: handle
    integer :: integers, addresses, types, combiner, ierr
    call MPI_Type_get_envelope(handle, integers, addresses, types, combiner, ierr)
    if (combiner /= MPI_COMBINER_NAMED) call MPI_Type_free(handle, ierr)
  end subroutine

  subroutine sizes(fh)
    HANDLE(MPI_File), intent(in) :: fh
    integer(kind=MPI_OFFSET_KIND) :: length
    integer :: ierr
    length = 500
    call MPI_File_set_size(fh, length, ierr)
    call MPI_File_get_size(fh, length, ierr)
    call expect(length == 500, 'set_size')
    call MPI_Barrier(MPI_COMM_WORLD, ierr)
    length = 900
    call MPI_File_preallocate(fh, length, ierr)
    call MPI_File_get_size(fh, length, ierr)
    call expect(length == 900, 'preallocate')
    call MPI_Barrier(MPI_COMM_WORLD, ierr)
    length = 0
    call MPI_File_set_size(fh, length, ierr)
  end subroutine

  subroutine data_calls(fh, is_atomic)
    HANDLE(MPI_File), intent(in) :: fh
    logical, intent(in) :: is_atomic
    HANDLE(MPI_Datatype) :: blocks, tiled, etype, filetype
    integer(kind=MPI_OFFSET_KIND) :: displacement, place
    integer(kind=MPI_ADDRESS_KIND) :: lower, extent
    character(len=MPI_MAX_DATAREP_STRING) :: representation
    integer :: ierr
#ifdef openmpi_is_there
    ! By itself Open MPI 4.1 does not wait in preallocate until the file has its size.
    if (is_atomic) call sizes(fh)
#else
    call sizes(fh)
#endif
    call MPI_Type_vector(2, 4, 4 * ranks, MPI_INTEGER, blocks, ierr)
    lower = 0
    extent = 32 * ranks
    call MPI_Type_create_resized(blocks, lower, extent, tiled, ierr)
    call MPI_Type_commit(tiled, ierr)
    displacement = 16 * rank
    call MPI_File_set_view(fh, displacement, MPI_INTEGER, tiled, 'native', MPI_INFO_NULL, ierr)
    displacement = 8
    call MPI_File_get_byte_offset(fh, displacement, place, ierr)
    call expect(place == 16 * rank + 32 * ranks, 'get_byte_offset')
    call MPI_File_get_view(fh, displacement, etype, filetype, representation, ierr)
    call expect(displacement == 16 * rank .and. representation == 'native', 'get_view')
    call free_type(etype)
    call free_type(filetype)
    call write_all_kinds(fh)
    call read_all_kinds(fh)
    call MPI_Type_free(tiled, ierr)
    call MPI_Type_free(blocks, ierr)
    call shared_kinds(fh)
  end subroutine
end module

program calls
  use checks
  implicit none
  HANDLE(MPI_File) :: fh
  HANDLE(MPI_Info) :: info
  character(len=16) :: argument
  logical :: atomic
  integer :: ierr, provided, total

  call get_command_argument(1, path)
  call get_command_argument(2, argument)
#ifdef USE_MPI
  call MPI_Init_thread(MPI_THREAD_FUNNELED, provided, ierr)
#else
  call MPI_Init(ierr)
#endif
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierr)
  call MPI_File_open(MPI_COMM_WORLD, path, ior(MPI_MODE_CREATE, MPI_MODE_RDWR), MPI_INFO_NULL, fh, ierr)
  call expect(ierr == MPI_SUCCESS, 'open')
  call expect_layer(fh, argument == 'layer')
  call MPI_Info_create(info, ierr)
  call MPI_Info_set(info, 'forebay_lock', 'list', ierr)
  call MPI_File_set_info(fh, info, ierr)
  call expect(ierr == MPI_SUCCESS, 'set_info')
  call MPI_Info_free(info, ierr)

  call MPI_File_get_atomicity(fh, atomic, ierr)
  call expect(.not. atomic, 'atomicity at first')
  call data_calls(fh, .false.)
  call MPI_File_set_atomicity(fh, .true., ierr)
  call expect(ierr == MPI_SUCCESS, 'set_atomicity')
  call MPI_File_get_atomicity(fh, atomic, ierr)
  call expect(atomic, 'atomicity when set')
  call data_calls(fh, .true.)
#ifdef USE_MPI_F08
  call MPI_File_set_atomicity(fh, .false.)
  call MPI_File_sync(fh)
#endif
  call MPI_File_close(fh, ierr)
  call expect(fh == MPI_FILE_NULL, 'the handle of a closed file')
  call MPI_Barrier(MPI_COMM_WORLD, ierr)
  if (rank == 0) call MPI_File_delete(path, MPI_INFO_NULL, ierr)

  call MPI_Allreduce(failures, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
  if (rank == 0 .and. total == 0) print '(a)', ' No Errors'
  call MPI_Finalize(ierr)
  if (total /= 0) stop 1
end program
