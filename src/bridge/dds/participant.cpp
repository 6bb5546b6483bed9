// SPDX-License-Identifier: Apache-2.0
#include "src/bridge/dds/participant.hpp"

#include <dds/ddsrt/log.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <fstream>
#include <new>
#include <utility>

#include "cardan/clock.hpp"
#include "cardan/log.hpp"
#include "src/base/limiter.hpp"
#include "src/base/printable.hpp"
#include "src/bridge/dds/names.hpp"
#include "src/bridge/dds/qos.hpp"
#include "src/bridge/dds/sockets_here.hpp"
#include "src/transport/discovery/run_directory.hpp"

namespace cardan::bridge::dds {
namespace {

/// Anybody on the network can make writers. Each costs us an entry.
constexpr std::size_t kMostWriters = 8192, kMostSiblings = 1024;

/// Cyclone writes a line for each packet that it cannot read, and anybody can send these without end.
void log_line(void* /*nothing*/, const dds_log_data_t* line) noexcept {
  constexpr std::size_t kLongest = 500;
  try {
    const std::string text = "Cyclone DDS: " + detail::printable({line->message, line->size}, kLongest);
    if ((line->priority & DDS_LC_FATAL) != 0) return detail::log(LogLevel::Error, text);  // it ends the process then
    const LogLevel level = (line->priority & DDS_LC_ERROR) != 0 ? LogLevel::Error : LogLevel::Warning;
    detail::log(level, {"line of Cyclone DDS", ::geteuid()}, text);
  } catch (const std::exception&) {  // no memory: it stays unsaid
  }
}

void ring_bell(dds_entity_t entity, void* bell) { static_cast<Bell*>(bell)->ring(entity); }
void ring_on_match(dds_entity_t writer, const dds_publication_matched_status_t /*status*/, void* bell) {
  static_cast<Bell*>(bell)->ring(writer);
}

struct ListenerDeleter {
  void operator()(dds_listener_t* listener) const noexcept { ::dds_delete_listener(listener); }
};

Guid guid_in(const dds_guid_t& guid) {
  Guid copy;
  std::copy(std::begin(guid.v), std::end(guid.v), copy.begin());
  return copy;
}

/// Takes the samples of one of Cyclone's own topics, and hands each over with its state.
template <class Sample, class Use>
void take_all(dds_entity_t reader, Use&& use) {
  constexpr std::size_t kSamplesAtOnce = 32;
  for (;;) {
    std::array<void*, kSamplesAtOnce> samples{};
    std::array<dds_sample_info_t, kSamplesAtOnce> info{};
    const dds_return_t count = ::dds_take(reader, samples.data(), info.data(), kSamplesAtOnce, kSamplesAtOnce);
    if (count < 0) (void)checked(count, "look around");
    const auto give_back = [&](void** taken) { (void)::dds_return_loan(reader, taken, count); };
    const std::unique_ptr<void*, decltype(give_back)> loan(count > 0 ? samples.data() : nullptr, give_back);
    for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i)
      use(info[i], *static_cast<const Sample*>(samples[i]));
    if (static_cast<std::size_t>(count) < kSamplesAtOnce) return;
  }
}

}  // namespace

std::string domain_marker(const std::string& cardan_domain) {
  std::string name = cardan_domain;
  if (name.empty()) name = variable("CARDAN_DOMAIN");
  const detail::RunDirectory directory(name.empty() ? "default" : name);
  struct stat status{};
  if (::stat(directory.path().c_str(), &status) != 0) status = {};
  std::string boot;
  std::getline(std::ifstream("/proc/sys/kernel/random/boot_id"), boot);
  // The same for containers that share the folder, and for nobody else.
  return fmt::format("{:016x}", detail::hash_name(fmt::format("{} {} {}", boot, status.st_dev, status.st_ino)));
}

Guid guid_of(dds_entity_t entity) {
  dds_guid_t guid{};
  checked(::dds_get_guid(entity, &guid), "read an entity's id");
  return guid_in(guid);
}

Participant::Participant(const DomainChoice& choice, const Rules& rules, std::string marker, std::shared_ptr<Bell> bell)
    : rules_(rules), marker_(std::move(marker)), bell_(std::move(bell)) {
  ::dds_set_log_sink(log_line, nullptr);
  const std::string configuration = domain_configuration(choice, interfaces_here(), most_sample_bytes(rules));
  const auto id = static_cast<dds_domainid_t>(choice.id);
  receive_from_here_alone(stays_here(choice));
  domain_ = Entity(::dds_create_domain(id, configuration.c_str()));
  require_sockets_here();  // also if there are none: it says why
  if (!domain_)
    throw Error(ErrorCode::System, fmt::format("Cyclone DDS does not start on domain {}", choice.id),
                choice.cyclone_uri.empty() ? "its own message is above" : "check CYCLONEDDS_URI; its message is above");
  const std::unique_ptr<dds_listener_t, ListenerDeleter> listener(::dds_create_listener(bell_.get()));
  ::dds_lset_data_available(listener.get(), ring_bell);
  ::dds_lset_publication_matched(listener.get(), ring_on_match);
  participant_ = Entity(::dds_create_participant(id, participant_qos(marker_).get(), listener.get()));
  if (!participant_)
    throw Error(ErrorCode::System, fmt::format("Cyclone DDS finds no place in domain {}", choice.id),
                "its own message is above; too many participants of this computer, or no network interface");
  guid_ = guid_of(participant_.get());
  require_sockets_here();  // some are made with the participant
  look_from_the_start();
}

/// New readers get all that is there once more.
void Participant::look_from_the_start() {
  const auto reader = [&](dds_entity_t topic) {
    return Entity(checked(::dds_create_reader(participant_.get(), topic, nullptr, nullptr), "look around"));
  };
  participants_reader_ = reader(DDS_BUILTIN_TOPIC_DCPSPARTICIPANT);
  writers_reader_ = reader(DDS_BUILTIN_TOPIC_DCPSPUBLICATION);
  for (auto& [handle, writer] : writers_) note_left(writer);  // those that are there are found again
  others_.clear();
}

std::set<std::string> Participant::update() {
  if (missed_some_) {
    look_from_the_start();
    missed_some_ = false;
  }
  look_on();
  forget_old();
  return std::exchange(changed_, {});
}

std::vector<std::string> Participant::topics() const {
  std::vector<std::string> all;
  for (const auto& [topic, handles] : by_topic_)
    if (topic[0] != kServiceMark) all.push_back(topic);
  return all;
}

std::vector<std::string> Participant::services() const {
  std::vector<std::string> all;
  for (auto it = by_topic_.lower_bound({kServiceMark}); it != by_topic_.end() && it->first[0] == kServiceMark; ++it)
    all.push_back(it->first);
  return all;
}

std::vector<const RemoteWriter*> Participant::writers_of(const std::string& topic) const {
  std::vector<const RemoteWriter*> there;
  if (const auto found = by_topic_.find(topic); found != by_topic_.end())
    for (const dds_instance_handle_t handle : found->second)
      if (const auto writer = writers_.find(handle); writer != writers_.end() && writer->second.alive)
        there.push_back(&writer->second);
  return there;
}

void Participant::look_on() {
  try {
    // Writers first: each one's participant is known before itself.
    update_writers();
    update_participants();
  } catch (const std::bad_alloc&) {
    missed_some_ = true;
    throw;
  }
}

const RemoteWriter* Participant::writer(dds_instance_handle_t handle) {
  auto known = writers_.find(handle);
  if (known == writers_.end()) {
    look_on();
    known = writers_.find(handle);
  }
  return known == writers_.end() ? nullptr : &known->second;
}

void Participant::update_writers() {
  take_all<dds_builtintopic_endpoint_t>(
      writers_reader_.get(), [&](const dds_sample_info_t& info, const dds_builtintopic_endpoint_t& endpoint) {
        if (info.valid_data && info.instance_state == DDS_ALIVE_INSTANCE_STATE)
          note_writer(info.instance_handle, endpoint);
        else if (const auto known = writers_.find(info.instance_handle); known != writers_.end())
          note_left(known->second);
      });
}

void Participant::note_writer(dds_instance_handle_t handle, const dds_builtintopic_endpoint_t& endpoint) {
  const Guid participant = guid_in(endpoint.participant_key);
  if (participant == guid_ || endpoint.topic_name == nullptr || endpoint.type_name == nullptr) return;
  auto topic = ros_topic_of(endpoint.topic_name);
  const bool replies = !topic && rules_.dds.offer_services;
  if (replies) topic = service_of_replies(endpoint.topic_name);
  if (!topic || rule_for(rules_.in, *topic, {}) == nullptr) return;
  if (replies) topic->insert(0, 1, kServiceMark);
  auto known = writers_.find(handle);
  const bool comes = known == writers_.end() || !known->second.alive;
  if (comes && writers_.size() - gone_ >= kMostWriters && !make_room(participant)) return;
  RemoteWriter writer{.topic = std::move(*topic),
                      .type = ros_type_of(endpoint.type_name).value_or(""),
                      .type_hash = value_in(user_data_of(endpoint.qos), "typehash"),
                      .participant = participant,
                      .guid = guid_in(endpoint.key),
                      .reliable = is_reliable(endpoint.qos),
                      .transient_local = is_transient_local(endpoint.qos),
                      .xcdr1 = offers_xcdr1(endpoint.qos),
                      .alive = true};
  note_change(writer.topic);
  by_topic_[writer.topic].insert(handle);
  std::size_t& alive = alive_of_[participant];
  if (known == writers_.end())
    known = writers_.try_emplace(handle).first;
  else if (!known->second.alive)
    --gone_;
  known->second = std::move(writer);
  if (comes) ++alive;  // from here on nothing needs memory
}

/// One participant can announce writers without end: the one that has most of them leaves a place to another.
bool Participant::make_room(const Guid& newcomer) {
  const auto most = std::max_element(alive_of_.begin(), alive_of_.end(),
                                     [](const auto& a, const auto& b) { return a.second < b.second; });
  const auto own = alive_of_.find(newcomer);
  if (most->second <= (own == alive_of_.end() ? 0 : own->second) + 1) return false;
  const auto gives_way = std::find_if(writers_.begin(), writers_.end(), [&](const auto& one) {
    return one.second.alive && one.second.participant == most->first;
  });
  note_left(gives_way->second);
  return true;
}

void Participant::note_change(const std::string& topic) {
  if (topic[0] == kServiceMark)
    services_changed_ = true;
  else
    changed_.insert(topic);
}

void Participant::note_left(RemoteWriter& writer) {
  if (!writer.alive) return;
  note_change(writer.topic);
  writer.alive = false;
  ++gone_;
  if (const auto it = alive_of_.find(writer.participant); --it->second == 0) alive_of_.erase(it);
}

/// Of a writer that has left, messages may still be waiting, so its entry stays for a while.
void Participant::forget_old() {
  constexpr std::size_t kMostGone = 256;
  if (gone_ <= kMostGone) return;
  for (auto it = writers_.begin(); it != writers_.end() && gone_ > kMostGone / 2;) {  // half: not again at once
    if (it->second.alive) {
      ++it;
      continue;
    }
    const auto topic = by_topic_.find(it->second.topic);
    topic->second.erase(it->first);
    if (topic->second.empty()) by_topic_.erase(topic);
    it = writers_.erase(it);
    --gone_;
  }
}

void Participant::update_participants() {
  take_all<dds_builtintopic_participant_t>(
      participants_reader_.get(), [&](const dds_sample_info_t& info, const dds_builtintopic_participant_t& one) {
        const Guid guid = guid_in(one.key);
        if (guid == guid_) return;
        const bool there = info.valid_data && info.instance_state == DDS_ALIVE_INSTANCE_STATE;
        if (!there) {
          others_.erase(info.instance_handle);
          if (const auto sibling = siblings_.find(guid); sibling != siblings_.end()) sibling->second = steady_now();
          return;
        }
        others_[info.instance_handle] = guid;
        if (value_in(user_data_of(one.qos), "cardan") == marker_) siblings_[guid] = 0;
      });
  while (siblings_.size() > kMostSiblings) {
    const auto oldest = std::min_element(siblings_.begin(), siblings_.end(), [](const auto& a, const auto& b) {
      return (a.second == 0 ? INT64_MAX : a.second) < (b.second == 0 ? INT64_MAX : b.second);
    });
    siblings_.erase(oldest);
  }
}

std::vector<Guid> Participant::other_participants() const {
  std::vector<Guid> all;
  for (const auto& [handle, guid] : others_) all.push_back(guid);
  return all;
}

bool Participant::is_sibling(const RemoteWriter& writer) const { return siblings_.contains(writer.participant); }

}  // namespace cardan::bridge::dds
