// SPDX-License-Identifier: Apache-2.0
#include "bench/pipeline/lidar/chain.hpp"

namespace cardan::bench::perception::lidar {
const Chain& lidar_chain() {
  static const Chain kChain{.name = "lidar",
                            .whole = "perception to decision",
                            .usual_rate_hz = 10,
                            .stages = {"lidar", "preprocessing", "localization", "perception", "planning", "decision"},
                            .links = {{"scans", {0}, {1}},
                                      {"points", {1}, {2}},
                                      {"located", {2}, {3}},
                                      {"obstacles", {3}, {4}},
                                      {"plans", {4}, {5}}}};
  return kChain;
}

}  // namespace cardan::bench::perception::lidar
