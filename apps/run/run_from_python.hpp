// SPDX-License-Identifier: Apache-2.0
// `cardan run FILE --from BAG` where a component is in Python.
#pragma once

#include "src/replay/run_from.hpp"
#include "src/system/plan/plan.hpp"

namespace cardan::apps {

/// If a component that the replay has is in Python, this process becomes the interpreter, which runs all of them and
/// does what run_from() does. Otherwise it returns. Throws Error: InvalidArgument (two processes want different
/// interpreters), Unavailable (it does not start).
void replay_in_python(const plan::Plan& plan, const replay::RunFromOptions& options);

}  // namespace cardan::apps
