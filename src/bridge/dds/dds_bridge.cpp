// SPDX-License-Identifier: Apache-2.0
#include "src/bridge/dds/dds_bridge.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <poll.h>

#include <algorithm>
#include <array>
#include <limits>
#include <new>
#include <optional>
#include <set>
#include <string_view>
#include <thread>
#include <utility>

#include "cardan/clock.hpp"
#include "cardan/error.hpp"
#include "cardan/stop.hpp"
#include "cardan/type_layout.hpp"
#include "src/record/metadata.hpp"

namespace cardan::bridge::dds {
namespace {

constexpr std::size_t kMostReaders = 1024;
constexpr std::size_t kMostTypes = 64;  ///< of one topic that are tried
constexpr std::size_t kMostPast = 4096, kMostProblems = 64;
/// A writer that is restarted finds its topic as it left it.
constexpr std::int64_t kLingerOfReader = 2'000'000'000;
/// How often a topic is looked at whose descriptor the kernel has no room to watch.
constexpr std::int64_t kUnwatched = 10'000'000;
/// How often what has come is compared with what writers have sent.
constexpr std::int64_t kWatch = 1'000'000'000;
constexpr auto kWhenMemoryRunsOut = std::chrono::milliseconds(10);

const char* word_of(Range range) {
  switch (range) {
    case Range::Localhost:
      return "localhost";
    case Range::Computer:
      return "this computer";
    case Range::Subnet:
      return "subnet";
    case Range::Off:
      return "named peers only";
    case Range::System:
      return "as CYCLONEDDS_URI says";
  }
  return "";
}

Error too_many_topics() {
  return {ErrorCode::Limit, fmt::format("a bridge reads at most {} topics", kMostReaders), "name the topics in 'in'"};
}

}  // namespace

std::string network_name(const Rules& rules, const DomainChoice& choice) {
  return !rules.network.empty() ? rules.network : "dds:" + std::to_string(choice.id);
}

DdsBridge::DdsBridge(Rules rules, DomainChoice choice)
    : rules_(std::move(rules)),
      choice_(std::move(choice)),
      network_(network_name(rules_, choice_)),
      bell_(std::make_shared<Bell>()),
      finder_(message_folders(rules_.dds, variable)),
      participant_(choice_, rules_, domain_marker(rules_.domain), bell_),
      node_(participant_, rules_.dds.node_namespace, rules_.dds.node, likely_gid_bytes(rules_.dds, variable),
            rules_.dds.gid_bytes != 0),
      interfaces_(participant_, rules_, finder_, bell_),
      catalogue_(rules_, Catalogue::Owners::LeftOut),
      parts_(most_parts_bytes(rules_)) {}

void DdsBridge::finish() { watch_readers(steady_now()); }

void DdsBridge::turn(std::chrono::nanoseconds timeout) {
  const std::int64_t until = steady_now() + timeout.count();
  do {
    try {
      if (!pass()) wait(until);
    } catch (const std::bad_alloc&) {  // somebody's message or endpoint was too much; the others' continue
      look_at_all_ = endpoints_changed_ = true;
      ++out_of_memory_;
      bell_->ring_all();
      std::this_thread::sleep_for(kWhenMemoryRunsOut);
    }
  } while (!stopping() && steady_now() < until);
}

bool DdsBridge::pass() {
  const Bell::Rung rung = bell_->answer();
  const std::int64_t now = steady_now();
  update_writers();
  update_readers(rung, now);
  watch(now);
  if (interfaces_.carry_services(static_cast<bool>(rung))) endpoints_changed_ = true;
  if (interfaces_.servers().carry(participant_.take_changed_services(), static_cast<bool>(rung)))
    endpoints_changed_ = true;
  if ((rung && node_.learn()) || endpoints_changed_) announce();
  if (rung) interfaces_.carry();
  note_rung(rung);
  const bool more_log = interfaces_.carry_log();
  const bool more_in = carry_in();
  const bool more_out = carry_out(now);
  return more_log || more_in || more_out;
}

/// Messages of which only a part has come: Cyclone does not report them.
void DdsBridge::watch(std::int64_t now) {
  parts_.look(node_.topic(), participant_.entity(), participant_.other_participants(), now);
  if (now < watch_at_) return;
  watch_at_ = now + kWatch;
  watch_readers(now);
}

void DdsBridge::watch_readers(std::int64_t now) {
  for (const auto& [topic, reader] : readers_) reader->watch(strangers(topic), now);
}

/// The writers of a topic on DDS whose messages are not here already.
std::vector<const RemoteWriter*> DdsBridge::strangers(const std::string& topic) const {
  std::vector<const RemoteWriter*> writers = participant_.writers_of(topic);
  std::erase_if(writers, [this](const RemoteWriter* writer) { return participant_.is_sibling(*writer); });
  return writers;
}

void DdsBridge::note_rung(const Bell::Rung& rung) {
  const auto note = [this](dds_entity_t who) {
    if (writer_of_.contains(who)) ready_.add(who);
    if (reader_of_.contains(who) && std::find(to_read_.begin(), to_read_.end(), who) == to_read_.end())
      to_read_.push_back(who);
  };
  if (rung.everybody()) {
    to_read_.clear();
    for (const auto& [who, reader] : reader_of_) to_read_.push_back(who);
    for (const auto& [who, writer] : writer_of_) ready_.add(who);
  } else {
    for (const Bell::Who who : rung.named()) note(who);
  }
}

/// Returns whether there may be more.
bool DdsBridge::carry_in() {
  std::erase_if(to_read_, [this](dds_entity_t who) {
    const auto reader = reader_of_.find(who);
    return reader == reader_of_.end() || !reader->second->carry(participant_);
  });
  return !to_read_.empty();
}

/// Returns whether there may be more.
bool DdsBridge::carry_out(std::int64_t now) {
  bool busy = false;
  for (const ReadyQueue::Id who :
       ready_.take(now)) {  // in turns: a topic of large messages leaves the others their place
    const auto found = writer_of_.find(who);
    if (found == writer_of_.end()) continue;
    DdsWriter& writer = *found->second;
    writer.look(now);
    const bool more = writer.carry(now);
    if (more) ready_.add(who);
    busy = busy || more;
    const bool watched = more || !writer.waits_for_fd(now) || ready_.watch(who, writer.fd());
    ready_.at(who, watched ? writer.due_ns(now) : now + kUnwatched);
  }
  return busy;
}

void DdsBridge::wait(std::int64_t until) {
  std::array<pollfd, 6> all{{{.fd = bell_->fd(), .events = POLLIN, .revents = 0},
                             {.fd = catalogue_.fd(), .events = POLLIN, .revents = 0},
                             {.fd = interfaces_.fd(), .events = POLLIN, .revents = 0},
                             {.fd = interfaces_.services_fd(), .events = POLLIN, .revents = 0},
                             {.fd = interfaces_.servers().fd(), .events = POLLIN, .revents = 0},
                             {.fd = ready_.fd(), .events = POLLIN, .revents = 0}}};
  until = std::min({until, ready_.next_ns(), remove_at_, interfaces_.servers().due_ns()});
  const std::int64_t left = std::max<std::int64_t>(until - steady_now(), 0);
  const timespec timeout{.tv_sec = left / 1'000'000'000, .tv_nsec = left % 1'000'000'000};
  (void)::ppoll(all.data(), all.size(), &timeout, nullptr);
}

void DdsBridge::update_writers() {
  catalogue_.each_change([this](const Catalogue::Change& change) {
    const std::string name = change.topic.name;
    endpoints_changed_ = true;
    if (const auto known = writers_.find(name); known != writers_.end()) {
      remember(known->second->report());
      ready_.forget(known->second->entity());
      writer_of_.erase(known->second->entity());
      writers_.erase(known);
    }
    problems_.erase(name);
    if (!change.added) return;
    try {
      auto writer = std::make_unique<DdsWriter>(participant_, change.topic, *change.rule, rules_, network_, bell_);
      ready_.add(writer->entity());
      writers_.emplace(name, std::move(writer));
    } catch (const Error& e) {
      note_problem(name, e.what());
    }
  });
}

void DdsBridge::update_readers(const Bell::Rung& rung, std::int64_t now) {
  std::set<std::string> topics;
  if (rung) topics = participant_.update();
  if (std::exchange(look_at_all_, false)) {
    for (std::string& topic : participant_.topics()) topics.insert(std::move(topic));
    for (const auto& [topic, reader] : readers_) topics.insert(topic);
  }
  for (const std::string& topic : topics) {
    const std::vector<const RemoteWriter*> writers = strangers(topic);
    if (const auto known = readers_.find(topic); known != readers_.end()) {
      std::int64_t& alone_since = known->second->alone_since;
      if (!writers.empty())
        alone_since = 0;
      else if (alone_since == 0)
        alone_since = now;
      if (alone_since != 0) remove_at_ = std::min(remove_at_, alone_since + kLingerOfReader);
    }
    if (writers.empty()) continue;
    try {
      problems_.erase("in " + topic);
      read(topic, writers);
      if (const auto made = readers_.find(topic); made != readers_.end()) made->second->watch(writers, now);
    } catch (const Error& e) {
      note_problem("in " + topic, e.what());
    } catch (const std::bad_alloc&) {  // the others get their readers, and this one at the next look
      look_at_all_ = true;
      ++out_of_memory_;
    }
  }
  no_room_for_.clear();
  remove_readers(now);
}

void DdsBridge::remove_readers(std::int64_t now) {
  if (now < remove_at_) return;
  remove_at_ = std::numeric_limits<std::int64_t>::max();
  for (auto it = readers_.begin(); it != readers_.end();) {
    const DdsReader& reader = *it->second;
    if (reader.alone_since != 0 && now >= reader.alone_since + kLingerOfReader) {
      look_at_all_ = look_at_all_ || readers_.size() == kMostReaders;  // another topic gets its place
      remember(reader.report());
      reader_of_.erase(reader.entity());
      it = readers_.erase(it);
      endpoints_changed_ = true;
    } else {
      if (reader.alone_since != 0) remove_at_ = std::min(remove_at_, reader.alone_since + kLingerOfReader);
      ++it;
    }
  }
}

/// Those whose messages a reader of this type can read. The others are noted: one of them does not keep a topic out.
std::vector<const RemoteWriter*> DdsBridge::usable(const std::vector<const RemoteWriter*>& writers,
                                                   const std::string& type, const std::string& hash) {
  std::vector<const RemoteWriter*> good;
  std::string why;
  for (const RemoteWriter* writer : writers) {
    if (writer->type != type)
      why = fmt::format("it has a writer of '{}' in addition to those of {} — use one type for a topic", writer->type,
                        type);
    else if (!writer->xcdr1)
      why = "a writer sends XCDR2 — let it write XCDR1, as ROS 2 does";
    else if (!writer->type_hash.empty() && !hash.empty() && writer->type_hash != hash)
      why = fmt::format("a writer's {} has other fields than ours ({}, not {}) — use one definition on both sides",
                        type, writer->type_hash, hash);
    else
      good.push_back(writer);
  }
  if (!why.empty()) note_problem("in " + writers.front()->topic, why);
  return good;
}

/// The types that its writers say; that of its reader first, then those that are here without a file.
std::vector<std::string> DdsBridge::types_of(const std::string& topic,
                                             const std::vector<const RemoteWriter*>& writers) const {
  const auto known = readers_.find(topic);
  std::vector<std::string> types;
  for (const RemoteWriter* const writer : writers) types.push_back(writer->type);
  const auto place = [](const std::string& type) {
    return std::pair(known_layout(type) == nullptr, std::string_view(type));
  };
  std::sort(types.begin(), types.end(), [&](const auto& a, const auto& b) { return place(a) < place(b); });
  types.erase(std::unique(types.begin(), types.end()), types.end());
  if (known != readers_.end())
    if (const auto it = std::find(types.begin(), types.end(), known->second->type_name()); it != types.end())
      std::rotate(types.begin(), it, it + 1);
  return types;
}

/// A name can have writers of several types, by mistake or by an enemy: the first that works is the topic's.
void DdsBridge::read(const std::string& topic, const std::vector<const RemoteWriter*>& writers) {
  std::optional<Error> why;
  std::size_t tried = 0;
  for (const std::string& type : types_of(topic, writers)) {
    if (rule_for(rules_.in, topic, type) == nullptr && !type.empty()) continue;  // the rules are about other types
    if (++tried > kMostTypes) break;
    try {
      if (read(topic, type, writers)) return;
    } catch (const Error& e) {
      if (!why) why = e;
    }
  }
  if (why) throw Error(*why);
}

/// Returns false if no writer can be read as this type.
bool DdsBridge::read(const std::string& topic, const std::string& type,
                     const std::vector<const RemoteWriter*>& writers) {
  if (type.empty())
    throw Error(ErrorCode::Incompatible, "its type has a name that ROS 2 does not use",
                "name it pkg::msg::dds_::Type_");
  const auto known = readers_.find(topic);
  const bool same = known != readers_.end() && type == known->second->type_name();
  const TopicRule* const rule = rule_for(rules_.in, topic, type);
  const bool full = known == readers_.end() && readers_.size() >= kMostReaders;
  if (full && no_room_for_.contains(writers.front()->participant)) throw too_many_topics();
  std::optional<AnyType> any;
  if (!same) any = finder_.find(type);
  const std::string hash =
      same ? known->second->qos().type_hash : record::ros_type_hash(type, any->message_type().schema);
  const auto good = usable(writers, type, hash);
  if (good.empty()) return false;
  const auto all = [&](auto what) { return std::all_of(good.begin(), good.end(), what); };
  const auto keeps = [](const RemoteWriter* w) { return w->transient_local; };
  const EndpointQos qos = incoming_qos(*rule, {.name = topic, .type = type, .type_hash = hash},
                                       {.all_reliable = all([](const RemoteWriter* w) { return w->reliable; }),
                                        .all_transient_local = all(keeps),
                                        .one_transient_local = std::any_of(good.begin(), good.end(), keeps)});
  if (qos.transient_local && !all(keeps))
    note_problem("in " + topic,
                 "a writer that keeps nothing for late readers (volatile) is not heard here, as by "
                 "ROS 2's own subscribers — let it write transient local");
  if (same && known->second->reads() && known->second->qos() == qos) return true;
  endpoints_changed_ = true;
  if (known != readers_.end()) reader_of_.erase(known->second->entity());
  if (same) {
    known->second->set_qos(participant_, qos);
    return true;
  }
  if (known != readers_.end()) {
    remember(known->second->report());
    readers_.erase(known);
  }
  if (full && !make_room(writers.front()->participant)) throw too_many_topics();
  readers_.emplace(topic, std::make_unique<DdsReader>(participant_, topic, *any, *rule, qos,
                                                      IncomingOptions{.domain = rules_.domain,
                                                                      .via = network_,
                                                                      .access = rules_.access,
                                                                      .depth = qos.depth,
                                                                      .latched = qos.transient_local}));
  return true;
}

/// One participant can announce topics without end: the one that has most of them to itself leaves a place to another.
bool DdsBridge::make_room(const Guid& newcomer) {
  if (no_room_for_.contains(newcomer)) return false;
  std::map<Guid, std::vector<std::string>> alone;
  for (const auto& [topic, reader] : readers_) {
    const std::vector<const RemoteWriter*> writers = strangers(topic);
    const auto same = [&](const RemoteWriter* one) { return one->participant == writers.front()->participant; };
    if (!writers.empty() && std::all_of(writers.begin(), writers.end(), same))
      alone[writers.front()->participant].push_back(topic);
  }
  const auto most = std::max_element(alone.begin(), alone.end(),
                                     [](const auto& a, const auto& b) { return a.second.size() < b.second.size(); });
  if (most == alone.end() || most->second.size() <= alone[newcomer].size() + 1) {
    no_room_for_.insert(newcomer);
    return false;
  }
  const auto gives_way = readers_.find(most->second.back());
  remember(gives_way->second->report());
  reader_of_.erase(gives_way->second->entity());
  readers_.erase(gives_way);
  return true;
}

void DdsBridge::note_problem(const std::string& topic, std::string why) {
  if (problems_.size() < kMostProblems || problems_.contains(topic)) problems_[topic] = std::move(why);
}

void DdsBridge::announce() {
  endpoints_changed_ = false;
  std::vector<Guid> readers = interfaces_.readers();
  std::vector<Guid> writers = interfaces_.writers();
  for (const auto& [topic, reader] : readers_) {
    readers.push_back(reader->guid());
    if (reader->reads()) reader_of_[reader->entity()] = reader.get();
  }
  for (const auto& [topic, writer] : writers_) {
    writers.push_back(writer->guid());
    writer_of_[writer->entity()] = writer.get();
  }
  node_.update(std::move(readers), std::move(writers));
}

/// Its counts stay in the report: a loss is not forgotten because its topic has gone.
void DdsBridge::remember(const TopicReport& last) {
  const Key key{last.topic, last.in};
  if (last.counts.carried + last.counts.lost + last.counts.refused == 0) return;
  if (past_.size() >= kMostPast && !past_.contains(key)) return;
  TopicReport& sum = past_[key];
  TopicCounts counts = sum.counts;
  counts += last.counts;
  sum = last;
  sum.receivers = 0;
  sum.counts = counts;
}

std::vector<TopicReport> DdsBridge::topics() const {
  auto rest = past_;
  std::vector<TopicReport> all;
  const auto with_past = [&](TopicReport report) {
    if (const auto before = rest.find(Key{report.topic, report.in}); before != rest.end()) {
      report.counts += before->second.counts;
      rest.erase(before);
    }
    all.push_back(std::move(report));
  };
  for (const auto& [topic, writer] : writers_) with_past(writer->report());
  for (const auto& [topic, reader] : readers_) with_past(reader->report());
  for (const auto& [key, report] : rest) all.push_back(report);
  for (TopicReport& report : interfaces_.reports()) all.push_back(std::move(report));
  return all;
}

std::string DdsBridge::title() const {
  const std::size_t others = participant_.others();
  return fmt::format("DDS domain {} ({}), {} other participant{}", choice_.id, word_of(choice_.range), others,
                     others == 1 ? "" : "s");
}

std::string DdsBridge::readers() const {
  return fmt::format(
      "{} can read what leaves on DDS domain {} and write what 'in' lets in: DDS asks nobody for a name{}",
      stays_here(choice_) ? "every user of this computer" : "everybody on the network", choice_.id,
      choice_.cyclone_uri.empty() ? "" : ", unless CYCLONEDDS_URI sets up DDS Security");
}

/// Of rules that name a topic that is there, and a type that it does not have.
std::vector<std::string> DdsBridge::notes_on_rules() const {
  std::vector<std::string> notes;
  for (const TopicRule& rule : rules_.in) {
    if (rule.types.empty()) continue;
    const std::vector<TopicRule> alone{rule};
    const RemoteWriter* other = nullptr;
    bool fits = false;
    for (const std::string& topic : participant_.topics()) {
      if (fits || rule_for(alone, topic, {}) == nullptr) continue;
      for (const RemoteWriter* const writer : participant_.writers_of(topic)) {
        other = writer;
        fits = fits || rule_for(alone, topic, writer->type) != nullptr;
      }
    }
    if (fits || other == nullptr) continue;
    notes.push_back(
        fmt::format("no writer fits the rule of 'in' with the type {}: {} has the type {} — correct 'types'",
                    fmt::join(rule.types, ", "), other->topic, other->type));
  }
  return notes;
}

std::vector<std::string> DdsBridge::notes() const {
  std::vector<std::string> all;
  for (const auto& [topic, why] : problems_) all.push_back(fmt::format("{}: {}", topic, why));
  for (const auto& [topic, why] : catalogue_.problems()) all.push_back(fmt::format("{}: {}", topic, why));
  for (std::string& note : interfaces_.notes()) all.push_back(std::move(note));
  const bool reads =
      std::any_of(readers_.begin(), readers_.end(), [](const auto& one) { return one.second->may_overflow(); }) ||
      std::any_of(past_.begin(), past_.end(),
                  [](const auto& one) { return one.second.in && one.second.counts.lost != 0; });
  const bool is_read =
      std::any_of(writers_.begin(), writers_.end(), [](const auto& one) { return one.second->may_overflow_readers(); });
  if (reads || is_read)
    for (std::string& note : notes_on(receive_buffers(), reads, is_read)) all.push_back(std::move(note));
  if (choice_.is_usual && stays_here(choice_) && participant_.others() == 0)
    all.emplace_back(
        "nobody else uses DDS on loopback: nodes of ROS 2 with its default settings use the network — "
        "--discovery subnet meets them");
  if (out_of_memory_ != 0)
    all.push_back(fmt::format("memory has run out ({} times): what it was needed for is lost", out_of_memory_));
  for (std::string& note : notes_on_rules()) all.push_back(std::move(note));
  if (parts_.times() != 0)
    all.push_back(fmt::format("messages that came in part took more than {} MiB together and were forgotten ({} times)",
                              parts_.most_bytes() >> 20U, parts_.times()));
  if (node_.mixed())
    all.push_back(
        fmt::format("releases of ROS 2 before and after Iron share this domain; nodes of one kind do not see "
                    "the bridge as a node (gid_bytes is {})",
                    node_.gid_bytes()));
  return all;
}

}  // namespace cardan::bridge::dds
