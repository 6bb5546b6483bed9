# SPDX-License-Identifier: Apache-2.0
# cmake -DPYTHON=… -DTESTS=… -P run_pytest.cmake
execute_process(COMMAND ${PYTHON} -c "import pytest, numpy" RESULT_VARIABLE missing OUTPUT_QUIET ERROR_QUIET)
if(missing)
  message(STATUS "python_tests: skipped, because ${PYTHON} has no pytest or no numpy (scripts/setup.sh --for test installs them)")
  return()
endif()
# A test that does not come back shows where it is, before ctest ends it; the list shows how long each one took.
execute_process(COMMAND ${PYTHON} -m pytest -v -p no:cacheprovider -o console_output_style=times -o faulthandler_timeout=150 --rootdir ${TESTS} ${TESTS} RESULT_VARIABLE failed)
if(failed)
  message(FATAL_ERROR "the tests of the Python package failed (see above)")
endif()
