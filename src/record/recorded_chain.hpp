// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "src/record/causes.hpp"

namespace cardan::record {

/// Publications that came about on the same way, from topic to topic.
struct RecordedWay {
  struct Frame {
    std::uint64_t stamp_ns = 0;  ///< its publication, as the recording's log times
    std::uint32_t sequence = 0;
  };
  std::vector<std::string> topics;     ///< the first one to the last one
  std::vector<Frame> frames;           ///< publications on the last one, by time
  std::vector<std::int64_t> times_ns;  ///< from publication to publication: hop by hop, and frame by frame

  [[nodiscard]] std::size_t hops() const noexcept { return topics.size() - 1; }
  [[nodiscard]] std::span<const std::int64_t> times(std::size_t frame) const noexcept {
    return std::span(times_ns).subspan(frame * hops(), hops());
  }
};

struct RecordedChain {
  std::vector<RecordedWay> ways;   ///< the most used one first
  std::uint64_t publications = 0;  ///< on the last topic; those that are on no way are counted below
  std::uint64_t from_others = 0;   ///< their causes lead to another beginning
  std::uint64_t not_recorded = 0;  ///< the publisher of a cause was not recorded
  std::uint64_t lost = 0;          ///< it was, but not this sample: lost, left out, or before the recording
  std::uint64_t other_user = 0;    ///< they rest on a sample of another user
  std::uint64_t invalid = 0;       ///< what the file says of them cannot be true
};

/// The causes in a recording. Its memory has a limit, whatever the file says. One thread; does not block.
class RecordedCauses {
 public:
  static constexpr std::size_t kMostSamples = std::size_t{1} << 25;
  static constexpr std::size_t kMostPublishers = std::size_t{1} << 16;
  static constexpr std::size_t kMostHops = 32;
  static constexpr std::size_t kMostWays = 1'000;

  /// A message on kCausesTopic. False: no recorder wrote it. Throws Error (Limit): there are too many samples.
  bool add(mcap::View message, std::uint64_t log_time);
  /// From `from` to each publication on `to`, by the samples' causes. If `stop` becomes true, the result is a part.
  /// Throws Error (Limit): the ways are too long in all.
  [[nodiscard]] RecordedChain chain(const std::string& from, const std::string& to, bool (*stop)() noexcept = nullptr);

  /// Whose samples are known, in the order of their names.
  [[nodiscard]] std::vector<std::string> topics() const;
  /// Samples that the recorder could not list.
  [[nodiscard]] std::uint64_t left_out() const noexcept { return left_out_; }

 private:
  struct Sample {
    std::int64_t published_us = 0;  ///< steady clock
    std::uint32_t sequence = 0;
    std::uint32_t cause = 0;  ///< place of its publisher; or one of those below
    std::uint32_t cause_sequence = 0;
    std::uint32_t offset = 0;  ///< place in `ahead_ns_`
  };
  static constexpr std::uint32_t kNoCause = 0xffff'ffff, kUnknown = 0xffff'fffe, kElsewhere = 0xffff'fffd;
  struct Publisher {
    std::string topic;  ///< empty: none of its samples is known
    std::vector<Sample> samples;
  };
  enum class End : std::uint8_t { Found, FromOthers, NotRecorded, Lost, OtherUser, Invalid };
  /// A way back from a publication.
  struct Walk {
    std::vector<std::uint32_t> publishers;
    std::vector<std::int64_t> times_us;
  };

  [[nodiscard]] std::uint32_t place_of(std::uint64_t number, const std::string& topic);
  void sort();
  [[nodiscard]] const Sample* find(const Publisher& publisher, std::uint32_t sequence) const;
  [[nodiscard]] End walk_back(std::uint32_t publisher, const Sample& sample, const std::string& from, Walk& walk) const;

  std::vector<Publisher> publishers_;
  std::unordered_map<std::uint64_t, std::uint32_t> ends_;          ///< place and 1, by number
  std::unordered_map<std::string, std::uint32_t> ends_of_others_;  ///< the same of other users, by topic
  /// Of each message with samples: its log time less the steady clock in whole microseconds. The two clocks need not
  /// run alike, and joined recordings have different ones.
  std::vector<std::uint64_t> ahead_ns_;
  std::size_t samples_ = 0;
  std::uint64_t left_out_ = 0;
  Causes message_;
};

}  // namespace cardan::record
