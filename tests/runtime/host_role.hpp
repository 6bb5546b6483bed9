// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tests/support/child.hpp"

namespace cardan::test {

/// Also the role `host`: what `cardan host FILE|--plan-fd N --process NAME [--ready-fd N] [--report-fd N]` does, in the
/// test program itself. For tests that need no command, and builds that have none. Returns the exit code.
int run_as_host(const Args& args);

}  // namespace cardan::test
