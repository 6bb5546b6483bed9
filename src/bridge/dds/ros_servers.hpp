// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "cardan/any_type.hpp"
#include "cardan/detail/fd.hpp"
#include "cardan/detail/service_end.hpp"
#include "src/bridge/counts.hpp"
#include "src/bridge/dds/message_finder.hpp"
#include "src/bridge/dds/own_endpoints.hpp"
#include "src/bridge/rules.hpp"

namespace cardan::bridge::dds {

/// The services of ROS 2 nodes for clients of this computer: those that `in` lets in, with `offer_services`. For each,
/// the bridge is the server on this computer. It asks in the form of rmw_cyclonedds.
/// Thread safety: one thread. No function blocks, except for about 1 ms for each new service, and for the file system.
class RosServers {
 public:
  static constexpr std::size_t kMostServices = 64;
  static constexpr std::size_t kMostQuestionBytes = std::size_t{1} << 20;  ///< payload
  static constexpr std::size_t kMostAnswerBytes = std::size_t{4} << 20;    ///< payload, and about that as CDR
  static constexpr std::uint32_t kPending = 4;      ///< questions of one client: each costs memory for two answers
  static constexpr std::uint32_t kMostAsked = 64;   ///< questions without a reply, of a service
  static constexpr std::size_t kMostGone = 1024;    ///< services that have gone, whose counts are kept
  static constexpr std::size_t kMostProblems = 64;  ///< notes on services that are not offered

  /// All outlive it. Throws Error (Limit, System).
  RosServers(const Participant& participant, const Rules& rules, const MessageFinder& finder);
  /// Finds services, if `look`; asks questions; takes replies, if there may be new ones. Returns whether endpoints have
  /// come or gone.
  bool carry(bool look, bool take);
  /// Readable when a client asks. Replies ring the participant's bell.
  [[nodiscard]] int fd() const noexcept { return asked_.get(); }
  /// When carry() has something to do without a bell, steady clock; INT64_MAX: never.
  [[nodiscard]] std::int64_t due_ns() const noexcept { return due_ns_; }

  void add_readers(std::vector<Guid>& to) const;
  void add_writers(std::vector<Guid>& to) const;
  void add_notes(std::vector<std::string>& to) const;
  void add_reports(std::vector<TopicReport>& to) const;

 private:
  /// A question whose reply is awaited. It keeps the sample: the server must not take more than it may.
  struct Asked {
    detail::TakenQuestion question;
    explicit Asked(detail::TakenQuestion taken) noexcept : question(std::move(taken)) {}
    Asked(Asked&& other) noexcept : question(std::exchange(other.question, {})) {}
    Asked& operator=(Asked&&) = delete;
    Asked(const Asked&) = delete;
    Asked& operator=(const Asked&) = delete;
    ~Asked();
    /// It is answered or declined.
    void done() noexcept;
  };
  struct Service {
    AnyType answer;
    CdrFramer question;
    OwnWriter requests;
    OwnReader replies;
    detail::ServerEnd server;
    TopicReport report;
    std::map<std::uint64_t, Asked> waiting{};  ///< by the request's number
    bool is_watched = true;                    ///< false: no question is taken, so that none must wake the bridge
  };
  bool find(std::int64_t now);
  bool offer(const std::string& name, const std::string& type);
  static void drop_cancelled(Service& service);
  [[nodiscard]] std::string type_of(const std::string& marked) const;
  void watch(Service& service, bool on);
  void open(const std::string& name, const std::string& type);
  void close(Service& service);
  void ask(Service& service);
  void send(Service& service, detail::TakenQuestion&& question);
  void take_replies(Service& service);
  void reply(Service& service, std::span<const std::byte> bytes);

  const Participant& participant_;
  const Rules& rules_;
  const MessageFinder& finder_;
  Fd asked_;                  ///< epoll, over the servers
  std::uint64_t client_ = 0;  ///< the client's number in each request
  std::uint64_t last_ = 0;    ///< request
  std::size_t to_try_ = 0;    ///< services that the look under way has not come to
  std::int64_t retry_ns_ = 0;
  std::int64_t next_look_ns_ = 0;
  std::string last_tried_{};                                  ///< service
  std::int64_t due_ns_ = INT64_MAX;                           ///< when cancelled questions are dropped
  std::map<std::string, std::unique_ptr<Service>> services_;  ///< by name
  std::map<std::string, TopicReport> past_;                   ///< of services that have gone, by name
  std::map<std::string, std::string> problems_;               ///< by name: why a service is not offered
};

}  // namespace cardan::bridge::dds
