// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "cardan/detail/sample_block.hpp"
#include "src/base/bound_fd.hpp"
#include "src/base/futex.hpp"

namespace cardan::detail {

class Callback;
class Group;
class Port;
class Process;

/// Adds to what callbacks of a group have to do, without waking a worker.
class QuietOffer {
 public:
  explicit QuietOffer(Group& group) noexcept : group_(group) {}
  QuietOffer(const QuietOffer&) = delete;
  QuietOffer& operator=(const QuietOffer&) = delete;
  template <class F>
  void operator()(Callback& callback, F add) noexcept;  // in group.hpp
  /// How many callbacks it has made ready.
  [[nodiscard]] std::size_t ready() const noexcept { return ready_; }

 private:
  Group& group_;
  std::size_t ready_ = 0;
};

/// Something of other processes that a group waits for, by one subscriber. Used by one thread at a time.
class Watched {
 public:
  Watched() = default;
  Watched(const Watched&) = delete;
  Watched& operator=(const Watched&) = delete;
  virtual ~Watched() = default;

  [[nodiscard]] virtual SubscriberCore& subscriber() const noexcept = 0;
  /// Whether drain() has something to do.
  [[nodiscard]] virtual bool has_work() noexcept = 0;
  /// Takes what is there, at most a bounded number, and offers it to its callbacks.
  virtual void drain(QuietOffer& offer) noexcept = 0;
  /// Publishers that are to be expected. With more than the group can wait for by bells, it looks 1,000 times a second.
  [[nodiscard]] virtual std::size_t streams() const noexcept { return 1; }
  /// When drain() is to be called although nothing has come; steady clock, 0: never.
  [[nodiscard]] virtual std::int64_t due() const noexcept { return 0; }
  /// When it held too much the last time: not worth waking up for before that.
  [[nodiscard]] std::int64_t stuck_until() const noexcept { return stuck_until_ns_; }

 protected:
  void not_stuck() noexcept { stuck_until_ns_ = 0; }
  /// Until the component drops something: nothing would tell us.
  void stuck() noexcept;

 private:
  std::int64_t stuck_until_ns_ = 0;
};

/// The publications of other processes on a topic that inputs of one group read.
class RemoteSource final : public Watched {
 public:
  /// Makes another sample of one that came (decoding it), or null when it is bad. Takes over the reference.
  using Convert = std::function<SampleBlock*(SampleBlock*)>;

  /// Attaches the subscriber, which it takes over; the outputs of `runtime` reach the ports without it. `convert` may
  /// be empty. Throws what Subscriber's constructor throws.
  RemoteSource(Process& process, SubscriberCore* subscriber, Convert convert, const void* runtime);
  ~RemoteSource() override;

  [[nodiscard]] SubscriberCore& subscriber() const noexcept override { return *subscriber_; }
  [[nodiscard]] bool has_work() noexcept override;
  void drain(QuietOffer& offer) noexcept override;
  std::vector<Port*> ports;  ///< set-up
  /// How often its publishers were late; counted on the helper thread.
  std::shared_ptr<Atomic<std::uint64_t>> deadlines_missed;

 private:
  [[nodiscard]] SampleBlock* take() noexcept;
  [[nodiscard]] SampleBlock* converted(SampleBlock* block) noexcept;

  Process& process_;
  SubscriberCore* subscriber_;
  Convert convert_;
  bool told_undecodable_ = false;
};

/// All that a group waits for of other processes, at once: few of them by their bells (one futex call), many by their
/// descriptors in one epoll set. One thread at a time sleeps or takes; the rest is set-up.
class RemoteSet {
 public:
  void add(std::unique_ptr<RemoteSource> source);
  /// The source that has `port` among its ports loses it; one without ports ends.
  void remove(const Port& port);
  /// True: sources without ports stay until it is false again: a reliable publisher waits for them meanwhile, and drops
  /// nothing until the successor of a port is there.
  void keep_unused(bool keep);
  /// One that reads the topic for others, or null. Set-up, or while nothing is added or removed.
  [[nodiscard]] RemoteSource* find(const std::string& topic) const noexcept;
  /// The one that brings the port its samples, or null. Set-up, or while nothing is added or removed.
  [[nodiscard]] RemoteSource* find(const Port& port) const noexcept;
  /// A service's end, which stays the caller's. Set-up, as the rest.
  void add(Watched& end);
  void remove(Watched& end) noexcept;
  [[nodiscard]] bool empty() const noexcept { return watched_.empty(); }
  /// ≥ 0: sleep() has to be woken by writing to this eventfd; else by waking the own word.
  [[nodiscard]] int wake_fd() const noexcept { return event_fd_.get(); }

  /// Sleeps until there is something to take, the own word was changed and woken, or `until` (steady clock, 0: never).
  /// Spins for `spin_ns` first. May come back early.
  void sleep(futex::Watch own, std::int64_t until, std::int64_t spin_ns) noexcept;
  /// Takes what is there and pushes it to the ports, all of `group`, without waking a worker. Returns how many
  /// callbacks it made ready.
  std::size_t take_all(Group& group) noexcept;

 private:
  void end_unused();
  void watch(Watched& one);
  void unwatch(Watched& one) noexcept;
  void use_descriptors();
  void watch_descriptor(Watched& one) const;
  [[nodiscard]] bool something_new() const noexcept;
  [[nodiscard]] std::int64_t due() const noexcept;

  std::vector<std::unique_ptr<RemoteSource>> sources_;
  std::vector<Watched*> ends_;     ///< of services
  std::vector<Watched*> watched_;  ///< all of both
  bool prewakes_ = false;
  bool keep_unused_ = false;
  BoundFd epoll_;
  BoundFd event_fd_;
};

}  // namespace cardan::detail
