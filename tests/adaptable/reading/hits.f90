! Counts in a file or store where a variable of 46 rows lies in (100, 200], by points and by blocks: hits FILE NAME.
program hits
  use adios_query_mod
  implicit none
  include 'mpif.h'
  integer :: err, points, blocks, vtype, nsteps, ndim
  integer*8 :: fp, found, n, estimated
  integer*8 :: none = 0, batch = 7, first(2)
  integer*8, dimension(10) :: dims
  type(ADIOS_QUERY) :: low, high, both
  character(len=200) :: name, var
  call MPI_Init(err)
  call get_command_argument(1, name)
  call get_command_argument(2, var)
  call adios_read_open_file(fp, name, ADIOS_READ_METHOD_BP, MPI_COMM_SELF, err)
  if (err /= 0) stop 1
  call adios_inq_var(fp, var, vtype, nsteps, ndim, dims, err)
  if (.not. adios_query_is_method_available(ADIOS_QUERY_METHOD_MINMAX)) stop 2
  call adios_query_create(fp, none, var, ADIOS_GT, "100", low)
  call adios_query_create(fp, none, var, ADIOS_LTEQ, "200 ", high)
  call adios_query_combine(low, ADIOS_QUERY_OP_AND, high, both)
  estimated = adios_query_estimate(both, 0)
  points = 0
  do
    call adios_query_evaluate(both, none, 0, batch, found, err)
    if (err < 0) stop 3
    if (found /= 0) then
      call adios_selection_get_npoints(found, n)
      if (points == 0) call adios_selection_get_points(found, first, 0_8, 1_8)
      points = points + int(n)
      call adios_selection_delete(found)
    end if
    if (err == 0) exit
  end do
  call adios_query_set_method(both, ADIOS_QUERY_METHOD_MINMAX)
  blocks = 0
  do
    call adios_query_evaluate(both, none, 0, batch, found, err)
    if (err < 0) stop 4
    if (found /= 0) then
      blocks = blocks + 1
      call adios_selection_delete(found)
    end if
    if (err == 0) exit
  end do
  print '(6i6,l2)', points, blocks, first, dims(1:2), estimated >= points
  call adios_query_free(both)
  call adios_query_free(low)
  call adios_query_free(high)
  call adios_query_create(fp, none, "nothing", ADIOS_GT, "100", low)
  call adios_query_evaluate(low, none, 0, batch, found, err)
  if (err /= -1) stop 5
  call adios_read_close(fp, err)
  call MPI_Finalize(err)
end program
