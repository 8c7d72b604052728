# What makes programs written for ADIOS 1.x find Forebay's adios.h: headers below include/adios, adios_config, pkg-config's
# adios, adios-mpich and adios-openmpi, and a CMake package (find_package(ADIOS)).
if(NOT TARGET adios_nompi)
  return()
endif()

install(DIRECTORY include/adios DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")

# The version that programs ask for is that of ADIOS's interface.
set(ADIOS_INTERFACE_VERSION 1.13.1)
set(ADIOS_MPIS "")
foreach(mpi ${FOREBAY_MPIS})
  if(TARGET adios_${mpi})
    list(APPEND ADIOS_MPIS ${mpi})
  endif()
endforeach()
set(ADIOS_DEFAULT_MPI nompi)
if(ADIOS_MPIS)
  list(GET ADIOS_MPIS 0 ADIOS_DEFAULT_MPI)
endif()
set(ADIOS_HAVE_FORTRAN OFF)
if(TARGET adiosf_nompi)
  set(ADIOS_HAVE_FORTRAN ON)
endif()

# pkg-config: one for each MPI, and `adios` for the first of them.
foreach(mpi ${ADIOS_MPIS} default)
  set(ADIOS_PC_NAME adios-${mpi})
  set(ADIOS_PC_MPI ${mpi})
  if(mpi STREQUAL "default")
    set(ADIOS_PC_NAME adios)
    set(ADIOS_PC_MPI ${ADIOS_DEFAULT_MPI})
  endif()
  set(ADIOS_PC_FLAGS "")
  set(ADIOS_PC_SUFFIX "")
  set(ADIOS_PC_DIRECTORY "\${libdir}/adios/${ADIOS_PC_MPI}")
  if(ADIOS_PC_MPI STREQUAL "nompi")
    set(ADIOS_PC_FLAGS " -D_NOMPI")
    set(ADIOS_PC_SUFFIX _nompi)
    set(ADIOS_PC_DIRECTORY "\${libdir}")
  endif()
  configure_file(cmake/adios/adios.pc.in ${ADIOS_PC_NAME}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/${ADIOS_PC_NAME}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endforeach()

file(RELATIVE_PATH ADIOS_LIB_FROM_BIN /${CMAKE_INSTALL_BINDIR} /${CMAKE_INSTALL_LIBDIR})
file(RELATIVE_PATH ADIOS_INCLUDE_FROM_BIN /${CMAKE_INSTALL_BINDIR} /${CMAKE_INSTALL_INCLUDEDIR})
configure_file(cmake/adios/adios_config.in adios_config @ONLY)
install(PROGRAMS ${PROJECT_BINARY_DIR}/adios_config DESTINATION ${CMAKE_INSTALL_BINDIR})

set(adios_package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/ADIOS)
file(RELATIVE_PATH ADIOS_PREFIX_FROM_PACKAGE /${adios_package_dir} /)
configure_file(cmake/adios/ADIOSConfig.cmake.in ADIOSConfig.cmake @ONLY)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/ADIOSConfigVersion.cmake VERSION ${ADIOS_INTERFACE_VERSION}
                                 COMPATIBILITY SameMajorVersion)
install(FILES ${PROJECT_BINARY_DIR}/ADIOSConfig.cmake ${PROJECT_BINARY_DIR}/ADIOSConfigVersion.cmake
        DESTINATION ${adios_package_dir})
