// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "cardan/detail/sample_block.hpp"
#include "src/record/causes.hpp"

namespace cardan::record {

/// Collects origin and cause of the samples that are recorded, for messages on kCausesTopic. Samples that rest on
/// nothing wait for the first one that rests on another, for a second or two: a recording of sensors alone has no such
/// messages. One thread; does not block.
class CauseLog {
 public:
  static constexpr std::int64_t kInterval = 500'000'000;  ///< from message to message
  static constexpr std::int64_t kPatience = 1'000'000'000;
  static constexpr std::size_t kMostSamples = 16'384;  ///< of one message
  static constexpr std::size_t kMostPublishers = 1'024;

  explicit CauseLog(bool wanted) : wanted_(wanted) {}

  /// Times: steady clock.
  void add(const detail::SampleBlock& sample, const std::string& topic, std::int64_t published_ns, std::int64_t now);
  /// take() is to be called before the next sample.
  [[nodiscard]] bool is_full() const noexcept {
    return newest_.causes.samples() >= kMostSamples || newest_.causes.publishers.size() >= kMostPublishers;
  }
  /// The next message that is due, or that has any sample if `all`. Empty: none. To be called until it is empty.
  [[nodiscard]] std::optional<Causes> take(std::int64_t now, bool all);
  /// A message that take() gave is not written.
  void leave_out(const Causes& causes) noexcept { left_out_ += causes.samples(); }
  [[nodiscard]] std::uint64_t left_out() const noexcept { return left_out_; }

 private:
  struct Pending {
    Causes causes{};
    std::vector<std::int64_t> published_ns{};
    std::unordered_map<std::uint64_t, std::uint16_t> places{};          ///< by the publisher's number
    std::unordered_map<std::string, std::uint16_t> places_of_others{};  ///< of other users' publishers, by topic
    std::int64_t since_ns = 0;

    std::uint16_t place_of(std::uint64_t publisher);
    std::uint16_t place_of(const detail::SampleBlock& sample, const std::string& topic);
  };
  [[nodiscard]] Causes taken(Pending& pending, std::int64_t now) const;

  bool wanted_;
  bool begun_ = false;  ///< a sample that rests on another has come
  std::uint64_t left_out_ = 0;
  Pending newest_, earlier_;
};

}  // namespace cardan::record
