// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "cardan/detail/duration.hpp"
#include "cardan/message.hpp"

namespace cardan {

namespace detail {
struct StreamView;

/// Bytes aligned to 64, kept for the next use of the same size or less.
class AlignedBytes {
 public:
  /// Returns at least `bytes` bytes with undefined contents. Throws std::bad_alloc.
  std::byte* reserve(std::size_t bytes);
  [[nodiscard]] std::byte* data() const noexcept { return data_.get(); }

 private:
  struct Free {
    void operator()(std::byte* p) const noexcept { std::free(p); }
  };
  std::unique_ptr<std::byte, Free> data_;
  std::size_t capacity_ = 0;
};
}  // namespace detail

/// A private copy of a publication. A copy into the same object allocates only if it is larger than all copies before.
/// Thread safety: like a plain struct. Never blocks.
class ObservedSample {
 public:
  /// Number in its stream, from 1. 0: nothing copied yet.
  [[nodiscard]] std::uint64_t sequence() const noexcept { return sequence_; }
  /// Our steady clock, nanoseconds.
  [[nodiscard]] std::int64_t publish_time() const noexcept { return publish_ns_; }
  /// The publisher's own stamp (set_source_time), nanoseconds of its clock. 0: none.
  [[nodiscard]] std::int64_t source_time() const noexcept { return source_ns_; }
  /// Identity of the message's memory layout, as message_traits::type_hash().
  [[nodiscard]] std::uint64_t type_hash() const noexcept { return type_hash_; }
  /// The message's fixed struct as it was in the slot. The offsets of its vectors are relative to
  /// `payload() + message_offset()`.
  [[nodiscard]] std::span<const std::byte> message() const noexcept { return {message_.data(), message_bytes_}; }
  /// The bytes that the message's vectors and strings point into.
  [[nodiscard]] std::span<const std::byte> payload() const noexcept { return {payload_.data(), payload_bytes_}; }
  /// Distance from the payload to the message in the publisher's memory, in bytes.
  [[nodiscard]] std::int64_t message_offset() const noexcept { return message_offset_; }
  /// Number of publications of this stream that were skipped before this one.
  [[nodiscard]] std::uint64_t passed_over() const noexcept { return passed_over_; }

  /// The message; its vectors point into payload(). Null if it is of another type, or malformed.
  template <Message T>
  [[nodiscard]] const T* as() noexcept {
    if (sequence_ == 0 || type_hash_ != message_traits<T>::type_hash() || message_bytes_ != sizeof(T)) return nullptr;
    auto* message = reinterpret_cast<T*>(message_.data());
    if constexpr (shm::has_vectors<T>) {
      // The address of the original if the payload were at our address. Only the distance between the two matters.
      const std::uintptr_t original =
          reinterpret_cast<std::uintptr_t>(payload_.data()) + static_cast<std::uint64_t>(message_offset_);
      if (!adopted_ && !shm::adopt(*message, reinterpret_cast<const T*>(original), payload_.data(), payload_bytes_))
        return nullptr;
      adopted_ = true;
    }
    return message;
  }

 private:
  friend struct detail::StreamView;
  friend class ObservedStream;
  detail::AlignedBytes message_, payload_;
  std::size_t message_bytes_ = 0, payload_bytes_ = 0;
  std::uint64_t sequence_ = 0, type_hash_ = 0, passed_over_ = 0;
  std::int64_t publish_ns_ = 0, source_ns_ = 0, message_offset_ = 0;
  bool adopted_ = false;
};

/// Options of an Observer and of look_around().
struct ObserverOptions {
  /// Domain (folder of the run directory). Empty: $CARDAN_DOMAIN, or "default" if that is not set.
  std::string domain{};
  /// How long to wait for a process that does not answer. More finds slow processes; a stopped one delays each look by
  /// this time.
  std::chrono::nanoseconds timeout = std::chrono::seconds{1};
  /// Messages of another user's publisher with a larger payload are not copied, because each copy takes our memory and
  /// time.
  std::size_t max_bytes_of_others = std::size_t{64} << 20;
};

/// Distribution of a time span, such as the latency from publish to take: pairs of (bucket, count), with the buckets of
/// layout::latency_bucket(), four for each octave.
using LatencyHistogram = std::vector<std::pair<std::uint32_t, std::uint64_t>>;

/// A subscriber as its publisher sees it. All counts start at its attach.
struct SubscriberReport {
  std::string name;             ///< of its program
  int pid = 0;                  ///< of its process, in the publisher's PID namespace
  uid_t uid = 0;                ///< its user
  bool reliable = false;        ///< it asked for reliable delivery and the topic offers it
  bool demoted = false;         ///< a reliable publish timed out on it; best effort until it has caught up
  std::uint64_t received = 0;   ///< samples that it took
  std::uint64_t missed = 0;     ///< samples that it lost
  std::uint64_t bad = 0;        ///< checksum mismatches and malformed messages
  std::int64_t spin_ns = 0;     ///< time that it spent spinning
  std::uint64_t sleeps = 0;     ///< times that it slept in the kernel
  std::uint32_t announced = 0;  ///< samples and threads that it announced
  std::uint32_t depth = 0;      ///< samples that it asks for; 0: it does not say (a program of version 0.1)
  LatencyHistogram latency;     ///< empty if the topic has more than 16 subscribers; then only their sum is reported
  LatencyHistogram age;         ///< from origin to take (Sample::origin_age()); empty as above
  std::int64_t greatest_age_ns = 0;
  std::uint64_t unknown_ages = 0;  ///< samples taken whose origin is not known
};

/// The work of a service's server since it began. Questions that nobody waits for any more when the server would
/// take them have expired.
struct ServiceReport {
  std::uint64_t taken = 0;      ///< questions
  std::uint64_t answered = 0;   ///< of them
  std::uint64_t declined = 0;   ///< of them; also those that the server dropped
  std::uint64_t expired = 0;    ///< questions that were overdue or cancelled, and not taken
  std::int64_t longest_ns = 0;  ///< of `answer`
  LatencyHistogram answer{};    ///< from asked to answered
};

/// One publisher of a topic, as its own process reports it.
struct PublisherReport {
  std::string topic, type;          ///< the type by its ROS 2 name
  std::string layout;               ///< hash of the memory layout, 16 hexadecimal digits
  std::string program;              ///< name of the publisher's program
  int pid = 0;                      ///< of its process, in our PID namespace
  uid_t uid = 0;                    ///< its user
  std::string process;              ///< its name in the run directory
  std::uint32_t serial = 0;         ///< number of this stream in its process
  std::uint32_t depth = 0;          ///< TopicOptions::depth
  std::uint64_t max_bytes = 0;      ///< TopicOptions::max_bytes
  bool reliable = false;            ///< TopicOptions::reliable
  bool is_owners = false;           ///< no other user may read it: it is our own user's, with Access::Owner
  std::string via{};                ///< networks that its messages came through (PublisherOptions::via)
  std::int64_t deadline_ns = 0;     ///< TopicOptions::deadline; 0: none
  std::uint32_t slots = 0;          ///< slots whose memory is committed
  std::uint64_t area_bytes = 0;     ///< reserved address space
  std::uint64_t published = 0;      ///< messages
  std::uint64_t bytes = 0;          ///< of messages and payloads, published in all
  std::int64_t longest_gap_ns = 0;  ///< between two publications
  std::int64_t heartbeat_ns = 0;    ///< our steady clock: last publication, or last loan if the topic has a deadline
  std::uint64_t wakes = 0;          ///< system calls that woke subscribers at a publication
  std::uint64_t prewakes = 0;       ///< wake-ups at a loan, for subscribers that wait by prewake()
  std::uint64_t reliable_timeouts = 0;        ///< times that a reliable publish gave up waiting for a subscriber
  LatencyHistogram latency;                   ///< of all subscribers
  LatencyHistogram age;                       ///< of all subscribers: from origin to take (Sample::origin_age())
  std::vector<SubscriberReport> subscribers;  ///< those attached now, without `left_out`
  std::uint64_t left_out = 0;                 ///< subscribers for which the answer (64 KiB) has no room
  ServiceReport service{};                    ///< of a service's card
};

/// The result of a look at a domain.
struct DomainReport {
  std::string run_directory;                ///< the domain's folder
  std::vector<PublisherReport> publishers;  ///< of all topics that were asked for
  std::vector<std::string> problems;        ///< in words: processes that do not answer or refuse
  std::vector<std::string> closed;          ///< names of topics whose access rule does not let us in
  std::size_t processes = 0;                ///< processes that answered
  std::size_t stale = 0;  ///< sockets of dead processes; the next Cardan program that starts removes them
};

/// Asks every process of the domain what it publishes (`topic` empty: everything; "?": the cards of services, whose
/// names end with a '?', and whose subscribers are clients; "*": both) and which subscribers it has. The
/// helper threads answer, so no publishing or taking thread is disturbed. Throws Error (Unavailable, InvalidArgument).
/// Any thread. Blocks until all have answered: at most `timeout` for each silent process of our own user and of root,
/// and at most twice that for all processes of other users together.
DomainReport look_around(const ObserverOptions& options = {}, const std::string& topic = {});

/// The latency in nanoseconds below which `percent` of a histogram lie (by their rank within its bucket, which is at
/// most 25 % wide). −1 if the histogram is empty.
std::int64_t latency_percentile(const LatencyHistogram& histogram, double percent);

/// The samples that a histogram has got since `before`, without empty buckets. Any thread; does not block.
[[nodiscard]] LatencyHistogram latency_since(const LatencyHistogram& now, const LatencyHistogram& before);

}  // namespace cardan
