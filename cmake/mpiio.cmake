# The MPI-IO layer, ADIOS's interface and SCR's are built once for each MPI that is installed. For each of them, if its compiler wrapper is
# found:
#   forebay_mpi_NAME_headers   what it takes to compile against it (C API only)
#   forebay_mpi_NAME           and to link a program with it
#   FOREBAY_MPI_NAME_EXEC      its mpiexec
# FOREBAY_MPIS lists their names.
include_guard(GLOBAL)
option(FOREBAY_MPIIO "Build the MPI-IO layer, for every MPI that is installed" OFF)
option(FOREBAY_ADIOS_MPI "Build ADIOS's interface for every MPI that is installed, not only without MPI" ${FOREBAY_MPIIO})
option(FOREBAY_SCR "Build SCR's interface, for every MPI that is installed" ${FOREBAY_MPIIO})

set(FOREBAY_MPIS "")
# forebay_find_mpi(NAME SHOW): by the wrapper mpicxx.NAME, as Debian calls it, which tells its flags with SHOW.
function(forebay_find_mpi name show)
  string(TOUPPER ${name} upper)
  find_program(FOREBAY_MPICXX_${upper} mpicxx.${name} DOC "Compiler wrapper of ${name}")
  find_program(FOREBAY_MPI_${upper}_EXEC mpiexec.${name} DOC "Launcher of ${name}")
  find_program(FOREBAY_MPIFORT_${upper} mpifort.${name} DOC "Fortran compiler wrapper of ${name}")
  if(NOT FOREBAY_MPICXX_${upper} OR NOT FOREBAY_MPI_${upper}_EXEC)
    message(STATUS "MPI-IO layer and libadios: no ${name}")
    return()
  endif()
  execute_process(COMMAND ${FOREBAY_MPICXX_${upper}} ${show} OUTPUT_VARIABLE flags COMMAND_ERROR_IS_FATAL ANY
                  OUTPUT_STRIP_TRAILING_WHITESPACE)
  separate_arguments(flags UNIX_COMMAND "${flags}")
  set(includes ${flags})
  list(FILTER includes INCLUDE REGEX "^-I")
  list(TRANSFORM includes REPLACE "^-I" "")
  set(links ${flags})
  list(FILTER links INCLUDE REGEX "^-[Ll]")
  list(FILTER links EXCLUDE REGEX "^-l(mpichcxx|mpi_cxx)$")  # the C++ bindings, which nothing uses

  add_library(forebay_mpi_${name}_headers INTERFACE)
  target_include_directories(forebay_mpi_${name}_headers SYSTEM INTERFACE ${includes})
  target_compile_definitions(forebay_mpi_${name}_headers INTERFACE MPICH_SKIP_MPICXX OMPI_SKIP_MPICXX)
  add_library(forebay_mpi_${name} INTERFACE)
  target_link_libraries(forebay_mpi_${name} INTERFACE forebay_mpi_${name}_headers ${links})
  set(FOREBAY_MPIS ${FOREBAY_MPIS} ${name} PARENT_SCOPE)
endfunction()

if(FOREBAY_MPIIO OR FOREBAY_ADIOS_MPI OR FOREBAY_SCR)
  forebay_find_mpi(mpich -show)
  forebay_find_mpi(openmpi --showme)
  set(FOREBAY_MPIS ${FOREBAY_MPIS} CACHE INTERNAL "MPIs that something is built for")
endif()
