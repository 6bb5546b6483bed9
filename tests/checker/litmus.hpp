// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tests/checker/execution.hpp"

namespace cardan::checker {

/// The proof of the checker: small programs whose outcomes the standard allows or forbids, each explored completely,
/// and once more by brute force over all interleavings: both must find the same executions.
/// Prints a line for each; false if one outcome is not as expected.
bool run_litmus(Execution& execution);

}  // namespace cardan::checker
