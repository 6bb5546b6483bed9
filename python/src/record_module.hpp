// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nanobind/nanobind.h>

namespace cardan::python {

/// `BagFiles`, `BagCursor`: the recorded messages of files.
void bind_bag_reader(nanobind::module_& m);
/// `BagWriter`: a file that is written message by message.
void bind_bag_writer(nanobind::module_& m);
/// `RecorderHandle`.
void bind_recorder(nanobind::module_& m);
/// `PlayerHandle`.
void bind_player(nanobind::module_& m);
/// `_replay`: `cardan run --from` in an interpreter.
void bind_replay(nanobind::module_& m);

}  // namespace cardan::python
