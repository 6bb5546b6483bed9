// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <functional>
#include <optional>
#include <string>

#include "cardan/detail/message_type.hpp"
#include "cardan/detail/sample_block.hpp"
#include "cardan/endpoint_options.hpp"
#include "src/base/warm.hpp"
#include "src/transport/endpoint/stream.hpp"
#include "src/transport/endpoint/stream_set.hpp"
#include "src/transport/endpoint/subscriber_helper.hpp"
#include "src/transport/protocol/event_protocol.hpp"

namespace cardan {
class ObservedSample;
}

namespace cardan::detail {

/// If several streams have a sample, none is passed over more often than this in a row for another user's stream.
inline constexpr std::uint32_t kTurnsPassedOver = 16;

/// The untyped subscriber: what its threads do with its streams. The helper thread adds and removes streams
/// (SubscriberHelper).
/// Thread safety: take() and wait() by up to `threads` threads at a time.
class SubscriberCore {
 public:
  /// Allocates it in one piece with its pool of samples, from the start of a page, so that a take touches as few pages
  /// as possible. It is freed with its last reference. Throws Error (InvalidArgument).
  static SubscriberCore* create(std::string topic, MessageType type, AdoptFunction adopt, const TopicOptions& options,
                                SubscriberOptions endpoint);
  SubscriberCore(const SubscriberCore&) = delete;
  SubscriberCore& operator=(const SubscriberCore&) = delete;

  void add_reference() noexcept { references_.fetch_add(1, std::memory_order_relaxed); }
  void drop_reference() noexcept;

  // Hot path:
  SampleBlock* take() noexcept;
  SampleBlock* wait(std::int64_t deadline_ns) noexcept;
  static void give_back(SampleBlock* block) noexcept;  ///< its last reference was dropped
  [[nodiscard]] Reason reason() const noexcept { return reason_.load(std::memory_order_relaxed); }
  bool copy_latest(ObservedSample& into);
  [[nodiscard]] bool ready() noexcept;          ///< a sample, or an event that ends a wait
  [[nodiscard]] bool ready_streams() noexcept;  ///< a sample
  /// After a sleep with pre-wakes: spins, bounded, while a publisher fills its loan.
  void spin_while_filling(std::int64_t deadline_ns) noexcept;

  // Any thread:
  std::optional<Event> next_event() { return helper_.events().next(); }
  [[nodiscard]] std::uint64_t missed() const { return helper_.sums().missed; }
  [[nodiscard]] std::uint64_t received() const { return helper_.sums().received; }
  [[nodiscard]] std::uint64_t bad() const { return helper_.sums().bad; }
  [[nodiscard]] std::int64_t spin_ns() const { return helper_.sums().spin_ns; }
  [[nodiscard]] std::size_t publishers() const noexcept;
  /// A descriptor that polls readable when a sample or an event is there. The first call makes it (set-up; throws
  /// Error).
  int fd() { return helper_.fd(); }
  [[nodiscard]] bool uses_fd() const noexcept { return epoll_fd_.load(std::memory_order_acquire) >= 0; }
  /// Empties the descriptor and requests the next ring. Returns true if there is something already.
  bool rearm() noexcept;

  /// Waiting::Kind::Follow: until when the publisher of this stream need not wake it (steady clock, ns). 0: it must.
  [[nodiscard]] std::int64_t quiet_until(const Stream& stream, std::int64_t now) const noexcept;

  /// The helper thread's part.
  [[nodiscard]] SubscriberHelper& helper() noexcept { return helper_; }
  [[nodiscard]] const SubscriberHelper& helper() const noexcept { return helper_; }
  [[nodiscard]] Stream::Room& stream_room() noexcept { return stream_room_; }

  [[nodiscard]] const std::string& topic() const noexcept { return topic_; }
  [[nodiscard]] const MessageType& type() const noexcept { return type_; }
  [[nodiscard]] const TopicOptions& options() const noexcept { return options_; }
  [[nodiscard]] const SubscriberOptions& endpoint() const noexcept { return endpoint_; }
  [[nodiscard]] Waiting waiting() const noexcept { return waiting_; }
  /// Samples that its contract asks publishers to keep.
  [[nodiscard]] std::uint32_t wanted_depth() const noexcept {
    return endpoint_.depth != 0 ? endpoint_.depth : options_.depth;
  }
  /// Leaves out the publishers of this process whose samples this runtime delivers in another way
  /// (PublisherCore::belong_to()). Call it before Process::add().
  void leave_out_outputs_of(const void* runtime) noexcept { left_out_runtime_ = runtime; }
  /// A chain begins with this topic: ChainRole::key() of it. Call it before Process::add().
  void begin_chain(std::uint32_t topic) noexcept { chain_from_ = topic; }
  [[nodiscard]] bool leaves_out(const void* runtime) const noexcept {
    return runtime != nullptr && runtime == left_out_runtime_;
  }
  /// Notifies the helper thread that a drained stream waits for collect_ended(). Set once, before the first take.
  std::function<void()> poke_helper;

 private:
  friend class Sleep;
  friend class SubscriberHelper;
  /// While it lives, no stream that this thread may read is released.
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
  void pause(std::int64_t deadline_ns) noexcept;
  bool spin(std::int64_t until, bool only_while_filling) noexcept;
  void anticipate_next(std::int64_t deadline_ns) noexcept;
  void prewake_next(std::int64_t deadline_ns) noexcept;
  [[nodiscard]] bool filling() noexcept;
  [[nodiscard]] StreamRange streams() const noexcept {
    return {streams_.data(), stream_end_.load(std::memory_order_acquire)};
  }
  void sleep(std::int64_t deadline_ns, bool prewake) noexcept;

  void note_lines() noexcept;  ///< the lines that warm() will prefetch; helper thread
  void warm() const noexcept;

  // From here to `epoll_fd_`: what take() and wait() touch, close together.
  alignas(layout::kLine) Atomic<std::uint32_t> stream_end_{0};
  Atomic<std::uint32_t> inside_turn_{0};
  std::array<Atomic<std::uint32_t>, 2>
      inside_{};  ///< threads that read streams_ now; newcomers count in one counter, so that the other drains
  std::array<Atomic<std::uint64_t>, 4> blocks_used_{};
  Atomic<std::uint32_t> references_{1};
  Atomic<Reason> reason_{Reason::None};
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
  /// One bit for each stream: its last frame was refused, so the others come first now.
  Atomic<std::uint64_t> suspects_{0};
  std::array<Atomic<Stream*>, kMaxStreams> streams_{};
  WarmSet lines_;
  Stream::Room stream_room_;

  std::string topic_;
  MessageType type_;
  TopicOptions options_;
  SubscriberOptions endpoint_;
  const void* left_out_runtime_ = nullptr;
  std::uint32_t chain_from_ = 0;
  Atomic<std::int64_t> aside_until_ns_{0};  ///< when streams that were set aside are checked again; 0: never
  SubscriberHelper helper_{*this};
};

}  // namespace cardan::detail
