// SPDX-License-Identifier: Apache-2.0
#include "src/bridge/catalogue.hpp"

#include <fmt/format.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "cardan/any_type.hpp"
#include "cardan/error.hpp"

namespace cardan::bridge {
namespace {

/// Anybody whom we accept can make topics. Each costs the other side an entry, and us a little memory.
constexpr std::size_t kMostTopics = 4096;
constexpr std::size_t kMostNotes = 64;

}  // namespace

Catalogue::Catalogue(const Rules& rules, Owners owners, std::string also)
    : rules_(rules),
      also_(std::move(also)),
      changed_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      owners_(owners),
      watch_({.domain = rules.domain, .access = rules.access, .report_ends = true, .by_access = true}, *this) {
  if (!changed_)
    throw Error(ErrorCode::Limit, fmt::format("cannot make an eventfd: {}", std::strerror(errno)),
                "raise ulimit -n of the bridge");
  watch_.start();
}

Catalogue::~Catalogue() { watch_.stop(); }

bool Catalogue::may_want(const std::string& topic) const {
  return (!topic.starts_with("/cardan/") || topic == also_) && rule_for(rules_.out, topic, {}) != nullptr;
}

bool Catalogue::wants(const std::string& topic, const std::string& type) const {
  return may_want(topic) && rule_for(rules_.out, topic, type) != nullptr;
}

bool Catalogue::is_held_back(const std::string& topic, const std::string& type, Access access) const {
  if (access != Access::Owner) return false;
  const TopicRule* const rule = rule_for(rules_.out, topic, type);
  return rule != nullptr && !sends_owners(*rule, topic);
}

void Catalogue::found(const std::string& topic, const ObservedStream& stream) {
  const auto known = present_.find(topic);
  const bool held_back = is_held_back(topic, stream.type(), stream.access());
  if (held_back && owners_ == Owners::LeftOut) {
    if (++held_back_[topic] == 1 && known != present_.end()) add({.added = false, .topic = known->second.topic});
    note_problem(topic,
                 "it is not sent: its access is 'owner', and every user may read what leaves — name it in full "
                 "in 'topics' (--topic), or set 'owner' in the rule (--owner)");
    return;
  }
  LocalTopic local{.name = topic,
                   .type = stream.type(),
                   .schema = stream.schema(),
                   .type_hash = stream.type_hash(),
                   .message_bytes = stream.message_bytes(),
                   .max_bytes = stream.max_bytes(),
                   .depth = stream.depth()};
  if (known != present_.end()) {
    const LocalTopic& first = known->second.topic;
    if (first.type != local.type || first.type_hash != local.type_hash || first.message_bytes != local.message_bytes)
      throw Error(ErrorCode::Incompatible,
                  fmt::format("pid {} publishes it as {} with another layout than the first publisher ({})",
                              stream.pid(), local.type, first.type),
                  "use one message definition for the topic");
    ++known->second.forms;
    if (held_back && ++held_back_[topic] == 1) open_again(first);
    return;
  }
  if (present_.size() == kMostTopics)
    throw Error(ErrorCode::Limit, fmt::format("a bridge sends at most {} topics", kMostTopics),
                "name the topics in 'out'");
  if (!AnyType::of_publisher(local.type, local.type_hash, local.schema))
    throw Error(ErrorCode::Incompatible, "the memory layout of " + local.type + " does not follow from its schema",
                "avoid alignas and bit fields in messages that leave the computer");
  const auto made = present_.emplace(topic, Present{.topic = std::move(local), .forms = 1}).first;
  if (held_back) ++held_back_[topic];
  if (owners_ == Owners::Marked || !held_back_.contains(topic)) open(made->second.topic);
}

void Catalogue::open(const LocalTopic& topic) {
  add({.added = true,
       .is_owners = held_back_.contains(topic.name),
       .topic = topic,
       .rule = rule_for(rules_.out, topic.name, topic.type)});
}

void Catalogue::open_again(const LocalTopic& topic) {
  add({.added = false, .topic = topic});
  open(topic);
}

void Catalogue::refused(const std::string& topic, const ObservedStream& stream, const std::string& why, bool again) {
  if (again) return;  // its subscriber reports them
  note_problem(topic, fmt::format("a publication by pid {} is not sent: {} — set 'access'", stream.pid(), why));
}

void Catalogue::ended(const std::string& topic, const detail::PublicationForm& form) {
  const auto known = present_.find(topic);
  const bool held_back = is_held_back(topic, form.type, form.access);
  const bool was_last = held_back && --held_back_[topic] == 0;
  if (was_last) held_back_.erase(topic);
  if (held_back && owners_ == Owners::LeftOut) {
    if (!was_last) return;
    forget_problem(topic);
    if (known != present_.end()) open(known->second.topic);
    return;
  }
  if (known == present_.end() || known->second.topic.type_hash != form.type_hash) return;
  if (--known->second.forms > 0) {
    if (was_last) open_again(known->second.topic);
    return;
  }
  if (owners_ == Owners::Marked || !held_back_.contains(topic))
    add({.added = false, .topic = std::move(known->second.topic)});
  present_.erase(known);
}

void Catalogue::forget_problem(const std::string& topic) {
  const std::lock_guard lock(mutex_);
  problems_.erase(topic);
}

void Catalogue::add(Change change) {
  {
    const std::lock_guard lock(mutex_);
    problems_.erase(change.topic.name);
    changes_.push_back(std::move(change));
  }
  const std::uint64_t one = 1;
  (void)!::write(changed_.get(), &one, sizeof(one));
}

std::vector<Catalogue::Change> Catalogue::changes() {
  std::uint64_t ignored = 0;
  (void)!::read(changed_.get(), &ignored, sizeof(ignored));
  const std::lock_guard lock(mutex_);
  return std::exchange(changes_, {});
}

void Catalogue::note_problem(const std::string& topic, const std::string& why) {
  const std::lock_guard lock(mutex_);
  if (const auto it = problems_.find(topic); it != problems_.end())
    it->second = why;
  else if (problems_.size() < kMostNotes)
    problems_.emplace(topic, why);
}

std::map<std::string, std::string> Catalogue::problems() const {
  const std::lock_guard lock(mutex_);
  return problems_;
}

}  // namespace cardan::bridge
