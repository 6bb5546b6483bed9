// SPDX-License-Identifier: Apache-2.0
// What the fields of a file must be to each other, as far as the text alone can tell.
#pragma once

#include "cardan/config/complaints.hpp"

namespace cardan::config {

/// Processes, components, groups, threads, topics.
void check_rules(const Configuration& configuration, Complaints& complaints);
/// The transitions between the states of the system.
void check_transitions(const Configuration& configuration, Complaints& complaints);

}  // namespace cardan::config
