// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nanobind/nanobind.h>

#include "cardan/any_type.hpp"

namespace cardan::python {

/// `Type`: a message type by its description.
void bind_type(nanobind::module_& m);

}  // namespace cardan::python
