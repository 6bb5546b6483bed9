// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nanobind/nanobind.h>

namespace cardan::python {

/// `_recorded`, `_draft`, `_columns`, `_root`: messages that come from a file or go into one.
void bind_recorded(nanobind::module_& m);

}  // namespace cardan::python
