// SPDX-License-Identifier: Apache-2.0
#include "src/bridge/service_caller.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <exception>
#include <optional>

#include "cardan/clock.hpp"
#include "cardan/error.hpp"
#include "src/transport/endpoint/publisher_contract.hpp"

namespace cardan::bridge {
namespace {

using namespace std::chrono_literals;

constexpr std::int64_t kPeriod = 1'000'000'000;       ///< ns between two looks at the domain
constexpr std::int64_t kWhileAsked = 100'000'000;     ///< ns after which the time-outs of questions are looked at
constexpr std::int64_t kMostOfALook = 3'000'000'000;  ///< ns: any process can list many services, and answer slowly
constexpr std::uint32_t kPending = 4;

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

/// Its samples stay as they were published, and are checked when they are read.
AnyMessageType as_published(AnyMessageType type) {
  type.has_arena = false;
  type.arena_bytes = 0;
  return type;
}

}  // namespace

ServiceCaller::Open::Open(const std::string& domain, const detail::FoundService& service, AnyType its_question,
                          AnyType its_answer)
    : question(std::move(its_question)),
      answer(std::move(its_answer)),
      end(service.name, question.message_type(), as_published(answer.type().message_type()), nullptr,
          {.max_bytes = static_cast<std::size_t>(
               std::min<std::uint64_t>(service.question.max_bytes, question.payload_bytes(kMostQuestionBytes))),
           .max_answer_bytes = service.answer.max_bytes,
           .pending = std::min(kPending, service.pending),
           .holds = kPending},
          {.domain = domain}) {}

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
  empty(ready_);
  const std::lock_guard lock(mutex_);
  answer_bytes_ = 0;
  return std::exchange(results_, {});
}

// Its own thread.

void ServiceCaller::run() {
  for (std::int64_t next_look = 0;;) {
    std::deque<Call> calls;
    std::set<std::uint64_t> gone;
    {
      const std::lock_guard lock(mutex_);
      if (stop_) return;
      calls.swap(calls_);
      gone.swap(gone_);
    }
    try {
      forget_gone(gone);
      if (steady_now() >= next_look) {
        next_look = steady_now() + kPeriod;
        look();
      }
      for (; !calls.empty(); calls.pop_front())
        if (gone.contains(calls.front().peer))
          answered();
        else
          ask(std::move(calls.front()));
      for (auto& [service, one] : open_) collect(service, *one);
    } catch (const std::exception&) {  // memory is short, or the domain cannot be read: the next round tries again
    }
    if (!calls.empty()) {
      const std::lock_guard lock(mutex_);
      unanswered_ -= std::min(unanswered_, calls.size());
    }
    wait(next_look);
  }
}

void ServiceCaller::wait(std::int64_t due) {
  std::vector<pollfd> all{{.fd = wake_.get(), .events = POLLIN, .revents = 0}};
  for (auto& [service, one] : open_)
    if (!one->waiting.empty()) {
      all.push_back({.fd = one->end.fd(), .events = POLLIN, .revents = 0});
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
  for (const PublisherReport& server : report.publishers) {
    const Key key{server.process, server.serial};
    there.insert(key);
    if (ids_.contains(key) || ids_.size() >= kMostServices || steady_now() > until) continue;
    detail::FoundService found = detail::read_card(domain_, server, 300ms);
    if (!found.is_described()) continue;  // the next look tries again
    const TopicRule* const rule = found.is_ours() ? rule_for(rules_, found.name, found.question.type) : nullptr;
    const std::uint32_t id = rule == nullptr ? 0 : ++last_id_;
    ids_[key] = id;
    if (rule == nullptr) continue;
    LocalService service{.id = id,
                         .name = found.name,
                         .beyond = name_beyond(*rule, found.name),
                         .is_owners = server.is_owners && !sends_owners(*rule, found.name),
                         .question_type = found.question.type,
                         .question_definition = found.question.schema,
                         .answer_type = found.answer.type,
                         .answer_definition = found.answer.schema};
    known_.emplace(id, Known{service, std::move(found)});
    add(Change{.added = true, .service = std::move(service)});
  }
  for (auto it = ids_.begin(); it != ids_.end();) {
    // One that does not answer in time is still there; its process is in the problems.
    if (there.contains(it->first) || !report.problems.empty()) {
      ++it;
      continue;
    }
    if (it->second != 0) {
      if (const auto one = open_.find(it->second); one != open_.end()) collect(one->first, *one->second);
      known_.erase(it->second);
      if (const auto one = open_.extract(it->second))
        for (const Waiting& waiting : one.mapped()->waiting) fail(waiting.call, "the server has ended");
      add(Change{.added = false, .service = {.id = it->second}});
    }
    it = ids_.erase(it);
  }
}

/// Closes one that nobody waits for, the one that was not used for longest. Throws Error (Limit): there is none.
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
  const auto type_of = [](const detail::FoundService::Side& side) {
    if (auto type = AnyType::of_publisher(side.type, side.layout, side.schema)) return *std::move(type);
    throw Error(ErrorCode::Incompatible, "the memory layout of " + side.type + " does not follow from its definition",
                "remove alignas and bit fields from it");
  };
  AnyType question = type_of(known.found.question), answer = type_of(known.found.answer);
  make_room();
  auto one = std::make_unique<Open>(domain_, known.found, std::move(question), std::move(answer));
  return *open_.emplace(known.service.id, std::move(one)).first->second;
}

void ServiceCaller::ask(Call&& call) {
  const auto known = known_.find(call.service);
  if (known == known_.end()) return fail(call, "there is no such service any more");
  try {
    Open& one = open(known->second);
    one.used_ns = steady_now();
    collect(call.service, one);
    if (!one.end.has_server()) (void)one.end.wait_for_server(1s);
    AnyLoan loan = detail::untyped(one.end.loan(), one.question.message_type());
    if (!loan) return fail(call, detail::text_of(one.end.has_server() ? NoAnswer::Full : NoAnswer::NoServer));
    if (const CdrResult result = one.question.fill(call.question, loan); !result)
      return fail(call, "the question does not fit: " + result.text());
    const detail::AskedQuestion asked = one.end.ask(detail::take_out(loan), timeout_);
    if (asked.number == 0) return fail(call, detail::text_of(asked.reason));
    call.question = {};
    one.waiting.push_back({std::move(call), asked.number});
  } catch (const Error& e) {
    fail(call, e.what());
  }
}

void ServiceCaller::collect(std::uint32_t service, Open& one) {
  if (one.waiting.empty()) return;
  (void)one.end.receive();
  std::erase_if(one.waiting, [&](const Waiting& waiting) {
    const detail::Outcome outcome = one.end.look(waiting.number);
    if (outcome.reason == NoAnswer::Pending) return false;
    const Sample<detail::Anything> kept = detail::sample_of<detail::Anything>(outcome.block);
    if (outcome.reason != NoAnswer::None) {
      fail(waiting.call, outcome.text.empty() ? std::string("no answer: ") + to_string(outcome.reason) : outcome.text);
      return true;
    }
    const detail::SampleBlock& block = *outcome.block;
    const std::span<const std::byte> message(static_cast<const std::byte*>(block.message),
                                             one.answer.type().layout().size);
    if (!one.answer.frame(message, {block.payload, static_cast<std::size_t>(block.payload_bytes)})) {
      fail(waiting.call, "the answer is malformed");
      return true;
    }
    const CdrFrame& frame = one.answer.parts();
    if (frame.size() > kMostAnswerBytes) {
      fail(waiting.call, fmt::format("the answer has {} bytes, of {} at most", frame.size(), kMostAnswerBytes));
      return true;
    }
    Answer answer{.peer = waiting.call.peer, .service = service, .number = waiting.call.number};
    answer.answer.reserve(frame.size());
    for (const std::span<const std::byte> part :
         {std::span<const std::byte>(frame.prefix), frame.payload, std::span<const std::byte>(frame.suffix)})
      answer.answer.insert(answer.answer.end(), part.begin(), part.end());
    add(std::move(answer));
    return true;
  });
}

void ServiceCaller::forget_gone(const std::set<std::uint64_t>& peers) {
  if (peers.empty()) return;
  for (auto& [service, one] : open_)
    std::erase_if(one->waiting, [&, &end = one->end](const Waiting& waiting) {
      if (!peers.contains(waiting.call.peer)) return false;
      end.cancel(waiting.number);
      answered();
      return true;
    });
}

void ServiceCaller::answered() {
  const std::lock_guard lock(mutex_);
  --unanswered_;
}

void ServiceCaller::fail(const Call& call, const std::string& why) {
  add(Answer{.peer = call.peer, .service = call.service, .number = call.number, .failure = why});
}

void ServiceCaller::add(Result&& result) {
  {
    const std::lock_guard lock(mutex_);
    if (auto* const answer = std::get_if<Answer>(&result)) {
      --unanswered_;
      if (answer_bytes_ + answer->answer.size() > kMostAnswerBytes) {
        answer->answer = {};
        answer->failure = "too many answers wait to be sent";
      }
      answer_bytes_ += answer->answer.size();
    }
    results_.push_back(std::move(result));
  }
  ring(ready_);
}

}  // namespace cardan::bridge
