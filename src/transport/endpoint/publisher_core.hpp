// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "cardan/detail/message_type.hpp"
#include "cardan/endpoint_options.hpp"
#include "src/base/area.hpp"
#include "src/base/socket.hpp"
#include "src/base/warm.hpp"
#include "src/transport/endpoint/bell_board.hpp"
#include "src/transport/endpoint/hand_over.hpp"
#include "src/transport/endpoint/helper_time.hpp"
#include "src/transport/endpoint/own_samples.hpp"
#include "src/transport/protocol/bell_protocol.hpp"
#include "src/transport/protocol/layout.hpp"
#include "src/transport/protocol/reclaim_protocol.hpp"
#include "src/transport/protocol/slot_protocol.hpp"
#include "src/transport/protocol/table_protocol.hpp"

namespace cardan::detail {

inline constexpr std::uint32_t kMaxSubscribers = 256;

// Bounds of what one other user can make a publish cost (docs/security.md). Its threads sleep on their own bell. A
// ring wakes at most kForeignWakes of them: twice the threads that it may announce, because some may have left without
// being awake yet.
inline constexpr std::uint32_t kForeignThreads = 32;
inline constexpr int kForeignWakes = 64;
/// A ring of another user's bell that takes longer is slow: its queue in the kernel is longer than that of an honest
/// user. After kSlowRings slow rings within a second the helper thread rings for kSlowFor.
inline constexpr std::int64_t kSlowRing = 200'000;  // ns
inline constexpr std::uint32_t kSlowRings = 4;
inline constexpr std::int64_t kSlowFor = 10'000'000'000;  // ns

/// How soon subscribers that let a reliable publish time out may be waited for again. Used on the publishing thread.
/// All subscribers of another user share one; otherwise each new attachment would cost a time-out.
struct Patience {
  std::uint32_t demotions = 0;
  std::uint32_t losses = 0;  ///< in total
  std::int64_t until_ns = 0;
};

/// A subscriber as its publisher sees it. The helper thread makes and ends it; the publishing thread reads it.
struct Attached {
  const layout::SubscriberPage* page = nullptr;
  Mapping mapping;              ///< of the page; empty for a subscriber of this process
  std::shared_ptr<void> local;  ///< keeps the page of a subscriber of this process alive
  std::shared_ptr<BellLine> bell;
  BoundFd notify_socket;        ///< our end of the socket pair of its fd(); helper thread
  Atomic<int> notify{-1};       ///< its descriptor number, once it exists
  std::uint32_t rung = 0;       ///< publishing thread: the `armed` value already answered
  std::uint32_t announced = 0;  ///< holds + threads
  std::uint32_t threads = 1;
  bool prewake = false;
  bool reliable = false;
  bool follows = false;                 ///< its descriptor is rung after a silence only, and may wait for the helper
  bool foreign = false;                 ///< of another user
  Atomic<bool> token_due{false};        ///< the helper thread must ring its descriptor
  Atomic<bool> liar{false};             ///< it held more than it announced and is cut off; the helper thread cleans up
  std::shared_ptr<BoundFd> connection;  ///< null: a subscriber of this process
  Atomic<bool> demoted{false};
  bool demotion_told = false;  ///< helper thread
  std::shared_ptr<Patience> patience;
  bool proven = false;             ///< publishing thread: it kept up while its user could be waited for
  std::uint32_t proven_after = 0;  ///< its user's losses of patience at that time; another loss withdraws the proof
  std::uint64_t floor = 0;         ///< the cursor from which it starts
  int pid = 0;
  uid_t uid = 0;
  std::string name;
  std::uint32_t depth = 0;  ///< the samples that it asks the publisher to keep; 0: it does not say
  std::uint32_t index = 0;  ///< in the table
};

/// One publisher's stream: its area, its slots and its subscribers.
/// Thread safety: the four hot functions belong to the publishing thread (one at a time, any thread), abandon() to any
/// thread, everything else to set-up and the helper thread.
class PublisherCore : public std::enable_shared_from_this<PublisherCore> {
 public:
  PublisherCore(std::string topic, MessageType type, const TopicOptions& options, const PublisherOptions& endpoint);
  PublisherCore(const PublisherCore&) = delete;
  PublisherCore& operator=(const PublisherCore&) = delete;
  ~PublisherCore();

  // Publishing thread:
  int loan() noexcept;  ///< a slot to fill, or −1. Wait-free.
  /// Why loan() had no slot: the loans (true), or the samples that subscribers keep (false).
  [[nodiscard]] bool all_loans_are_out() const noexcept {
    return loans_taken_ - loans_returned_.load(std::memory_order_acquire) >= loans_ ||
           closed_.load(std::memory_order_relaxed);
  }
  void soon() noexcept;  ///< rings subscribers that pre-wake. One system call if there are any.
  bool publish(int slot, std::size_t payload_bytes, std::int64_t source_ns, HandOver here = {}) noexcept;
  /// Waits until publish() would not have to wait for reliable subscribers. Returns false at `until` (steady clock).
  bool wait_for_room(std::int64_t until) noexcept;
  /// Returns a sample of the slot for this process. The slot waits for it as for any subscriber. Call it within
  /// publish()'s hand-over, or right after it on the same thread. Null without hold_own(). Wait-free.
  SampleBlock* keep(int slot) noexcept;
  // Any thread:
  void abandon(int slot) noexcept;
  [[nodiscard]] void* message(int slot) const noexcept;
  [[nodiscard]] void* arena(int slot) const noexcept;
  [[nodiscard]] std::byte* payload(int slot) const noexcept;
  [[nodiscard]] std::size_t payload_capacity() const noexcept { return payload_capacity_; }
  [[nodiscard]] std::uint64_t published() const noexcept;
  void set_checksum(bool on) noexcept { hot_->checksum.store(on ? 1 : 0, std::memory_order_relaxed); }

  // Helper thread and set-up:
  /// Commits the slots that the subscriber announced and enters it into the table. From then on its holds count. Throws
  /// Error (NoMemory, Limit) with the number to change.
  Attached* attach(std::unique_ptr<Attached> subscriber);
  /// Makes room for `count` more samples that this process keeps by keep(). Throws Error (NoMemory, Limit).
  void hold_own(std::uint32_t count);
  /// `count` of them are not held any more. Their memory stays for later ones. Any thread.
  void hold_own_less(std::uint32_t count) noexcept;
  /// Removes the subscriber from the table. Its pages are freed once the publishing thread has passed a quiescent point
  /// (collect()).
  void detach(const Attached* subscriber);
  /// Sets where to ring for the subscriber's fd(). Once only, because the publishing thread may be using it.
  static void connect_notify(Attached& subscriber, Fd socket);
  /// Frees what detach() left. Returns false while something still waits for the publishing thread.
  bool collect();
  /// Marks the stream as ended in order, which every subscriber sees.
  void close() noexcept;
  [[nodiscard]] std::uint64_t floor_for_late_joiner() const noexcept;
  [[nodiscard]] std::shared_ptr<BellLine> bell_for(uid_t uid, const std::shared_ptr<BellBoard>& board, bool background);
  /// Calls `f(const Attached&)` for each subscriber. Takes the table's mutex.
  template <class F>
  void for_each_subscriber(F f) const {
    const std::lock_guard lock(mutex_);
    for (const auto& a : attached_) f(*a);
  }
  [[nodiscard]] std::size_t subscribers() const {
    const std::lock_guard lock(mutex_);
    return attached_.size();
  }
  /// Rings what publish() left to the helper thread: the descriptors of followers, and the bells and descriptors of
  /// other users, these at most once a millisecond for each user, and as long as it has `time` left. Returns false if
  /// some must wait for a millisecond more. `now`: steady clock, ns.
  bool ring_for_others(HelperTime& time, std::int64_t now);
  /// True if the publishing thread found subscribers that hold more than they announced, or demoted some. The helper
  /// thread handles them.
  [[nodiscard]] bool needs_attention() const noexcept { return attention_.load(std::memory_order_acquire); }
  struct Attention {
    std::vector<const Attached*> liars;
    std::vector<const Attached*> demoted;
  };
  Attention take_attention();
  std::function<void()> poke_helper;  ///< set once, before the first publish
  /// Its samples reach the inputs of this runtime without the transport. Call it before Process::add().
  void belong_to(const void* runtime) noexcept { runtime_ = runtime; }
  [[nodiscard]] const void* runtime() const noexcept { return runtime_; }

  [[nodiscard]] const std::string& topic() const noexcept { return topic_; }
  [[nodiscard]] const MessageType& type() const noexcept { return type_; }
  [[nodiscard]] const TopicOptions& options() const noexcept { return options_; }
  [[nodiscard]] const std::string& via() const noexcept { return via_; }
  [[nodiscard]] const Area& area() const noexcept { return area_; }
  [[nodiscard]] const layout::Header& header() const noexcept { return *header_; }
  [[nodiscard]] layout::Hot& hot() const noexcept { return *hot_; }

 private:
  struct Peers;
  struct Sleepers;
  using Inside = protocol::Inside<Native>;
  Inside enter() noexcept;

  void lay_out(const TopicOptions& options);
  [[nodiscard]] layout::SlotMeta& meta(std::uint32_t slot) const noexcept;
  void reclaim() noexcept;
  void commit_slots(std::uint32_t count);
  bool cut_off(Attached& liar) noexcept;
  void refuse_more_of(const Attached& subscriber) const;
  void strike(uid_t uid);
  bool wait_for_reliable(std::uint64_t n) noexcept;
  bool readers_leave_room(std::uint64_t n, std::int64_t until) noexcept;
  bool wait_for_one(Attached& subscriber, std::uint32_t index, std::uint64_t needed, std::int64_t until) noexcept;
  void wake(HandOver here, int slot) noexcept;
  void ring_prewake() noexcept;
  void ring(BellLine& bell) noexcept;
  void wake_others(BellLine& bell, int count, std::uint32_t bits) noexcept;
  void ring_descriptor(Attached& subscriber, const layout::SubscriberPage& page) noexcept;
  void ring_followers() noexcept;
  void ask_helper() noexcept;
  void tell_demoted(Attached& subscriber) noexcept;
  void lose_patience(Patience& patience) const noexcept;
  std::shared_ptr<Patience> patience_with(const Attached& subscriber);

  void note_lines() noexcept;  ///< the lines that warm() will prefetch; helper thread
  void warm() const noexcept;

  // From here to `lines_`: what loan() and publish() touch, close together. First the members that only the publishing
  // thread writes.
  alignas(layout::kLine) std::uint64_t sequence_ = 0;
  std::int64_t last_publish_ns_ = 0;
  std::uint64_t round_ = 0;
  Attached* follower_ = nullptr;  ///< the first one that this round must ring
  bool several_followers_ = false;
  std::uint64_t epoch_ = 0;        ///< the value in table_.epoch
  std::uint32_t loans_taken_ = 0;  ///< taken and not published; wraps together with loans_returned_
  std::uint32_t prewakes_in_window_ = 0;
  std::int64_t prewake_window_ = 0;
  protocol::SlotPool<Native> pool_;
  OwnSamples own_;
  protocol::PublisherRing<Native> ring_{};
  layout::Hot* hot_ = nullptr;
  std::byte* slots_ = nullptr;
  std::byte* payloads_ = nullptr;
  std::size_t message_offset_ = 0;
  std::size_t message_bytes_ = 0;
  std::size_t payload_stride_ = 0;
  std::size_t payload_capacity_ = 0;
  std::uint32_t depth_ = 0;
  std::uint32_t loans_ = 0;
  bool reuse_warm_ = false;
  bool has_deadline_ = false;
  bool goes_cold_ = true;  ///< the last two publications were far enough apart for caches to forget in between
  Atomic<bool> closed_{false};
  Atomic<bool> attention_{false};
  Atomic<std::uint32_t> loans_returned_{0};  ///< dropped unpublished, by any thread
  Atomic<std::uint32_t> committed_{0};
  Atomic<std::uint32_t> wants_prewake_{0};
  Atomic<std::uint32_t> reliable_readers_{0};
  protocol::Table<Native, Attached*, kMaxSubscribers> table_;
  WarmSet lines_;
  Atomic<bool> helper_asked_{false};  ///< ring_for_others() is due

  const void* runtime_ = nullptr;
  std::string topic_;
  MessageType type_;
  TopicOptions options_;
  Placement placement_;
  std::string via_;
  Area area_;
  layout::Header* header_ = nullptr;

  mutable std::mutex mutex_;  ///< the helper's bookkeeping; the publishing thread never takes it
  std::vector<std::unique_ptr<Attached>> attached_;
  struct Leaving {
    std::unique_ptr<Attached> subscriber;
    std::uint64_t epoch;
  };
  std::vector<Leaving> leaving_;
  std::vector<std::weak_ptr<BellLine>> bells_;
  std::uint32_t announced_ = 0;
  struct Strike {  ///< a user whose subscriber was cut off
    uid_t uid;
    std::uint32_t count;
    std::int64_t until_ns;  ///< its subscribers are refused until then
  };
  std::vector<Strike> strikes_;
  std::vector<std::pair<uid_t, std::shared_ptr<Patience>>> patience_;  ///< for other users
};

/// The subscribers' side for the protocols (reclaim_protocol.hpp, bell_protocol.hpp).
struct PublisherCore::Peers {
  PublisherCore& core;

  template <class F>
  void look(std::uint32_t, const Attached* a, F&& f) const noexcept {
    f(*a->page);
  }
  [[nodiscard]] std::uint32_t announced(const Attached* a) const noexcept { return a->announced; }
  [[nodiscard]] bool kept(std::uint32_t slot) const noexcept { return core.own_.kept(slot); }
  [[nodiscard]] bool cut_off(Attached* a) const noexcept { return core.cut_off(*a); }
};

/// The subscribers that wake() gets: either the background subscribers or all others.
struct PublisherCore::Sleepers {
  PublisherCore& core;
  bool background;
  bool& some_left_out;

  template <class F>
  void look(std::uint32_t, const Attached* a, F&& f) const noexcept {
    if (a->bell->background == background)
      f(*a->page);
    else
      some_left_out = true;
  }
  void waits(Attached* a) const noexcept { core.ring(*a->bell); }
  void looked(Attached* a, const layout::SubscriberPage& page) const noexcept { core.ring_descriptor(*a, page); }
};

}  // namespace cardan::detail
