! All functions of MPI-IO from Fortran, by "use mpi" (in f08_file.F90 by "use mpi_f08", in f77_file.F90 by mpif.h):
! collective, split, nonblocking, shared, ordered, and the rest.
program f90_file
#if defined(USE_MPI_F08)
  use mpi_f08
#elif !defined(USE_MPIF_H)
  use mpi
#endif
  implicit none
#ifdef USE_MPIF_H
  include 'mpif.h'
#endif
  integer, parameter :: n = 100, kinds = 6
  integer :: rank, ranks, ierr, failures, i, count, class, code
  integer :: kind = 0
  integer, asynchronous :: buf(n), back(n)
  integer(kind=MPI_OFFSET_KIND) :: offset, position, disp
  integer(kind=MPI_ADDRESS_KIND) :: extent, lower
  logical :: flag, atomic
  character(len=1024) :: name
  character(len=MPI_MAX_DATAREP_STRING) :: representation
  character(len=8) :: value
#ifdef USE_MPI_F08
  type(MPI_File) :: fh
  type(MPI_Datatype) :: vector, filetype, etype, found_type
  type(MPI_Request) :: request
  type(MPI_Info) :: info
  type(MPI_Group) :: group
  type(MPI_Status) :: status
#else
  integer :: fh, vector, filetype, etype, found_type, request, info, group
  integer :: status(MPI_STATUS_SIZE)
#endif

  call mpi_init(ierr)
  call mpi_comm_rank(MPI_COMM_WORLD, rank, ierr)
  call mpi_comm_size(MPI_COMM_WORLD, ranks, ierr)
  failures = 0
  name = 'check.file'
  if (command_argument_count() .ge. 1) call get_command_argument(1, name)
  call get_environment_variable('CHECK_ATOMIC', value)
  atomic = value .eq. '1'
  if (rank .eq. 0) call mpi_file_delete(name, MPI_INFO_NULL, ierr)
  call mpi_barrier(MPI_COMM_WORLD, ierr)

  ! What does not exist cannot be opened; the error returns.
  call mpi_file_open(MPI_COMM_WORLD, name, MPI_MODE_RDONLY, MPI_INFO_NULL, fh, ierr)
  call mpi_error_class(ierr, class, code)
  call expect('error class', class, MPI_ERR_NO_SUCH_FILE)

  call mpi_file_open(MPI_COMM_WORLD, name, ior(MPI_MODE_RDWR, MPI_MODE_CREATE), MPI_INFO_NULL, fh, ierr)
  call expect('open', ierr, MPI_SUCCESS)
  if (atomic) call mpi_file_set_atomicity(fh, .true., ierr)
  call mpi_file_get_atomicity(fh, flag, ierr)
  call expect_true('atomicity', flag .eqv. atomic)
  call mpi_file_get_amode(fh, count, ierr)
  call expect('amode', count, ior(MPI_MODE_RDWR, MPI_MODE_CREATE))

  ! Ranks interleave single integers.
  call mpi_type_vector(n, 1, ranks, MPI_INTEGER, vector, ierr)
  extent = 4 * n * ranks
  lower = 0
  call mpi_type_create_resized(vector, lower, extent, filetype, ierr)
  call mpi_type_commit(filetype, ierr)
  disp = 4 * rank
  call mpi_file_set_view(fh, disp, MPI_INTEGER, filetype, 'native', MPI_INFO_NULL, ierr)
  call expect('set_view', ierr, MPI_SUCCESS)
  call mpi_file_get_view(fh, offset, etype, found_type, representation, ierr)
  call expect('displacement', int(offset), 4 * rank)
  call expect_true('representation', representation .eq. 'native')

  do kind = 1, kinds
    do i = 1, n
      buf(i) = kind * 10000 + rank * 1000 + i
      back(i) = -1
    end do
    offset = 0
    call mpi_file_seek(fh, offset, MPI_SEEK_SET, ierr)
    select case (kind)
    case (1)
      call mpi_file_write_all(fh, buf, n, MPI_INTEGER, status, ierr)
    case (2)
      call mpi_file_write_at_all(fh, offset, buf, n, MPI_INTEGER, status, ierr)
    case (3)
      call mpi_file_write_all_begin(fh, buf, n, MPI_INTEGER, ierr)
      call mpi_file_write_all_end(fh, buf, status, ierr)
    case (4)
      call mpi_file_write_at_all_begin(fh, offset, buf, n, MPI_INTEGER, ierr)
      call mpi_file_write_at_all_end(fh, buf, status, ierr)
    case (5)
      call mpi_file_iwrite_all(fh, buf, n, MPI_INTEGER, request, ierr)
      call mpi_wait(request, status, ierr)
    case (6)
      call mpi_file_iwrite_at_all(fh, offset, buf, n, MPI_INTEGER, request, ierr)
      call mpi_wait(request, status, ierr)
    end select
    call expect('write', ierr, MPI_SUCCESS)
    call mpi_get_count(status, MPI_INTEGER, count, ierr)
    call expect('written', count, n)
    call publish()
    call mpi_file_seek(fh, offset, MPI_SEEK_SET, ierr)
    select case (kind)
    case (1)
      call mpi_file_read_all(fh, back, n, MPI_INTEGER, status, ierr)
    case (2)
      call mpi_file_read_at_all(fh, offset, back, n, MPI_INTEGER, status, ierr)
    case (3)
      call mpi_file_read_all_begin(fh, back, n, MPI_INTEGER, ierr)
      call mpi_file_read_all_end(fh, back, status, ierr)
    case (4)
      call mpi_file_read_at_all_begin(fh, offset, back, n, MPI_INTEGER, ierr)
      call mpi_file_read_at_all_end(fh, back, status, ierr)
    case (5)
      call mpi_file_iread_all(fh, back, n, MPI_INTEGER, request, ierr)
      call mpi_wait(request, status, ierr)
    case (6)
      call mpi_file_iread_at_all(fh, offset, back, n, MPI_INTEGER, request, ierr)
      call mpi_wait(request, status, ierr)
    end select
    call expect('read', ierr, MPI_SUCCESS)
    call mpi_get_count(status, MPI_INTEGER, count, ierr)
    call expect('count', count, n)
    do i = 1, n
      call expect('value', back(i), kind * 10000 + rank * 1000 + i)
    end do
  end do

  ! Independent accesses, each rank at its part.
  offset = 0
  call mpi_file_set_view(fh, offset, MPI_INTEGER, MPI_INTEGER, 'native', MPI_INFO_NULL, ierr)
  offset = rank * n
  call mpi_file_write_at(fh, offset, buf, n, MPI_INTEGER, status, ierr)
  call mpi_file_iread_at(fh, offset, back, n, MPI_INTEGER, request, ierr)
  call mpi_wait(request, status, ierr)
  call expect('iread_at', back(n), buf(n))
  call mpi_file_seek(fh, offset, MPI_SEEK_SET, ierr)
  call mpi_file_iwrite(fh, buf, n, MPI_INTEGER, request, ierr)
  call mpi_wait(request, status, ierr)
  call mpi_file_get_position(fh, position, ierr)
  call expect('position', int(position), (rank + 1) * n)
  call mpi_file_get_byte_offset(fh, position, disp, ierr)
  call expect('byte offset', int(disp), 4 * (rank + 1) * n)
  call mpi_file_seek(fh, offset, MPI_SEEK_SET, ierr)
  back(1) = -1
  call mpi_file_read(fh, back, n, MPI_INTEGER, status, ierr)
  call expect('read', back(1), buf(1))
  call mpi_file_iwrite_at(fh, offset, buf, n, MPI_INTEGER, request, ierr)
  call mpi_wait(request, MPI_STATUS_IGNORE, ierr)
  call mpi_file_read_at(fh, offset, back, n, MPI_INTEGER, MPI_STATUS_IGNORE, ierr)
  call expect('read_at', back(2), buf(2))

  ! The shared pointer: in order, split, and each for itself.
  call publish()
  buf(1) = 700 + rank
  call mpi_file_write_ordered(fh, buf, 1, MPI_INTEGER, status, ierr)
  buf(1) = 800 + rank
  call mpi_file_write_ordered_begin(fh, buf, 1, MPI_INTEGER, ierr)
  call mpi_file_write_ordered_end(fh, buf, status, ierr)
  call publish()
  offset = 0
  call mpi_file_seek_shared(fh, offset, MPI_SEEK_SET, ierr)
  call mpi_file_read_ordered(fh, back, 1, MPI_INTEGER, status, ierr)
  call expect('read_ordered', back(1), 700 + rank)
  call mpi_file_read_ordered_begin(fh, back, 1, MPI_INTEGER, ierr)
  call mpi_file_read_ordered_end(fh, back, status, ierr)
  call expect('read_ordered_begin', back(1), 800 + rank)
  call publish()
  call mpi_file_write_shared(fh, buf, 1, MPI_INTEGER, status, ierr)
  call mpi_file_iwrite_shared(fh, buf, 1, MPI_INTEGER, request, ierr)
  call mpi_wait(request, status, ierr)
  call publish()
  call mpi_file_get_position_shared(fh, position, ierr)
  call expect('shared position', int(position), 4 * ranks)
  call mpi_barrier(MPI_COMM_WORLD, ierr)
  offset = 2 * ranks
  call mpi_file_seek_shared(fh, offset, MPI_SEEK_SET, ierr)
  call mpi_file_read_shared(fh, back, 1, MPI_INTEGER, status, ierr)
  call expect_true('read_shared', back(1) .ge. 800 .and. back(1) .lt. 800 + ranks)
  call mpi_file_iread_shared(fh, back, 1, MPI_INTEGER, request, ierr)
  call mpi_wait(request, status, ierr)
  call expect_true('iread_shared', back(1) .ge. 800 .and. back(1) .lt. 800 + ranks)

  ! Sizes, group, info.
  call publish()
  offset = 0
  call mpi_file_set_view(fh, offset, MPI_BYTE, MPI_BYTE, 'native', MPI_INFO_NULL, ierr)
  offset = 4000
  call mpi_file_set_size(fh, offset, ierr)
  offset = 3000
  call mpi_file_preallocate(fh, offset, ierr)
  call mpi_file_get_size(fh, position, ierr)
  call expect('size', int(position), 4000)
  call mpi_file_get_group(fh, group, ierr)
  call mpi_group_size(group, count, ierr)
  call expect('group', count, ranks)
  call mpi_group_free(group, ierr)
  call mpi_file_get_info(fh, info, ierr)
  call mpi_file_set_info(fh, info, ierr)
  call expect('set_info', ierr, MPI_SUCCESS)
  call mpi_info_free(info, ierr)
  call mpi_file_get_type_extent(fh, MPI_INTEGER, extent, ierr)
  call expect('extent', int(extent), 4)
  call mpi_file_close(fh, ierr)
  call expect('close', ierr, MPI_SUCCESS)
  call mpi_type_free(vector, ierr)
  call mpi_type_free(filetype, ierr)
  call mpi_barrier(MPI_COMM_WORLD, ierr)
  if (rank .eq. 0) then
    call mpi_file_delete(name, MPI_INFO_NULL, ierr)
    call expect('delete', ierr, MPI_SUCCESS)
  end if

  call mpi_allreduce(failures, count, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
  if (rank .eq. 0 .and. count .eq. 0) print '(a)', ' No Errors'
  if (rank .eq. 0 .and. count .ne. 0) print *, 'Found ', count, ' errors'
  call mpi_finalize(ierr)
  if (count .ne. 0) stop 1

contains

  subroutine expect(what, found, wanted)
  character(len=*), intent(in) :: what
  integer, intent(in) :: found, wanted
  if (found .eq. wanted) return
  failures = failures + 1
  if (failures .le. 10) print *, 'rank ', rank, ', kind ', kind, ': ', what, ' is ', found, ', should be ', wanted
  end subroutine

  subroutine expect_true(what, condition)
  character(len=*), intent(in) :: what
  logical, intent(in) :: condition
  if (.not. condition) call expect(what, 0, 1)
  end subroutine

  subroutine publish()
  integer :: error
  call mpi_file_sync(fh, error)
  call mpi_barrier(MPI_COMM_WORLD, error)
  call mpi_file_sync(fh, error)
  end subroutine
end program
