# What makes programs written for SCR find Forebay's scr.h: headers in include/scr, pkg-config's scr, scr-mpich and scr-openmpi, and a CMake
# package (find_package(scr), target scr::scr).
set(SCR_MPIS "")
foreach(mpi ${FOREBAY_MPIS})
  if(TARGET scr_${mpi})
    list(APPEND SCR_MPIS ${mpi})
  endif()
endforeach()
if(NOT SCR_MPIS)
  return()
endif()
install(DIRECTORY include/scr DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")

# The version that programs ask for is that of SCR's interface.
set(SCR_INTERFACE_VERSION 3.1.0)
list(GET SCR_MPIS 0 SCR_DEFAULT_MPI)
foreach(mpi ${SCR_MPIS} default)
  set(SCR_PC_NAME scr-${mpi})
  set(SCR_PC_MPI ${mpi})
  if(mpi STREQUAL "default")
    set(SCR_PC_NAME scr)
    set(SCR_PC_MPI ${SCR_DEFAULT_MPI})
  endif()
  configure_file(cmake/scr/scr.pc.in ${SCR_PC_NAME}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/${SCR_PC_NAME}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endforeach()

set(scr_package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/scr)
file(RELATIVE_PATH SCR_PREFIX_FROM_PACKAGE /${scr_package_dir} /)
configure_file(cmake/scr/scrConfig.cmake.in scrConfig.cmake @ONLY)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/scrConfigVersion.cmake VERSION ${SCR_INTERFACE_VERSION}
                                 COMPATIBILITY SameMajorVersion)
install(FILES ${PROJECT_BINARY_DIR}/scrConfig.cmake ${PROJECT_BINARY_DIR}/scrConfigVersion.cmake DESTINATION ${scr_package_dir})
