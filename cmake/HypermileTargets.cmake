# Functions that define every target of the project, with one language level, one set of warnings
# and one naming scheme.
#
#   hypermile_library(base SOURCES a.cpp b.cpp DEPS fmt::fmt)      -> target hypermile_base
#   hypermile_test(base SOURCES a_test.cpp DEPS hypermile_base)    -> program base_test, registered with ctest
#
# Sources are listed and never globbed, so that a file which is not built is noticed.

set(HYPERMILE_WARNINGS -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror)

function(hypermile_options target)
  target_compile_features(${target} PUBLIC cxx_std_20)
  set_target_properties(${target} PROPERTIES CXX_EXTENSIONS OFF POSITION_INDEPENDENT_CODE ON)
  target_compile_options(${target} PRIVATE ${HYPERMILE_WARNINGS})
  if(HYPERMILE_SANITIZE)
    target_compile_options(${target} PUBLIC -fsanitize=${HYPERMILE_SANITIZE}
                           -fno-sanitize-recover=all -fno-omit-frame-pointer)
    target_link_options(${target} PUBLIC -fsanitize=${HYPERMILE_SANITIZE})
    if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
      # NVML's functions are found at run time and called through our own declarations, which this check rejects.
      target_compile_options(${target} PUBLIC -fno-sanitize=function)
    endif()
  endif()
endfunction()

# Under clang's sanitizers, common headers are precompiled, which saves a quarter of the compile time. The plain build does not
# do so, because it must show missing includes; and gcc loses track of which precompiled headers are system headers, and warns.
if(HYPERMILE_SANITIZE AND CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  set(HYPERMILE_PRECOMPILED ON)
endif()

function(hypermile_precompiled name)
  set(empty ${CMAKE_BINARY_DIR}/generated/${name}.cpp)
  file(CONFIGURE OUTPUT ${empty} CONTENT "int main() {}\n")
  if(name MATCHES tests)
    add_executable(${name} EXCLUDE_FROM_ALL ${empty})
    target_compile_options(${name} PRIVATE -O0)
    target_link_libraries(${name} PRIVATE GTest::gtest)
    set(more <gtest/gtest.h>)
  else()
    add_library(${name} STATIC ${empty})
  endif()
  hypermile_options(${name})
  target_precompile_headers(${name} PRIVATE ${more} <algorithm> <chrono> <functional> <map> <memory> <optional> <span>
                            <string> <string_view> <variant> <vector>)
endfunction()

if(HYPERMILE_PRECOMPILED)
  hypermile_precompiled(hypermile_precompiled)
  if(HYPERMILE_TESTS)
    hypermile_precompiled(hypermile_precompiled_tests)
  endif()
endif()

# The headers of the standard library and of fmt and json take longer to parse than our sources to compile, so sources are
# compiled twelve at a time. Names of one file must not clash with those of its neighbours in an anonymous namespace.
function(hypermile_unity target)
  if(HYPERMILE_UNITY)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 12)
  endif()
endfunction()

function(hypermile_library name)
  cmake_parse_arguments(arg "" "" "SOURCES;DEPS" ${ARGN})
  add_library(hypermile_${name} STATIC ${arg_SOURCES})
  hypermile_options(hypermile_${name})
  target_include_directories(hypermile_${name} PUBLIC ${PROJECT_SOURCE_DIR}/src)
  target_link_libraries(hypermile_${name} PUBLIC ${arg_DEPS})
  hypermile_unity(hypermile_${name})
  if(HYPERMILE_PRECOMPILED)
    target_precompile_headers(hypermile_${name} REUSE_FROM hypermile_precompiled)
  endif()
endfunction()

function(hypermile_test name)
  if(NOT HYPERMILE_TESTS)
    return()
  endif()
  cmake_parse_arguments(arg "" "" "SOURCES;DEPS" ${ARGN})
  add_executable(${name}_test ${arg_SOURCES})
  hypermile_options(${name}_test)
  if(HYPERMILE_SANITIZE)
    # Only the code under test is optimised; the tests themselves shall compile quickly.
    target_compile_options(${name}_test PRIVATE -O0)
  endif()
  if(HYPERMILE_PRECOMPILED)
    target_precompile_headers(${name}_test REUSE_FROM hypermile_precompiled_tests)
  endif()
  target_link_libraries(${name}_test PRIVATE ${arg_DEPS} hypermile_testing GTest::gtest_main)
  gtest_discover_tests(${name}_test NO_PRETTY_VALUES DISCOVERY_TIMEOUT 60 PROPERTIES TIMEOUT 300 LABELS ${name}
    ENVIRONMENT "HYPERMILE_SOURCE_DIR=${PROJECT_SOURCE_DIR}")
endfunction()

# A fake of a vendor's library for tests: lib/FOLDER/libNAME.so.VERSION.
function(hypermile_fake_library target folder name version)
  add_library(${target} SHARED ${ARGN})
  hypermile_options(${target})
  target_include_directories(${target} PUBLIC ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR})
  set_target_properties(${target} PROPERTIES OUTPUT_NAME ${name} VERSION ${version}
    SOVERSION ${version} LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib/${folder})
endfunction()

# A program that makes a table of docs/evidence, and the library behind it. Built on demand only: `ninja NAME_evidence`.
function(hypermile_evidence name)
  cmake_parse_arguments(arg "" "" "SOURCES;DEPS" ${ARGN})
  hypermile_library(${name}_evidence SOURCES ${arg_SOURCES} DEPS ${arg_DEPS})
  target_include_directories(hypermile_${name}_evidence PUBLIC ${PROJECT_SOURCE_DIR})
  add_executable(${name}_evidence main.cpp)
  hypermile_options(${name}_evidence)
  target_link_libraries(${name}_evidence PRIVATE hypermile_${name}_evidence)
  set_target_properties(hypermile_${name}_evidence ${name}_evidence PROPERTIES EXCLUDE_FROM_ALL ON)
endfunction()

function(hypermile_benchmark name)
  cmake_parse_arguments(arg "" "" "SOURCES;DEPS" ${ARGN})
  add_executable(${name}_bench ${arg_SOURCES})
  hypermile_options(${name}_bench)
  target_include_directories(${name}_bench PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_libraries(${name}_bench PRIVATE ${arg_DEPS} benchmark::benchmark_main)
endfunction()

# A libFuzzer program NAME_fuzz; only in the fuzz preset.
function(hypermile_fuzz name)
  if(NOT HYPERMILE_FUZZ)
    return()
  endif()
  if(NOT TARGET fuzzers)
    add_custom_target(fuzzers)
  endif()
  add_dependencies(fuzzers ${name}_fuzz)
  cmake_parse_arguments(arg "" "" "SOURCES;DEPS" ${ARGN})
  add_executable(${name}_fuzz ${arg_SOURCES})
  hypermile_options(${name}_fuzz)
  target_link_libraries(${name}_fuzz PRIVATE ${arg_DEPS} hypermile_testing)
  target_link_options(${name}_fuzz PRIVATE -fsanitize=fuzzer)
endfunction()
