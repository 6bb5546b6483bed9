# SPDX-License-Identifier: Apache-2.0
# Two helpers that every room uses, so that warnings and test registration are decided in one place.

add_library(cardan_options INTERFACE)
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

# A GoogleTest program: cardan_test(NAME name SOURCES a_test.cpp … [LIBRARIES …] [LABELS …] [TIMEOUT seconds] [SERIAL])
# Labels that the scripts know: `deep` (long: only in make test-deep), `native` (needs an uninstrumented build on a kernel of its own
# architecture: not under sanitizers or qemu), `package` (looks at the tree or at what is installed: once is enough).
# SERIAL: no other test runs beside it, because it measures times or uses up a resource of the computer. These are built by the target
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
  cardan_optimize_less(${T_NAME})  # what is tested was compiled in its library
  target_link_libraries(${T_NAME} PRIVATE cardan cardan_options GTest::gtest GTest::gtest_main ${T_LIBRARIES})
  if(NOT T_TIMEOUT)
    set(T_TIMEOUT 120)
  endif()
  if(CMAKE_CXX_FLAGS MATCHES "-fsanitize")  # ten times slower on a loaded computer, and it only ends what hangs
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
