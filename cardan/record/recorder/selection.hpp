// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "cardan/record/recorder/recorder.hpp"

namespace cardan::record {

/// Whether these options ask for this topic.
[[nodiscard]] bool is_selected(const RecorderOptions& options, const std::string& topic, const std::string& type);

/// "drive.mcap" → "drive_0003.mcap".
[[nodiscard]] std::string numbered(const std::string& path, std::size_t number);

}  // namespace cardan::record
