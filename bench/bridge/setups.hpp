// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "bench/actor.hpp"
#include "bench/bridge/network.hpp"
#include "bench/bridge/rows.hpp"

namespace cardan::bench::bridging {

/// The common part of all runs.
struct Setting {
  double seconds = 10;    ///< that the camera sends
  bool fastdds = false;   ///< the peer Fast DDS is here
  bool dds = false;       ///< so is the bridge to DDS
  bool foxglove = false;  ///< the one to Foxglove
  bool zenoh = false;     ///< the one to Zenoh, with cardan-zenoh
  /// Where the second computer of the row `zenoh` is. Null: here, over loopback, and why.
  const OtherNetwork* other = nullptr;
  std::string no_other{};
  Stopped stopped = nullptr;
};

/// A row of the report, and how one of its runs is measured. To add one: its function, and its line in `all_setups()`.
struct Setup {
  const char* name;
  const char* title;
  /// Adds the figures of one run to `row`; all processes are gone when it returns. Throws Error when one of them
  /// failed. Returns early, and then adds nothing, when the user stops it.
  void (*measure)(const Setting& setting, Row& row);
  bool needs_fastdds = false, needs_dds = false, needs_foxglove = false, needs_zenoh = false;

  [[nodiscard]] bool possible(const Setting& here) const noexcept {
    return (here.fastdds || !needs_fastdds) && (here.dds || !needs_dds) && (here.foxglove || !needs_foxglove) &&
           (here.zenoh || !needs_zenoh);
  }
};

[[nodiscard]] const std::vector<Setup>& all_setups();

}  // namespace cardan::bench::bridging
