# Headers of others that nearly every source reads, parsed once for all tests, and for all libraries that are not optimised.
# They save a second per source; a source includes what it needs all the same (clang-tidy reads it without them).
file(CONFIGURE OUTPUT "${PROJECT_BINARY_DIR}/precompiled/none.cpp" CONTENT "int none() { return 0; }\n" @ONLY)
# Eigen's alignment is part of the binary interface and would otherwise follow each user's -march.
set(panto_abi_definitions EIGEN_MAX_ALIGN_BYTES=32)
# What is tested is optimised; the tests themselves are to compile quickly.
set(panto_test_options $<$<CONFIG:Release>:-O1>)
set(panto_common_headers <Eigen/Core> <algorithm> <array> <cmath> <functional> <map> <memory> <optional> <string> <variant> <vector>)

# A library of objects, compiled like modules; a program, compiled like tests.
add_library(panto_precompiled OBJECT "${PROJECT_BINARY_DIR}/precompiled/none.cpp")
target_precompile_headers(panto_precompiled PRIVATE ${panto_common_headers})
if(BUILD_TESTING)
  add_executable(panto_precompiled_tests "${PROJECT_BINARY_DIR}/precompiled/none.cpp")
  target_precompile_headers(panto_precompiled_tests PRIVATE ${panto_common_headers} <gtest/gtest.h>)
  target_compile_options(panto_precompiled_tests PRIVATE ${panto_test_options})
  target_link_libraries(panto_precompiled_tests PRIVATE GTest::gtest_main)
endif()
foreach(target IN ITEMS panto_precompiled panto_precompiled_tests)
  if(TARGET ${target})
    target_link_libraries(${target} PRIVATE Eigen3::Eigen)
    target_compile_features(${target} PRIVATE cxx_std_20)
    target_compile_definitions(${target} PRIVATE ${panto_abi_definitions})
  endif()
endforeach()

# panto_precompile(<target> <from>): the headers of panto_precompiled or panto_precompiled_tests.
function(panto_precompile target from)
  target_precompile_headers(${target} REUSE_FROM ${from})
  target_include_directories(${target} SYSTEM PRIVATE $<TARGET_PROPERTY:Eigen3::Eigen,INTERFACE_INCLUDE_DIRECTORIES>)
endfunction()
