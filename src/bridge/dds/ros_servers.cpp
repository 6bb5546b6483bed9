// SPDX-License-Identifier: Apache-2.0
#include "src/bridge/dds/ros_servers.hpp"

#include <fmt/format.h>
#include <sys/epoll.h>
#include <sys/random.h>

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

#include "cardan/clock.hpp"
#include "cardan/error.hpp"
#include "src/bridge/dds/names.hpp"
#include "src/bridge/dds/participant.hpp"

namespace cardan::bridge::dds {
namespace {

using Numbers = std::array<std::uint64_t, 2>;         ///< a CallHead: of the client and of the request
constexpr std::int64_t kLookAtWaiting = 100'000'000;  ///< ns
constexpr std::int64_t kBetweenLooks = 50'000'000;    ///< ns
constexpr std::int64_t kOfferAgain = 5'000'000'000;   ///< ns until what could not be offered is tried again
constexpr std::size_t kTriedAtOnce = 4;               ///< services that are begun in one look

EndpointQos qos(std::uint32_t depth) { return {.reliable = true, .transient_local = false, .depth = depth}; }

}  // namespace

RosServers::Asked::~Asked() {
  if (question.block == nullptr) return;
  question.end.decline_dropped(question.block->sequence);
  done();
}

void RosServers::Asked::done() noexcept { detail::drop(std::exchange(question.block, nullptr)); }

RosServers::RosServers(const Participant& participant, const Rules& rules, const MessageFinder& finder)
    : participant_(participant), rules_(rules), finder_(finder) {
  if (!rules.dds.offer_services) return;
  asked_ = Fd(::epoll_create1(EPOLL_CLOEXEC));
  if (asked_.get() < 0) throw Error(ErrorCode::Limit, "no descriptor is left for services of ROS 2", "ulimit -n");
  // Replies come to all clients of a service: ours are told by this number.
  if (::getrandom(&client_, sizeof client_, 0) != sizeof client_)
    throw Error(ErrorCode::System, "no random number for the requests to services", "check the kernel");
}

bool RosServers::carry(bool look, bool take) {
  if (asked_.get() < 0) return false;
  const std::int64_t now = steady_now();
  const bool late = now >= due_ns_;
  due_ns_ = INT64_MAX;
  if (look || (!problems_.empty() && now >= retry_ns_)) to_try_ = SIZE_MAX;
  const bool changed = to_try_ != 0 && now >= next_look_ns_ && find(now);
  if (to_try_ != 0) due_ns_ = next_look_ns_;
  if (!problems_.empty()) due_ns_ = std::min(due_ns_, retry_ns_);
  for (auto& [name, service] : services_) {
    if (take) take_replies(*service);
    if (late) drop_cancelled(*service);
    ask(*service);
    if (!service->waiting.empty()) due_ns_ = std::min(due_ns_, now + kLookAtWaiting);
  }
  return changed;
}

void RosServers::drop_cancelled(Service& service) {
  std::erase_if(service.waiting,
                [](const auto& one) { return one.second.question.end.cancelled(one.second.question.block->sequence); });
}

/// "pkg/srv/Map". Empty: the replies have no such type, nobody sends them any more, or they are of this domain. Of
/// several types, the one that is offered: a second node takes no service from the first one.
std::string RosServers::type_of(const std::string& marked) const {
  constexpr std::string_view kSuffix = "_Response";
  const auto offered = services_.find(marked.substr(1));
  std::string other;
  for (const RemoteWriter* writer : participant_.writers_of(marked)) {
    if (participant_.is_sibling(*writer) || !writer->type.ends_with(kSuffix)) continue;
    std::string type = writer->type.substr(0, writer->type.size() - kSuffix.size());
    if (offered == services_.end() || offered->second->report.type == type) return type;
    other = std::move(type);
  }
  return other;
}

/// Unknown peers can announce services, and withdraw them, as often as they want: each look begins some only, in turn.
bool RosServers::find(std::int64_t now) {
  std::map<std::string, std::string> there;  // name, type
  for (const std::string& marked : participant_.services()) {
    std::string type = type_of(marked);
    if (!type.empty() && rule_for(rules_.in, marked.substr(1), type) != nullptr)
      there.emplace(marked.substr(1), std::move(type));
  }
  std::size_t closed = 0;
  for (auto it = services_.begin(); it != services_.end();) {
    const auto still = there.find(it->first);
    if (still != there.end() && still->second == it->second->report.type) {
      ++it;
      continue;
    }
    close(*it->second);
    it = services_.erase(it);
    ++closed;
  }
  std::erase_if(problems_, [&](const auto& one) { return !there.contains(one.first); });
  std::size_t opened = 0, tried = 0;
  auto next = there.upper_bound(last_tried_);
  for (to_try_ = std::min(to_try_, there.size()); to_try_ != 0 && tried < kTriedAtOnce; --to_try_, ++next) {
    if (next == there.end()) next = there.begin();
    if (services_.contains(next->first)) continue;
    ++tried;
    last_tried_ = next->first;
    if (offer(next->first, next->second)) ++opened;
  }
  next_look_ns_ = now + kBetweenLooks;
  if (to_try_ == 0) retry_ns_ = now + kOfferAgain;
  return opened + closed != 0;
}

bool RosServers::offer(const std::string& name, const std::string& type) {
  try {
    open(name, type);
    problems_.erase(name);
    return true;
  } catch (const Error& e) {
    if (problems_.size() < kMostProblems || problems_.contains(name)) problems_[name] = e.what();
    return false;
  }
}

void RosServers::open(const std::string& name, const std::string& type) {
  if (services_.size() >= kMostServices)
    throw Error(ErrorCode::Limit, fmt::format("{} services of ROS 2 are offered already", kMostServices),
                "name fewer in the rules of `in`");
  MessageFinder::Service types = finder_.find_service(type);
  const detail::MessageType question = detail::as_published(types.question.message_type());
  const detail::MessageType answer = types.answer.message_type();
  const ServiceOptions options{.max_bytes = types.question.payload_bytes(kMostQuestionBytes),
                               .max_answer_bytes = types.answer.payload_bytes(kMostAnswerBytes),
                               .pending = kPending,
                               .access = rules_.access};
  auto service = std::make_unique<Service>(Service{
      .answer = std::move(types.answer),
      .question = CdrFramer(std::move(types.question)),
      .requests = OwnWriter(participant_, "rq" + name + "Request", *dds_type_of(type + "_Request"), qos(kRequestDepth)),
      .replies = OwnReader(participant_, "rr" + name + "Reply", *dds_type_of(type + "_Response"), qos(kRequestDepth),
                           kMostAnswerBytes),
      .server =
          detail::ServerEnd(name, question, nullptr, answer, options, {.domain = rules_.domain, .holds = kMostAsked}),
      .report = {.topic = name, .beyond = name, .type = type, .in = true}});
  epoll_event event{.events = EPOLLIN, .data = {}};
  if (::epoll_ctl(asked_.get(), EPOLL_CTL_ADD, service->server.fd(), &event) != 0)
    throw Error(ErrorCode::Limit, "the kernel watches no further descriptor", "raise fs.epoll.max_user_watches");
  if (const auto before = past_.extract(name)) service->report.counts = before.mapped().counts;
  services_.emplace(name, std::move(service));
}

void RosServers::close(Service& service) {
  for (auto& [number, asked] : service.waiting) {
    ++service.report.counts.lost;
    asked.question.end.decline(asked.question.block->sequence, "its node of ROS 2 has gone");
    asked.done();
  }
  if (past_.size() < kMostGone) past_[service.report.topic] = service.report;
}

void RosServers::ask(Service& service) {
  while (service.waiting.size() < kMostAsked) {
    detail::TakenQuestion question = service.server.take();
    if (question.block == nullptr) break;
    send(service, std::move(question));
  }
  watch(service, service.waiting.size() < kMostAsked);
}

void RosServers::watch(Service& service, bool on) {
  if (service.is_watched == on) return;
  epoll_event event{.events = on ? std::uint32_t{EPOLLIN} : 0U, .data = {}};
  if (::epoll_ctl(asked_.get(), EPOLL_CTL_MOD, service.server.fd(), &event) == 0) service.is_watched = on;
}

void RosServers::send(Service& service, detail::TakenQuestion&& question) {
  Asked asked(std::move(question));
  const detail::SampleBlock& block = *asked.question.block;
  const auto decline = [&](const std::string& why) {
    ++service.report.counts.lost;
    asked.question.end.decline(block.sequence, why);
    asked.done();
  };
  const std::span<const std::byte> message(static_cast<const std::byte*>(block.message),
                                           service.question.type().layout().size);
  if (!service.question.frame(message, {block.payload, static_cast<std::size_t>(block.payload_bytes)}))
    return decline("the bridge cannot read the question: it is malformed, or memory ran out");
  if (service.requests.readers() == 0) return decline("its node of ROS 2 does not listen");
  const std::uint64_t number = ++last_;
  std::vector<std::byte> request =
      joined_call(std::bit_cast<CallHead>(Numbers{client_, number}), service.question.parts().joined());
  const std::size_t bytes = request.size();
  if (!service.requests.send(std::move(request))) return decline("the bridge could not send the request");
  ++service.report.counts.carried;
  service.report.counts.bytes += bytes;
  service.report.counts.copied += bytes;
  service.waiting.try_emplace(number, std::move(asked));
}

void RosServers::take_replies(Service& service) {
  for (const Received& one : service.replies.take(kRequestDepth)) reply(service, one.bytes());
  service.report.counts.lost += service.replies.take_lost();
  service.report.counts.refused += service.replies.take_refused();
}

/// Those of other clients' requests come, too.
void RosServers::reply(Service& service, std::span<const std::byte> bytes) {
  const std::optional<Call> call = split_call(bytes);
  if (!call) return;
  const auto [client, number] = std::bit_cast<Numbers>(call->head);
  if (client != client_) return;
  const auto found = service.waiting.find(number);
  if (found == service.waiting.end()) return;
  Asked asked = std::move(found->second);
  service.waiting.erase(found);
  const detail::QuestionEnd& end = asked.question.end;
  const auto decline = [&](const std::string& why) {
    ++service.report.counts.lost;
    end.decline(asked.question.block->sequence, why);
    asked.done();
  };
  AnyLoan loan = detail::untyped(end.loan(), service.answer.message_type());
  if (!loan) return decline("its client has gone");
  if (const CdrResult result = service.answer.fill(call->cdr, loan); !result)
    return decline("the reply does not fit: " + result.text());
  if (!end.reply(detail::take_out(loan), *asked.question.block))
    return decline("the client has not taken its earlier answers");
  asked.done();
}

void RosServers::add_readers(std::vector<Guid>& to) const {
  for (const auto& [name, service] : services_) to.push_back(service->replies.guid());
}

void RosServers::add_writers(std::vector<Guid>& to) const {
  for (const auto& [name, service] : services_) to.push_back(service->requests.guid());
}

void RosServers::add_notes(std::vector<std::string>& to) const {
  if (rules_.dds.offer_services && rules_.in.empty())
    to.emplace_back("offer_services: no rule of 'in' (--in) names a service, so none is offered");
  for (const auto& [name, why] : problems_) to.push_back(fmt::format("{}: {}", name, why));
}

void RosServers::add_reports(std::vector<TopicReport>& to) const {
  for (const auto& [name, service] : services_) {
    to.push_back(service->report);
    to.back().receivers = service->server.clients();
  }
  for (const auto& [name, report] : past_) to.push_back(report);
}

}  // namespace cardan::bridge::dds
