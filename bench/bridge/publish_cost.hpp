// SPDX-License-Identifier: Apache-2.0
// The cost that bridges add to the publish() of a topic that they carry: the figures of the rows `publish` and
// `publish-small`.
#pragma once

#include <string>
#include <vector>

#include "bench/bridge/rows.hpp"

namespace cardan::bench::bridging {

/// The most that the p99 of publish() with bridges may be, in that without.
inline constexpr double kMostPublishRatio = 1.2;

/// Adds a round: what each publish() took in µs without bridges, and then with this number of them. Percentiles are of
/// the round; the ratios are those of all rounds together, because the p99 of one rests on a few publications.
void add_publish_round(Row& row, std::vector<double> without, std::vector<double> with, std::size_t bridges);

/// "publish() of 4 KiB at 100 Hz with one subscriber, without bridges and with 2 bridges: dds, foxglove (left out:
/// zenoh)"
[[nodiscard]] std::string publish_title(const std::string& what, const std::vector<std::string>& bridges,
                                        const std::vector<std::string>& left_out);

}  // namespace cardan::bench::bridging
