# forebay_room(NAME [UNITY_WHOLE] [COMPUTES] [FOLDERS folder...] [ROOMS room...] [LIBS lib...])
#   One static library per room of src/: all *.cc there and in its folders but the tests, linking only the rooms it may use.
#   Each *_test.cc beside the sources becomes part of one test program, NAME_test; each *_fuzz.cc becomes
#   a libFuzzer target of its own. UNITY_WHOLE: names are unique in the room, not only in each folder (cmake/unity.cmake).
#   COMPUTES: the room's loops run over values, or its tests over very many cases, so that both are optimised in the presets
#   of sanitizers, too, where the rest is not: optimising the checks takes Clang more than half of its time.
function(forebay_room name)
  cmake_parse_arguments(ROOM "UNITY_WHOLE;COMPUTES" "" "FOLDERS;ROOMS;LIBS;TEST_LIBS" ${ARGN})
  set(patterns ${CMAKE_CURRENT_SOURCE_DIR}/*.cc)
  foreach(folder ${ROOM_FOLDERS})
    list(APPEND patterns ${CMAKE_CURRENT_SOURCE_DIR}/${folder}/*.cc)
  endforeach()
  file(GLOB sources CONFIGURE_DEPENDS ${patterns})
  set(tests ${sources})
  set(fuzzers ${sources})
  list(FILTER tests INCLUDE REGEX "_test\\.cc$")
  list(FILTER fuzzers INCLUDE REGEX "_fuzz\\.cc$")
  list(FILTER sources EXCLUDE REGEX "_(test|fuzz)\\.cc$")

  if(NOT sources)
    return()
  endif()
  set(target forebay_${name})
  add_library(${target} STATIC ${sources})
  if(ROOM_UNITY_WHOLE)
    forebay_unity(${target} WHOLE)
  else()
    forebay_unity(${target})
  endif()
  target_include_directories(${target} PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/src>
                             $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
                             $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/include>
                             $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  list(TRANSFORM ROOM_ROOMS PREPEND forebay_)
  target_link_libraries(${target} PUBLIC ${ROOM_ROOMS} ${ROOM_LIBS})
  set(sanitized_flags "")
  if(ROOM_COMPUTES AND FOREBAY_SANITIZE)
    set(sanitized_flags -O1)
  endif()
  target_compile_options(${target} PRIVATE ${sanitized_flags})

  if(FOREBAY_TESTS AND tests)
    add_executable(${name}_test ${tests})
    forebay_unity(${name}_test)
    target_compile_options(${name}_test PRIVATE ${sanitized_flags})
    target_link_libraries(${name}_test PRIVATE ${target} GTest::gmock GTest::gtest_main ${ROOM_TEST_LIBS})
    target_compile_definitions(${name}_test PRIVATE FOREBAY_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
    gtest_discover_tests(${name}_test TEST_PREFIX "${name}." DISCOVERY_TIMEOUT 120 PROPERTIES TIMEOUT 300)
  endif()
  foreach(source ${fuzzers})
    forebay_fuzzer(${source} ${target})
  endforeach()
endfunction()

# forebay_fuzzer(SOURCE LIB...): a libFuzzer program with FOREBAY_FUZZ; otherwise a program that replays the corpus
# in tests/fuzz/<name>, run as an ordinary test.
function(forebay_fuzzer source)
  get_filename_component(name ${source} NAME_WE)
  if(FOREBAY_FUZZ)
    add_executable(${name} ${source})
    target_link_libraries(${name} PRIVATE ${ARGN})
    target_link_options(${name} PRIVATE -fsanitize=fuzzer)
  elseif(FOREBAY_TESTS)
    add_executable(${name} ${source} ${PROJECT_SOURCE_DIR}/tests/fuzz/replay.cc)
    target_link_libraries(${name} PRIVATE ${ARGN})
    add_test(NAME fuzz.${name} COMMAND ${name} ${PROJECT_SOURCE_DIR}/tests/fuzz/${name})
    set_tests_properties(fuzz.${name} PROPERTIES TIMEOUT 300)
  endif()
endfunction()
