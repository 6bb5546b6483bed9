// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "src/record/chunks/batch.hpp"
#include "src/record/recorder/extent.hpp"

namespace cardan::record {

/// A chunk of small samples while it fills, and whose they are.
struct OpenBatch {
  std::unique_ptr<Batch> batch{};
  std::vector<Share> shares{};
  std::vector<std::uint32_t> place_of{};  ///< of a topic in `shares`, and 1; 0: none
  std::int64_t oldest_publish_ns = 0;     ///< steady clock
  std::int64_t opened_ns = 0;
  std::uint64_t causes_bytes = 0;  ///< of messages with causes, which belong to no topic

  void note(std::size_t topic, std::uint64_t bytes, std::int64_t publish_ns, std::int64_t now) {
    if (shares.empty()) {
      oldest_publish_ns = publish_ns;
      opened_ns = now;
    }
    oldest_publish_ns = std::min(oldest_publish_ns, publish_ns);
    if (topic >= place_of.size()) place_of.resize(topic + 1);
    if (place_of[topic] == 0) {
      shares.push_back({.topic = topic});
      place_of[topic] = static_cast<std::uint32_t>(shares.size());
    }
    Share& share = shares[place_of[topic] - 1];
    ++share.messages;
    share.bytes += bytes;
  }
  void reset() {
    for (const Share& share : shares) place_of[share.topic] = 0;
    shares.clear();
    causes_bytes = 0;
  }
};

}  // namespace cardan::record
