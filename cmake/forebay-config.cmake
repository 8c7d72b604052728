# find_package(forebay): the imported target forebay::forebay, a shared library that needs nothing else to link.
include(${CMAKE_CURRENT_LIST_DIR}/forebay-targets.cmake)
