// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "cardan/any_subscriber.hpp"
#include "src/record/chunks/batch.hpp"
#include "src/record/chunks/seam.hpp"

namespace cardan::record {

/// One topic's part of a chunk.
struct Share {
  std::size_t topic = 0;  ///< its number in the recorder
  std::uint64_t messages = 0;
  std::uint64_t bytes = 0;
};

/// A chunk on its way to the disk, and what has to be kept until it is there.
struct Extent {
  PlacedChunk place{};
  AnySample sample{};              ///< of a frame: held in the publisher's slot until its body is written
  std::unique_ptr<Batch> batch{};  ///< of small samples
  std::vector<Share> shares{};
  std::uint64_t body_bytes = 0;
  std::int64_t oldest_publish_ns = 0;  ///< steady clock; of its samples
  bool body_done = false, head_under_way = false, head_done = false;
};

}  // namespace cardan::record
