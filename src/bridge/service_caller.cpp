// SPDX-License-Identifier: Apache-2.0
#include "src/bridge/service_caller.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <exception>
#include <thread>

#include "cardan/clock.hpp"
#include "cardan/error.hpp"
#include "src/transport/endpoint/publisher_contract.hpp"

namespace cardan::bridge {
namespace {

using namespace std::chrono_literals;

constexpr std::int64_t kPeriod = 1'000'000'000;         ///< ns between two looks at the domain
constexpr std::int64_t kWhileAsked = 50'000'000;        ///< ns after which time-outs and new servers are looked at
constexpr std::int64_t kMostOfALook = 3'000'000'000;    ///< ns
constexpr std::int64_t kDescribes = 10'000'000'000;     ///< ns until a server that does not is looked at again
constexpr std::int64_t kWithoutServer = 2'000'000'000;  ///< ns that a call waits for a session with the server
constexpr int kMostMissing = 3;                         ///< looks, of which some did not reach all processes

Fd event() {
  Fd fd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (fd.get() < 0) throw Error(ErrorCode::Limit, "no descriptor is left for the questions to services", "ulimit -n");
  return fd;
}
void ring(const Fd& fd) noexcept {
  const std::uint64_t one = 1;
  (void)!::write(fd.get(), &one, sizeof one);
}
void empty(const Fd& fd) noexcept {
  std::uint64_t count = 0;
  (void)!::read(fd.get(), &count, sizeof count);
}

}  // namespace

ServiceCaller::Open::Open(const std::string& domain, const detail::FoundService& service, AnyType its_question,
                          AnyType its_answer)
    : question(std::move(its_question)),
      answer(std::move(its_answer)),
      pending(std::max<std::uint32_t>(service.pending, 1)),
      end(service.name, question.message_type(), detail::as_published(answer.type().message_type()), nullptr,
          {.max_bytes = static_cast<std::size_t>(
               std::min<std::uint64_t>(service.question.max_bytes, question.payload_bytes(kMostQuestionBytes))),
           .max_answer_bytes = service.answer.max_bytes,
           .pending = pending},
          {.domain = domain}),
      fd(end.fd()) {}

ServiceCaller::ServiceCaller(std::string domain, const std::vector<TopicRule>& rules, std::chrono::nanoseconds timeout)
    : domain_(std::move(domain)), rules_(rules), timeout_(timeout), ready_(event()), wake_(event()), thread_([this] {
        run();
      }) {}

ServiceCaller::~ServiceCaller() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  ring(wake_);
  thread_.join();
}

bool ServiceCaller::call(Call call) {
  {
    const std::lock_guard lock(mutex_);
    if (unanswered_ >= kMostCalls) return false;
    calls_.push_back(std::move(call));
    ++unanswered_;
  }
  ring(wake_);
  return true;
}

void ServiceCaller::forget(std::uint64_t peer) {
  {
    const std::lock_guard lock(mutex_);
    gone_.insert(peer);
  }
  ring(wake_);
}

std::vector<ServiceCaller::Result> ServiceCaller::results() {
  if (!has_results_.exchange(false, std::memory_order_acquire)) return {};
  empty(ready_);
  const std::lock_guard lock(mutex_);
  answer_bytes_ = 0;
  return std::exchange(results_, {});
}

// Its own thread.

void ServiceCaller::run() {
  std::int64_t next_look = 0;
  for (;;) {
    {
      const std::lock_guard lock(mutex_);
      if (stop_) return;
    }
    try {
      round(next_look);
      wait(next_look);
    } catch (const std::exception&) {  // memory is short, or the domain cannot be read: the next round tries again
      std::this_thread::sleep_for(10ms);
    }
  }
}

void ServiceCaller::round(std::int64_t& next_look) {
  std::set<std::uint64_t> gone;
  {
    const std::lock_guard lock(mutex_);
    gone = gone_;
  }
  forget_gone(gone);
  if (steady_now() >= next_look) {
    next_look = steady_now() + kPeriod;
    look();
    next_look = steady_now() + kPeriod;
  }
  for (;;) {
    Call call;
    {
      const std::lock_guard lock(mutex_);
      if (stop_ || calls_.empty()) break;
      call = std::move(calls_.front());
      calls_.pop_front();
    }
    try {
      accept(std::move(call));
    } catch (...) {  // no memory for saying so
      const std::lock_guard lock(mutex_);
      calls_.push_front(std::move(call));
      throw;
    }
  }
  for (auto& [service, one] : open_) serve(service, *one);
}

void ServiceCaller::wait(std::int64_t due) {
  std::vector<pollfd> all{{.fd = wake_.get(), .events = POLLIN, .revents = 0}};
  for (auto& [service, one] : open_)
    if (!one->waiting.empty()) {
      all.push_back({.fd = one->fd, .events = POLLIN, .revents = 0});
      due = std::min(due, steady_now() + kWhileAsked);
    }
  const std::int64_t left = std::max<std::int64_t>(0, due - steady_now());
  (void)::poll(all.data(), all.size(), static_cast<int>(left / 1'000'000) + 1);
  empty(wake_);
}

void ServiceCaller::look() {
  const std::int64_t until = steady_now() + kMostOfALook;
  const DomainReport report = look_around({.domain = domain_, .timeout = 300ms}, std::string(detail::kAllServices));
  std::set<Key> there;
  // Any user can serve any name; only this user's servers are asked.
  for (const PublisherReport& server : report.publishers)
    if (server.uid == ::geteuid()) there.emplace(server.process, server.serial);
  for (auto it = servers_.begin(); it != servers_.end();) {
    Server& server = it->second;
    server.missing = there.contains(it->first) ? 0 : server.missing + 1;
    // Without an answer of all processes, it may be there.
    if (server.missing == 0 || (!report.problems.empty() && server.missing < kMostMissing)) {
      ++it;
      continue;
    }
    if (server.id != 0) remove(server.id);
    it = servers_.erase(it);
  }
  for (const PublisherReport& server : report.publishers) {
    const Key key{server.process, server.serial};
    if (!there.contains(key) || steady_now() > until) continue;
    if (servers_.size() >= kMostServices && !servers_.contains(key)) continue;
    look_at(server, servers_[key]);
  }
}

void ServiceCaller::look_at(const PublisherReport& server, Server& known) {
  if (known.is_described || steady_now() < known.again_ns) return;
  detail::FoundService found = detail::read_card(domain_, server, 300ms);
  known.is_described = found.is_described();
  known.again_ns = steady_now() + kDescribes;
  const TopicRule* const rule = known.is_described ? rule_for(rules_, found.name, found.question.type) : nullptr;
  if (rule == nullptr) return;
  // One that began again: a question must not be asked under two numbers.
  for (auto& [key, other] : servers_)
    if (other.id != 0 && known_.at(other.id).service.name == found.name) {
      remove(other.id);
      other.id = 0;
    }
  known.id = ++last_id_;
  LocalService service{.id = known.id,
                       .name = found.name,
                       .beyond = name_beyond(*rule, found.name),
                       .type = detail::ros_service_type(found.question.type, found.answer.type),
                       .is_owners = server.is_owners && !sends_owners(*rule, found.name),
                       .question_type = found.question.type,
                       .question_definition = found.question.schema,
                       .answer_type = found.answer.type,
                       .answer_definition = found.answer.schema};
  known_.emplace(known.id, Known{service, std::move(found)});
  add(Change{.added = true, .service = std::move(service)});
}

void ServiceCaller::remove(std::uint32_t id) {
  if (const auto one = open_.find(id); one != open_.end()) {
    collect(id, *one->second);  // answers that have come
    for (const Waiting& waiting : one->second->waiting) fail(waiting.call, "the server has ended");
    open_.erase(one);
  }
  known_.erase(id);
  add(Change{.added = false, .service = {.id = id}});
}

/// Closes the client that has been idle for longest. Throws Error (Limit): all have questions without an answer.
void ServiceCaller::make_room() {
  if (open_.size() < kMostOpen) return;
  auto oldest = open_.end();
  for (auto it = open_.begin(); it != open_.end(); ++it)
    if (it->second->waiting.empty() && (oldest == open_.end() || it->second->used_ns < oldest->second->used_ns))
      oldest = it;
  if (oldest == open_.end())
    throw Error(ErrorCode::Limit, fmt::format("{} services are asked at the moment", kMostOpen), "ask again later");
  open_.erase(oldest);
}

ServiceCaller::Open& ServiceCaller::open(const Known& known) {
  if (const auto it = open_.find(known.service.id); it != open_.end()) return *it->second;
  AnyType question = known.found.question.any_type(), answer = known.found.answer.any_type();
  make_room();
  auto one = std::make_unique<Open>(domain_, known.found, std::move(question), std::move(answer));
  return *open_.emplace(known.service.id, std::move(one)).first->second;
}

/// It waits for its turn.
void ServiceCaller::accept(Call&& call) {
  const auto known = known_.find(call.service);
  if (known == known_.end()) return fail(call, "the service has ended");
  try {
    Open& one = open(known->second);
    one.used_ns = steady_now();
    one.waiting.push_back({.call = std::move(call), .until_ns = steady_now() + timeout_.count()});
  } catch (const std::exception& e) {
    fail(call, e.what());
  }
}

void ServiceCaller::serve(std::uint32_t service, Open& one) {
  if (one.waiting.empty()) return;
  collect(service, one);
  ask_next(one);
}

void ServiceCaller::collect(std::uint32_t service, Open& one) {
  (void)one.end.receive();
  for (auto it = one.waiting.begin(); it != one.waiting.end();) {
    if (is_over(service, one, *it))
      it = one.waiting.erase(it);
    else
      ++it;
  }
}

/// Its outcome is known, and told.
bool ServiceCaller::is_over(std::uint32_t service, Open& one, Waiting& waiting) {
  const std::int64_t now = steady_now();
  if (waiting.number == 0) {
    const std::int64_t asked_ns = waiting.until_ns - timeout_.count();
    if (now >= waiting.until_ns)
      fail(waiting.call, "the service was busy with other questions");
    else if (!one.end.has_server() && now - asked_ns > kWithoutServer)
      fail(waiting.call, detail::text_of(NoAnswer::NoServer));
    else
      return false;
    return true;
  }
  detail::Outcome outcome = one.end.look(waiting.number);
  if (outcome.reason == NoAnswer::Pending) return false;
  waiting.number = 0;
  waiting.until_ns = now;  // if memory runs out now, it fails in the next round
  add(answer_to(service, one, waiting.call, outcome));
  return true;
}

ServiceCaller::Answer ServiceCaller::answer_to(std::uint32_t service, Open& one, const Call& call,
                                               const detail::Outcome& outcome) {
  Answer answer{.peer = call.peer, .service = service, .number = call.number};
  const Sample<detail::Anything> kept = detail::sample_of<detail::Anything>(outcome.block);
  if (outcome.reason != NoAnswer::None) {
    answer.failure = outcome.text.empty() ? std::string("no answer: ") + to_string(outcome.reason) : outcome.text;
    return answer;
  }
  const detail::SampleBlock& block = *outcome.block;
  const std::span<const std::byte> message(static_cast<const std::byte*>(block.message),
                                           one.answer.type().layout().size);
  if (!one.answer.frame(message, {block.payload, static_cast<std::size_t>(block.payload_bytes)})) {
    answer.failure = "the bridge cannot read the answer: it is malformed, or memory ran out";
    return answer;
  }
  const CdrFrame& frame = one.answer.parts();
  if (frame.size() > kMostAnswerBytes) {
    answer.failure = fmt::format("the answer has {} bytes, of {} at most", frame.size(), kMostAnswerBytes);
    return answer;
  }
  answer.answer = frame.joined();
  return answer;
}

/// Asks those that have waited for longest, as many as the service allows; a peer leaves room for another one.
void ServiceCaller::ask_next(Open& one) {
  if (!one.end.has_server()) return;
  std::map<std::uint64_t, std::uint32_t> of_peer;
  std::uint32_t asked = 0;
  for (const Waiting& waiting : one.waiting)
    if (waiting.number != 0) {
      ++of_peer[waiting.call.peer];
      ++asked;
    }
  const std::uint32_t most_of_one = std::max<std::uint32_t>(one.pending - 1, 1);
  for (auto it = one.waiting.begin(); it != one.waiting.end() && asked < one.pending;) {
    std::uint32_t& of_this = of_peer[it->call.peer];
    if (it->number != 0 || of_this >= most_of_one) {
      ++it;
      continue;
    }
    AnyLoan loan = detail::untyped(one.end.loan(), one.question.message_type());
    if (!loan) return;
    if (const CdrResult result = one.question.fill(it->call.question, loan); !result) {
      fail(it->call, "the question does not fit: " + result.text());
      it = one.waiting.erase(it);
      continue;
    }
    const auto left = std::chrono::nanoseconds(std::max<std::int64_t>(it->until_ns - steady_now(), 1));
    const detail::AskedQuestion question = one.end.ask(detail::take_out(loan), left);
    if (question.number == 0) return;  // questions that were cancelled are not taken yet, or the server has ended
    it->number = question.number;
    it->call.question = {};
    ++of_this;
    ++asked;
    ++it;
  }
}

void ServiceCaller::forget_gone(const std::set<std::uint64_t>& peers) {
  if (peers.empty()) return;
  const auto is_gone = [&](const Call& call) { return peers.contains(call.peer); };
  std::size_t dropped = 0;
  for (auto& [service, one] : open_)
    std::erase_if(one->waiting, [&, &end = one->end](const Waiting& waiting) {
      if (!is_gone(waiting.call)) return false;
      if (waiting.number != 0) end.cancel(waiting.number);
      ++dropped;
      return true;
    });
  const std::lock_guard lock(mutex_);
  dropped += std::erase_if(calls_, is_gone);
  unanswered_ -= std::min(unanswered_, dropped);
  std::erase_if(gone_, [&](std::uint64_t peer) { return peers.contains(peer); });
}

void ServiceCaller::fail(const Call& call, const std::string& why) {
  add(Answer{.peer = call.peer, .service = call.service, .number = call.number, .failure = why});
}

void ServiceCaller::add(Result&& result) {
  {
    const std::lock_guard lock(mutex_);
    auto* const answer = std::get_if<Answer>(&result);
    const bool counts = answer != nullptr;
    if (counts && answer_bytes_ + answer->answer.size() > kMostAnswerBytes) {
      answer->failure = "too many answers wait to be sent";
      answer->answer = {};
    }
    const std::size_t bytes = counts ? answer->answer.size() : 0;
    results_.push_back(std::move(result));
    answer_bytes_ += bytes;
    if (counts && unanswered_ != 0) --unanswered_;
  }
  has_results_.store(true, std::memory_order_release);
  ring(ready_);
}

}  // namespace cardan::bridge
