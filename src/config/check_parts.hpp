// SPDX-License-Identifier: Apache-2.0
// The parts of parse_configuration() and check(); each finds one kind of problem. check_shape.hpp comes before them.
#pragma once

#include "src/config/check.hpp"
#include "src/config/problem_list.hpp"

namespace cardan::config {

/// Processes, components, groups, threads and topics against each other, as far as the text alone can tell.
void check_text(const Configuration& configuration, ProblemList& problems);
/// The chains, as far as the text alone can tell.
void check_chains(const Configuration& configuration, ProblemList& problems);
/// Chains without a way from their beginning to their end, if all components are known.
void check_chain_ways(const Configuration& configuration, const Declarations& declared, ProblemList& problems);
/// The places of frames: whether they are trees. Sees the length of quaternions as parse_configuration() leaves it.
void check_transforms(const Configuration& configuration, ProblemList& problems);
/// Whether a quaternion of this length is meant to be of length 1, and was rounded.
[[nodiscard]] constexpr bool is_length_1(double length) noexcept { return length > 0.999 && length < 1.001; }
/// The transitions between the states of the system, as far as the text alone can tell.
void check_transitions(const Configuration& configuration, ProblemList& problems);
/// Whether the system can leave the states to which transitions lead, and stays out of them. Warnings alone.
void check_ways_back(const Configuration& configuration, ProblemList& problems);
/// Parameters, renames and callbacks against what the component of that name declares.
void check_components(const Configuration& configuration, const Declarations& declared, ProblemList& problems);
/// Along each topic: types, writers, readers, options, and the memory that they need.
void check_topics(const Configuration& configuration, const Declarations& declared, const Machine& machine,
                  ProblemList& problems);
/// Along each service: its servers, and both types.
void check_services(const Configuration& configuration, const Declarations& declared, ProblemList& problems);
/// CPUs, memory and rights against what the computer has.
void check_machine(const Configuration& configuration, const Machine& machine, ProblemList& problems);

}  // namespace cardan::config
