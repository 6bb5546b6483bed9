# SPDX-License-Identifier: Apache-2.0
# cmake -DCOMPILER=… -DFLAGS=… -DSOURCE=… -P expect_failure.cmake
# Compiles SOURCE and fails unless the compiler refuses it with the text behind its "// expect:". A source without that line must compile.
file(STRINGS ${SOURCE} expected REGEX "^// expect: ")
string(REPLACE "// expect: " "" expected "${expected}")
execute_process(COMMAND ${COMPILER} ${FLAGS} -fsyntax-only ${SOURCE} RESULT_VARIABLE failed OUTPUT_VARIABLE said ERROR_VARIABLE said)
if(expected STREQUAL "")
  if(failed)
    message(FATAL_ERROR "${SOURCE} must compile, and does not:\n${said}")
  endif()
elseif(NOT failed)
  message(FATAL_ERROR "${SOURCE} compiles, and must not")
else()
  string(FIND "${said}" "${expected}" found)
  if(found EQUAL -1)
    message(FATAL_ERROR "${SOURCE} is refused without the words '${expected}':\n${said}")
  endif()
endif()
