// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nanobind/nanobind.h>

namespace cardan::python {

/// `PublisherHandle`: the end of a topic that publishes.
void bind_publisher(nanobind::module_& m);

}  // namespace cardan::python
