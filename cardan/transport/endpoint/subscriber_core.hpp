// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "cardan/base/limiter.hpp"
#include "cardan/base/warm.hpp"
#include "cardan/transport/endpoint/sample_block.hpp"
#include "cardan/transport/endpoint/stream.hpp"
#include "cardan/transport/endpoint_options.hpp"
#include "cardan/transport/protocol/event_protocol.hpp"
#include "cardan/types/message_type.hpp"

namespace cardan {
class ObservedSample;
}

namespace cardan::detail {

class SubscriberCore;

inline constexpr std::uint32_t kMaxStreams = 64;
/// Events of one other user's streams, in ten seconds: all of them may come, be shallow, and go.
inline constexpr std::uint32_t kForeignEvents = 64;
/// Of several streams that have something, none is passed over more often in a row for another user's.
inline constexpr std::uint32_t kTurnsPassedOver = 16;

/// Copies a message's fixed struct out of shared memory and makes its vectors point into the payload, checked; false:
/// malformed.
using AdoptFunction = bool (*)(void* private_copy, const void* shared, const std::byte* payload,
                               std::size_t payload_bytes) noexcept;

/// The untyped subscriber: its streams, its samples, its events. take() and wait() are for up to `threads` threads at a
/// time; the rest is for set-up and the helper thread.
class SubscriberCore {
 public:
  /// In one piece of memory with its pool of samples, from the start of a page: what a take touches lies in as few
  /// pages as can be. Goes with its last reference. Throws Error (InvalidArgument).
  static SubscriberCore* create(std::string topic, MessageType type, AdoptFunction adopt, const TopicOptions& options,
                                SubscriberOptions endpoint);
  SubscriberCore(const SubscriberCore&) = delete;
  SubscriberCore& operator=(const SubscriberCore&) = delete;

  void add_reference() noexcept { references_.fetch_add(1, std::memory_order_relaxed); }
  void drop_reference() noexcept;

  // Hot path.
  SampleBlock* take() noexcept;
  SampleBlock* wait(std::int64_t deadline_ns) noexcept;
  static void give_back(SampleBlock* block) noexcept;  ///< its last reference is gone
  [[nodiscard]] Reason reason() const noexcept { return reason_.load(std::memory_order_relaxed); }
  bool copy_latest(ObservedSample& into);
  [[nodiscard]] bool ready() noexcept;          ///< a sample, or an event that ends a wait
  [[nodiscard]] bool ready_streams() noexcept;  ///< a sample
  /// After a sleep that welcomed pre-wakes: spins, bounded, while a publisher fills its loan.
  void spin_while_filling(std::int64_t deadline_ns) noexcept;

  // Any thread.
  std::optional<Event> next_event();
  [[nodiscard]] std::uint64_t missed() const;
  [[nodiscard]] std::uint64_t received() const;
  [[nodiscard]] std::uint64_t bad() const;
  [[nodiscard]] std::int64_t spin_ns() const;
  [[nodiscard]] std::size_t streams() const noexcept;
  /// A descriptor that polls readable when a sample or an event is there. Made at the first call (set-up; throws
  /// Error).
  int fd();
  [[nodiscard]] bool uses_fd() const noexcept { return epoll_fd_.load(std::memory_order_acquire) >= 0; }
  /// Empties the descriptor and asks to be rung again; true when there is something already.
  bool rearm() noexcept;

  // Helper thread.
  [[nodiscard]] Stream::Room& stream_room() noexcept { return stream_room_; }
  void add_stream(Stream* stream);                                            ///< takes over one reference
  void end_stream(std::uint64_t stream_id, Stream::End end);                  ///< the publisher has ended
  [[nodiscard]] Stream* find_stream(std::uint64_t stream_id) const noexcept;  ///< null: it is gone
  /// Our attachment is gone although the publisher lives: nothing more is taken here, as nothing is held for us any
  /// more. What is left comes again with the next attachment. Of a stream on which the caller has a reference.
  void cut_stream(Stream& stream);
  void collect_ended();  ///< tells ends that have been drained, and lets the streams go
  void remove_all_streams();
  /// `whose`: of the other user who caused it. Of these a window of time has kForeignEvents for each user, and they
  /// push no event of our own user out of the queue.
  void emit(Event event, std::optional<uid_t> whose = {});
  void wait_for_takers() noexcept;  ///< until nobody looks at a stream that was taken out before
  void kick();                      ///< wakes every thread that waits, although their bells are others'
  void check_deadlines(std::int64_t now);
  /// Looks again at what was set aside. When that is due (steady clock, ns); 0: nothing is aside.
  std::int64_t end_asides(std::int64_t now);
  [[nodiscard]] std::int64_t next_deadline() const;
  void connect_notify(Stream& stream);
  void connect_all();  ///< once fd() is in use: every stream rings it

  [[nodiscard]] const std::string& topic() const noexcept { return topic_; }
  [[nodiscard]] const MessageType& type() const noexcept { return type_; }
  [[nodiscard]] const TopicOptions& options() const noexcept { return options_; }
  [[nodiscard]] const SubscriberOptions& endpoint() const noexcept { return endpoint_; }
  [[nodiscard]] Waiting waiting() const noexcept { return waiting_; }
  /// Samples that its contract wants to have kept.
  [[nodiscard]] std::uint32_t wanted_depth() const noexcept {
    return endpoint_.depth != 0 ? endpoint_.depth : options_.depth;
  }
  /// Leaves out the publishers of this process whose samples this runtime brings it another way
  /// (PublisherCore::belong_to()). Before Process::add().
  void leave_out_outputs_of(const void* runtime) noexcept { left_out_runtime_ = runtime; }
  [[nodiscard]] bool leaves_out(const void* runtime) const noexcept {
    return runtime != nullptr && runtime == left_out_runtime_;
  }
  /// The helper's way to learn that a drained stream waits for collect_ended(), and to hand a notify socket over.
  std::function<void()> poke_helper;
  std::function<void(Stream&, int peer_socket)> hand_over_notify;

 private:
  friend class Sleep;
  /// While it lives, no stream that this thread may look at is let go.
  class Inside {
   public:
    explicit Inside(SubscriberCore& core) noexcept
        : count_(core.inside_[core.inside_turn_.load(std::memory_order_relaxed) % 2]) {
      count_.fetch_add(1, std::memory_order_seq_cst);
    }
    Inside(const Inside&) = delete;
    Inside& operator=(const Inside&) = delete;
    ~Inside() { count_.fetch_sub(1, std::memory_order_release); }

   private:
    Atomic<std::uint32_t>& count_;
  };
  struct Pool {
    std::size_t bytes;
  };
  SubscriberCore(std::string topic, MessageType type, AdoptFunction adopt, const TopicOptions& options,
                 SubscriberOptions endpoint);
  ~SubscriberCore();
  static void* operator new(std::size_t bytes, Pool pool);
  static void operator delete(void* memory) noexcept;
  static void operator delete(void* memory, Pool) noexcept { operator delete(memory); }

  template <class T>
  void count_one(Atomic<T>& counter) const noexcept;
  SampleBlock* allocate() noexcept;
  enum class Fit : std::uint8_t { Good, TooOld, Damaged };
  Stream* choose(std::uint64_t& suspects) noexcept;
  void note_passed_over(std::uint64_t ready, const Stream& chosen) noexcept;
  [[nodiscard]] bool more_slots_or_out(Stream& stream, std::uint32_t seen) noexcept;
  void set_aside(Stream& stream) noexcept;
  void cut_off(Stream& stream) noexcept;
  Fit fill(SampleBlock& block, Stream& stream, const protocol::Taken& taken) noexcept;
  void refuse(Stream& stream, const SampleBlock& block, Fit fit, RefusalBudget& budget) noexcept;
  static void tell_progress(Stream& stream) noexcept;
  void learn(Stream& stream, std::int64_t publish_ns) noexcept;
  void pause(std::int64_t deadline_ns) noexcept;
  bool spin(std::int64_t until, bool only_while_filling) noexcept;
  void anticipate_next(std::int64_t deadline_ns) noexcept;
  void prewake_next(std::int64_t deadline_ns) noexcept;
  [[nodiscard]] bool filling() noexcept;
  void sleep(std::int64_t deadline_ns, bool prewake) noexcept;

  void note_lines() noexcept;  ///< what warm() will ask for; helper thread
  void warm() const noexcept;

  // From here to `epoll_fd_` what take() and wait() touch, close together.
  alignas(layout::kLine) Atomic<std::uint32_t> stream_end_{0};
  Atomic<std::uint32_t> inside_turn_{0};
  std::array<Atomic<std::uint32_t>, 2>
      inside_{};  ///< threads that look at streams_ right now; newcomers count in one, so that the other drains
  std::array<Atomic<std::uint64_t>, 4> blocks_used_{};
  Atomic<std::uint32_t> references_{1};
  Atomic<Reason> reason_{Reason::None};
  Atomic<bool> has_event_{false};
  bool events_end_wait_ = false;
  std::byte* blocks_ = nullptr;
  std::size_t block_stride_ = 0;
  std::uint32_t block_count_ = 0;
  std::uint32_t depth_ = 0;
  AdoptFunction adopt_ = nullptr;
  std::size_t message_bytes_ = 0;
  std::int64_t lifespan_ns_ = 0;
  Waiting waiting_{};
  bool one_thread_ = true;
  protocol::Sleepers<Native> sleepers_;
  Atomic<std::uint32_t> wasted_prewakes_{0};
  Atomic<std::uint32_t> prewakes_left_out_{0};
  Atomic<std::int64_t> wake_late_ns_{60'000};
  Atomic<int> epoll_fd_{-1};
  Atomic<std::uint64_t> suspects_{0};  ///< one bit a stream: its last frame was refused, and the others come first now
  std::array<Atomic<Stream*>, kMaxStreams> streams_{};
  WarmSet lines_;
  Stream::Room stream_room_;

  std::string topic_;
  MessageType type_;
  TopicOptions options_;
  SubscriberOptions endpoint_;
  const void* left_out_runtime_ = nullptr;
  mutable std::mutex mutex_;  ///< events, fd(); never taken by take()
  struct Queued {
    Event event;
    bool foreign;
  };
  std::deque<Queued> events_;
  std::size_t foreign_events_ = 0;          ///< in the queue
  Limiter stream_events_{kForeignEvents};   ///< helper thread
  Atomic<std::int64_t> aside_until_ns_{0};  ///< when what was set aside is looked at again; 0: nothing is
  std::uint64_t retired_missed_ = 0, retired_received_ = 0, retired_bad_ = 0;
  std::int64_t retired_spin_ns_ = 0;
  std::vector<Stream*> retiring_;
  Fd epoll_;
  Fd event_fd_;
  std::int64_t deadline_told_ns_ = 0;   ///< the sign of life after which nothing came
  std::int64_t deadline_told_at_ = 0;   ///< when that was told
  std::int64_t deadline_check_ns_ = 0;  ///< when to look again; 0: at once
};

}  // namespace cardan::detail
