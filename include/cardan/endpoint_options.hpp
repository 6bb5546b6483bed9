// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "cardan/detail/function.hpp"
#include "cardan/placement.hpp"
#include "cardan/topic.hpp"

namespace cardan {

/// An event on the other side of a topic.
struct Event {
  /// The kind of event.
  enum class Kind : std::uint8_t {
    Joined,          ///< a publisher of the topic was attached
    Left,            ///< a publisher ended in order; all its samples have been delivered
    Died,            ///< a publisher's process is gone; all its samples have been delivered
    DeadlineMissed,  ///< the publisher neither published nor took a loan for longer than the topic's deadline
    Incompatible,    ///< a publisher's type, version or layout differs from ours
    Refused,         ///< an access rule or a limit on the publisher's side refused the subscription
    Demoted,         ///< a reliable publish timed out on us; best effort until we have caught up
    Misbehaved,      ///< the publisher's pages hold values that a correct publisher never writes; it was cut off
    Shallow,  ///< the publisher keeps fewer samples than this subscriber asks for; samples beyond its depth are lost
  };
  Kind kind;
  int pid = 0;       ///< of the peer, in our PID namespace (0: not visible here)
  std::string text;  ///< for people: the peer, the cause and the remedy
};

/// The word for an event kind, as used in JSON output.
const char* to_string(Event::Kind kind) noexcept;

/// Why take() or wait() returned an empty sample.
enum class Reason : std::uint8_t {
  None,      ///< it was not empty, or there is nothing new (take)
  Stopped,   ///< a stop was requested (stop_on_signals, request_stop)
  TimedOut,  ///< the time limit of wait() is over
  Event,     ///< only with `events_end_wait`: call event()
  Limit,     ///< as many samples are held as `holds` announced: drop one, or announce more
  Forked,    ///< this is a child of fork(): make new endpoints after exec
};

/// Options of one publisher. The topic has those that both sides agree on.
struct PublisherOptions {
  /// Domain (folder of the run directory). Empty: $CARDAN_DOMAIN, or "default" if that is not set. Domains never see
  /// each other.
  std::string domain{};
  /// Where and how the pages of the publisher's memory are placed.
  Placement placement{};
  /// For a bridge: the networks that its messages came through, separated by spaces ("dds:0 zenoh"). `not_via` of a
  /// subscriber refers to them. Empty: the messages were made on this computer.
  std::string via{};
};

/// Options of one subscriber. The topic has those that both sides agree on.
struct SubscriberOptions {
  /// As PublisherOptions::domain.
  std::string domain{};
  /// Samples held at once, at most 200. Each costs the publisher a slot. A take() beyond this number returns empty
  /// (Reason::Limit).
  std::uint32_t holds = 1;
  /// Threads that call take or wait at the same time. Each costs the publisher a slot too.
  std::uint32_t threads = 1;
  /// The subscriber's own depth, at most the topic's. On a topic of depth k, 1 gives only the freshest sample. 0: the
  /// topic's depth.
  std::uint32_t depth = 0;
  /// Requests reliable delivery where the topic offers it: the publisher then waits for this subscriber. False: best
  /// effort, which delays no publisher.
  bool reliable = true;
  /// Publishers of this user wake this subscriber after all others. For a recorder or a monitor, which must not delay
  /// the subscribers that act. It costs the publisher one more system call for each publication that finds this
  /// subscriber asleep.
  bool background = false;
  /// Overrides the topic's wait strategy.
  std::optional<Waiting> waiting{};
  /// For a bridge: streams whose `via` has this network are not attached, so that no message returns to where it came
  /// from. Publishers of version 0.1 do not state theirs. Empty: all are attached.
  std::string not_via{};
  /// wait() also returns when there is an event: empty, with Reason::Event.
  bool events_end_wait = false;
  /// Called on the helper thread for each event. Must not block.
  std::function<void(const Event&)> on_event{};
};

}  // namespace cardan
