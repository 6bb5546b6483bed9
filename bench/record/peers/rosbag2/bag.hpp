// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "bench/record/peers/rosbag2/message.hpp"
#include "cardan/mcap/codec.hpp"
#include "cardan/mcap/summary.hpp"

namespace cardan::bench::rosbag2 {

/// An MCAP file as rosbag2's storage plugin writes it by default: chunks of 768 KiB without checksum or compression, a
/// message that is larger in its own chunk, indexes and summary. Each message is copied into the chunk once, and
/// the chunk goes to std::fwrite; nothing is synchronized with the disk. Re-implemented from a description of
/// rosbag2_storage_mcap and mcap-cpp 1.4; only the encoding of records is Cardan's. Not to be shared by threads; blocks
/// as fwrite does.
class Bag {
 public:
  static constexpr std::size_t kChunkBytes = 768 << 10;

  /// Throws Error: the file cannot be made.
  Bag(const std::string& path, const std::vector<std::string>& topics);

  void write(const Message& message);
  /// The rest, the summary, and fclose. Throws Error: the disk is full, or failed. (rosbag2 does not notice.)
  void close();

  [[nodiscard]] std::int64_t fwrite_ns() const noexcept { return fwrite_ns_; }  ///< time spent in fwrite so far
  [[nodiscard]] std::uint64_t bytes() const noexcept { return position_; }
  [[nodiscard]] std::uint64_t messages() const noexcept { return messages_; }

 private:
  struct Close {
    void operator()(std::FILE* file) const noexcept { std::fclose(file); }
  };
  void end_chunk();
  void put(mcap::View bytes);

  std::unique_ptr<std::FILE, Close> file_;
  mcap::Summary summary_;
  mcap::Bytes chunk_, head_;
  std::vector<mcap::MessageIndex> indexes_;  ///< of the open chunk, by topic
  std::uint64_t first_ = 0, last_ = 0, in_chunk_ = 0;
  std::uint64_t position_ = 0, messages_ = 0;
  std::int64_t fwrite_ns_ = 0;
  bool failed_ = false;
};

}  // namespace cardan::bench::rosbag2
