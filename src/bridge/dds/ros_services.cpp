// SPDX-License-Identifier: Apache-2.0
#include "src/bridge/dds/ros_services.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>
#include <variant>

#include "cardan/error.hpp"
#include "src/bridge/dds/names.hpp"
#include "src/record/metadata.hpp"

namespace cardan::bridge::dds {
namespace {

constexpr std::size_t kMostGone = 1024;

/// So that one participant leaves room for others at a service.
std::uint64_t peer_of(const Guid& who) {
  std::uint64_t peer = 0;
  std::memcpy(&peer, who.data(), std::min(sizeof peer, who.size()));
  return peer;
}

EndpointQos qos(const std::string& type, const std::string& definition, std::uint32_t depth) {
  return {
      .reliable = true, .transient_local = false, .depth = depth, .type_hash = record::ros_type_hash(type, definition)};
}

}  // namespace

RosServices::RosServices(const Participant& participant, const Rules& rules) : participant_(participant) {
  if (rules.dds.call_services) caller_ = std::make_unique<ServiceCaller>(rules.domain, rules.out);
}

bool RosServices::carry(bool take) {
  if (!caller_) return false;
  bool changed = false;
  for (ServiceCaller::Result& result : caller_->results()) {
    try {
      if (auto* const answer = std::get_if<ServiceCaller::Answer>(&result))
        reply(std::move(*answer));
      else
        changed = change(std::move(std::get<ServiceCaller::Change>(result))) || changed;
    } catch (const std::bad_alloc&) {  // this reply is lost, or this service is not offered
      ++out_of_memory_;
    }
  }
  // A request may have come before the service was known here.
  if (take || changed)
    for (auto& [id, service] : services_) take_requests(id, service);
  return changed;
}

bool RosServices::change(ServiceCaller::Change&& change) {
  const LocalService& s = change.service;
  if (!change.added) {
    const auto gone = services_.find(s.id);
    if (gone == services_.end()) return false;
    if (past_.size() < kMostGone) past_[gone->second.report.topic].counts += gone->second.report.counts;
    services_.erase(gone);
    return true;
  }
  const std::string& ros = s.type;
  if (ros.empty() || s.is_owners || !is_ros_topic(s.beyond)) return false;
  const std::string type =
      fmt::format("{}::srv::dds_::{}", ros.substr(0, ros.find('/')), ros.substr(ros.rfind('/') + 1));
  try {
    services_.try_emplace(s.id, Service{OwnReader(participant_, "rq" + s.beyond + "Request", type + "_Request_",
                                                  qos(ros + "_Request", s.question_definition, kRequestDepth),
                                                  ServiceCaller::kMostQuestionBytes + sizeof(CallHead) + kCdrHead),
                                        OwnWriter(participant_, "rr" + s.beyond + "Reply", type + "_Response_",
                                                  qos(ros + "_Response", s.answer_definition, kReplyDepth)),
                                        {.topic = s.name, .beyond = s.beyond, .type = ros}});
  } catch (const Error& e) {  // perhaps the name has another type on DDS
    if (problems_.size() < kMostGone) problems_[s.name] = e.what();
    return false;
  }
  problems_.erase(s.name);
  return true;
}

void RosServices::take_requests(std::uint32_t id, Service& service) {
  for (const Received& one : service.requests.take(kRequestDepth)) {
    if (one.bytes().empty()) continue;
    try {
      if (!ask(id, service, one)) ++service.report.counts.lost;
    } catch (const std::bad_alloc&) {  // the request is lost
      ++service.report.counts.lost;
    }
  }
  service.report.counts.lost += service.requests.take_lost();
  service.report.counts.refused += service.requests.take_refused();
}

/// False: too many requests wait.
bool RosServices::ask(std::uint32_t id, Service& service, const Received& request) {
  const std::span<const std::byte> bytes = request.bytes();
  std::optional<Call> split = split_call(bytes);
  if (!split) {
    ++service.report.counts.refused;
    service.report.note = "a request is not in the form of rmw_cyclonedds, the only one that the bridge can answer";
    return true;
  }
  const Guid who = service.requests.participant_of(request);
  const auto known = waiting_.find(who);
  if (known != waiting_.end() && known->second >= kMostOfOne) {
    service.report.note =
        fmt::format("a participant waits for {} replies already; its other requests are lost", kMostOfOne);
    return false;
  }
  ServiceCaller::Call call{.peer = peer_of(who), .service = id, .number = ++last_call_};
  call.question = std::move(split->cdr);
  std::size_t& waiting = waiting_[who];
  asked_[last_call_] = {.who = who, .head = split->head};
  ++waiting;
  try {
    if (caller_->call(std::move(call))) return true;
  } catch (const std::bad_alloc&) {  // as many as fit are asked
  }
  forget(last_call_);
  return false;
}

std::optional<RosServices::Asked> RosServices::forget(std::uint32_t number) {
  const auto found = asked_.find(number);
  if (found == asked_.end()) return std::nullopt;
  const Asked asked = found->second;
  asked_.erase(found);
  if (const auto waiting = waiting_.find(asked.who); waiting != waiting_.end() && --waiting->second == 0)
    waiting_.erase(waiting);
  return asked;
}

void RosServices::reply(ServiceCaller::Answer&& answer) {
  const std::optional<Asked> asked = forget(answer.number);
  if (!asked) return;
  const auto found = services_.find(answer.service);
  if (found == services_.end()) return;
  TopicReport& report = found->second.report;
  if (!answer.failure.empty() || answer.answer.size() < kCdrHead) {
    ++report.counts.lost;
    report.note = answer.failure;
    return;
  }
  std::vector<std::byte> message = joined_call(asked->head, answer.answer);
  const std::size_t bytes = message.size();
  if (!found->second.replies.send(std::move(message))) {
    ++report.counts.lost;
    return;
  }
  ++report.counts.carried;
  report.counts.bytes += bytes;
  report.counts.copied += bytes;
}

void RosServices::add_readers(std::vector<Guid>& to) const {
  for (const auto& [id, service] : services_) to.push_back(service.requests.guid());
}

void RosServices::add_writers(std::vector<Guid>& to) const {
  for (const auto& [id, service] : services_) to.push_back(service.replies.guid());
}

void RosServices::add_notes(std::vector<std::string>& to) const {
  for (const auto& [id, service] : services_)
    if (!service.report.note.empty()) to.push_back(service.report.topic + ": " + service.report.note);
  for (const auto& [name, why] : problems_) to.push_back(fmt::format("{}: {}", name, why));
  if (out_of_memory_ != 0) to.push_back(fmt::format("{} replies or services were lost without memory", out_of_memory_));
}

void RosServices::add_reports(std::vector<TopicReport>& to) const {
  auto past = past_;
  for (const auto& [id, service] : services_) {
    TopicReport report = service.report;
    if (const auto before = past.extract(report.topic)) report.counts += before.mapped().counts;
    to.push_back(std::move(report));
  }
  for (const auto& [name, report] : past) {
    to.push_back(report);
    to.back().topic = to.back().beyond = name;
  }
}

}  // namespace cardan::bridge::dds
