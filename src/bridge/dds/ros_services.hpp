// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "src/bridge/counts.hpp"
#include "src/bridge/dds/own_endpoints.hpp"
#include "src/bridge/rules.hpp"
#include "src/bridge/service_caller.hpp"

namespace cardan::bridge::dds {

/// The services of this computer for nodes of ROS 2: those that `out` sends, and whose types have names as in ROS 2.
/// Requests come in the form of rmw_cyclonedds; a question without an answer gets no reply, because ROS 2 has none.
/// Thread safety: one thread. No function blocks but the destructor, for at most some seconds.
class RosServices {
 public:
  static constexpr std::size_t kMostOfOne = 8;  ///< requests of a participant without a reply

  /// `rules` and `participant` outlive it. Throws Error (Limit, System).
  RosServices(const Participant& participant, const Rules& rules);
  /// Sends replies, and takes requests if there may be new ones. Returns whether endpoints have come or gone.
  bool carry(bool take);
  /// Readable when there is a reply, or a service has come or gone. Requests ring the participant's bell.
  [[nodiscard]] int fd() const noexcept { return caller_ ? caller_->fd() : -1; }

  void add_readers(std::vector<Guid>& to) const;
  void add_writers(std::vector<Guid>& to) const;
  void add_notes(std::vector<std::string>& to) const;
  void add_reports(std::vector<TopicReport>& to) const;

 private:
  struct Service {
    OwnReader requests;
    OwnWriter replies;
    TopicReport report{};
  };
  struct Asked {
    Guid who{};
    CallHead head{};
  };
  bool change(ServiceCaller::Change&& change);
  void take_requests(std::uint32_t id, Service& service);
  bool ask(std::uint32_t id, Service& service, const Received& request);
  void reply(ServiceCaller::Answer&& answer);
  /// A call that has its outcome. Empty: it is unknown.
  std::optional<Asked> forget(std::uint32_t number);

  const Participant& participant_;
  std::map<std::uint32_t, Service> services_;
  std::map<std::uint32_t, Asked> asked_;         ///< by the number of the call
  std::map<Guid, std::size_t> waiting_;          ///< of `asked_`, by participant
  std::map<std::string, TopicReport> past_;      ///< of services that have gone, by name
  std::map<std::string, std::string> problems_;  ///< by name: why a service is not offered
  std::uint64_t out_of_memory_ = 0;
  std::uint32_t last_call_ = 0;
  std::unique_ptr<ServiceCaller> caller_;  ///< null: the rules let nobody call them
};

}  // namespace cardan::bridge::dds
