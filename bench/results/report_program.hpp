// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace cardan::bench {

/// The interpreter of Python that runs bench/report: $CARDAN_PYTHON, or else the first of python3 in PATH and
/// /usr/bin/python3 that has NumPy, SciPy and Matplotlib. Throws Error (Unavailable), which says what to install.
/// Blocks for some ten milliseconds.
[[nodiscard]] std::string report_interpreter();

/// Runs the program of bench/report, which reads results, compares them and draws the report, with these words. It has
/// this process's standard output and errors. Returns its exit code, 1 if a signal ended it. Throws Error
/// (Unavailable): it cannot be started. Blocks until it has ended; a signal that is blocked here is not blocked there.
int run_report_program(const std::vector<std::string>& words);

}  // namespace cardan::bench
