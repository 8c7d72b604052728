# What `cmake --install` puts under the prefix: the command with its manual page and completions, the shared libraries
# libforebay, libforebay_codec and libforebay_read with their headers, a CMake package (find_package(forebay), targets
# forebay::forebay, forebay::codec and forebay::read), forebay.pc, forebay-codec.pc and forebay-read.pc.
include(CMakePackageConfigHelpers)

set(forebay_package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/forebay)

install(TARGETS libforebay EXPORT forebay LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS libforebay_codec EXPORT forebay LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
if(TARGET libforebay_read)
  install(TARGETS libforebay_read EXPORT forebay LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
endif()
install(DIRECTORY include/forebay ${PROJECT_BINARY_DIR}/include/forebay DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
        FILES_MATCHING PATTERN "*.h" PATTERN "*.hpp" PATTERN "*.f90")

install(EXPORT forebay NAMESPACE forebay:: FILE forebay-targets.cmake DESTINATION ${forebay_package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/forebay-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES cmake/forebay-config.cmake ${PROJECT_BINARY_DIR}/forebay-config-version.cmake
        DESTINATION ${forebay_package_dir})

# pkg-config's paths are relative to the file itself where the install directories are relative to the prefix.
foreach(kind INCLUDEDIR LIBDIR)
  if(IS_ABSOLUTE ${CMAKE_INSTALL_${kind}})
    set(FOREBAY_PC_${kind} ${CMAKE_INSTALL_${kind}})
  else()
    set(FOREBAY_PC_${kind} "\${prefix}/${CMAKE_INSTALL_${kind}}")
  endif()
endforeach()
file(RELATIVE_PATH forebay_pc_up /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
foreach(forebay_pc_library forebay forebay_codec forebay_read)
  string(REPLACE _ - forebay_pc_name ${forebay_pc_library})
  set(forebay_pc_requires "")
  if(NOT forebay_pc_library STREQUAL forebay)
    set(forebay_pc_requires "forebay = ${PROJECT_VERSION}")
  endif()
  configure_file(cmake/forebay.pc.in ${forebay_pc_name}.pc @ONLY)
  if(TARGET lib${forebay_pc_library})
    install(FILES ${PROJECT_BINARY_DIR}/${forebay_pc_name}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
  endif()
endforeach()

include(cmake/adios.cmake)
include(cmake/scr.cmake)

if(TARGET forebay)
  install(TARGETS forebay RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/links)
  foreach(link scr_run scr_srun scr_prerun scr_postrun scr_halt scr_index)  # what job scripts call (docs/scr.md)
    file(CREATE_LINK forebay ${PROJECT_BINARY_DIR}/links/${link} SYMBOLIC)
    install(FILES ${PROJECT_BINARY_DIR}/links/${link} DESTINATION ${CMAKE_INSTALL_BINDIR})
  endforeach()
endif()
install(DIRECTORY ${PROJECT_BINARY_DIR}/share/ DESTINATION ${CMAKE_INSTALL_DATADIR} OPTIONAL)
