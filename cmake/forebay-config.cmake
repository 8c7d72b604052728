# find_package(forebay): the imported targets forebay::forebay, and forebay::read for programs that read what was stored:
# shared libraries that need nothing else to link.
include(${CMAKE_CURRENT_LIST_DIR}/forebay-targets.cmake)
