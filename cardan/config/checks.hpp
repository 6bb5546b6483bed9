// SPDX-License-Identifier: Apache-2.0
// The parts of check(); each says one kind of thing.
#pragma once

#include "cardan/config/check.hpp"
#include "cardan/config/complaints.hpp"

namespace cardan::config {

/// Parameters, renames and callbacks against what the component of that name declares.
void check_components(const Configuration& configuration, const Declarations& declared, Complaints& complaints);
/// Along each topic: types, writers, readers, options.
void check_topics(const Configuration& configuration, const Declarations& declared, Complaints& complaints);
/// CPUs, memory and rights against what the computer has.
void check_machine(const Configuration& configuration, const Machine& machine, Complaints& complaints);

}  // namespace cardan::config
