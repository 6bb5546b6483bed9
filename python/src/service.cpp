// SPDX-License-Identifier: Apache-2.0
#include "python/src/service.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

#include "cardan/any_publisher.hpp"
#include "cardan/clock.hpp"
#include "cardan/detail/forked.hpp"
#include "cardan/detail/service_end.hpp"
#include "cardan/stop.hpp"
#include "python/src/in_use.hpp"
#include "python/src/instance.hpp"
#include "python/src/message.hpp"
#include "python/src/samples.hpp"
#include "python/src/waits.hpp"

namespace nb = nanobind;

namespace cardan::python {
namespace {

using detail::ClientEnd;
using detail::ServerEnd;

/// One question that a server has taken. Dropped without an answer, it is declined.
class QuestionHandle {
 public:
  QuestionHandle(const ServiceContract& contract, detail::TakenQuestion taken, nb::object message)
      : service_(contract.service),
        answer_(contract.answer),
        block_(taken.block),
        end_(std::move(taken.end)),
        message_(std::move(message)) {}
  QuestionHandle(const QuestionHandle&) = delete;
  QuestionHandle& operator=(const QuestionHandle&) = delete;
  ~QuestionHandle() {
    if (block_ == nullptr || is_forked_child()) return;
    end_.decline_dropped(block_->sequence);
    detail::drop(block_);
  }

  [[nodiscard]] nb::object message() const { return message_; }
  nb::object loan(nb::handle cls) {
    refuse_fork();
    const InUse inside(busy_, service_);
    require_open();
    detail::LoanedSlot slot = end_.loan();
    if (!slot)
      throw Error(ErrorCode::Limit,
                  "no slot for an answer of '" + service_ +
                      "' is free: as many are filled as `answers` allows, or the "
                      "client has ended",
                  "reply or discard the loan that is out; question.cancelled tells of the client");
    core_ = slot.core().get();
    return loan_of(std::move(slot), answer_, cls);
  }
  bool reply(const Message& message) {
    refuse_fork();
    const InUse inside(busy_, service_);
    require_open();
    if (core_ == nullptr || message.content->publisher() != core_ || message.at != message.content->root())
      throw Error(ErrorCode::InvalidArgument, "this message is not a loan of this question of '" + service_ + "'",
                  "reply with what loan() returned");
    AnyLoan loan = message.content->release();
    const detail::Filled filled = detail::take_out(loan);
    bool replied = false;
    {
      const OthersRun others_run;
      replied = end_.reply(filled, *block_);
    }
    if (replied) close();
    return replied;
  }
  void decline(const std::string& why) {
    refuse_fork();
    const InUse inside(busy_, service_);
    require_open();
    end_.decline(block_->sequence, why);
    close();
  }
  [[nodiscard]] bool cancelled() const { return block_ == nullptr || end_.cancelled(block_->sequence); }
  [[nodiscard]] bool done() const noexcept { return block_ == nullptr; }

 private:
  void require_open() const {
    if (block_ == nullptr)
      throw Error(ErrorCode::InvalidArgument, "this question of '" + service_ + "' has been answered or declined",
                  "answer each question once");
  }
  void close() noexcept {
    detail::drop(std::exchange(block_, nullptr));
    end_ = {};
  }

  std::string service_;
  std::shared_ptr<AnyType> answer_;
  detail::SampleBlock* block_;
  detail::QuestionEnd end_;
  nb::object message_;
  const void* core_ = nullptr;  ///< what its loans are of
  std::atomic<bool> busy_{false};
};

}  // namespace

detail::ServiceType server_type(const ServiceContract& contract) {
  return {.question = *payload_of(*contract.question, true).shared,
          .answer = contract.answer->message_type(),
          .options = contract.options};
}

detail::ServiceType client_type(const ServiceContract& contract) {
  return {.question = contract.question->message_type(),
          .answer = *payload_of(*contract.answer, true).shared,
          .options = contract.options};
}

nb::object question_of(const ServiceContract& contract, detail::TakenQuestion taken, nb::handle cls) {
  taken.block->references.fetch_add(1, std::memory_order_relaxed);  // one for the message, one for the question
  std::shared_ptr<Content> content = Content::of_block(contract.question, taken.block);
  if (content == nullptr) {
    taken.end.decline(taken.block->sequence, "the question is malformed");
    detail::drop(taken.block);
    return nb::none();
  }
  std::byte* const root = content->root();
  nb::object message = make_message(cls, std::move(content), contract.question->layout(), root);
  return nb::cast(new QuestionHandle(contract, std::move(taken), std::move(message)), nb::rv_policy::take_ownership);
}

nb::object answer_of(detail::Outcome& outcome, const ServiceContract& contract, nb::handle cls) {
  std::shared_ptr<Content> content = Content::of_block(contract.answer, std::exchange(outcome.block, nullptr));
  if (content == nullptr) {
    outcome.text = "the answer of '" + contract.service + "' is malformed — its server is hostile or broken";
    return nb::none();
  }
  std::byte* const root = content->root();
  return make_message(cls, std::move(content), contract.answer->layout(), root);
}

nb::object loan_of(detail::LoanedSlot slot, const std::shared_ptr<AnyType>& type, nb::handle cls) {
  std::shared_ptr<const void> memory = slot.core();
  auto content = Content::of_loan(type, detail::untyped(std::move(slot), type->message_type()), std::move(memory));
  std::byte* const root = content->root();
  return make_message(cls, std::move(content), type->layout(), root);
}

namespace {

class ServerHandle {
 public:
  ServerHandle(std::string service, std::shared_ptr<AnyType> question, std::shared_ptr<AnyType> answer, nb::handle cls,
               const ServiceOptions& options, std::string domain, std::uint32_t holds)
      : contract_{std::move(service), std::move(question), std::move(answer), options}, cls_(nb::borrow(cls)) {
    const OthersRun others_run;
    detail::ServiceType type = server_type(contract_);
    end_ = std::make_shared<ServerEnd>(contract_.service, std::move(type.question), nullptr, std::move(type.answer),
                                       contract_.options, ServerOptions{.domain = std::move(domain), .holds = holds});
  }

  nb::object take() {
    refuse_fork();
    const std::shared_ptr<ServerEnd> end = shared_end();
    const InUse inside(busy_, contract_.service);
    return handed_over(*end, [&] { return end->take(); });
  }
  /// None: reason() says why.
  nb::object wait(std::int64_t timeout) {
    refuse_fork();
    const std::shared_ptr<ServerEnd> end = shared_end();
    const InUse inside(busy_, contract_.service);
    const InWait waiting;
    const std::int64_t until = deadline_of(timeout);
    for (;;) {
      nb::object question = handed_over(*end, [&] {
        const std::int64_t left = std::clamp<std::int64_t>(until - steady_now(), 0, kSlice);
        const OthersRun others_run;
        return end->wait(std::chrono::nanoseconds(left));
      });
      if (!question.is_none()) return question;
      look_at_signals();
      if ((reason_ != Reason::TimedOut && reason_ != Reason::None) || steady_now() >= until) return nb::none();
      if (end_ == nullptr || waits.ended) return nb::none();  // closed by another thread
    }
  }
  [[nodiscard]] const char* reason() const noexcept { return word_of(reason_); }
  int fileno() { return shared_end()->fd(); }
  [[nodiscard]] std::size_t clients() const { return shared_end()->clients(); }
  [[nodiscard]] bool closed() const noexcept { return end_ == nullptr; }
  void close() {
    std::shared_ptr<ServerEnd> last = std::move(end_);
    end_ = nullptr;
    const OthersRun others_run;
    last.reset();
  }

 private:
  [[nodiscard]] std::shared_ptr<ServerEnd> shared_end() const {
    refuse_fork();
    if (end_ == nullptr)
      throw Error(ErrorCode::InvalidArgument, "the server of '" + contract_.service + "' is closed", "make a new one");
    return end_;
  }
  /// None also after malformed questions: a client could send them without end. reason() is "none" then.
  template <class Take>
  nb::object handed_over(ServerEnd& end, Take take) {
    constexpr int kMostMalformed = 64;
    for (int i = 0; i < kMostMalformed; ++i) {
      detail::TakenQuestion taken = take();
      reason_ = taken.block != nullptr ? Reason::None : end.reason();
      if (taken.block == nullptr) break;
      nb::object question = question_of(contract_, std::move(taken), cls_);
      if (!question.is_none()) return question;
    }
    return nb::none();
  }

  ServiceContract contract_;
  nb::object cls_;
  std::shared_ptr<ServerEnd> end_;
  std::atomic<bool> busy_{false};
  Reason reason_ = Reason::None;
};

class ClientHandle {
 public:
  ClientHandle(std::string service, std::shared_ptr<AnyType> question, std::shared_ptr<AnyType> answer, nb::handle cls,
               const ServiceOptions& options, std::string domain)
      : contract_{std::move(service), std::move(question), std::move(answer), options}, cls_(nb::borrow(cls)) {
    const OthersRun others_run;
    detail::ServiceType type = client_type(contract_);
    end_ = std::make_shared<ClientEnd>(contract_.service, std::move(type.question), std::move(type.answer), nullptr,
                                       contract_.options, ClientOptions{.domain = std::move(domain)});
  }

  /// None: no server is attached, or another loan is out.
  nb::object loan(nb::handle cls) {
    const std::shared_ptr<ClientEnd> end = shared_end();
    const InUse inside(busy_, contract_.service);
    detail::LoanedSlot slot = end->loan();
    if (!slot) return nb::none();
    core_ = slot.core().get();
    return loan_of(std::move(slot), contract_.question, cls);
  }
  /// Number 0: it was not asked, for the reason.
  std::tuple<std::uint64_t, const char*> ask(const Message& message, std::int64_t timeout) {
    const std::shared_ptr<ClientEnd> end = shared_end();
    const InUse inside(busy_, contract_.service);
    if (core_ == nullptr || message.content->publisher() != core_ || message.at != message.content->root())
      throw Error(ErrorCode::InvalidArgument,
                  "this message is not a loan of the client of '" + contract_.service + "', or of its last server",
                  "ask what loan() returned");
    AnyLoan loan = message.content->release();
    const detail::AskedQuestion asked = end->ask(detail::take_out(loan), std::chrono::nanoseconds(timeout));
    return {asked.number, to_string(asked.reason)};
  }
  bool receive() {
    const std::shared_ptr<ClientEnd> end = shared_end();
    const InUse inside(busy_, contract_.service);
    return end->receive();
  }
  /// Of what was received: (answer or None, reason, text).
  std::tuple<nb::object, const char*, std::string> look(std::uint64_t number) {
    const std::shared_ptr<ClientEnd> end = shared_end();
    const InUse inside(busy_, contract_.service);
    return seen(end->look(number));
  }
  [[nodiscard]] bool is_full() const { return shared_end()->is_full(); }
  std::tuple<nb::object, const char*, std::string> wait(std::uint64_t number) {
    const std::shared_ptr<ClientEnd> end = shared_end();
    const InUse inside(busy_, contract_.service);
    const InWait waiting;
    for (;;) {
      detail::Outcome outcome;
      {
        const OthersRun others_run;
        outcome = end->wait(number, std::chrono::nanoseconds(kSlice));
      }
      if (outcome.reason != NoAnswer::Pending) return seen(std::move(outcome));
      try {
        look_at_signals();
      } catch (...) {
        end->cancel(number);
        throw;
      }
      if (end_ == nullptr || waits.ended) return {nb::none(), to_string(NoAnswer::Cancelled), {}};
    }
  }
  void cancel(std::uint64_t number) {
    if (end_ != nullptr && !is_forked_child()) end_->cancel(number);
  }
  [[nodiscard]] bool has_server() const { return shared_end()->has_server(); }
  bool wait_for_server(std::int64_t timeout) {
    const std::shared_ptr<ClientEnd> end = shared_end();
    const InWait waiting;
    const std::int64_t until = deadline_of(timeout);
    for (;;) {
      bool found = false;
      {
        const std::int64_t left = std::clamp<std::int64_t>(until - steady_now(), 0, kSlice);
        const OthersRun others_run;
        found = end->wait_for_server(std::chrono::nanoseconds(left));
      }
      if (found) return true;
      look_at_signals();
      if (steady_now() >= until || stopping() || end_ == nullptr || waits.ended) return false;
    }
  }
  int fileno() { return shared_end()->fd(); }
  [[nodiscard]] bool closed() const noexcept { return end_ == nullptr; }
  void close() {
    std::shared_ptr<ClientEnd> last = std::move(end_);
    end_ = nullptr;
    const OthersRun others_run;
    last.reset();
  }

 private:
  [[nodiscard]] std::shared_ptr<ClientEnd> shared_end() const {
    refuse_fork();
    if (end_ == nullptr)
      throw Error(ErrorCode::InvalidArgument, "the client of '" + contract_.service + "' is closed", "make a new one");
    return end_;
  }
  std::tuple<nb::object, const char*, std::string> seen(detail::Outcome outcome) {
    nb::object answer = nb::none();
    if (outcome.block != nullptr) answer = answer_of(outcome, contract_, cls_);
    return {std::move(answer),
            answer.is_none() && outcome.reason == NoAnswer::None ? kMalformed : to_string(outcome.reason),
            std::move(outcome.text)};
  }

  ServiceContract contract_;
  nb::object cls_;
  std::shared_ptr<ClientEnd> end_;
  std::atomic<bool> busy_{false};
  const void* core_ = nullptr;
};

}  // namespace

void bind_service(nb::module_& m) {
  m.def(
      "text_of_no_answer",
      [](const std::string& word) {
        for (int i = 0; i <= static_cast<int>(NoAnswer::Stopped); ++i)
          if (const auto reason = static_cast<NoAnswer>(i); word == to_string(reason)) return detail::text_of(reason);
        return std::string();
      },
      nb::arg("reason"));
  using Options = ServiceOptions;
  nb::class_<Options>(m, "ServiceOptions")
      .def(nb::init<>())
      .def_rw("max_bytes", &Options::max_bytes)
      .def_rw("max_answer_bytes", &Options::max_answer_bytes)
      .def_rw("pending", &Options::pending)
      .def_rw("answers", &Options::answers)
      .def_rw("holds", &Options::holds)
      .def("set_access", [](Options& self, int access) { self.access = enumerator(access, Access::Policy, "access"); })
      .def("set_introspection",
           [](Options& self, int word) {
             self.introspection = enumerator(word, Introspection::Contents, "introspection");
           })
      .def("set_waiting", [](Options& self, int kind, std::int64_t limit) {
        self.waiting = {enumerator(kind, Waiting::Kind::Follow, "waiting"), std::chrono::nanoseconds(limit)};
      });
  nb::class_<QuestionHandle>(m, "QuestionHandle")
      .def("message", &QuestionHandle::message)
      .def("loan", &QuestionHandle::loan, nb::arg("cls"))
      .def(
          "discard", [](QuestionHandle&, const Message& message) { message.content->discard(); }, nb::arg("message"))
      .def("reply", &QuestionHandle::reply, nb::arg("message"))
      .def("decline", &QuestionHandle::decline, nb::arg("why"))
      .def("cancelled", &QuestionHandle::cancelled)
      .def("done", &QuestionHandle::done);
  nb::class_<ServerHandle>(m, "ServerHandle")
      .def(nb::init<std::string, std::shared_ptr<AnyType>, std::shared_ptr<AnyType>, nb::handle, const Options&,
                    std::string, std::uint32_t>(),
           nb::arg("service"), nb::arg("question"), nb::arg("answer"), nb::arg("cls"), nb::arg("options"),
           nb::arg("domain"), nb::arg("holds"))
      .def("take", &ServerHandle::take)
      .def("wait", &ServerHandle::wait, nb::arg("timeout_ns"))
      .def("reason", &ServerHandle::reason)
      .def("fileno", &ServerHandle::fileno)
      .def("clients", &ServerHandle::clients)
      .def("closed", &ServerHandle::closed)
      .def("close", &ServerHandle::close);
  nb::class_<ClientHandle>(m, "ClientHandle")
      .def(nb::init<std::string, std::shared_ptr<AnyType>, std::shared_ptr<AnyType>, nb::handle, const Options&,
                    std::string>(),
           nb::arg("service"), nb::arg("question"), nb::arg("answer"), nb::arg("cls"), nb::arg("options"),
           nb::arg("domain"))
      .def("loan", &ClientHandle::loan, nb::arg("cls"))
      .def(
          "discard", [](ClientHandle&, const Message& message) { message.content->discard(); }, nb::arg("message"))
      .def("ask", &ClientHandle::ask, nb::arg("message"), nb::arg("timeout_ns"))
      .def("receive", &ClientHandle::receive)
      .def("look", &ClientHandle::look, nb::arg("number"))
      .def("is_full", &ClientHandle::is_full)
      .def("wait", &ClientHandle::wait, nb::arg("number"))
      .def("cancel", &ClientHandle::cancel, nb::arg("number"))
      .def("has_server", &ClientHandle::has_server)
      .def("wait_for_server", &ClientHandle::wait_for_server, nb::arg("timeout_ns"))
      .def("fileno", &ClientHandle::fileno)
      .def("closed", &ClientHandle::closed)
      .def("close", &ClientHandle::close);
}

}  // namespace cardan::python
