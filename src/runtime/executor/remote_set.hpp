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

class Group;
class Port;
class Process;

/// The publications of other processes on a topic that inputs of one group read.
class RemoteSource {
 public:
  /// Makes another sample of one that came (decoding it), or null when it is bad. Takes over the reference.
  using Convert = std::function<SampleBlock*(SampleBlock*)>;

  /// Attaches the subscriber, which it takes over; the outputs of `runtime` reach the ports without it. `convert` may
  /// be empty. Throws what Subscriber's constructor throws.
  RemoteSource(Process& process, SubscriberCore* subscriber, Convert convert, const void* runtime);
  RemoteSource(const RemoteSource&) = delete;
  RemoteSource& operator=(const RemoteSource&) = delete;
  ~RemoteSource();

  [[nodiscard]] SubscriberCore& subscriber() const noexcept { return *subscriber_; }
  std::vector<Port*> ports;  ///< set-up
  /// How often its publishers were late; counted on the helper thread.
  std::shared_ptr<Atomic<std::uint64_t>> deadlines_missed;

  /// The next sample, or null. Samples that cannot be converted count as missed by its ports, and are reported once.
  [[nodiscard]] SampleBlock* take() noexcept;
  /// When it held too much the last time: not worth waking up for before that.
  [[nodiscard]] std::int64_t stuck_until() const noexcept { return stuck_until_ns_; }

 private:
  [[nodiscard]] SampleBlock* converted(SampleBlock* block) noexcept;

  Process& process_;
  SubscriberCore* subscriber_;
  Convert convert_;
  std::int64_t stuck_until_ns_ = 0;
  bool told_undecodable_ = false;
};

/// All remote sources of a group, waited for at once: few of them by their bells (one futex call), many by their
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
  [[nodiscard]] bool empty() const noexcept { return sources_.empty(); }
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
  void use_descriptors();
  void watch_descriptor(RemoteSource& source) const;
  [[nodiscard]] bool something_new() const noexcept;

  std::vector<std::unique_ptr<RemoteSource>> sources_;
  std::vector<SubscriberCore*> subscribers_;
  bool prewakes_ = false;
  bool keep_unused_ = false;
  BoundFd epoll_;
  BoundFd event_fd_;
};

}  // namespace cardan::detail
