// SPDX-License-Identifier: Apache-2.0
// `cardan view drive.mcap`: a player in this process, in its own run directory, whose topics the bridge shows.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "src/bridge/foxglove/playback.hpp"

namespace cardan::apps {

/// Opens the files, or folders of a recording. It waits at the start, and shows what is there. Sets CARDAN_RUN_DIR:
/// before anything else uses it. Warns of what is not shown. Throws Error as record::Player does, and (Unavailable):
/// there is nothing to show. Set-up; blocks.
[[nodiscard]] std::unique_ptr<bridge::foxglove::Playback> open_recording(const std::vector<std::string>& files,
                                                                         const std::string& domain);

}  // namespace cardan::apps
