// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "cardan/any_subscriber.hpp"
#include "cardan/any_type.hpp"
#include "cardan/cdr.hpp"
#include "cardan/recorder.hpp"
#include "src/record/recorder/extent.hpp"
#include "src/record/recorder/last_samples.hpp"
#include "src/record/recorder/recording_time.hpp"

namespace cardan::record {

/// Facts about a topic before it is recorded.
struct TopicSource {
  std::string name{}, type{}, schema{};
  std::uint64_t type_hash = 0;
  std::size_t message_bytes = 0;  ///< of the fixed struct
  std::size_t max_bytes = 0;      ///< of a payload
  std::uint32_t depth = 0;
  /// When the recording began. Earlier samples of older publishers do not count as lost.
  std::int64_t since_ns = 0;
};

/// How samples of a topic become bytes of a file.
class Framing {
 public:
  /// Empty: the type's layout does not follow from its schema.
  [[nodiscard]] static std::optional<Framing> of(const TopicSource& source);
  /// The parts of the message in the file; valid until the next call, or the sample is dropped. False: malformed.
  [[nodiscard]] bool frame(const detail::SampleBlock& sample);

  [[nodiscard]] mcap::View prefix() const noexcept { return parts().prefix; }
  [[nodiscard]] mcap::View payload() const noexcept { return parts().payload; }
  [[nodiscard]] mcap::View suffix() const noexcept { return parts().suffix; }
  [[nodiscard]] std::uint64_t bytes() const noexcept { return parts().size(); }
  [[nodiscard]] const char* schema_encoding() const noexcept { return message_ ? "ros2msg" : schema_encoding_; }
  [[nodiscard]] const char* message_encoding() const noexcept { return message_ ? "cdr" : encoding_; }

 private:
  [[nodiscard]] const CdrFrame& parts() const noexcept { return message_ ? message_->parts() : object_; }

  std::optional<CdrFramer> message_;                             ///< empty: encoded objects
  const char *encoding_ = nullptr, *schema_encoding_ = nullptr;  ///< of those
  CdrFrame object_;
};

/// A topic that is recorded: its subscriber, its queue of large samples, its account. The thread that records; attach()
/// any thread.
class TopicQueue {
 public:
  TopicQueue(TopicSource source, Framing framing, const RecorderOptions& options);
  TopicQueue(const TopicQueue&) = delete;
  TopicQueue& operator=(const TopicQueue&) = delete;
  ~TopicQueue();

  /// Throws what Subscriber's constructor throws. Blocks, at most a second.
  void attach(const RecorderOptions& options);

  struct Waiting {
    AnySample sample{};
    std::uint64_t bytes = 0;
    std::int64_t taken_ns = 0;       ///< steady clock
    std::int64_t publish_ns = 0;     ///< the same; of what a publisher says as much as can be true
    std::uint64_t log_time = 0;      ///< RecordingTime
    std::uint64_t publish_time = 0;  ///< RecordingTime
  };
  /// The next sample that is to be recorded, after losses and rules; empty: nothing new.
  std::optional<Waiting> take(std::int64_t now, const RecordingTime& time, bool paused);

  /// Keeps the last sample of a topic of large ones that has become quiet.
  void keep_quiet(std::int64_t now);

  /// Takes what was published until then and counts it as lost: its queue was full.
  void lose_what_is_left(std::int64_t until, const RecordingTime& time);

  void lose(LossCause cause, std::uint64_t samples) noexcept { lost_[static_cast<std::size_t>(cause)] += samples; }
  /// Whether this many more bytes fit its budget.
  [[nodiscard]] bool has_room(std::uint64_t bytes) const noexcept {
    return queued == 0 || queued_bytes + bytes <= budget_;
  }
  void note_queued(std::uint64_t samples, std::uint64_t bytes) noexcept;
  void note_written(std::uint64_t samples, std::uint64_t bytes) noexcept;  ///< out of the queue; recorded or not
  void note_recorded(std::uint64_t samples, std::uint64_t bytes) noexcept {
    recorded_ += samples;
    bytes_ += bytes;
  }
  /// They were recorded, and the disk has lost them.
  void take_back(std::uint64_t samples, std::uint64_t bytes) noexcept {
    recorded_ -= samples;
    bytes_ -= bytes;
    lose(LossCause::DiskFailed, samples);
  }

  [[nodiscard]] TopicReport report() const;
  /// Whose samples were taken so far.
  [[nodiscard]] std::size_t publishers() const noexcept { return last_of_stream_.size(); }
  [[nodiscard]] const TopicSource& source() const noexcept { return source_; }
  [[nodiscard]] Framing& framing() noexcept { return framing_; }
  /// The file's metadata of the topic beyond MCAP.
  [[nodiscard]] std::map<std::string, std::string> channel_metadata() const;
  [[nodiscard]] detail::SubscriberCore& subscriber() const noexcept { return detail::EndOf::of(*subscriber_).core(); }
  [[nodiscard]] std::uint64_t budget() const noexcept { return budget_; }
  /// How much of what it may keep is used, 0 to 1.
  [[nodiscard]] double fullness() const noexcept {
    return std::max(static_cast<double>(queued_bytes) / static_cast<double>(budget_),
                    holds_samples_ ? static_cast<double>(held) / static_cast<double>(holds_) : 0.0);
  }
  /// There are samples that it cannot take, because the announced number is held.
  [[nodiscard]] bool is_full() const noexcept { return was_full_ && queued != 0; }
  /// Large samples are written from the publisher's slot.
  [[nodiscard]] bool holds_samples() const noexcept { return holds_samples_; }
  [[nodiscard]] std::optional<mcap::Compression> compression() const noexcept { return rule_.compression; }

  std::deque<Waiting> waiting;  ///< large samples, oldest first
  LastSamples kept;             ///< of those that went into files
  std::uint64_t queued = 0, queued_bytes = 0;
  std::uint64_t held = 0;
  std::uint64_t known_in_segment = ~std::uint64_t{0};  ///< the last file that has its channel
  std::size_t number = 0;

 private:
  [[nodiscard]] bool wanted(std::int64_t publish_ns) noexcept;
  void account_for(const detail::SampleBlock& sample);

  TopicSource source_;
  Framing framing_;
  TopicRule rule_;
  std::uint64_t budget_ = 0;
  std::uint32_t holds_ = 1;
  bool holds_samples_ = false;
  bool was_full_ = false;  ///< samples could not be taken: what is missed then, the queue is to blame for
  std::unique_ptr<AnySubscriber> subscriber_;
  std::map<std::uint64_t, std::uint64_t> last_of_stream_;  ///< the last sample's number, by stream
  std::uint64_t seen_ = 0, left_out_ = 0, recorded_ = 0, bytes_ = 0, most_queued_bytes_ = 0, bad_seen_ = 0;
  std::int64_t next_due_ns_ = 0;
  std::array<std::uint64_t, kLossCauses> lost_{};
  /// Publications that our subscriber does not take, as the helper thread reports.
  struct Refused {
    std::mutex mutex;
    std::uint64_t count = 0;
    std::string first;
  };
  std::shared_ptr<Refused> refused_ = std::make_shared<Refused>();
};

}  // namespace cardan::record
