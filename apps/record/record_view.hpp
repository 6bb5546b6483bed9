// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "apps/terminal/output.hpp"
#include "cardan/recorder_report.hpp"

namespace cardan::apps {

/// A table of the topics, and lines on the disk; `seconds` since `before` make rates.
std::string record_table(const record::RecorderReport& now, const record::RecorderReport& before);
/// The same as lines that have room.
std::vector<std::string> record_lines(const record::RecorderReport& now, const record::RecorderReport& before,
                                      Room room);

/// "3 queue full, 1 lapped".
std::string loss_text(const record::TopicReport& topic);

nlohmann::ordered_json record_json(const record::RecorderReport& report);

}  // namespace cardan::apps
