# SPDX-License-Identifier: Apache-2.0
# cmake -DPYTHON=… -DSCRIPT=… -DPROGRAM=… -P run_with_rosbags.cmake
# A missing rosbags is a failure, not a skipped test: otherwise nobody would notice that nothing is checked.
execute_process(COMMAND ${PYTHON} -c "import rosbags, numpy" RESULT_VARIABLE missing OUTPUT_QUIET ERROR_QUIET)
if(missing)
  message(FATAL_ERROR "this test needs the Python package rosbags at ${PYTHON}, and it is not there.\n"
                      "Run scripts/setup.sh, or by hand: python3 -m venv build/venv && build/venv/bin/python -m pip install rosbags numpy\n"
                      "Another Python that has it: cmake -DCARDAN_PYTHON=/path/to/python3")
endif()
execute_process(COMMAND ${PYTHON} ${SCRIPT} ${PROGRAM} RESULT_VARIABLE failed)
if(failed)
  message(FATAL_ERROR "Cardan's messages and rosbags disagree (see above)")
endif()
