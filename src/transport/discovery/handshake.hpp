// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "cardan/observer_report.hpp"
#include "cardan/topic.hpp"
#include "src/transport/protocol/layout.hpp"

/// The messages of the handshake (docs/handshake.md), one struct each. On the wire each is a datagram with one JSON
/// object, whose `op` is its kind. Only handshake.cpp knows that.
/// A field of a peer that is missing, mistyped or out of range means "no": it becomes 0, false, empty or what its
/// comment says. A text of a peer is printable (printable.hpp) and has at most 1,024 bytes, because it may be shown on
/// a terminal, in a log or in JSON. Everything here is thread safe and does not block.
namespace cardan::detail::handshake {

inline constexpr std::uint64_t kVersion = 1;
inline constexpr std::size_t kLongestText = 1024;                                    ///< bytes
inline constexpr std::size_t kLongestName = 64;                                      ///< lists repeat a program's name
inline constexpr std::int64_t kFarthestClock = 10LL * 365 * 86'400 * 1'000'000'000;  ///< ns

/// The first message of both sides.
struct Hello {
  std::uint64_t version = kVersion;
  std::int64_t pid = 0;  ///< a claim; the kernel knows better
  std::string name{};    ///< at most kLongestName bytes
  /// Nanoseconds by which its time namespace's steady clock is ahead of the machine's; at most kFarthestClock either
  /// way.
  std::int64_t clock_offset = 0;
};

/// The announcement of a subscriber to each publisher when it attaches, over a socket or within the process.
struct Announcement {
  std::uint32_t holds = 1;    ///< samples that it keeps at once
  std::uint32_t threads = 1;  ///< threads that take at once
  std::uint32_t depth = 0;    ///< samples that it asks the publisher to keep; 0: it does not say
  bool background = false;
  bool reliable = false;
  bool prewake = false;
  bool follows = false;  ///< follow(): its descriptor may be rung by the helper thread
};

/// A subscriber or an observer asks for one publication. A subscriber's page comes with it.
struct Attach {
  std::uint64_t id = 0;      ///< of the attachment, on this connection
  std::uint32_t serial = 0;  ///< of the publication in its process
  std::string topic{};
  bool observer = false;  ///< the fields below are for a subscriber only
  std::string type{};
  std::string hash{};                       ///< of the type's layout, 16 hexadecimal digits
  std::string not_via{};                    ///< a network: publications that came through it are not wanted
  std::optional<Announcement> announced{};  ///< empty: holds or threads are out of range
};

/// The answer: the publisher's area comes with it, and for a subscriber the bells.
struct Attached {
  std::uint64_t id = 0;
  std::uint64_t bytes = 0;              ///< of the area
  std::optional<Access> access{};       ///< to an observer only; the fields below are for a subscriber only
  std::uint64_t bell = layout::kBells;  ///< the bell to sleep on; kBells: it does not exist
  std::uint64_t bell_bytes = 0;
  std::uint64_t cursor = 0;     ///< the last publication before those that it takes
  std::uint64_t owed_from = 0;  ///< publications after this one are delivered, or count as missed
};

/// The reason of a refusal. Other: of a version that we do not know.
enum class Reason : std::uint8_t { Access, Type, Version, Area, Limit, Memory, Via, Other };

/// The other answer.
struct Refused {
  std::uint64_t id = 0;
  Reason code = Reason::Other;
  std::string why{}, remedy{};
};

/// In place of the hello: the process has nothing for this user, and closes the connection. Its `op` is that of Refused
/// or Gone, with the id 0.
struct SentAway {
  bool gone = false;  ///< the publication has just ended; else the user may not have it
  Reason code = Reason::Access;
  std::string why{}, remedy{};
};

struct Gone {  ///< the publication ended before it could be attached to
  std::uint64_t id = 0;
};
struct Ended {  ///< an attached publication has ended
  std::uint64_t id = 0;
};
struct Demoted {  ///< a reliable publish timed out; best effort until the subscriber has caught up
  std::uint64_t id = 0;
};
struct Detach {  ///< the last sample is gone, or the request is withdrawn
  std::uint64_t id = 0;
};
struct Notify {  ///< one end of a socket pair comes with it, for fd()
  std::uint64_t id = 0;
};

/// Asks for the figures of the topics that the requester may see.
struct List {
  std::string topic{};     ///< empty: all
  std::uint32_t from = 0;  ///< the first serial of this part
};

/// One publication in a list.
struct Publication {
  Access access = Access::Owner;  ///< Policy: also a rule that we do not know
  /// Without `program`, `pid`, `process` and `is_owners`: the connection tells them. `heartbeat_ns` is of the
  /// publisher's clock.
  PublisherReport report{};
};

/// A part of the answer to a list.
struct Topics {
  std::vector<Publication> topics{};
  std::uint32_t next = 0;  ///< `from` of the next part; 0: this is the last
  std::int64_t pid = 0;    ///< a claim
  std::string name{};
};

/// Switches tracing on, or asks for more names. Only of the own user and root.
struct Trace {
  std::uint64_t id = 0;
  std::uint64_t from = 0;  ///< number of the first name of this part
};

/// A thread that has a ring.
struct TracedThread {
  std::uint32_t ring = 0;
  std::uint32_t owner = 0;  ///< as in its events, at most 255
  std::int64_t thread = 0;
  std::string name{};
};

/// The text of a number in events.
struct TracedName {
  std::uint64_t number = 0;
  bool stream = false;   ///< a topic; else a callback
  std::uint64_t of = 0;  ///< the stream, or the callback's number
  std::string text{};
};

/// The answer. The area comes with the first one of a connection.
struct Traced {
  std::uint64_t id = 0;
  std::uint64_t bytes = 0;  ///< of the area
  std::vector<TracedThread> threads{};
  std::vector<TracedName> names{};
  std::uint64_t next = 0;  ///< `from` of the next part; more of it may come later
};

/// The client of a service asks the service's process to serve it. The names of both sides' unlisted publications are
/// secret: who does not know the name cannot attach.
struct Ask {
  std::uint64_t id = 0;
  std::uint32_t serial = 0;     ///< of the service's card in its process
  std::string topic{};          ///< of the card
  std::string process{};        ///< the asking process, 16 hexadecimal digits: its questions are published there
  std::uint32_t questions = 0;  ///< serial of that publication
  std::string name{};           ///< its topic
  std::string type{}, hash{};   ///< of a question
  std::string answer_type{}, answer_hash{};
  std::uint32_t pending = 0;  ///< the most questions without an answer, 1 to kMostPending
};
inline constexpr std::uint32_t kMostPending = 64;

/// The answer: where this client's answers are published, in the process that it asked.
struct Served {
  std::uint64_t id = 0;
  std::uint32_t answers = 0;  ///< serial
  std::string name{};         ///< topic
};

/// A question that gets no answer. `id`: of the Ask.
struct Declined {
  std::uint64_t id = 0;
  std::uint64_t sequence = 0;  ///< of the question
  std::string why{};
};

/// The client does not wait for this answer any more.
struct Cancel {
  std::uint64_t id = 0;  ///< of the Ask
  std::uint64_t sequence = 0;
};

/// A message of a kind that we do not know.
struct Other {
  std::string op{};
  std::uint64_t id = 0;
};

using Message = std::variant<Hello, Attach, Attached, Refused, SentAway, Gone, Ended, Demoted, Detach, Notify, List,
                             Topics, Trace, Traced, Ask, Served, Declined, Cancel, Other>;

/// Never throws for text that is not UTF-8, because names of processes need not be UTF-8.
[[nodiscard]] std::string encode(const Message& message);
/// Empty: it is not the handshake. That is, no object with a textual `op`, or too deep.
[[nodiscard]] std::optional<Message> decode(const std::string& text);

/// The attachment that it is about; 0: none.
[[nodiscard]] std::uint64_t id_of(const Message& message);

/// The bytes that these take in the text of Topics, with a separator.
[[nodiscard]] std::size_t encoded_size(const Publication& publication);
[[nodiscard]] std::size_t encoded_size(const SubscriberReport& subscriber);
/// The bytes that it takes in the text of Traced, with a separator.
[[nodiscard]] std::size_t encoded_size(const TracedName& name);

}  // namespace cardan::detail::handshake
