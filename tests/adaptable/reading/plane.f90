! Reads the middle plane of an array, cut along its fastest dimension among the ranks, and prints its sum: plane FILE NAME.
program plane
  use adios_read_mod
  implicit none
  include 'mpif.h'
  integer :: err, rank, ranks, vtype, nsteps, ndim
  integer*8 :: fp, sel
  integer*8, dimension(10) :: dims, start, count
  real*4, allocatable :: part4(:)
  real*8, allocatable :: part8(:)
  character(len=200) :: name, var
  character(len=8) :: unit
  real*8 :: total, all
  call MPI_Init(err)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, err)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, err)
  call get_command_argument(1, name)
  call get_command_argument(2, var)
  call adios_read_init_method(ADIOS_READ_METHOD_BP, MPI_COMM_WORLD, "verbose=2", err)
  call adios_read_open_file(fp, name, ADIOS_READ_METHOD_BP, MPI_COMM_WORLD, err)
  if (err /= 0) stop 1
  call adios_inq_var(fp, var, vtype, nsteps, ndim, dims, err)
  if (err /= 0) stop 2
  ! Of several steps, only the first rank has looked into all: the others know it, too.
  call adios_get_attr(fp, trim(var) // "/unit", unit, err)
  if (err /= 0 .or. unit /= "K" .or. nsteps /= 3) stop 4
  ! Fortran order: the last dimension varies slowest. A plane of its middle, cut along the first dimension.
  start = 0
  count = dims
  start(ndim) = dims(ndim) / 2
  count(ndim) = 1
  start(1) = dims(1) * rank / ranks
  count(1) = dims(1) * (rank + 1) / ranks - start(1)
  call adios_selection_boundingbox(sel, ndim, start, count)
  total = 0
  if (vtype == adios_real) then
    allocate(part4(product(count(1:ndim))))
    call adios_schedule_read(fp, sel, var, 0, 1, part4, err)
    call adios_perform_reads(fp, err)
    total = sum(dble(part4))
  else
    allocate(part8(product(count(1:ndim))))
    call adios_schedule_read(fp, sel, var, 0, 1, part8, err)
    call adios_perform_reads(fp, err)
    total = sum(part8)
  end if
  if (err /= 0) stop 3
  call MPI_Reduce(total, all, 1, MPI_DOUBLE_PRECISION, MPI_SUM, 0, MPI_COMM_WORLD, err)
  if (rank == 0) print '(a,i3,f20.8)', trim(var), ndim, all
  call adios_read_close(fp, err)
  call adios_read_finalize_method(ADIOS_READ_METHOD_BP, err)
  call MPI_Finalize(err)
end program
