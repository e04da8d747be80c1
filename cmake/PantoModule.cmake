include(GoogleTest)

# panto_test_label(<file> <out>): the ctest label that a test file's name stands for.
function(panto_test_label file out)
  set(label unit)
  foreach(kind IN ITEMS law reference negative statistical paper)
    if(file MATCHES "_${kind}_test\\.cpp$")
      set(label ${kind})
    endif()
  endforeach()
  set(${out} ${label} PARENT_SCOPE)
endfunction()

# panto_label_wanted(<label> <out>): whether PANTO_TEST_LABELS selects the label.
function(panto_label_wanted label out)
  if(NOT BUILD_TESTING)
    set(wanted OFF)
  elseif(NOT PANTO_TEST_LABELS OR label IN_LIST PANTO_TEST_LABELS)
    set(wanted ON)
  else()
    set(wanted OFF)
  endif()
  set(${out} ${wanted} PARENT_SCOPE)
endfunction()

# Where the checkout lies is in a header, so that only tests that ask for it are compiled anew in
# another checkout.
file(CONFIGURE OUTPUT "${PROJECT_BINARY_DIR}/tests/source_dir.hpp"
     CONTENT "#pragma once\n#define PANTO_SOURCE_DIR \"@PROJECT_SOURCE_DIR@\"\n" @ONLY)

# panto_test(<group> <source> [LIBS <lib>...])
# One GoogleTest executable <group>_<stem>; the tests of law_test.cpp are named
# <group>.law.<Suite>.<Test>, so equal suites in two files stay apart.
function(panto_test group source)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "" "LIBS")
  panto_test_label("${source}" label)
  panto_label_wanted(${label} wanted)
  if(NOT wanted)
    return()
  endif()
  cmake_path(GET source STEM stem)
  set(target "${group}_${stem}")
  string(REGEX REPLACE "_test$" "" file_name "${stem}")
  add_executable(${target} "${source}")
  target_link_libraries(${target} PRIVATE ${arg_LIBS} GTest::gtest_main)
  target_include_directories(${target} PRIVATE "${PROJECT_SOURCE_DIR}" "${PROJECT_BINARY_DIR}")
  target_compile_options(${target} PRIVATE ${panto_test_options})
  panto_precompile(${target} panto_precompiled_tests)
  set_target_properties(${target} PROPERTIES RUNTIME_OUTPUT_DIRECTORY
                                             "${PROJECT_BINARY_DIR}/test-bin")
  gtest_discover_tests(
    ${target}
    TEST_PREFIX "${group}.${file_name}."
    DISCOVERY_MODE PRE_TEST
    DISCOVERY_TIMEOUT 60
    PROPERTIES LABELS ${label})
endfunction()

# panto_module(<name>
#   [SOURCES <file>...]        none: header-only (INTERFACE) module
#   [DEPS <module>...]         lower modules, linked publicly
#   [PUBLIC_LIBS <lib>...]     libraries that the module's headers include
#   [PRIVATE_LIBS <lib>...]    libraries that only its sources include
#   [TESTS <file>...]          one executable each; the file name decides the label
#   [TEST_LIBS <lib>...])      more libraries for the tests
#
# Target panto_<name>, alias panto::<name>; headers are included as "panto/<name>/x.hpp".
function(panto_module name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" ""
                        "SOURCES;DEPS;PUBLIC_LIBS;PRIVATE_LIBS;TESTS;TEST_LIBS")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "panto_module(${name}): unknown arguments ${arg_UNPARSED_ARGUMENTS}")
  endif()
  set(target "panto_${name}")
  if(arg_SOURCES)
    add_library(${target} STATIC ${arg_SOURCES})
    set(scope PUBLIC)
    target_link_libraries(${target} PRIVATE ${arg_PRIVATE_LIBS})
  else()
    add_library(${target} INTERFACE)
    set(scope INTERFACE)
  endif()
  add_library(panto::${name} ALIAS ${target})
  list(TRANSFORM arg_DEPS PREPEND "panto::" OUTPUT_VARIABLE deps)
  target_link_libraries(${target} ${scope} ${deps} ${arg_PUBLIC_LIBS})
  target_include_directories(
    ${target} ${scope} "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>"
    "$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>")
  target_compile_features(${target} ${scope} cxx_std_20)
  target_compile_definitions(${target} ${scope} ${panto_abi_definitions})
  # Not where they are optimised: what GCC inlines would depend on headers that a source does not read.
  if(arg_SOURCES AND CMAKE_BUILD_TYPE STREQUAL "Debug")
    panto_precompile(${target} panto_precompiled)
  endif()
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${name})

  target_link_libraries(panto_pantograph INTERFACE ${target})
  install(TARGETS ${target} EXPORT PantographTargets
          ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}")
  install(
    DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}/"
    DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/panto/${name}"
    FILES_MATCHING
    PATTERN "*.hpp"
    PATTERN "test" EXCLUDE)

  foreach(source IN LISTS arg_TESTS)
    panto_test(${name} "${source}" LIBS panto::${name} ${arg_TEST_LIBS})
  endforeach()
endfunction()
