# SPDX-License-Identifier: Apache-2.0
# Helpers that several rooms use, so that warnings and test registration are decided in one place.

add_library(cardan_options INTERFACE)
target_include_directories(cardan_options INTERFACE ${PROJECT_SOURCE_DIR})  # for what is not installed: "src/…", "apps/…"
target_compile_features(cardan_options INTERFACE cxx_std_20)
target_compile_options(cardan_options INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wnon-virtual-dtor -Woverloaded-virtual
  -Wcast-align -Wformat=2 -Wimplicit-fallthrough
  $<$<BOOL:${CARDAN_WARNINGS_AS_ERRORS}>:-Werror>)

# For what is not on the way of a message: texts, options and JSON, which are mostly generated code. A quarter of the compiler's time less.
function(cardan_optimize_less target)
  if(CMAKE_BUILD_TYPE STREQUAL "RelWithDebInfo")
    target_compile_options(${target} PRIVATE -O1)
  endif()
endfunction()

# For code whose speed does not matter. Then a test's calls of the hot path in headers are not inlined: half of the compiler's time less.
# Under sanitizers it would run too slowly.
function(cardan_optimize_not target)
  if(CMAKE_BUILD_TYPE STREQUAL "RelWithDebInfo" AND NOT CMAKE_CXX_FLAGS MATCHES "-fsanitize")
    target_compile_options(${target} PRIVATE -O0)
  else()
    cardan_optimize_less(${target})
  endif()
endfunction()

# Headers that nearly every test includes, parsed once for all tests that are compiled alike: a second of compiler time less for each. It can hide a
# missing #include, which the presets dev and clang show. A compiler cache cannot look into it.
set(cardan_test_headers <gtest/gtest.h> <algorithm> <chrono> <filesystem> <functional> <map> <string> <thread> <vector> <cardan/cardan.hpp>)
function(cardan_precompile_test_headers target)
  if(NOT CARDAN_UNITY OR NOT CMAKE_CXX_COMPILER_ID STREQUAL "GNU" OR CMAKE_CXX_COMPILER_LAUNCHER OR CMAKE_CROSSCOMPILING)
    return()
  endif()
  get_target_property(options ${target} COMPILE_OPTIONS)
  string(REGEX MATCH "-O.?" level "${options}")
  set(headers cardan_test_headers${level})
  if(NOT TARGET ${headers})
    add_executable(${headers} EXCLUDE_FROM_ALL ${PROJECT_SOURCE_DIR}/cmake/test_headers.cpp)
    target_compile_options(${headers} PRIVATE ${options})
    target_link_libraries(${headers} PRIVATE cardan cardan_options GTest::gtest GTest::gtest_main)
    target_precompile_headers(${headers} PRIVATE ${cardan_test_headers})
  endif()
  target_precompile_headers(${target} REUSE_FROM ${headers})
endfunction()

# A GoogleTest program: cardan_test(NAME name SOURCES a_test.cpp … [LIBRARIES …] [LABELS …] [TIMEOUT seconds] [SERIAL])
# Labels that the scripts know: `deep` (long: only in make test-deep), `native` (needs an uninstrumented build on its own kernel
# architecture: not under sanitizers or qemu), `package` (looks at the tree or at what is installed: once is enough).
# The tested code was compiled in its library, so that the test's own code is not optimized, except in tests that are SERIAL or `native`:
# what they race, count or measure is the hot path, a part of which is compiled into the test.
# SERIAL: no other test runs at the same time, because it measures times or uses up a resource of the computer. These are built by the target
# `serial_tests` and have the label `serial`: `make test` runs them while the rest is compiled.
# COST: about how many seconds a long test takes. The longest start first, so that none of them is the last.
function(cardan_test)
  cmake_parse_arguments(T "SERIAL" "NAME;TIMEOUT;COST" "SOURCES;LIBRARIES;LABELS" ${ARGN})
  if(NOT CARDAN_BUILD_TESTS)
    return()
  endif()
  if("native" IN_LIST T_LABELS AND CMAKE_CXX_FLAGS MATCHES "-fsanitize")
    return()  # some replace operator new, which a sanitizer has already done
  endif()
  find_package(GTest REQUIRED)
  add_executable(${T_NAME} ${T_SOURCES})
  if(CARDAN_UNITY AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")  # takes a test's own names, in a source that is included, for a header's
    target_compile_options(${T_NAME} PRIVATE -Wno-subobject-linkage)
  endif()
  if(T_SERIAL OR "native" IN_LIST T_LABELS OR CMAKE_CROSSCOMPILING)  # an emulator runs it: there each instruction costs ten
    cardan_optimize_less(${T_NAME})
  else()
    cardan_optimize_not(${T_NAME})
  endif()
  cardan_precompile_test_headers(${T_NAME})
  target_link_libraries(${T_NAME} PRIVATE cardan cardan_options GTest::gtest GTest::gtest_main ${T_LIBRARIES})
  if(NOT T_TIMEOUT)
    set(T_TIMEOUT 600)  # against hangs alone: a busy computer takes its time
  endif()
  if(CMAKE_CXX_FLAGS MATCHES "-fsanitize" OR CMAKE_CROSSCOMPILING)  # ten times slower on a loaded computer, and it only ends what hangs
    math(EXPR T_TIMEOUT "5 * ${T_TIMEOUT}")
  endif()
  add_test(NAME ${T_NAME} COMMAND ${T_NAME})
  if(T_SERIAL)
    list(APPEND T_LABELS serial)
    add_dependencies(serial_tests ${T_NAME})
  endif()
  set_tests_properties(${T_NAME} PROPERTIES TIMEOUT ${T_TIMEOUT} LABELS "${T_LABELS}" RUN_SERIAL ${T_SERIAL})
  if(T_COST)
    set_tests_properties(${T_NAME} PROPERTIES COST ${T_COST})
  endif()
endfunction()

# The demo's configuration as it is installed, next to its schema: generated/street.json.
function(cardan_make_installed_street)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/demo/street.json)
  file(READ ${PROJECT_SOURCE_DIR}/demo/street.json street)
  string(REPLACE "../src/config/cardan.schema.json" "cardan.schema.json" street "${street}")
  file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/generated/street.json CONTENT "${street}" @ONLY)
endfunction()
