// SPDX-License-Identifier: Apache-2.0
#include "src/record/recorder/bag_folder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>
#include <span>
#include <utility>

#include "src/base/text_of_json.hpp"
#include "src/mcap/new_file.hpp"
#include "src/mcap/ros2_profile.hpp"
#include "src/record/metadata.hpp"

namespace cardan::record {
namespace {

/// A text in quotes is the same in JSON and in YAML.
std::string quoted(const std::string& text) {
  // (Not as JSON's \u: YAML puts no letter together of two of them.)
  return text_of_json(nlohmann::json(text));
}

std::string value_of(const mcap::Channel& channel, const char* key) {
  const auto found = channel.metadata.find(key);
  return found == channel.metadata.end() ? std::string() : found->second;
}

/// A time that rosbag2 can hold; of nothing the last one, as there.
std::int64_t start_of(std::uint64_t messages, std::uint64_t first) {
  constexpr auto kLast = std::numeric_limits<std::int64_t>::max();
  return messages == 0 ? kLast : static_cast<std::int64_t>(std::min(first, static_cast<std::uint64_t>(kLast)));
}

}  // namespace

void BagFolder::add(const std::string& path, const mcap::Statistics& statistics,
                    const std::vector<mcap::Schema>& schemas, const std::vector<mcap::Channel>& channels) {
  File file{.name = std::filesystem::path(path).filename().string(),
            .first_ns = statistics.message_start_time,
            .last_ns = statistics.message_end_time};
  for (const mcap::Channel& channel : channels) {
    const auto schema =
        std::find_if(schemas.begin(), schemas.end(), [&](const auto& one) { return one.id == channel.schema_id; });
    if (schema == schemas.end() || !mcap::as_ros2_writes(channel, *schema)) continue;
    const auto counted = statistics.channel_message_counts.find(channel.id);
    const std::uint64_t count = counted == statistics.channel_message_counts.end() ? 0 : counted->second;
    file.messages += count;
    file.topics[{.name = channel.topic,
                 .type = schema->name,
                 .qos = value_of(channel, kQosKey),
                 .hash = value_of(channel, kRosTypeHashKey)}] += count;
  }
  // By the number at the end of the name: a slow disk may finish a file after the next one.
  const auto later = std::find_if(files_.begin(), files_.end(), [&](const File& one) {
    return std::pair(one.name.size(), one.name) > std::pair(file.name.size(), file.name);
  });
  files_.insert(later, std::move(file));
}

void BagFolder::remove(const std::string& path) {
  const std::string name = std::filesystem::path(path).filename().string();
  std::erase_if(files_, [&](const File& file) { return file.name == name; });
}

std::string BagFolder::text() const {
  std::map<Topic, std::uint64_t> topics;
  std::uint64_t messages = 0, first = std::numeric_limits<std::uint64_t>::max(), last = 0;
  std::string paths, files, counted;
  for (const File& file : files_) {
    const std::uint64_t duration = file.messages == 0 ? 0 : file.last_ns - std::min(file.first_ns, file.last_ns);
    paths += fmt::format("    - {}\n", quoted(file.name));
    files += fmt::format(
        "    - path: {}\n      starting_time:\n        nanoseconds_since_epoch: {}\n      duration:\n"
        "        nanoseconds: {}\n      message_count: {}\n",
        quoted(file.name), start_of(file.messages, file.first_ns), duration, file.messages);
    for (const auto& [topic, count] : file.topics) topics[topic] += count;
    messages += file.messages;
    if (file.messages == 0) continue;
    first = std::min(first, file.first_ns);
    last = std::max(last, file.last_ns);
  }
  for (const auto& [topic, count] : topics)
    counted += fmt::format(
        "    - topic_metadata:\n        name: {}\n        type: {}\n        serialization_format: cdr\n"
        "        offered_qos_profiles: {}\n        type_description_hash: {}\n      message_count: {}\n",
        quoted(topic.name), quoted(topic.type), quoted(topic.qos), quoted(topic.hash), count);
  return fmt::format(
      "rosbag2_bagfile_information:\n  version: {}\n  storage_identifier: {}\n  duration:\n    nanoseconds: {}\n"
      "  starting_time:\n    nanoseconds_since_epoch: {}\n  message_count: {}\n  topics_with_message_count:{}\n{}"
      "  compression_format: \"\"\n  compression_mode: \"\"\n  relative_file_paths:{}\n{}  files:{}\n{}"
      "  custom_data: ~\n  ros_distro: unknown\n",
      kVersion, storage_, messages == 0 ? 0 : last - std::min(first, last), start_of(messages, first), messages,
      counted.empty() ? " []" : "", counted, paths.empty() ? " []" : "", paths, files.empty() ? " []" : "", files);
}

void BagFolder::write() const {
  const std::string path = folder_ + "/" + kName;
  if (files_.empty()) {
    std::error_code ignored;
    std::filesystem::remove(path, ignored);
    return;
  }
  mcap::NewFile file(path, true);
  const std::string content = text();
  file.write(std::as_bytes(std::span(content)));
  file.finish();
}

}  // namespace cardan::record
