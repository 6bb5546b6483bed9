// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>

#include "cardan/detail/service_end.hpp"
#include "cardan/message.hpp"
#include "cardan/publisher.hpp"
#include "cardan/sample.hpp"
#include "cardan/service_options.hpp"
#include "cardan/subscriber.hpp"

namespace cardan {

class Context;

/// A service: questions of type Q, each with one answer of type A. Both sides include the same one.
/// `inline constexpr cardan::Service<Region, Map> kMap{"/map/region", {.max_answer_bytes = 200 << 20, .pending = 1}};`
template <Message Q, Message A>
struct Service {
  using Question = Q;
  using Answer = A;
  const char* name;  ///< as a topic's name; a topic may have the same
  ServiceOptions options{};
};

/// A question that a server has taken. It must be answered once, or declined; one that is dropped is declined. It may
/// be kept and answered later, in any order. Thread safety: one thread at a time, any thread. Only reply() and
/// decline() may wait, for another answer to the same client that is being published.
template <Message Q, Message A>
class Question {
 public:
  Question() noexcept = default;

  explicit operator bool() const noexcept { return static_cast<bool>(sample_); }
  const Q* operator->() const noexcept { return sample_.get(); }
  const Q& operator*() const noexcept { return *sample_; }
  [[nodiscard]] const Sample<Q>& sample() const noexcept { return sample_; }

  /// Returns a slot for the answer with a freshly constructed A. Empty: as many answers to this client are being filled
  /// as `answers` allows, the client has gone, or the question was answered or declined.
  [[nodiscard]] Loan<A> loan() noexcept { return sample_ ? detail::typed<A>(end_.loan()) : Loan<A>(); }
  /// Hands the answer to the client that asked, and to nobody else. Returns false if the client has gone or has
  /// cancelled the question, or has not taken its earlier answers; or if the loan is empty or of another question.
  bool reply(Loan<A>&& loan) noexcept {
    if (!loan) return false;
    const bool published = sample_ && end_.reply(detail::take_out(loan), *detail::block_of(sample_));
    if (published) sample_.reset();
    return published;
  }
  /// Hands over a copy of a plain struct.
  bool reply(const A& answer) noexcept
    requires std::is_trivially_copyable_v<A>
  {
    Loan<A> copy = loan();
    if (!copy) return false;
    *copy = answer;
    return reply(std::move(copy));
  }
  /// The client gets no answer, but the reason. Allocates.
  void decline(const std::string& why) {
    if (sample_) end_.decline(sample_.sequence(), why);
    sample_.reset();
  }
  /// Nobody waits for the answer any more: the client has cancelled it, or has gone. One load.
  [[nodiscard]] bool cancelled() const noexcept { return !sample_ || end_.cancelled(sample_.sequence()); }

 private:
  template <class Service>
  friend class Server;
  friend class Context;
  Question(Sample<Q> sample, detail::QuestionEnd end) noexcept : sample_(std::move(sample)), end_(std::move(end)) {}

  Sample<Q> sample_;
  detail::QuestionEnd end_;

 public:
  Question(Question&&) noexcept = default;
  Question& operator=(Question&& other) noexcept {
    if (this == &other) return *this;
    decline_dropped();
    sample_ = std::move(other.sample_);
    end_ = std::move(other.end_);
    return *this;
  }
  Question(const Question&) = delete;
  Question& operator=(const Question&) = delete;
  ~Question() { decline_dropped(); }

 private:
  void decline_dropped() noexcept {
    if (sample_) end_.decline_dropped(sample_.sequence());
  }
};

/// Answers the questions of a service. While it exists, the constructor of another one throws Error (NameTaken).
/// `cardan::Server server{kMap}; while (auto question = server.wait()) question.reply(answer_to(*question));`
/// A question is taken at most once. One that is overdue or cancelled is not delivered.
/// Thread safety: one thread at a time calls take() and wait(). take() takes a mutex for a moment; wait() blocks.
template <class S>
class Server {
 public:
  using Q = typename S::Question;
  using A = typename S::Answer;

  /// Throws Error: NameTaken, NoMemory, Limit, Unavailable, InvalidArgument, Forked. Set-up; blocks for about 1 ms.
  explicit Server(const S& service, const ServerOptions& options = {})
      : end_(service.name, detail::message_type_of<Q>(), detail::adopt_function_of<Q>(), detail::message_type_of<A>(),
             service.options, options) {}

  /// Returns the oldest question of all clients. If it is empty, reason() says why: None, no question is there; Limit,
  /// the program keeps `holds` questions.
  [[nodiscard]] Question<Q, A> take() noexcept { return taken(end_.take()); }
  /// Waits for it. If it is empty, reason() says why. Blocks.
  [[nodiscard]] Question<Q, A> wait() noexcept { return taken(end_.wait()); }
  [[nodiscard]] Question<Q, A> wait(std::chrono::nanoseconds timeout) noexcept { return taken(end_.wait(timeout)); }
  [[nodiscard]] Reason reason() const noexcept { return end_.reason(); }
  /// As Subscriber::fd().
  [[nodiscard]] int fd() { return end_.fd(); }
  /// Clients that are served now. Any thread; takes a mutex.
  [[nodiscard]] std::size_t clients() const { return end_.clients(); }

 private:
  Question<Q, A> taken(detail::TakenQuestion question) noexcept {
    if (question.block == nullptr) return {};
    return {detail::sample_of<Q>(question.block), std::move(question.end)};
  }
  detail::ServerEnd end_;
};

template <Message Q, Message A>
Server(const Service<Q, A>&) -> Server<Service<Q, A>>;
template <Message Q, Message A>
Server(const Service<Q, A>&, ServerOptions) -> Server<Service<Q, A>>;

/// The outcome of a question: its answer, or the reason for a missing one.
template <Message A>
class Answer {
 public:
  Answer() noexcept = default;
  Answer(Sample<A> sample, NoAnswer reason, std::string text) noexcept
      : sample_(std::move(sample)), reason_(reason), text_(std::move(text)) {}
  explicit operator bool() const noexcept { return static_cast<bool>(sample_); }
  const A* operator->() const noexcept { return sample_.get(); }
  const A& operator*() const noexcept { return *sample_; }
  [[nodiscard]] const Sample<A>& sample() const noexcept { return sample_; }
  [[nodiscard]] NoAnswer reason() const noexcept { return reason_; }
  /// For people: what happened, the server, and the remedy. Empty if there is an answer.
  [[nodiscard]] const std::string& text() const noexcept { return text_; }

 private:
  Sample<A> sample_;
  NoAnswer reason_ = NoAnswer::Pending;
  std::string text_;
};

/// A question that was asked. Dropping it cancels the question. It must not outlive its client.
template <Message A>
class Ticket {
 public:
  Ticket() noexcept = default;
  Ticket(Ticket&& other) noexcept
      : end_(std::exchange(other.end_, nullptr)), number_(std::exchange(other.number_, 0)), failed_(other.failed_) {}
  Ticket& operator=(Ticket&& other) noexcept {
    if (this == &other) return *this;
    cancel();
    end_ = std::exchange(other.end_, nullptr);
    number_ = std::exchange(other.number_, 0);
    failed_ = other.failed_;
    return *this;
  }
  Ticket(const Ticket&) = delete;
  Ticket& operator=(const Ticket&) = delete;
  ~Ticket() { cancel(); }

  /// It was asked, and is not done.
  explicit operator bool() const noexcept { return end_ != nullptr; }
  /// Returns the outcome, after which the ticket is done. Before it is known, reason() is Pending.
  [[nodiscard]] Answer<A> poll() { return end_ == nullptr ? failed() : outcome(end_->poll(number_)); }
  /// Waits for it, at most until the question's time-out. Blocks.
  [[nodiscard]] Answer<A> wait() { return end_ == nullptr ? failed() : outcome(end_->wait(number_)); }
  void cancel() noexcept {
    if (end_ != nullptr) std::exchange(end_, nullptr)->cancel(number_);
  }

 private:
  template <class S>
  friend class Client;
  Ticket(detail::ClientEnd& end, detail::AskedQuestion asked) noexcept
      : end_(asked.number == 0 ? nullptr : &end), number_(asked.number), failed_(asked.reason) {}

  Answer<A> outcome(detail::Outcome&& outcome) {
    if (outcome.reason != NoAnswer::Pending) end_ = nullptr;
    return {detail::sample_of<A>(outcome.block), outcome.reason, std::move(outcome.text)};
  }
  Answer<A> failed() const { return {{}, failed_, detail::text_of(failed_)}; }

  detail::ClientEnd* end_ = nullptr;
  std::uint64_t number_ = 0;
  NoAnswer failed_ = NoAnswer::Cancelled;
};

/// Asks the questions of a service. It finds the server, also one that starts later or again.
/// `cardan::Client client{kMap}; if (auto answer = client.call({.x = 1}, 100ms)) use(*answer); else
/// log(answer.text());` Thread safety: one thread at a time for it and its tickets; two threads need two clients.
template <class S>
class Client {
 public:
  using Q = typename S::Question;
  using A = typename S::Answer;

  /// Waits until the server that is there serves it. Throws Error: Incompatible, Refused, NoMemory, Limit, Unavailable,
  /// InvalidArgument, Forked. Set-up; blocks for some milliseconds, at most 1 s when the server does not answer.
  explicit Client(const S& service, const ClientOptions& options = {})
      : end_(service.name, detail::message_type_of<Q>(), detail::message_type_of<A>(), detail::adopt_function_of<A>(),
             service.options, options) {}

  /// Returns a slot for a question with a freshly constructed Q. The loan is empty if no server is attached or another
  /// loan is out.
  [[nodiscard]] Loan<Q> loan() noexcept { return detail::typed<Q>(end_.loan()); }
  /// Asks. The time-out travels with the question: an overdue one is not delivered. Does not block.
  [[nodiscard]] Ticket<A> ask(Loan<Q>&& question, std::chrono::nanoseconds timeout) noexcept {
    if (!question) return {end_, {.number = 0, .reason = end_.has_server() ? NoAnswer::Full : NoAnswer::NoServer}};
    return {end_, end_.ask(detail::take_out(question), timeout)};
  }
  [[nodiscard]] Ticket<A> ask(const Q& question, std::chrono::nanoseconds timeout) noexcept
    requires std::is_trivially_copyable_v<Q>
  {
    Loan<Q> copy = loan();
    if (copy) *copy = question;
    return ask(std::move(copy), timeout);
  }
  /// Asks, and waits for the answer. Blocks.
  [[nodiscard]] Answer<A> call(Loan<Q>&& question, std::chrono::nanoseconds timeout) {
    return ask(std::move(question), timeout).wait();
  }
  /// The same with a copy of a plain struct. If no server is attached yet, the call first waits for one.
  [[nodiscard]] Answer<A> call(const Q& question, std::chrono::nanoseconds timeout)
    requires std::is_trivially_copyable_v<Q>
  {
    const auto until = std::chrono::steady_clock::now() + timeout;
    if (!end_.has_server() && !end_.wait_for_server(timeout)) return ask(Loan<Q>{}, timeout).wait();
    return ask(question, until - std::chrono::steady_clock::now()).wait();
  }

  [[nodiscard]] bool has_server() const noexcept { return end_.has_server(); }
  /// Blocks. Returns false if none is there in time, or a stop was requested.
  bool wait_for_server(std::chrono::nanoseconds timeout) { return end_.wait_for_server(timeout); }
  /// Returns a descriptor, as Subscriber::fd(). It is readable when the outcome of a question is known: poll() the
  /// tickets then.
  [[nodiscard]] int fd() { return end_.fd(); }

 private:
  detail::ClientEnd end_;
};

template <Message Q, Message A>
Client(const Service<Q, A>&) -> Client<Service<Q, A>>;
template <Message Q, Message A>
Client(const Service<Q, A>&, ClientOptions) -> Client<Service<Q, A>>;

}  // namespace cardan
