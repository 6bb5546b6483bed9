// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "cardan/detail/atomic.hpp"
#include "src/runtime/executor/cycle_mark.hpp"
#include "src/runtime/executor/histogram.hpp"
#include "src/runtime/executor/priority_mutex.hpp"
#include "src/transport/endpoint/trace_names.hpp"

namespace cardan {

/// The cost and losses of one callback of a component so far. Written by the thread that runs it, readable by any.
struct CallbackStatistics {
  Histogram transport;                    ///< publish → in this component's queue; of a client: asked → answer there
  Histogram waiting;                      ///< in the queue → begun
  Histogram running;                      ///< begun → done
  Histogram age;                          ///< of an input: origin → begun; without a callback: origin → here
  Atomic<std::uint64_t> calls{0};         ///< begun
  Atomic<std::uint64_t> unknown_ages{0};  ///< samples whose origin is not known
  Atomic<std::uint64_t> dropped{0};       ///< samples that newer ones pushed out of a full queue
  Atomic<std::uint64_t> missed{0};        ///< samples lost before they came here (a stream's own count)
  Atomic<std::uint64_t> failures{0};      ///< exceptions that left the callback
  Atomic<std::uint64_t> overruns{0};      ///< of a timer: periods that were over before it could run
  Atomic<std::uint64_t> given_up{0};      ///< of the dropped: because the component keeps too many
  Atomic<std::uint64_t> skipped{0};       ///< samples that it was not given, because its process crashed on them before
  Atomic<std::uint64_t> unanswered{0};    ///< of a service: overdue or cancelled before their turn; of a client: all
  Atomic<std::uint32_t> queued{0};        ///< waiting right now
  Atomic<std::uint64_t> last_sequence{0};   ///< of an input: the newest sample that its callback was given
  Atomic<std::int64_t> last_publish_ns{0};  ///< and when that was published
};

namespace detail {

class Callback;
class Group;
struct SampleBlock;

/// Keeps the callbacks of one component apart, whatever groups and threads run them: one is inside at a time, others
/// that come are parked here and sent back to their groups when it leaves. Any thread; never blocks longer than a
/// handful of instructions of another one.
class Strand {
 public:
  /// True: inside, leave() must follow. False: parked; Group::unpark() makes it ready again.
  bool enter(Callback& callback) noexcept;
  /// Must not be called with a group's lock held.
  void leave() noexcept;

 private:
  PriorityMutex mutex_;
  bool busy_ = false;
  Callback* granted_ = nullptr;  ///< the strand is busy for this one, which is on its way
  Callback* first_parked_ = nullptr;
  Callback* last_parked_ = nullptr;
};

/// The callback that this thread is in; null: none. Also for signal handlers.
[[nodiscard]] const Callback* running_callback() noexcept;

/// Something that a component wants to be called for: an input, a timer, a call from outside. It belongs to one group,
/// whose lock guards what is pending, and to one strand.
class Callback {
 public:
  Callback(std::string name, Group& group, Strand& strand, int priority)
      : name_(std::move(name)), group_(group), strand_(strand), priority_(priority) {}
  Callback(const Callback&) = delete;
  Callback& operator=(const Callback&) = delete;
  virtual ~Callback() = default;

  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  /// Name of the component that it belongs to. Set before anything runs.
  [[nodiscard]] const std::string& component() const noexcept { return component_; }
  void belongs_to(std::string component) {
    component_ = std::move(component);
    trace_name_ = trace::name_of_callback(component_ + ": " + name_);
  }
  /// Of its events.
  [[nodiscard]] std::uint32_t trace_name() const noexcept { return trace_name_; }
  /// The sample that invoke() will be given, between pick() and invoke(); null: none.
  [[nodiscard]] virtual const SampleBlock* trigger() const noexcept { return nullptr; }
  [[nodiscard]] CycleMark& cycle() noexcept { return cycle_; }
  [[nodiscard]] Group& group() const noexcept { return group_; }
  [[nodiscard]] Strand& strand() const noexcept { return strand_; }
  [[nodiscard]] int priority() const noexcept { return priority_; }
  [[nodiscard]] CallbackStatistics& statistics() noexcept { return statistics_; }
  [[nodiscard]] const CallbackStatistics& statistics() const noexcept { return statistics_; }

 protected:
  friend class Group;
  friend class Strand;
  /// Whether something waits to be worked on. With the group's lock.
  [[nodiscard]] virtual bool pending() const noexcept = 0;
  /// Takes what invoke() will work on out of what is pending. With the group's lock.
  virtual void pick(std::int64_t now) noexcept = 0;
  /// Runs the user's code; never by two threads at once. Without locks; may throw.
  virtual void invoke() = 0;

 private:
  enum class State : std::uint8_t { Idle, Ready, Parked, Running };
  std::string name_;
  std::string component_;
  std::uint32_t trace_name_ = 0;
  Group& group_;
  Strand& strand_;
  int priority_;
  State state_ = State::Idle;   // with the group's lock
  std::uint64_t order_ = 0;     // when it became ready: first come, first served within a priority
  Callback* parked_ = nullptr;  // the next one in the strand's list
  CycleMark cycle_;
  CallbackStatistics statistics_;
};

}  // namespace detail
}  // namespace cardan
