// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "cardan/mcap/compression.hpp"
#include "cardan/recorder.hpp"
#include "src/record/chunks/batch.hpp"
#include "src/record/recorder/extent.hpp"
#include "src/record/recorder/open_batch.hpp"
#include "src/record/recorder/topic_queue.hpp"
#include "src/record/recorder/worker.hpp"

namespace cardan::record {

/// Chunks of small samples on their way from the first sample to the file: they fill, are closed and compressed, wait
/// for their place, and are used again. Compression runs on its own thread; the functions are the recorder's
/// thread's, and only finish_packing() and the destructor block.
class Batches {
 public:
  /// A chunk that is closed and waits for its place.
  struct Ready {
    std::unique_ptr<Batch> batch{};  ///< empty: it is being compressed
    std::vector<Share> shares{};
    std::int64_t oldest_publish_ns = 0, opened_ns = 0, closed_ns = 0;
    std::uint64_t first_log_time = 0;
    std::uint64_t number = 0;
    std::uint64_t causes_bytes = 0;  ///< of messages with causes
  };
  /// Compression holds up later samples for this time, and waiting writes hold up small ones: log
  /// times within a file are in order, but nothing is lost for that.
  static constexpr std::int64_t kPatience = 400'000'000;

  /// `on_packed`: called after each compression, on whatever thread.
  Batches(const RecorderOptions& options, std::function<void()> on_packed);
  Batches(const Batches&) = delete;
  Batches& operator=(const Batches&) = delete;
  ~Batches() = default;

  /// Copies a sample into the chunk of its compression. Its bytes there; 0: it is malformed, and counted as such.
  std::uint64_t add(TopicQueue& topic, const TopicQueue::Waiting& sample, std::int64_t now);
  /// A closed chunk with one sample alone, which has been framed.
  struct Single {
    std::unique_ptr<Batch> batch{};
    std::uint64_t bytes = 0;  ///< of the sample in it
  };
  /// Puts a message with causes (causes.hpp) into the chunk of most samples. False: too many bytes of them wait.
  [[nodiscard]] bool add_causes(mcap::View message, std::uint64_t log_time, std::int64_t now);
  [[nodiscard]] Single alone(TopicQueue& topic, const TopicQueue::Waiting& sample);
  /// Closed chunks of messages from before a file: what it begins with.
  [[nodiscard]] std::vector<std::unique_ptr<Batch>> of(const std::vector<const KeptMessage*>& messages);
  /// Of what has been added and not taken; the largest number: there is nothing.
  [[nodiscard]] std::uint64_t first_log_time() const noexcept;
  /// Closes those that are as old as they may be.
  void close_old(std::int64_t now);
  void close_all(std::int64_t now);
  /// When the next one will be that old (steady clock); the largest number: none is open.
  [[nodiscard]] std::int64_t next_close_ns() const noexcept;

  /// Makes ready what has been compressed by now.
  void collect_packed();
  /// Waits for all compressions, and makes ready what came of them.
  void finish_packing();
  /// In the order in which they were closed.
  [[nodiscard]] const std::deque<Ready>& ready() const noexcept { return ready_; }
  /// The next one, perhaps still being compressed; it does not wait longer than kPatience for that. Null: none.
  [[nodiscard]] Ready* oldest(std::int64_t now) noexcept;
  /// One of ready(), which it leaves.
  [[nodiscard]] Ready take(Ready& one);
  /// One that is written, for later samples.
  void give_back(std::unique_ptr<Batch> batch);
  void drop_ready() noexcept {
    ready_.clear();
    causes_bytes_ = 0;
  }
  [[nodiscard]] bool nothing_left() const noexcept { return ready_.empty() && packing_ == 0; }

  [[nodiscard]] std::uint64_t copied_bytes() const noexcept { return copied_bytes_; }
  [[nodiscard]] std::uint64_t own_bytes() const noexcept;  ///< memory

 private:
  static constexpr std::size_t kCompressions = mcap::kCompressionNames.size();

  [[nodiscard]] std::unique_ptr<Batch> take_free();
  std::uint64_t copy_into(Batch& batch, TopicQueue& topic, const TopicQueue::Waiting& sample);
  void close(std::size_t compression, std::int64_t now);

  const RecorderOptions& options_;
  std::function<void()> on_packed_;                          ///< any thread
  std::array<OpenBatch, kCompressions> open_;                ///< by compression
  std::array<mcap::Compressor, kCompressions> compressors_;  ///< all but None's are the worker's
  std::deque<Ready> ready_;
  std::vector<std::unique_ptr<Batch>> free_;
  std::size_t made_ = 0, packing_ = 0;
  std::uint64_t closed_ = 0;
  std::uint64_t causes_bytes_ = 0;  ///< in open chunks and in ready_
  std::uint32_t causes_messages_ = 0;
  std::uint64_t copied_bytes_ = 0;
  std::mutex packed_mutex_;                                               ///< any thread
  std::vector<std::pair<std::uint64_t, std::unique_ptr<Batch>>> packed_;  ///< by number; under packed_mutex_
  std::unique_ptr<Worker> packer_ = std::make_unique<Worker>();           ///< compresses; the first to go
};

}  // namespace cardan::record
