// SPDX-License-Identifier: Apache-2.0
#include "src/bridge/dds/node_interfaces.hpp"

#include <fmt/format.h>

#include <new>
#include <string_view>
#include <utility>

#include "src/bridge/dds/diagnostics.hpp"
#include "src/bridge/dds/names.hpp"
#include "src/bridge/log_line.hpp"
#include "src/record/metadata.hpp"

namespace cardan::bridge::dds {
namespace {

constexpr const char* kServicePackage = "rcl_interfaces::srv::dds_::";
constexpr std::uint32_t kDiagnosticsDepth = 10;
constexpr std::uint32_t kRosoutDepth = 100;  ///< lines that a late reader gets
constexpr int kLinesAtOnce = 32;

std::string node_path(const DdsRules& rules) {
  return (rules.node_namespace == "/" ? std::string() : rules.node_namespace) + "/" + rules.node;
}

}  // namespace

NodeInterfaces::NodeInterfaces(const Participant& participant, const Rules& rules, const MessageFinder& finder,
                               std::shared_ptr<Bell> bell)
    : asker_({.domain = rules.domain, .set_parameters = rules.dds.set_parameters}, std::move(bell)),
      ros_services_(participant, rules),
      ros_servers_(participant, rules, finder) {
  const auto qos = [](const char* type_hash, std::uint32_t depth) {
    return EndpointQos{.reliable = true, .transient_local = false, .depth = depth, .type_hash = type_hash};
  };
  if (rules.dds.parameters)
    for (const ParameterServiceName& one : kParameterServices) {
      const std::string path = node_path(rules.dds) + "/" + one.name;
      const std::string type = std::string(kServicePackage) + one.type;
      services_.push_back(
          {OwnReader(participant, "rq" + path + "Request", type + "_Request_", qos(one.request_hash, kRequestDepth),
                     kMostRequestBytes),
           OwnWriter(participant, "rr" + path + "Reply", type + "_Response_", qos(one.response_hash, kReplyDepth)),
           {.topic = path, .beyond = path, .type = "rcl_interfaces/srv/" + std::string(one.type)}});
    }
  if (rules.dds.rosout) {
    rosout_.emplace(participant, *dds_topic_of("/rosout"), *dds_type_of(kRosLogType),
                    EndpointQos{.reliable = true,
                                .transient_local = true,
                                .depth = kRosoutDepth,
                                .type_hash = record::ros_type_hash(kRosLogType, kRosLogDefinition)});
    Topic<LogMessage> topic = kLog;
    topic.options.access = rules.access;
    log_.emplace(topic, SubscriberOptions{.domain = rules.domain, .background = true});
    rosout_report_ = {.topic = kLog.name, .beyond = "/rosout", .type = kRosLogType};
  }
  if (rules.dds.diagnostics) {
    diagnostics_.emplace(participant, *dds_topic_of("/diagnostics"), *dds_type_of(kDiagnosticsType),
                         EndpointQos{.reliable = true,
                                     .transient_local = false,
                                     .depth = kDiagnosticsDepth,
                                     .type_hash = record::ros_type_hash(kDiagnosticsType, kDiagnosticsDefinition)});
    diagnostics_report_ = {.topic = "/diagnostics", .beyond = "/diagnostics", .type = kDiagnosticsType};
  }
}

bool NodeInterfaces::carry_log() {
  if (!log_) return false;
  while (log_->event()) {  // of no use here; fd() stays readable until they are taken
  }
  for (int i = 0; i < kLinesAtOnce; ++i) {
    const Sample<LogMessage> line = log_->take();
    if (!line) return false;
    rosout_report_.counts.lost += line.missed();
    std::size_t size = 0;
    try {
      std::vector<std::byte> bytes = ros_log_line(view_of(*line));
      const std::size_t all = bytes.size();
      if (rosout_->send(std::move(bytes))) size = all;
    } catch (const std::bad_alloc&) {  // this line is lost
    }
    if (size == 0) {
      ++rosout_report_.counts.lost;
      continue;
    }
    ++rosout_report_.counts.carried;
    rosout_report_.counts.bytes += size;
    rosout_report_.counts.copied += size;
  }
  return true;
}

void NodeInterfaces::carry() {
  if (rosout_) rosout_report_.receivers = rosout_->readers();
  for (std::size_t place = 0; place < services_.size(); ++place) take_requests(place);
  if (diagnostics_) {
    diagnostics_report_.receivers = diagnostics_->readers();
    asker_.want_diagnostics(diagnostics_report_.receivers != 0);
  }
  for (ComponentAsker::Result& result : asker_.results()) {
    const bool diagnostics = result.place == kParameterServices.size();
    TopicReport& report = diagnostics ? diagnostics_report_ : services_[result.place].report;
    try {
      send(std::move(result), report);
    } catch (const std::bad_alloc&) {
      ++report.counts.lost;
    }
  }
}

void NodeInterfaces::take_requests(std::size_t place) {
  Service& service = services_[place];
  for (const Received& one : service.requests.take(kRequestDepth)) {
    if (one.bytes().empty()) continue;
    try {
      if (const auto unanswered = asker_.ask({.place = place,
                                              .who = service.requests.participant_of(one),
                                              .request = {one.bytes().begin(), one.bytes().end()}}))
        ++services_[*unanswered].report.counts.lost;
    } catch (const std::bad_alloc&) {  // the request is lost
      ++service.report.counts.lost;
    }
  }
  service.report.counts.lost += service.requests.take_lost();
  service.report.counts.refused += service.requests.take_refused();
}

void NodeInterfaces::send(ComponentAsker::Result result, TopicReport& report) {
  const std::size_t bytes = result.message.size();
  if (result.lost) {
    ++report.counts.lost;
    return;
  }
  if (bytes == 0) {
    ++report.counts.refused;
    report.note = "a request is not in the form of rmw_cyclonedds, the only one that the bridge can answer";
    return;
  }
  OwnWriter& writer = result.place == kParameterServices.size() ? *diagnostics_ : services_[result.place].replies;
  if (!writer.send(std::move(result.message))) {
    ++report.counts.lost;
    return;
  }
  ++report.counts.carried;
  report.counts.bytes += bytes;
  report.counts.copied += bytes;
}

std::vector<Guid> NodeInterfaces::readers() const {
  std::vector<Guid> all;
  for (const Service& service : services_) all.push_back(service.requests.guid());
  ros_services_.add_readers(all);
  ros_servers_.add_readers(all);
  return all;
}

std::vector<Guid> NodeInterfaces::writers() const {
  std::vector<Guid> all;
  for (const Service& service : services_) all.push_back(service.replies.guid());
  ros_services_.add_writers(all);
  ros_servers_.add_writers(all);
  if (diagnostics_) all.push_back(diagnostics_->guid());
  if (rosout_) all.push_back(rosout_->guid());
  return all;
}

std::vector<std::string> NodeInterfaces::notes() const {
  std::vector<std::string> all;
  for (const Service& service : services_)
    if (!service.report.note.empty()) all.push_back(service.report.topic + ": " + service.report.note);
  ros_services_.add_notes(all);
  ros_servers_.add_notes(all);
  return all;
}

std::vector<TopicReport> NodeInterfaces::reports() const {
  std::vector<TopicReport> all;
  const auto add = [&](const TopicReport& report) {
    if (report.counts.carried + report.counts.lost + report.counts.refused != 0) all.push_back(report);
  };
  for (const Service& service : services_) add(service.report);
  if (diagnostics_) add(diagnostics_report_);
  if (rosout_) add(rosout_report_);
  ros_services_.add_reports(all);
  ros_servers_.add_reports(all);
  return all;
}

}  // namespace cardan::bridge::dds
