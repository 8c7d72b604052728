program write
  use adios_write_mod
  implicit none
#ifdef WITH_MPI
  include 'mpif.h'
#else
  integer, parameter :: mpi_comm_self = 2
#endif
  integer :: i, err, failed
  integer*8 :: file, total
  integer, parameter :: NX = 10
  real*8, dimension(NX) :: temperature
  character(len=100) :: name
  call get_command_argument(1, name)
  temperature = (/(0.5d0 * i, i = 1, NX)/)
#ifdef WITH_MPI
  call MPI_Init(err)
#endif
  call adios_init("fields.xml", mpi_comm_self, failed)
  call adios_open(file, "fields", name, "w", mpi_comm_self, err)
  failed = min(failed, err)
  call adios_group_size(file, 4_8 + 8_8 * NX, total, err)
  call adios_write(file, "NX", NX, err)
  failed = min(failed, err)
  call adios_write(file, "temperature", temperature, err)
  failed = min(failed, err)
  call adios_close(file, err)
  failed = min(failed, err)
  call adios_finalize(0, err)
#ifdef WITH_MPI
  call MPI_Finalize(i)
#endif
  if (min(failed, err) < 0) stop 1
end program write
