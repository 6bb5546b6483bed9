// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nanobind/nanobind.h>

namespace cardan::python {

/// `TopicOptions` and `SubscriberOptions`, which Python fills field by field. Times are in nanoseconds.
void bind_options(nanobind::module_& m);

}  // namespace cardan::python
