// SPDX-License-Identifier: Apache-2.0
// Small recordings for the tests of --from.
#pragma once

#include <cstddef>
#include <fstream>
#include <span>
#include <string>
#include <vector>

#include "cardan/mcap/writer.hpp"

namespace cardan::bench::perception::test {

/// One message after the other on `topic`, 0.1 s apart.
inline void write_recording(const std::string& path, const std::string& topic, const std::string& type,
                            const std::vector<std::vector<std::byte>>& messages) {
  std::ofstream file(path, std::ios::binary);
  mcap::Writer writer(
      [&](mcap::View bytes) {
        file.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
      },
      {});
  writer.add(mcap::Schema{.id = 1, .name = type, .encoding = "ros2msg", .data = {}});
  writer.add(mcap::Channel{.id = 1, .schema_id = 1, .topic = topic, .message_encoding = "cdr"});
  std::uint64_t time = 1'000'000'000;
  for (const auto& message : messages) {
    writer.write(
        {.channel_id = 1, .log_time = time, .publish_time = time, .data = mcap::View(message.data(), message.size())});
    time += 100'000'000;
  }
  writer.close();
}

}  // namespace cardan::bench::perception::test
