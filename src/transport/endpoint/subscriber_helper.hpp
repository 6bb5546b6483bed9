// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <mutex>
#include <optional>
#include <vector>

#include "cardan/detail/fd.hpp"
#include "src/transport/endpoint/event_queue.hpp"
#include "src/transport/endpoint/stream.hpp"

namespace cardan::detail {

class SubscriberCore;

/// The helper thread's half of a subscriber: streams that come and go, deadlines, and the descriptor for other event
/// loops.
/// Thread safety: the helper thread only, unless noted otherwise.
class SubscriberHelper {
 public:
  explicit SubscriberHelper(SubscriberCore& core) noexcept;
  SubscriberHelper(const SubscriberHelper&) = delete;
  SubscriberHelper& operator=(const SubscriberHelper&) = delete;

  /// Takes over one reference.
  void add_stream(Stream* stream);
  /// The publisher has ended.
  void end_stream(std::uint64_t stream_id, Stream::End end);
  /// Null: it is gone.
  [[nodiscard]] Stream* find_stream(std::uint64_t stream_id) const noexcept;
  /// Our attachment is gone although the publisher lives. Nothing more is taken here, because nothing is held for us
  /// any more; the rest arrives again with the next attachment. The caller has a reference on the stream.
  void cut_stream(Stream& stream);
  /// Reports the ends of drained streams, and releases them.
  void collect_ended();
  void remove_all_streams();
  /// `whose`: see EventQueue::emit().
  void emit(Event event, std::optional<uid_t> whose = {});
  /// Wakes every waiting thread, although the bells belong to others.
  void kick();
  void check_deadlines(std::int64_t now);
  /// When check_deadlines() is due (steady clock, ns); 0: never.
  [[nodiscard]] std::int64_t next_deadline() const;
  /// Checks again the streams that were set aside. Returns when the next check is due (steady clock, ns); 0: no stream
  /// is set aside.
  std::int64_t end_asides(std::int64_t now);
  /// Once fd() is in use: makes every stream ring it.
  void connect_all();
  /// Gives the publisher its end of a stream's notify socket. Set once, before the first stream.
  std::function<void(Stream&, int peer_socket)> hand_over_notify;
  /// Called for each stream that joined. Set once, before the first stream; may be empty.
  std::function<void(Stream&)> on_joined;
  /// Called with the tag of a stream that has ended, or was never attached. Set once; may be empty.
  std::function<void(std::uint64_t tag)> on_lost;

  // Any thread:
  [[nodiscard]] EventQueue& events() noexcept { return events_; }
  /// The subscriber's descriptor. Throws Error (Limit, Forked).
  int fd();
  /// Once fd() is in use: makes it readable at this time (steady clock, ns); 0: not by time. Returns whether it will
  /// be.
  bool ring_at(std::int64_t until_ns) noexcept;
  struct Sums {
    std::uint64_t missed = 0, received = 0, bad = 0;
    std::int64_t spin_ns = 0;
  };
  /// Over all streams, including those that are gone. Takes a mutex.
  [[nodiscard]] Sums sums() const;

 private:
  friend class SubscriberCore;

  void wait_for_takers() noexcept;
  void connect_notify(Stream& stream);
  void let_go(Atomic<Stream*>& place, Stream& stream);

  SubscriberCore& core_;
  EventQueue events_;
  mutable std::mutex mutex_;  ///< protects streams in sums(), and fd(); take() never takes it
  Sums retired_;
  std::vector<Stream*> retiring_;
  Fd epoll_;
  Fd event_fd_;
  Fd timer_fd_;                         ///< Waiting::Kind::Follow only
  std::int64_t deadline_told_ns_ = 0;   ///< the last sign of life before the reported gap
  std::int64_t deadline_told_at_ = 0;   ///< when that was reported
  std::int64_t deadline_check_ns_ = 0;  ///< when to look again; 0: at once
};

}  // namespace cardan::detail
