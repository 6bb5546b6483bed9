// SPDX-License-Identifier: Apache-2.0
#include "src/transport/service/client_core.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <new>
#include <utility>

#include "cardan/detail/stop_flag.hpp"
#include "cardan/error.hpp"
#include "cardan/message_schema.hpp"
#include "src/transport/discovery/client.hpp"
#include "src/transport/service/service_card.hpp"

namespace cardan::detail {
namespace {

using namespace std::chrono_literals;

constexpr auto kPatience = 1s;        ///< of the constructor
constexpr auto kBetweenLooks = 50ms;  ///< at the stop flag

SubscriberOptions answers_options(const ServiceOptions& options, const ClientOptions& own) {
  SubscriberOptions endpoint{.domain = own.domain, .holds = options.pending + options.holds};
  endpoint.events_end_wait = true;
  return endpoint;
}

}  // namespace

ClientCore::ClientCore(const std::string& service, MessageType question, MessageType answer, AdoptFunction adopt,
                       const ServiceOptions& options, const ClientOptions& own)
    : service_((check_service(service, options), service)),
      options_(options),
      question_(std::move(question)),
      process_(Process::of(own.domain)),
      card_(SubscriberCore::create(card_topic(service), message_type_of<ServiceCard>(), nullptr,
                                   {.max_bytes = kMostCardBytes, .access = options.access, .exclusive = true},
                                   {.domain = own.domain})),
      answers_(nullptr),
      asked_(options.pending) {
  try {
    answers_ = SubscriberCore::create(service + "?answers", std::move(answer), adopt,
                                      {.max_bytes = options.max_answer_bytes,
                                       .depth = options.pending,
                                       .waiting = options.waiting,
                                       .access = options.access},
                                      answers_options(options, own));
  } catch (...) {
    card_->drop_reference();
    throw;
  }
  card_->helper().on_joined = [this](Stream& card) {
    forget_ended_cards();
    cards_.push_back(card.id);
    find_card();
  };
  answers_->helper().on_joined = [this](Stream& answers) { joined(answers); };
  answers_->helper().on_lost = [this](std::uint64_t tag) { end_session(tag); };
  process_.add_unlisted(answers_);
}

ClientCore::~ClientCore() {
  if (is_forked_child()) return;
  process_.run([this] {
    process_.client().withdraw(*this);
    process_.remove(card_);
    answers_->helper().on_lost = {};
    process_.remove(answers_);
    if (session_) process_.remove(session_->questions);
  });
  card_->drop_reference();
  answers_->drop_reference();
}

void ClientCore::open() {
  process_.add(card_);
  std::unique_lock lock(mutex_);
  if (session_) served_.wait_for(lock, kPatience, [this] { return refusal_ || !session_ || session_->is_served; });
  if (refusal_) throw Error(*refusal_);
}

// Helper thread: sessions.

void ClientCore::find_card() {
  {
    const std::lock_guard lock(mutex_);
    if (session_) return;
  }
  forget_ended_cards();
  if (cards_.empty()) return;
  std::rotate(cards_.begin(), cards_.end() - 1, cards_.end());  // the next time, another one
  begin_session(*card_->helper().find_stream(cards_.front()));
}

void ClientCore::forget_ended_cards() {
  std::erase_if(cards_, [this](std::uint64_t id) { return card_->helper().find_stream(id) == nullptr; });
}

/// A session that lasted ends because its server did, and there may be another one. One that did not come about is
/// tried again after a pause that grows.
void ClientCore::try_again(std::int64_t began_ns) {
  constexpr std::int64_t kLasted = 1'000'000'000, kFirst = 50'000'000, kLongest = 5'000'000'000;  // ns
  pause_ns_ = steady_now() - began_ns > kLasted ? 0 : std::clamp(2 * pause_ns_, kFirst, kLongest);
  process_.later(pause_ns_, [weak = weak_from_this()] {
    if (const auto core = weak.lock()) core->find_card();
  });
}

void ClientCore::begin_session(const Stream& card) {
  std::shared_ptr<PublisherCore> questions;
  handshake::Ask asked{.pending = options_.pending};
  try {
    questions = std::make_shared<PublisherCore>(secret_topic(service_), question_,
                                                TopicOptions{.max_bytes = options_.max_bytes,
                                                             .depth = options_.pending,
                                                             .waiting = options_.waiting,
                                                             .access = options_.access},
                                                PublisherOptions{});
    asked.questions = process_.add_unlisted(questions);
  } catch (const Error& e) {
    const std::lock_guard lock(mutex_);
    refusal_ = e;
    return try_again(steady_now());
  }
  asked.process = process_.id();
  asked.name = questions->topic();
  asked.type = question_.name;
  asked.hash = fmt::format("{:016x}", question_.hash);
  asked.answer_type = answers_->type().name;
  asked.answer_hash = fmt::format("{:016x}", answers_->type().hash);
  {
    const std::lock_guard lock(mutex_);
    refusal_.reset();
    session_ = Session{.questions = questions,
                       .tag = ++last_tag_,
                       .server = fmt::format("{} (pid {})", card.peer_name(), card.peer_pid()),
                       .began_ns = steady_now()};
  }
  const std::uint64_t id = process_.client().ask(card, std::move(asked), *this);
  const std::lock_guard lock(mutex_);
  if (!session_) return;
  session_->asked = id;
  if (id != 0) return;
  remove(std::exchange(session_, std::nullopt)->questions);
  try_again(steady_now());
}

/// Later: the helper thread may be walking its publications.
void ClientCore::remove(const std::shared_ptr<PublisherCore>& questions) {
  process_.loop().post([process = &process_, questions] { process->remove(questions); });
}

void ClientCore::served(const std::string& process, uid_t owner, const handshake::Served& answer) {
  std::uint64_t tag = 0;
  {
    const std::lock_guard lock(mutex_);
    if (!session_ || session_->is_admitted) return;
    session_->is_admitted = true;
    tag = session_->tag;
  }
  const TopicEntry entry{
      .topic_hash = hash_name(answer.name), .process = process, .serial = answer.answers, .owner = owner};
  if (!is_secret_topic(service_, answer.name) || !process_.attach_to(*answers_, entry, answer.name, tag))
    end_session(tag);
}

void ClientCore::refused(const handshake::Refused& answer, bool foreign) {
  {
    const std::lock_guard lock(mutex_);
    const ErrorCode code = answer.code == handshake::Reason::Type     ? ErrorCode::Incompatible
                           : answer.code == handshake::Reason::Access ? ErrorCode::Refused
                           : answer.code == handshake::Reason::Memory ? ErrorCode::NoMemory
                                                                      : ErrorCode::Limit;
    if (!foreign) refusal_.emplace(code, answer.why, answer.remedy);  // an answer of another user is never our error
    if (session_) remove(std::exchange(session_, std::nullopt)->questions);
    if (code == ErrorCode::Limit || code == ErrorCode::NoMemory) try_again(steady_now());
  }
  served_.notify_all();
}

void ClientCore::hung_up() {
  std::uint64_t tag = 0;
  {
    const std::lock_guard lock(mutex_);
    if (session_ && !session_->is_admitted) tag = session_->tag;
  }
  if (tag != 0) end_session(tag);
}

void ClientCore::joined(const Stream& answers) {
  {
    const std::lock_guard lock(mutex_);
    if (session_ && session_->tag == answers.tag()) session_->is_served = true;
  }
  served_.notify_all();
}

/// The answers have ended, or could not be attached to.
void ClientCore::end_session(std::uint64_t tag) {
  bool is_current = false;
  {
    const std::lock_guard lock(mutex_);
    std::string server;
    if (session_ && session_->tag == tag) {
      is_current = true;
      server = session_->server;
      try_again(session_->began_ns);
      remove(std::exchange(session_, std::nullopt)->questions);
    }
    asked_.end_all(tag, NoAnswer::ServerDied,
                   fmt::format("the server of '{}' has ended: {} — it is not known whether it has seen the question",
                               service_, server));
  }
  ended_.store(true, std::memory_order_release);
  if (is_current) process_.client().withdraw(*this);  // the server may still wait for our questions
  served_.notify_all();
}

void ClientCore::declined(std::uint64_t sequence, const std::string& why) {
  bool is_ours = false;
  {
    const std::lock_guard lock(mutex_);
    if (!session_) return;
    if (AskedTable::Asked* const one = asked_.find_pending(session_->tag, sequence)) {
      is_ours = true;
      one->state = NoAnswer::Declined;
      one->text = fmt::format("the server of '{}', {}, declines: {}", service_, session_->server, why);
    }
  }
  if (!is_ours) return;  // a server cannot wake us as often as it wants
  ended_.store(true, std::memory_order_release);
  answers_->helper().emit({Event::Kind::Refused, 0, why});  // ends the wait
}

// The asking thread.

LoanedSlot ClientCore::loan() noexcept {
  const std::lock_guard lock(mutex_);
  return session_ && session_->is_served ? LoanedSlot(session_->questions) : LoanedSlot();
}

AskedQuestion ClientCore::ask(Filled filled, std::int64_t deadline_ns) noexcept {
  const std::lock_guard lock(mutex_);
  const auto no = [&](NoAnswer reason) {
    filled.core->abandon(filled.slot);
    return AskedQuestion{.number = 0, .reason = reason};
  };
  if (!session_ || !session_->is_served || filled.core != session_->questions) return no(NoAnswer::NoServer);
  // Those that were cancelled or timed out must not push out one that the server has not taken yet.
  if (asked_.size() >= options_.pending || untaken(*filled.core) >= options_.pending) return no(NoAnswer::Full);
  (void)filled.core->publish(filled.slot, filled.payload_bytes, deadline_ns, {}, filled.named);
  return {.number = asked_.add(session_->tag, filled.core->published(), deadline_ns)};
}

std::string ClientCore::why_not_asked(NoAnswer reason) const {
  const std::lock_guard lock(mutex_);
  if (reason != NoAnswer::NoServer || !refusal_) return text_of(reason);
  return fmt::format("the server of '{}' refuses this client: {} — {}", service_, refusal_->cause(),
                     refusal_->remedy());
}

void ClientCore::collect(SampleBlock* block) noexcept {
  const std::lock_guard lock(mutex_);
  asked_.collect(block->stream->tag(), block);
}

bool ClientCore::receive() noexcept {
  bool any = ended_.exchange(false, std::memory_order_acq_rel);
  for (std::uint32_t i = 0; i < 2 * options_.pending; ++i) {  // a server may publish without end
    SampleBlock* const block = answers_->take();
    if (block == nullptr) break;
    any = true;
    collect(block);
  }
  while (answers_->next_event()) any = true;
  return any;
}

/// 0: it has none, or is not known.
std::int64_t ClientCore::deadline_of(std::uint64_t number) noexcept {
  const std::lock_guard lock(mutex_);
  const AskedTable::Asked* const one = asked_.find(number);
  return one == nullptr ? 0 : one->deadline_ns;
}

Outcome ClientCore::timed_out(std::uint64_t number) {
  cancel(number);
  return {.reason = NoAnswer::TimedOut, .text = text_of(NoAnswer::TimedOut)};
}

Outcome ClientCore::look(std::uint64_t number) {
  Outcome outcome = [&] {
    const std::lock_guard lock(mutex_);
    return asked_.outcome_of(number);
  }();
  if (outcome.reason != NoAnswer::Pending) return outcome;
  const std::int64_t until = deadline_of(number);
  return until == 0 || steady_now() < until ? std::move(outcome) : timed_out(number);
}

AskingEnd::Done ClientCore::next_done(std::int64_t now) {
  std::uint64_t number = 0;
  {
    const std::lock_guard lock(mutex_);
    const AskedTable::Asked* const one = asked_.ended(now);
    if (one == nullptr) return {};
    number = one->number;
    if (one->state != NoAnswer::Pending) return {.number = number, .outcome = asked_.outcome_of(number)};
  }
  return {.number = number, .outcome = timed_out(number)};
}

std::int64_t ClientCore::next_deadline() const noexcept {
  const std::lock_guard lock(mutex_);
  return asked_.next_deadline();
}

Outcome ClientCore::wait(std::uint64_t number, std::int64_t until_ns) {
  for (;;) {
    (void)receive();
    Outcome outcome = look(number);
    if (outcome.reason != NoAnswer::Pending || (until_ns != 0 && steady_now() >= until_ns)) return outcome;
    const std::int64_t own = deadline_of(number);
    if (SampleBlock* block = answers_->wait(own == 0 || until_ns == 0 ? own + until_ns : std::min(own, until_ns))) {
      collect(block);
    } else if (answers_->reason() == Reason::Stopped) {
      cancel(number);
      return {.reason = NoAnswer::Stopped, .text = text_of(NoAnswer::Stopped)};
    } else if (answers_->reason() == Reason::Limit) {
      cancel(number);
      return {.reason = NoAnswer::Full, .text = text_of(NoAnswer::Full)};
    }
  }
}

void ClientCore::cancel(std::uint64_t number) noexcept {
  std::uint64_t id = 0, sequence = 0;
  {
    const std::lock_guard lock(mutex_);
    const AskedTable::Asked* const one = asked_.find(number);
    if (one == nullptr) return;
    if (one->state == NoAnswer::Pending && session_ && session_->tag == one->tag) id = session_->asked;
    sequence = one->sequence;
    asked_.remove(*one);
  }
  if (id == 0) return;
  try {
    process_.loop().post([process = &process_, id, sequence] { process->client().cancel(id, sequence); });
  } catch (const std::bad_alloc&) {  // the server answers in vain
  }
}

bool ClientCore::has_server() const noexcept {
  const std::lock_guard lock(mutex_);
  return session_ && session_->is_served;
}

bool ClientCore::wait_for_server(std::int64_t deadline_ns) {
  std::unique_lock lock(mutex_);
  for (;;) {
    if (session_ && session_->is_served) return true;
    const std::int64_t left = deadline_ns - steady_now();
    if (left <= 0 || stop_is_requested()) return false;
    served_.wait_for(lock, std::min<std::chrono::nanoseconds>(std::chrono::nanoseconds{left}, kBetweenLooks));
  }
}

}  // namespace cardan::detail
