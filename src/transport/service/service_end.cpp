// SPDX-License-Identifier: Apache-2.0
#include "cardan/detail/service_end.hpp"

#include <utility>

#include "cardan/clock.hpp"
#include "cardan/detail/deadline.hpp"
#include "src/transport/service/client_core.hpp"
#include "src/transport/service/server_core.hpp"
#include "src/transport/service/service_card.hpp"

namespace cardan {

const char* to_string(NoAnswer reason) noexcept {
  switch (reason) {
    case NoAnswer::None:
      return "none";
    case NoAnswer::Pending:
      return "pending";
    case NoAnswer::NoServer:
      return "no server";
    case NoAnswer::Full:
      return "full";
    case NoAnswer::TimedOut:
      return "timed out";
    case NoAnswer::Declined:
      return "declined";
    case NoAnswer::ServerDied:
      return "server died";
    case NoAnswer::Cancelled:
      return "cancelled";
    case NoAnswer::Stopped:
      return "stopped";
  }
  return "unknown";
}

namespace detail {

std::string text_of(NoAnswer reason) {
  switch (reason) {
    case NoAnswer::NoServer:
      return "no server of the service is attached — start it in the same domain, and check the service's access rule";
    case NoAnswer::Full:
      return "too many questions wait for their answers — raise the service's `pending`, or ask less";
    case NoAnswer::TimedOut:
      return "the server did not answer in time";
    case NoAnswer::Cancelled:
      return "the question was cancelled";
    case NoAnswer::Stopped:
      return "a stop was requested";
    default:
      return {};
  }
}

LoanedSlot QuestionEnd::loan() const noexcept {
  if (caller_ == nullptr || caller_->gone.load(std::memory_order_acquire) || is_forked_child()) return {};
  const std::lock_guard lock(caller_->publishing);
  return LoanedSlot(caller_->answers);
}

bool QuestionEnd::reply(Filled filled, const SampleBlock& question) const noexcept {
  if (is_forked_child()) return false;
  const bool mine = caller_ != nullptr && filled.core == caller_->answers;
  if (!mine || caller_->gone.load(std::memory_order_acquire)) {
    filled.core->abandon(filled.slot);
    return false;
  }
  if (caller_->has_cancelled(question.sequence)) {
    filled.core->abandon(filled.slot);
    return false;
  }
  filled.named.add(question);  // the answer rests on it
  ServiceEvents* const events = server_ == nullptr ? nullptr : server_->events();
  const bool published = publish(filled, question, events);
  if (events != nullptr) events->report();
  if (published && server_ != nullptr) server_->statistics().answered(steady_now() - question.publish_ns);
  return published;
}

bool QuestionEnd::publish(const Filled& filled, const SampleBlock& question, ServiceEvents* events) const noexcept {
  const std::lock_guard lock(caller_->publishing);
  // Answers to questions that it has cancelled meanwhile must not push out one that it waits for.
  if (server_ != nullptr && untaken(*filled.core) >= filled.core->options().depth) {
    filled.core->abandon(filled.slot);
    return false;
  }
  // Before the answer, so that a recording has it before what the client makes of it.
  if (events != nullptr)
    events->answered(*caller_, question.sequence, filled.core->message(filled.slot),
                     {filled.core->payload(filled.slot), filled.payload_bytes});
  return filled.core->publish(filled.slot, filled.payload_bytes, static_cast<std::int64_t>(question.sequence),
                              caller_->here(), filled.named);
}

void QuestionEnd::decline(std::uint64_t sequence, const std::string& why) const {
  if (caller_ == nullptr || is_forked_child()) return;
  if (server_ != nullptr)
    server_->decline(caller_->number, sequence, why);
  else
    caller_->declined(sequence, why);
}

void QuestionEnd::decline_dropped(std::uint64_t sequence) const noexcept {
  if (cancelled(sequence)) return;
  try {
    decline(sequence, "it dropped the question");
  } catch (...) {  // without memory the client learns it by its time-out
  }
}

bool QuestionEnd::cancelled(std::uint64_t sequence) const noexcept {
  return caller_ == nullptr || caller_->has_cancelled(sequence);
}

ServerEnd::ServerEnd(const std::string& service, MessageType question, AdoptFunction adopt, MessageType answer,
                     const ServiceOptions& options, const ServerOptions& own)
    : core_(std::make_shared<ServerCore>(service, std::move(question), adopt, std::move(answer), options, own)) {
  core_->open();
}
ServerEnd& ServerEnd::operator=(ServerEnd&& other) noexcept {
  if (this == &other) return *this;
  if (core_ != nullptr) core_->close();
  core_ = std::move(other.core_);
  return *this;
}
ServerEnd::~ServerEnd() {
  if (core_ != nullptr) core_->close();
}

TakenQuestion ServerEnd::take() noexcept { return core_->take(); }
TakenQuestion ServerEnd::wait() noexcept { return core_->wait(0); }
TakenQuestion ServerEnd::wait(std::chrono::nanoseconds timeout) noexcept {
  return core_->wait(deadline_after(timeout));
}
Reason ServerEnd::reason() const noexcept { return core_->reason(); }
int ServerEnd::fd() { return core_->questions().fd(); }
std::size_t ServerEnd::clients() const { return core_->clients(); }

ClientEnd::ClientEnd(const std::string& service, MessageType question, MessageType answer, AdoptFunction adopt,
                     const ServiceOptions& options, const ClientOptions& own)
    : core_(std::make_shared<ClientCore>(service, std::move(question), std::move(answer), adopt, options, own)) {
  core_->open();
}
ClientEnd::~ClientEnd() = default;

LoanedSlot ClientEnd::loan() noexcept { return is_forked_child() ? LoanedSlot() : core_->loan(); }
AskedQuestion ClientEnd::ask(Filled filled, std::chrono::nanoseconds timeout) noexcept {
  if (is_forked_child()) return {.number = 0, .reason = NoAnswer::NoServer};
  return core_->ask(std::move(filled), deadline_after(timeout));
}
bool ClientEnd::receive() { return !is_forked_child() && core_->receive(); }
Outcome ClientEnd::look(std::uint64_t number) {
  return is_forked_child() ? Outcome{.reason = NoAnswer::Cancelled} : core_->look(number);
}
bool ClientEnd::is_full() const noexcept { return core_->answers().reason() == Reason::Limit; }
Outcome ClientEnd::wait(std::uint64_t number) {
  return is_forked_child() ? Outcome{.reason = NoAnswer::Cancelled} : core_->wait(number, 0);
}
Outcome ClientEnd::wait(std::uint64_t number, std::chrono::nanoseconds limit) {
  return is_forked_child() ? Outcome{.reason = NoAnswer::Cancelled} : core_->wait(number, deadline_after(limit));
}
void ClientEnd::cancel(std::uint64_t number) noexcept {
  if (!is_forked_child()) core_->cancel(number);
}
bool ClientEnd::has_server() const noexcept { return !is_forked_child() && core_->has_server(); }
bool ClientEnd::wait_for_server(std::chrono::nanoseconds timeout) {
  return !is_forked_child() && core_->wait_for_server(deadline_after(timeout));
}
int ClientEnd::fd() { return core_->answers().fd(); }

}  // namespace detail
}  // namespace cardan
