// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <exception>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "bench/record/peers/rosbag2/bag.hpp"
#include "bench/record/peers/rosbag2/message_cache.hpp"

namespace cardan::bench::rosbag2 {

/// How rosbag2 gets messages to a file, re-implemented: write() under one mutex puts them into the one cache, one
/// thread writes the cache's buffers. Any thread may write; blocks for the mutexes.
class Writer {
 public:
  /// Throws Error as Bag does.
  Writer(const std::string& path, const std::vector<std::string>& topics, std::uint64_t cache_bytes);
  ~Writer();
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  void write(MessagePointer message);
  /// Writes what is in the cache and closes the file. Throws Error as Bag does.
  void close();

  [[nodiscard]] std::uint64_t dropped() const;                                      ///< by the cache
  [[nodiscard]] std::uint64_t written() const noexcept { return bag_.messages(); }  ///< after close()
  /// After close(): time in the storage without fwrite, and in fwrite.
  [[nodiscard]] std::int64_t encoding_ns() const noexcept { return storing_ns_ - bag_.fwrite_ns(); }
  [[nodiscard]] std::int64_t fwrite_ns() const noexcept { return bag_.fwrite_ns(); }

 private:
  void consume() noexcept;

  Bag bag_;
  MessageCache cache_;
  std::mutex mutex_;
  std::int64_t storing_ns_ = 0;
  std::exception_ptr failure_;
  std::thread consumer_;
};

}  // namespace cardan::bench::rosbag2
