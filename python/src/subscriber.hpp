// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nanobind/nanobind.h>

namespace cardan::python {

/// `SubscriberHandle`, and waiting for several of them.
void bind_subscriber(nanobind::module_& m);

}  // namespace cardan::python
