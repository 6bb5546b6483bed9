// SPDX-License-Identifier: Apache-2.0
#include "src/transport/service/server_core.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "cardan/clock.hpp"
#include "cardan/detail/stop_flag.hpp"
#include "cardan/error.hpp"
#include "cardan/message_schema.hpp"
#include "cardan/publisher.hpp"
#include "src/transport/discovery/client.hpp"
#include "src/transport/discovery/server.hpp"
#include "src/transport/endpoint/foreign.hpp"
#include "src/transport/service/service_card.hpp"

namespace cardan::detail {
namespace {

constexpr std::size_t kMostCallers = kMaxStreams;
constexpr std::size_t kMostCallersOfOne = kMaxStreams / 4;  ///< of one other user
constexpr std::size_t kMostCallersOfOthers = kMaxStreams / 2;
constexpr std::size_t kMemoryOfOthers = std::size_t{256} << 20;  ///< or that of four clients, if it is more
constexpr int kMostLeftOut = 256;  ///< questions that one take() or wait() leaves out in a row
constexpr std::size_t kProcessDigits = 16;

/// For the card: one that is too long is left out.
std::string_view schema_of(const MessageType& type) {
  return type.schema.size() <= kMostSchema ? std::string_view(type.schema) : std::string_view();
}

TopicOptions card_options(const ServiceOptions& options, const MessageType& question, const MessageType& answer) {
  constexpr std::size_t kRoom = 1024;  // for alignment
  return {.max_bytes = schema_of(question).size() + schema_of(answer).size() + kRoom,
          .access = options.access,
          .exclusive = true};
}

void fill(ServiceCard& card, const MessageType& question, const MessageType& answer, const ServiceOptions& options) {
  card.question_type = FixedString<127>(question.name);
  card.answer_type = FixedString<127>(answer.name);
  card.question_layout = question.hash;
  card.answer_layout = answer.hash;
  card.max_bytes = options.max_bytes;
  card.max_answer_bytes = options.max_answer_bytes;
  card.pending = options.pending;
  card.question_schema = schema_of(question);
  card.answer_schema = schema_of(answer);
}

/// Its process, and its number at the server.
ServedCaller::Gid gid_of(const handshake::Ask& asked, CallerNumber number) {
  ServedCaller::Gid gid{};
  std::uint64_t process = 0;
  (void)std::from_chars(asked.process.data(), asked.process.data() + asked.process.size(), process, 16);
  for (std::size_t i = 0; i < sizeof process; ++i) {
    gid[i] = static_cast<std::uint8_t>(process >> (8 * i));
    gid[sizeof process + i] = static_cast<std::uint8_t>(number >> (8 * i));
  }
  return gid;
}

}  // namespace

ServerCore::ServerCore(const std::string& service, MessageType question, AdoptFunction adopt, MessageType answer,
                       const ServiceOptions& options, const ServerOptions& own)
    : service_((check_service(service, options), service)),
      options_(options),
      answer_(std::move(answer)),
      process_(Process::of(own.domain)),
      card_(std::make_shared<PublisherCore>(card_topic(service), message_type_of<ServiceCard>(),
                                            card_options(options, question, answer_), PublisherOptions{})),
      events_(options.introspection == Introspection::Off
                  ? nullptr
                  : std::make_unique<ServiceEvents>(service, question, answer_, options, own.domain)) {
  Loan<ServiceCard> card = typed<ServiceCard>(LoanedSlot(card_));
  fill(*card, question, answer_, options);
  const Filled filled = take_out(card);
  card_->publish(filled.slot, filled.payload_bytes, 0);
  questions_ = SubscriberCore::create(
      service + "?questions", std::move(question), adopt,
      {.max_bytes = options.max_bytes, .depth = options.pending, .waiting = options.waiting, .access = options.access},
      {.domain = own.domain, .holds = own.holds});
  // Their publication has ended, or could not be attached to.
  questions_->helper().on_lost = [this](std::uint64_t number) { caller_gone(number); };
  process_.add_unlisted(questions_);
}

void ServerCore::open() { process_.add_service(card_, *this); }

void ServerCore::close() noexcept {
  if (is_forked_child() || closed_.exchange(true, std::memory_order_acq_rel)) return;
  if (events_ != nullptr) events_->close();
  process_.run([this] {
    process_.remove(card_);
    process_.remove(questions_);
    std::map<CallerNumber, std::shared_ptr<ServedCaller>> callers;
    {
      const std::lock_guard lock(mutex_);
      callers.swap(callers_);
    }
    for (const auto& [number, caller] : callers) {
      caller->gone.store(true, std::memory_order_release);
      process_.remove(caller->answers);
    }
  });
}

ServerCore::~ServerCore() {
  close();
  if (!is_forked_child()) questions_->drop_reference();
}

std::size_t ServerCore::clients() const {
  const std::lock_guard lock(mutex_);
  return callers_.size();
}

std::shared_ptr<ServedCaller> ServerCore::caller_of(std::uint64_t number) const {
  const std::lock_guard lock(mutex_);
  const auto it = callers_.find(number);
  return it == callers_.end() ? nullptr : it->second;
}

/// Empty if nobody waits for its answer any more: its block is dropped then.
TakenQuestion ServerCore::delivered(SampleBlock* block) noexcept {
  std::shared_ptr<ServedCaller> caller = caller_of(block->stream->tag());
  const std::int64_t until = block->source_ns;
  const bool overdue = until != 0 && steady_now() - block->stream->time_shift() > until;
  if (caller == nullptr || overdue || caller->has_cancelled(block->sequence)) {
    statistics_.expired();
    drop(block);
    return {};
  }
  statistics_.taken();
  if (events_ != nullptr) {
    events_->received(*caller, *block);
    events_->report();
  }
  return {.block = block, .end = {shared_from_this(), std::move(caller)}};
}

TakenQuestion ServerCore::take() noexcept {
  for (int i = 0; i < kMostLeftOut; ++i) {  // a client may ask overdue questions without end
    SampleBlock* const block = questions_->take();
    reason_.store(questions_->reason(), std::memory_order_relaxed);
    if (block == nullptr) return {};
    if (TakenQuestion question = delivered(block); question.block != nullptr) return question;
  }
  return {};
}

TakenQuestion ServerCore::wait(std::int64_t deadline_ns) noexcept {
  for (;;) {
    SampleBlock* const block = questions_->wait(deadline_ns);
    reason_.store(questions_->reason(), std::memory_order_relaxed);
    if (block == nullptr) return {};
    if (TakenQuestion question = delivered(block); question.block != nullptr) return question;
    const bool over = deadline_ns != 0 && steady_now() >= deadline_ns;
    if (!over && !stop_is_requested()) continue;
    reason_.store(over ? Reason::TimedOut : Reason::Stopped, std::memory_order_relaxed);
    return {};
  }
}

void ServerCore::decline(CallerNumber number, std::uint64_t sequence, const std::string& why) {
  statistics_.declined();
  process_.loop().post([process = &process_, number, sequence, why] {
    process->server().decline(number, sequence, why);
    process->client().declined_local(number, sequence, why);
  });
}

std::optional<handshake::Refused> ServerCore::other_types(const Caller& caller) const {
  const MessageType& question = questions_->type();
  const auto layout = [](const MessageType& type) { return fmt::format("{:016x}", type.hash); };
  const handshake::Ask& asked = caller.asked;
  if (asked.type == question.name && asked.hash == layout(question) && asked.answer_type == answer_.name &&
      asked.answer_hash == layout(answer_))
    return std::nullopt;
  return handshake::Refused{
      .code = handshake::Reason::Type,
      .why = fmt::format("'{}' answers {} (layout {}) with {} (layout {}) at its server {} (pid {}), but its client {} "
                         "(pid {}) asks {} (layout {}) for {} (layout {})",
                         service_, question.name, layout(question), answer_.name, layout(answer_), process_.name(),
                         ::getpid(), caller.name, caller.peer.pid, asked.type, asked.hash, asked.answer_type,
                         asked.answer_hash),
      .remedy = "build both sides with the same message definitions"};
}

/// A request that no honest client sends.
std::optional<handshake::Refused> ServerCore::unfit(const Caller& caller) const {
  const handshake::Ask& asked = caller.asked;
  const bool is_process = asked.process.size() == kProcessDigits &&
                          asked.process.find_first_not_of("0123456789abcdef") == std::string::npos;
  // Our own topics must not become another process's questions.
  if (is_process && (asked.process == process_.id()) == caller.is_here && is_secret_topic(service_, asked.name))
    return std::nullopt;
  return handshake::Refused{.code = handshake::Reason::Other,
                            .why = "the request to be served is malformed",
                            .remedy = "if the client is a Cardan process, report this"};
}

std::optional<handshake::Refused> ServerCore::no_room(const socket::Peer& peer, std::size_t bytes) const {
  const std::lock_guard lock(mutex_);
  std::size_t of_one = 0, of_others = 0, bytes_of_others = bytes;
  for (const auto& [number, caller] : callers_) {
    if (caller->uid == peer.uid) ++of_one;
    if (!is_foreign(caller->uid)) continue;
    ++of_others;
    bytes_of_others += caller->bytes;
  }
  const bool foreign = is_foreign(peer.uid);
  const bool full = callers_.size() >= kMostCallers ||
                    (foreign && (of_one >= kMostCallersOfOne || of_others >= kMostCallersOfOthers ||
                                 bytes_of_others > std::max(kMemoryOfOthers, 4 * bytes)));
  if (!full) return std::nullopt;
  return handshake::Refused{
      .code = handshake::Reason::Limit,
      .why = fmt::format("'{}' of {} (pid {}) already serves {} clients, of them {} of user {}", service_,
                         process_.name(), ::getpid(), callers_.size(), of_one, peer.uid),
      .remedy = "use one client in each process, or ask another server"};
}

/// The most memory of one client's answers. Their slots, at most those that a client of the contract needs, and as many
/// again: another user may announce half of the room only.
std::size_t ServerCore::most_bytes() const noexcept {
  const std::size_t own = options_.pending + options_.answers + 1;
  const std::size_t announced = options_.pending + options_.holds + 1;
  const std::size_t payload = layout::align_up(options_.max_answer_bytes, layout::kPage);
  const std::size_t record = sizeof(layout::SlotMeta) + answer_.arena_bytes + answer_.bytes + answer_.alignment;
  return (own + 2 * announced) * (payload + layout::align_up(record, layout::kRecord));
}

std::optional<handshake::Refused> ServerCore::admit(const Caller& caller, handshake::Served& answer) {
  const handshake::Ask& asked = caller.asked;
  if (auto no = unfit(caller)) return no;
  if (auto no = other_types(caller)) return no;
  const std::size_t bytes = most_bytes();
  if (auto no = no_room(caller.peer, bytes)) return no;
  if (asked.pending == 0 || asked.pending > options_.pending)
    return handshake::Refused{
        .code = handshake::Reason::Type,
        .why = fmt::format("'{}': its client {} (pid {}) announces {} pending questions, its server {}", service_,
                           caller.name, caller.peer.pid, asked.pending, options_.pending),
        .remedy = "build both sides with the same options of the service"};
  try {
    const auto answers = std::make_shared<PublisherCore>(secret_topic(service_), answer_,
                                                         TopicOptions{.max_bytes = options_.max_answer_bytes,
                                                                      .depth = asked.pending,
                                                                      .waiting = options_.waiting,
                                                                      .access = options_.access,
                                                                      .loans = options_.answers,
                                                                      .max_memory = bytes},
                                                         PublisherOptions{});
    const auto served =
        std::make_shared<ServedCaller>(caller.number, caller.peer.uid, answers, bytes, gid_of(asked, caller.number));
    {
      const std::lock_guard lock(mutex_);
      callers_[caller.number] = served;
    }
    answer.answers = process_.add_unlisted(answers);
    answer.name = answers->topic();
  } catch (const Error& e) {
    caller_gone(caller.number);
    return handshake::Refused{.code = handshake::Reason::Memory, .why = e.cause(), .remedy = e.remedy()};
  }
  const TopicEntry questions{.topic_hash = hash_name(asked.name),
                             .process = asked.process,
                             .serial = asked.questions,
                             .owner = caller.peer.uid};
  if (process_.attach_to(*questions_, questions, asked.name, caller.number)) return std::nullopt;
  caller_gone(caller.number);
  return handshake::Refused{.code = handshake::Reason::Limit,
                            .why = fmt::format("'{}' of {} (pid {}) cannot reach the questions of {} (pid {})",
                                               service_, process_.name(), ::getpid(), caller.name, caller.peer.pid),
                            .remedy = "raise ulimit -n on both sides; in containers, share the run directory"};
}

void ServerCore::caller_gone(CallerNumber number) {
  std::shared_ptr<ServedCaller> caller;
  {
    const std::lock_guard lock(mutex_);
    const auto it = callers_.find(number);
    if (it == callers_.end()) return;
    caller = std::move(it->second);
    callers_.erase(it);
  }
  caller->gone.store(true, std::memory_order_release);
  // Later: the helper thread may be walking its publications.
  process_.loop().post([process = &process_, answers = caller->answers] { process->remove(answers); });
}

void ServerCore::cancelled(CallerNumber number, std::uint64_t sequence) {
  if (const auto caller = caller_of(number))
    caller->cancelled[sequence % caller->cancelled.size()].store(sequence, std::memory_order_release);
}

}  // namespace cardan::detail
