// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <list>
#include <optional>
#include <vector>

#include "src/record/chunks/batch.hpp"

namespace cardan::record {

/// The last samples of a topic that are in the files: what a late subscriber would be given. The next file begins with
/// them, because a topic that is published once (a calibration, a map) would otherwise be in the first file only.
/// A copy of each sample of a camera would cost more than it is worth, as the next image comes soon. So large samples
/// are kept only if they are rare, and the last one as soon as its topic is quiet. One thread; does not block.
class LastSamples {
 public:
  /// Samples of fewer bytes are always kept.
  static constexpr std::uint64_t kLarge = 64 << 10;
  /// Of samples that are not more apart than this (nanoseconds), large ones are not kept.
  static constexpr std::int64_t kRare = 1'000'000'000;
  /// Of one topic. Its newest sample is kept whatever its size.
  static constexpr std::uint64_t kMostBytes = std::uint64_t{16} << 20;
  /// Publishers of a topic whose samples are kept, each `depth`: the last ones that published.
  static constexpr std::size_t kMostStreams = 64;

  /// `depth`: samples of each publisher.
  explicit LastSamples(std::uint32_t depth) noexcept : depth_(depth == 0 ? 1 : depth) {}

  /// How the next sample that is written has to be kept. `publish_ns`: steady clock.
  [[nodiscard]] Keep keep(std::uint64_t stream, std::uint64_t bytes, std::int64_t publish_ns) noexcept;
  /// A sample that is being written, in their order.
  void add(KeptMessage message);
  /// The newest one was not kept, and nothing has come for long: the sample to be kept now. Empty: none. Each is
  /// returned once.
  [[nodiscard]] std::optional<KeptMessage> take_quiet(std::int64_t now) noexcept;

  /// In the order in which they were written for each publisher.
  void list(std::vector<const KeptMessage*>& into) const;
  [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }

 private:
  struct Stream {
    std::uint64_t id = 0;
    std::deque<KeptMessage> messages{};
  };
  Stream& stream(std::uint64_t id);
  void forget_first(Stream& stream) noexcept;
  void forget(Stream& stream) noexcept;

  std::uint32_t depth_;
  std::list<Stream> streams_;  ///< the one that published last is the last
  std::uint64_t bytes_ = 0;
  std::int64_t last_large_ns_ = 0;
  std::optional<KeptMessage> passed_;  ///< the newest sample, which was not kept
};

}  // namespace cardan::record
