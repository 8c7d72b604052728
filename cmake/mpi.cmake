# MPI::MPI_CXX and MPIEXEC_EXECUTABLE. Debian can hold several MPIs at once, of which plain `mpicxx` and `mpiexec` are
# only the preferred one: MPICH's own names are taken where they exist, unless MPI_CXX_COMPILER says otherwise.
if(NOT MPI_CXX_COMPILER)
  find_program(FOREBAY_MPICXX_MPICH mpicxx.mpich)
  if(FOREBAY_MPICXX_MPICH)
    set(MPI_CXX_COMPILER ${FOREBAY_MPICXX_MPICH} CACHE FILEPATH "MPI compiler wrapper")
    find_program(MPIEXEC_EXECUTABLE mpiexec.mpich)
  endif()
endif()
set(MPI_CXX_SKIP_MPICXX ON)
find_package(MPI REQUIRED COMPONENTS CXX)
