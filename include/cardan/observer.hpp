// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cardan/message.hpp"
#include "cardan/observer_report.hpp"
#include "cardan/topic.hpp"

namespace cardan {

namespace socket {
struct Peer;
}
namespace detail {
class ObserverLinks;
}  // namespace detail

/// One publisher's memory, mapped read-only. Made by an Observer. Numbers and sizes are the publisher's
/// own statements. In a child of fork(), ended() is true and nothing is copied.
/// Thread safety: any thread may call const functions. Never blocks, never writes to memory that another process reads.
class ObservedStream {
 public:
  struct Parts;
  /// For Observer, which makes the streams.
  explicit ObservedStream(Parts parts);
  ObservedStream(const ObservedStream&) = delete;
  ObservedStream& operator=(const ObservedStream&) = delete;
  ~ObservedStream();

  [[nodiscard]] const std::string& program() const noexcept;  ///< name of the publisher's program, as it states it
  [[nodiscard]] int pid() const noexcept;                     ///< of its process, in our PID namespace
  [[nodiscard]] const socket::Peer& peer() const noexcept;    ///< its process, as the kernel reports it
  [[nodiscard]] const std::string& process() const noexcept;  ///< name of its process in the run directory
  [[nodiscard]] std::uint32_t serial() const noexcept;        ///< number of this stream in its process
  [[nodiscard]] std::string type() const;                     ///< ROS 2 name, without control characters
  [[nodiscard]] std::uint64_t type_hash() const noexcept;     ///< of the memory layout, as message_traits::type_hash()
  [[nodiscard]] std::string schema() const;  ///< ros2msg text, or another encoding's bytes; as the publisher wrote it
  [[nodiscard]] std::uint32_t depth() const noexcept;        ///< samples that it keeps
  [[nodiscard]] std::size_t message_bytes() const noexcept;  ///< of the fixed struct
  [[nodiscard]] std::size_t max_bytes() const noexcept;      ///< of a payload
  /// The users that may share it, as its publisher says. Owner if its library does not say it.
  [[nodiscard]] Access access() const noexcept;

  [[nodiscard]] std::uint64_t published() const noexcept;  ///< number of its newest publication
  [[nodiscard]] std::uint64_t bytes() const noexcept;      ///< of messages and payloads, published in all
  /// The longest time between two publications, nanoseconds.
  [[nodiscard]] std::int64_t longest_gap_ns() const noexcept;
  /// Time of the last publication, or of the last loan if the topic has a deadline. Our steady clock, nanoseconds.
  [[nodiscard]] std::int64_t last_sign_of_life() const noexcept;
  [[nodiscard]] bool checksum() const noexcept;  ///< new publications carry a CRC-32C
  /// True if the publisher closed the stream, or its process is gone. Its last publications can still be copied.
  [[nodiscard]] bool ended() const noexcept;

  /// Number and time (our steady clock, nanoseconds) of a publication.
  struct Stamp {
    std::uint64_t sequence;
    std::int64_t publish_ns;
  };
  /// Replaces `stamps` with those of all publications that are still in their slots, at most 64, ascending.
  void stamps(std::vector<Stamp>& stamps) const;

  /// Copies the newest publication if its number is greater than `after`. Returns false if there is none, or if the
  /// publisher was faster than our copy several times in a row.
  bool copy_latest(ObservedSample& into, std::uint64_t after = 0) const;
  /// Copies the oldest publication with a number greater than `after` that is still in its slot. Returns false as
  /// above.
  bool copy_next(ObservedSample& into, std::uint64_t after) const;

 private:
  friend class Observer;
  std::unique_ptr<Parts> parts_;
};

/// Observes a topic without taking part in it. It maps the publishers' memory read-only and copies from it. It holds no
/// slot, wakes no process, and does not slow down publishers or subscribers.
/// Thread safety: one thread at a time.
class Observer {
 public:
  /// Finds the publishers that are there. Finding none is not an error. Throws Error (Unavailable, InvalidArgument,
  /// Limit, Forked).
  /// Blocks at most `timeout` for each process that does not answer.
  explicit Observer(std::string topic, ObserverOptions options = {});
  Observer(const Observer&) = delete;
  Observer& operator=(const Observer&) = delete;
  ~Observer();

  /// Finds new publishers and drops those that ended. Returns true if something changed.
  /// Reads the run directory. Blocks as the constructor does, but waits for a process that did not answer only every
  /// five seconds.
  bool refresh();

  [[nodiscard]] const std::string& topic() const noexcept { return topic_; }
  /// The topic's publishers. A publisher that ended stays in the list until the refresh after the one that noticed, so
  /// that its last publications can still be copied.
  [[nodiscard]] std::vector<std::shared_ptr<const ObservedStream>> streams() const;
  /// One sentence for each publisher that did not answer or refused at the last look, with the reason.
  [[nodiscard]] std::vector<std::string> problems() const;

  /// Copies the newest publication of all publishers (by publish time), even if it was copied before. `from` receives
  /// its stream. Returns false if there is none. Does not block.
  bool copy_latest(ObservedSample& into, std::shared_ptr<const ObservedStream>* from = nullptr);
  /// Copies the oldest publication that this function has not copied yet. The first call starts with the publications
  /// that were there at the first look. Returns false if there is nothing new. Nothing is skipped
  /// (`into.passed_over()`) if the calls come more often than `depth` publications. `from` receives the publication's
  /// stream. Does not block.
  bool copy_next(ObservedSample& into, std::shared_ptr<const ObservedStream>* from = nullptr);

 private:
  std::string topic_;
  ObserverOptions options_;
  std::shared_ptr<detail::ObserverLinks> links_;
  struct Watched;
  struct Problem;
  std::vector<Watched> watched_;
  std::vector<Problem> problems_;
};

}  // namespace cardan
