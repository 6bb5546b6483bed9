// SPDX-License-Identifier: Apache-2.0
#include "src/transport/discovery/handshake.hpp"

#include <algorithm>
#include <array>
#include <concepts>
#include <nlohmann/json.hpp>
#include <string_view>
#include <type_traits>
#include <utility>

#include "src/base/printable.hpp"
#include "src/base/text_of_json.hpp"
#include "src/transport/protocol/trace_layout.hpp"

namespace cardan::detail::handshake {
namespace {

using nlohmann::json;

constexpr int kDeepest = 16;                ///< copying or printing a value takes stack for each of its levels
constexpr std::size_t kMostReaders = 256;   ///< of one publication
constexpr std::size_t kMostNames = 4096;    ///< of one part of them
constexpr std::size_t kMostBuckets = 128;   ///< of one histogram
constexpr std::uint64_t kBucketsEnd = 127;  ///< the first bucket that does not exist
constexpr std::array<std::string_view, 7> kReasons{"access", "type", "version", "area", "limit", "memory", "via"};

std::string print(const json& j) { return text_of_json(j); }

/// Writes fields into a message. Reader has the same functions, so that each message's fields are listed once.
class Writer {
 public:
  static constexpr bool kReads = false;
  explicit Writer(json& to) : to_(to) {}

  template <class T>
  void field(const char* key, const T& value) {
    to_[key] = value;
  }
  void field(const char* key, const std::string& value, std::size_t /*longest*/) { to_[key] = value; }
  void field(const char* key, Access value) { to_[key] = static_cast<unsigned>(value); }
  void field(const char* key, Reason value) {
    const auto i = static_cast<std::size_t>(value);
    to_[key] = i < kReasons.size() ? kReasons[i] : "other";
  }
  template <class T>
  void field_unless_empty(const char* key, const T& value) {
    if (value != T{}) to_[key] = value;
  }
  template <class T>
  void list(const char* key, const std::vector<T>& values, std::size_t most);

 private:
  json& to_;
};

/// Reads fields of another user: a value stays as it is if its field is missing, mistyped or out of range.
class Reader {
 public:
  static constexpr bool kReads = true;
  explicit Reader(const json& from) : from_(from) {}

  void field(const char* key, std::uint64_t& value) const {
    if (const json* j = find(key); j != nullptr && j->is_number_unsigned()) value = j->get<std::uint64_t>();
  }
  void field(const char* key, std::uint32_t& value) const {
    std::uint64_t wide = value;
    field(key, wide);
    value = static_cast<std::uint32_t>(std::min<std::uint64_t>(wide, UINT32_MAX));
  }
  void field(const char* key, std::int64_t& value) const {
    if (const json* j = find(key); j != nullptr && j->is_number_integer()) value = j->get<std::int64_t>();
  }
  void field(const char* key, int& value) const {
    std::int64_t wide = value;
    field(key, wide);
    value = static_cast<int>(wide);
  }
  void field(const char* key, bool& value) const {
    if (const json* j = find(key); j != nullptr && j->is_boolean()) value = j->get<bool>();
  }
  void field(const char* key, std::string& value, std::size_t longest = kLongestText) const {
    if (const json* j = find(key); j != nullptr && j->is_string())
      value = printable(j->get_ref<const std::string&>(), longest);
  }
  void field(const char* key, Access& value) const {
    auto number = static_cast<std::uint64_t>(value);
    field(key, number);
    value = number <= static_cast<std::uint64_t>(Access::Policy) ? static_cast<Access>(number) : Access::Policy;
  }
  void field(const char* key, Reason& value) const {
    std::string word;
    field(key, word);
    value = static_cast<Reason>(std::find(kReasons.begin(), kReasons.end(), word) - kReasons.begin());
  }
  void field(const char* key, LatencyHistogram& value) const {
    for (const json& pair : array(key))
      if (pair.is_array() && pair.size() == 2 && pair[0].is_number_unsigned() && pair[1].is_number_unsigned() &&
          pair[0].get<std::uint64_t>() < kBucketsEnd && value.size() < kMostBuckets)
        value.emplace_back(pair[0].get<std::uint32_t>(), pair[1].get<std::uint64_t>());
  }
  template <class T>
  void field_unless_empty(const char* key, T& value) const {
    field(key, value);
  }
  template <class T>
  void list(const char* key, std::vector<T>& values, std::size_t most) const;

 private:
  [[nodiscard]] const json* find(const char* key) const {
    const auto it = from_.find(key);
    return it == from_.end() ? nullptr : &*it;
  }
  [[nodiscard]] const json& array(const char* key) const {
    static const json none = json::array();
    const json* j = find(key);
    return j != nullptr && j->is_array() ? *j : none;
  }
  const json& from_;
};

template <class M, class T>
concept Is = std::same_as<std::remove_const_t<M>, T>;

// The fields of each message, for both directions.

template <class Io, Is<Hello> M>
void fields(Io& io, M& m) {
  if constexpr (Io::kReads) m.version = 0;
  io.field("version", m.version);
  io.field("pid", m.pid);
  io.field("name", m.name, kLongestName);
  io.field("clock_offset", m.clock_offset);
  if constexpr (Io::kReads) m.clock_offset = std::clamp(m.clock_offset, -kFarthestClock, kFarthestClock);
}

template <class Io, Is<Announcement> M>
void fields(Io& io, M& m) {
  io.field("holds", m.holds);
  io.field("threads", m.threads);
  io.field("depth", m.depth);
  io.field("background", m.background);
  io.field("reliable", m.reliable);
  io.field("prewake", m.prewake);
  io.field("follows", m.follows);
}

template <class Io, Is<Attach> M>
void fields(Io& io, M& m) {
  io.field("id", m.id);
  io.field("serial", m.serial);
  io.field("topic", m.topic);
  io.field_unless_empty("observer", m.observer);
  if (m.observer) return;
  io.field("type", m.type);
  io.field("hash", m.hash);
  io.field_unless_empty("not_via", m.not_via);
  if constexpr (Io::kReads) {
    Announcement a{.holds = 0, .threads = 0};
    fields(io, a);
    a.depth = std::min(a.depth, layout::kMaxDepth);
    if (a.holds >= 1 && a.holds <= layout::kMaxHolds && a.threads >= 1 && a.threads <= layout::kMaxThreads)
      m.announced = a;
  } else if (m.announced) {
    fields(io, *m.announced);
  }
}

template <class Io, Is<Attached> M>
void fields(Io& io, M& m) {
  io.field("id", m.id);
  io.field("bytes", m.bytes);
  if constexpr (Io::kReads) {
    std::uint64_t access = UINT64_MAX;
    io.field("access", access);
    if (access <= static_cast<std::uint64_t>(Access::Policy)) m.access = static_cast<Access>(access);
  } else if (m.access) {
    return io.field("access", *m.access);
  }
  io.field("bell", m.bell);
  if constexpr (Io::kReads) m.bell = std::min<std::uint64_t>(m.bell, layout::kBells);
  io.field("bell_bytes", m.bell_bytes);
  io.field("cursor", m.cursor);
  io.field("owed_from", m.owed_from);
}

template <class Io, Is<Refused> M>
void fields(Io& io, M& m) {
  io.field("id", m.id);
  io.field("code", m.code);
  io.field_unless_empty("why", m.why);
  io.field_unless_empty("remedy", m.remedy);
}

template <class Io, Is<SentAway> M>
void fields(Io& io, M& m) {
  if constexpr (!Io::kReads) io.field("id", 0);
  io.field("code", m.code);
  io.field("why", m.why);
  io.field("remedy", m.remedy);
}

template <class M>
concept OnlyId = Is<M, Gone> || Is<M, Ended> || Is<M, Demoted> || Is<M, Detach> || Is<M, Notify> || Is<M, Other>;
template <class Io, OnlyId M>
void fields(Io& io, M& m) {
  io.field("id", m.id);
}

template <class Io, Is<List> M>
void fields(Io& io, M& m) {
  io.field("topic", m.topic);
  io.field("from", m.from);
}

template <class Io, Is<SubscriberReport> M>
void fields(Io& io, M& m) {
  io.field("pid", m.pid);
  io.field("name", m.name);
  io.field("uid", m.uid);
  io.field("reliable", m.reliable);
  io.field("demoted", m.demoted);
  io.field("received", m.received);
  io.field("missed", m.missed);
  io.field("bad", m.bad);
  io.field("spin_ns", m.spin_ns);
  io.field("sleeps", m.sleeps);
  io.field("announced", m.announced);
  io.field("depth", m.depth);
  io.field("latency", m.latency);
  io.field("age", m.age);
  io.field("greatest_age_ns", m.greatest_age_ns);
  io.field("unknown_ages", m.unknown_ages);
}

template <class Io, Is<Publication> M>
void fields(Io& io, M& m) {
  auto& r = m.report;
  io.field("topic", r.topic);
  io.field("latency", r.latency);
  io.field("age", r.age);
  io.field("type", r.type);
  io.field("hash", r.layout);
  io.field("serial", r.serial);
  io.field("depth", r.depth);
  io.field("max_bytes", r.max_bytes);
  io.field("reliable", r.reliable);
  io.field("access", m.access);
  io.field("via", r.via);
  io.field("deadline_ns", r.deadline_ns);
  io.field("slots", r.slots);
  io.field("area_bytes", r.area_bytes);
  io.field("published", r.published);
  io.field("bytes", r.bytes);
  io.field("longest_gap_ns", r.longest_gap_ns);
  io.field("heartbeat_ns", r.heartbeat_ns);
  io.field("wakes", r.wakes);
  io.field("prewakes", r.prewakes);
  io.field("reliable_timeouts", r.reliable_timeouts);
  io.list("subscribers", r.subscribers, kMostReaders);
  io.field("left_out", r.left_out);
  io.field_unless_empty("taken", r.service.taken);
  io.field_unless_empty("answered", r.service.answered);
  io.field_unless_empty("declined", r.service.declined);
  io.field_unless_empty("expired", r.service.expired);
  io.field_unless_empty("longest_answer_ns", r.service.longest_ns);
  io.field_unless_empty("answer", r.service.answer);
}

template <class Io, Is<Topics> M>
void fields(Io& io, M& m) {
  io.list("topics", m.topics, SIZE_MAX);
  io.field("next", m.next);
  io.field("pid", m.pid);
  io.field("name", m.name);
}

template <class Io, Is<Trace> M>
void fields(Io& io, M& m) {
  io.field("id", m.id);
  io.field("from", m.from);
}

template <class Io, Is<TracedThread> M>
void fields(Io& io, M& m) {
  io.field("ring", m.ring);
  io.field("owner", m.owner);
  io.field("thread", m.thread);
  io.field("name", m.name, kLongestName);
}

template <class Io, Is<TracedName> M>
void fields(Io& io, M& m) {
  io.field("number", m.number);
  io.field_unless_empty("stream", m.stream);
  io.field("of", m.of);
  io.field("text", m.text, kLongestText);
}

template <class Io, Is<Traced> M>
void fields(Io& io, M& m) {
  io.field("id", m.id);
  io.field("bytes", m.bytes);
  io.list("threads", m.threads, layout::kTraceRings);
  io.list("names", m.names, kMostNames);
  io.field("next", m.next);
}

template <class Io, Is<Ask> M>
void fields(Io& io, M& m) {
  io.field("id", m.id);
  io.field("serial", m.serial);
  io.field("topic", m.topic);
  io.field("process", m.process);
  io.field("questions", m.questions);
  io.field("name", m.name);
  io.field("type", m.type);
  io.field("hash", m.hash);
  io.field("answer_type", m.answer_type);
  io.field("answer_hash", m.answer_hash);
  io.field("pending", m.pending);
  if constexpr (Io::kReads)
    if (m.pending > kMostPending) m.pending = 0;
}

template <class Io, Is<Served> M>
void fields(Io& io, M& m) {
  io.field("id", m.id);
  io.field("answers", m.answers);
  io.field("name", m.name);
}

template <class Io, Is<Declined> M>
void fields(Io& io, M& m) {
  io.field("id", m.id);
  io.field("sequence", m.sequence);
  io.field_unless_empty("why", m.why);
}

template <class Io, Is<Cancel> M>
void fields(Io& io, M& m) {
  io.field("id", m.id);
  io.field("sequence", m.sequence);
}

template <class T>
json written(const T& value) {
  json j;
  Writer out(j);
  fields(out, value);
  return j;
}

template <class T>
T read(const json& j) {
  T value;
  const Reader in(j);
  fields(in, value);
  return value;
}

template <class T>
void Writer::list(const char* key, const std::vector<T>& values, std::size_t /*most*/) {
  json all = json::array();
  for (const T& value : values) all.push_back(written(value));
  to_[key] = std::move(all);
}

template <class T>
void Reader::list(const char* key, std::vector<T>& values, std::size_t most) const {
  for (const json& j : array(key))
    if (j.is_object() && values.size() < most) values.push_back(read<T>(j));
}

const char* op_of(const Hello&) { return "hello"; }
const char* op_of(const Attach&) { return "attach"; }
const char* op_of(const Attached&) { return "attached"; }
const char* op_of(const Refused&) { return "refused"; }
const char* op_of(const SentAway& m) { return m.gone ? "gone" : "refused"; }
const char* op_of(const Gone&) { return "gone"; }
const char* op_of(const Ended&) { return "ended"; }
const char* op_of(const Demoted&) { return "demoted"; }
const char* op_of(const Detach&) { return "detach"; }
const char* op_of(const Notify&) { return "notify"; }
const char* op_of(const List&) { return "list"; }
const char* op_of(const Topics&) { return "topics"; }
const char* op_of(const Trace&) { return "trace"; }
const char* op_of(const Traced&) { return "traced"; }
const char* op_of(const Ask&) { return "ask"; }
const char* op_of(const Served&) { return "served"; }
const char* op_of(const Declined&) { return "declined"; }
const char* op_of(const Cancel&) { return "cancel"; }
const std::string& op_of(const Other& m) { return m.op; }

/// Tries the kinds one after the other. SentAway comes before the two whose `op` it has.
template <class M, class... Rest>
Message read_as(const std::string& op, const json& j) {
  if (op == op_of(M{})) return read<M>(j);
  if constexpr (sizeof...(Rest) != 0)
    return read_as<Rest...>(op, j);
  else
    return Other{.op = printable(op, kLongestText), .id = read<Other>(j).id};
}

}  // namespace

std::string encode(const Message& message) {
  return std::visit(
      [](const auto& m) {
        json j = written(m);
        j["op"] = op_of(m);
        return print(j);
      },
      message);
}

std::optional<Message> decode(const std::string& text) {
  bool too_deep = false;
  const auto look = [&](int depth, json::parse_event_t, const json&) {
    too_deep = too_deep || depth > kDeepest;
    return !too_deep;
  };
  const json j = json::parse(text, look, false);
  if (too_deep || j.is_discarded() || !j.is_object()) return std::nullopt;
  const auto named = j.find("op");
  if (named == j.end() || !named->is_string()) return std::nullopt;
  const auto& op = named->get_ref<const std::string&>();
  if (const bool gone = op == op_of(Gone{}); (gone || op == op_of(Refused{})) && read<Gone>(j).id == 0) {
    auto away = read<SentAway>(j);
    away.gone = gone;
    return away;
  }
  return read_as<Hello, Attach, Attached, Refused, Gone, Ended, Demoted, Detach, Notify, List, Topics, Trace, Traced,
                 Ask, Served, Declined, Cancel>(op, j);
}

std::uint64_t id_of(const Message& message) {
  return std::visit(
      [](const auto& m) -> std::uint64_t {
        if constexpr (requires { m.id; })
          return m.id;
        else
          return 0;
      },
      message);
}

std::size_t encoded_size(const Publication& publication) { return print(written(publication)).size() + 1; }
std::size_t encoded_size(const SubscriberReport& subscriber) { return print(written(subscriber)).size() + 1; }
std::size_t encoded_size(const TracedName& name) { return print(written(name)).size() + 1; }

}  // namespace cardan::detail::handshake
