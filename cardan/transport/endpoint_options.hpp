// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "cardan/base/area.hpp"
#include "cardan/transport/topic.hpp"

namespace cardan {

/// What happened on the other side of a topic.
struct Event {
  enum class Kind : std::uint8_t {
    Joined,          ///< a publisher of the topic was attached
    Left,            ///< a publisher ended in order; all it published has been delivered
    Died,            ///< a publisher's process is gone; all it published has been delivered
    DeadlineMissed,  ///< nothing published or loaned for longer than the topic's deadline
    Incompatible,    ///< a publisher's type, version or layout differs from ours
    Refused,         ///< an access rule or a limit on the publisher's side said no
    Demoted,         ///< a reliable publish timed out on us; best effort until we have caught up
    Misbehaved,      ///< the publisher's pages hold what no honest one writes; it was cut off
    Shallow,         ///< a publisher keeps fewer samples than this reader wants to have: beyond its depth they are lost
  };
  Kind kind;
  int pid = 0;       ///< of the peer, in our PID namespace (0: not visible here)
  std::string text;  ///< for people: who, what, and what to do
};

/// The word for an event kind, as used in JSON output.
const char* to_string(Event::Kind kind) noexcept;

/// Why take() or wait() came back empty.
enum class Reason : std::uint8_t {
  None,     ///< it did not, or there simply is nothing new (take)
  Stopped,  ///< stop was requested (stop_on_signals, request_stop)
  TimedOut,
  Event,   ///< only with `events_end_wait`: event() has it
  Limit,   ///< as many samples are held as were announced (`holds`): drop one, or announce more
  Forked,  ///< this is a child of fork(): make new endpoints after exec
};

struct PublisherOptions {
  /// Domain (folder of the run directory); empty: $CARDAN_DOMAIN, else "default". Domains never see each other.
  std::string domain{};
  Placement placement{};
};

struct SubscriberOptions {
  std::string domain{};
  /// Samples held at once, at most 200. Each costs the publisher a slot; take() beyond it comes back empty
  /// (Reason::Limit).
  std::uint32_t holds = 1;
  /// Threads that call take or wait at the same time; each costs the publisher a slot too.
  std::uint32_t threads = 1;
  /// Own depth, at most the topic's: 1 on a topic of depth k gives the freshest only. 0: the topic's.
  std::uint32_t depth = 0;
  /// Ask for reliable delivery where the topic offers it; false: best effort.
  bool reliable = true;
  /// Publishers of this user wake it after all other readers: for a recorder or a monitor, which must not stand before
  /// the readers that act. Costs them one more system call for each publication that finds it asleep.
  bool background = false;
  /// Overrides the topic's way of waiting.
  std::optional<Waiting> waiting{};
  /// wait() also comes back, empty with Reason::Event, when there is an event.
  bool events_end_wait = false;
  /// Called on the helper thread for each event; must not block.
  std::function<void(const Event&)> on_event{};
};

}  // namespace cardan
