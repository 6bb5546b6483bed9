// SPDX-License-Identifier: Apache-2.0
// Services for C.
#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <utility>

#include "cardan/clock.hpp"
#include "cardan/detail/service_end.hpp"
#include "cardan/stop.hpp"
#include "src/c/handles.hpp"

namespace detail = cardan::detail;
using namespace cardan::c;  // NOLINT(google-build-using-namespace): its own
using cardan::AnyType;
using cardan::Error;
using cardan::ErrorCode;
using cardan::NoAnswer;

struct cardan_server {
  AnyType answer;
  cardan::CdrFramer framer;  ///< of questions
  detail::ServerEnd end;
  std::string service;
};

struct cardan_question {
  AnyType answer;
  std::string service;
  cardan_sample question;
  detail::QuestionEnd end;
  bool is_done = false;
};

struct cardan_client {
  AnyType question;
  cardan::CdrFramer framer;  ///< of answers
  std::string service;
  detail::ClientEnd end;
};

namespace {

/// A service as the options describe it.
struct Contract {
  explicit Contract(const cardan_service_options* given) : Contract(copy_of(given)) {}
  AnyType question, answer;
  cardan_service_options options;

 private:
  explicit Contract(const cardan_service_options& known)
      : question(named(known.type, known.definition)),
        answer(named(known.answer_type, known.answer_definition)),
        options(known) {}
  static AnyType named(const char* type, const char* definition) {
    if (type == nullptr)
      throw Error(ErrorCode::InvalidArgument, "a service without its types", "set `type` and `answer_type`");
    return type_named(type, definition);
  }
};

constexpr std::size_t kMostRead = std::size_t{1} << 30;  ///< of a message of the other side
constexpr std::uint32_t kUsualPending = 4, kUsualHolds = 8;

cardan::Introspection introspection_of(int given) {
  if (given < 0 || given > static_cast<int>(cardan::Introspection::Contents))
    throw Error(ErrorCode::InvalidArgument, "introspection is " + std::to_string(given), "use 0, 1 or 2");
  return static_cast<cardan::Introspection>(given);
}

cardan::ServiceOptions options_of(const cardan_service_options& given, std::size_t max_bytes,
                                  std::size_t max_answer_bytes) {
  return {.max_bytes = max_bytes,
          .max_answer_bytes = max_answer_bytes,
          .pending = given.pending != 0 ? given.pending : kUsualPending,
          .holds = std::max<std::uint32_t>(given.holds, 1),
          .access = access_of(given.access),
          .introspection = introspection_of(given.introspection)};
}

/// Sets the answer, or the reason for a missing one. Returns 0 if neither is known yet.
int hand_over(cardan_client& from, const detail::Outcome& outcome, cardan_sample** answer) {
  if (outcome.reason == NoAnswer::Pending) return CARDAN_NOTHING;
  if (outcome.reason == NoAnswer::Stopped) return CARDAN_STOPPED;
  if (outcome.reason != NoAnswer::None)
    throw Error(ErrorCode::Unavailable,
                "'" + from.service + "': " +
                    (outcome.text.empty() ? std::string("no answer: ") + to_string(outcome.reason) : outcome.text),
                "");
  auto sample = framed(from.framer, outcome.block);
  if (sample == nullptr)
    throw Error(ErrorCode::Incompatible, "the answer of '" + from.service + "' is malformed",
                "its server is hostile or broken: cardan service info names it");
  *answer = sample.release();
  return CARDAN_SAMPLE;
}

std::uint64_t ask(cardan_client& client, const void* cdr, std::size_t size, std::chrono::nanoseconds timeout) {
  const auto refuse = [&](NoAnswer reason) {
    return Error(ErrorCode::Unavailable, "'" + client.service + "': " + detail::text_of(reason), "");
  };
  cardan::AnyLoan loan = detail::untyped(client.end.loan(), client.question.message_type());
  if (!loan) throw refuse(client.end.has_server() ? NoAnswer::Full : NoAnswer::NoServer);
  fill(client.question, loan, cdr, size);
  const detail::AskedQuestion asked = client.end.ask(detail::take_out(loan), timeout);
  if (asked.number == 0) throw refuse(asked.reason);
  return asked.number;
}

void refuse_done(const cardan_question& question) {
  if (question.is_done)
    throw Error(ErrorCode::InvalidArgument, "this question of '" + question.service + "' has been answered or declined",
                "answer each question once");
}

}  // namespace

extern "C" {

cardan_server* cardan_serve(const char* service, const cardan_service_options* given) {
  return guarded<cardan_server*>(nullptr, [&] {
    Contract contract(given);
    const std::string name = text(service);
    // Questions of any size are read, but for events their size must be known.
    const bool has_events = introspection_of(contract.options.introspection) == cardan::Introspection::Contents;
    const std::size_t most_asked = has_events ? contract.question.payload_bytes(contract.options.max_bytes) : kMostRead;
    detail::ServerEnd end(
        name, detail::as_published(contract.question.message_type()), nullptr, contract.answer.message_type(),
        options_of(contract.options, most_asked, contract.answer.payload_bytes(contract.options.max_answer_bytes)),
        {.domain = text(contract.options.domain),
         .holds = contract.options.holds != 0 ? contract.options.holds : kUsualHolds});
    return new cardan_server{std::move(contract.answer), cardan::CdrFramer(std::move(contract.question)),
                             std::move(end), name};
  });
}

int cardan_wait_question(cardan_server* server, int64_t timeout_ns, cardan_question** question) {
  *question = nullptr;
  return guarded<int>(CARDAN_ERROR, [&] {
    detail::TakenQuestion taken = timeout_ns == 0  ? server->end.take()
                                  : timeout_ns < 0 ? server->end.wait()
                                                   : server->end.wait(std::chrono::nanoseconds(timeout_ns));
    if (taken.block == nullptr) return result_of(server->end.reason());
    const std::uint64_t sequence = taken.block->sequence;
    auto sample = framed(server->framer, taken.block);
    if (sample == nullptr) {
      taken.end.decline(sequence, "the question is malformed");
      throw Error(ErrorCode::Incompatible, "a question of '" + server->service + "' is malformed",
                  "its client is hostile or broken: cardan service info names the clients");
    }
    *question = new cardan_question{server->answer, server->service, std::move(*sample), std::move(taken.end)};
    return static_cast<int>(CARDAN_SAMPLE);
  });
}

int cardan_server_fd(cardan_server* server) {
  return guarded<int>(-1, [&] { return server->end.fd(); });
}

void cardan_stop_serving(cardan_server* server) { delete server; }

int cardan_question_frame(const cardan_question* question, cardan_frame* frame) {
  return cardan_sample_frame(&question->question, frame);
}

int cardan_reply(cardan_question* question, const void* cdr, size_t size) {
  return guarded<int>(-1, [&] {
    refuse_done(*question);
    const auto fail = [&](int code, const char* why) {
      last_error() = "'" + question->service + "': " + why;
      return code;
    };
    constexpr const char* kNobody = "nobody waits for the answer any more";
    if (cardan_question_cancelled(question) != 0) return fail(-3, kNobody);
    cardan::AnyLoan loan = detail::untyped(question->end.loan(), question->answer.message_type());
    if (!loan) return fail(-2, "another answer to this client is being filled");
    fill(question->answer, loan, cdr, size);
    if (!question->end.reply(detail::take_out(loan), *detail::block_of(question->question.sample)))
      return fail(-3, kNobody);
    question->is_done = true;
    return 0;
  });
}

int cardan_decline(cardan_question* question, const char* why) {
  return guarded<int>(-1, [&] {
    refuse_done(*question);
    question->end.decline(question->question.sample.sequence(), text(why));
    question->is_done = true;
    return 0;
  });
}

int cardan_question_cancelled(const cardan_question* question) {
  return question->is_done || question->end.cancelled(question->question.sample.sequence()) ? 1 : 0;
}

void cardan_free_question(cardan_question* question) {
  if (question == nullptr) return;
  if (!question->is_done) question->end.decline_dropped(question->question.sample.sequence());
  delete question;
}

cardan_client* cardan_open_client(const char* service, const cardan_service_options* given) {
  return guarded<cardan_client*>(nullptr, [&] {
    Contract contract(given);
    const std::string name = text(service);
    const cardan::ServiceOptions options =
        options_of(contract.options, contract.question.payload_bytes(contract.options.max_bytes), kMostRead);
    cardan::AnyMessageType asked = contract.question.message_type(),
                           answered = detail::as_published(contract.answer.message_type());
    return new cardan_client{std::move(contract.question), cardan::CdrFramer(std::move(contract.answer)), name,
                             detail::ClientEnd(name, std::move(asked), std::move(answered), nullptr, options,
                                               {.domain = text(contract.options.domain)})};
  });
}

uint64_t cardan_ask(cardan_client* client, const void* cdr, size_t size, int64_t timeout_ns) {
  return guarded<std::uint64_t>(0, [&] { return ask(*client, cdr, size, std::chrono::nanoseconds(timeout_ns)); });
}

int cardan_answer(cardan_client* client, uint64_t number, int wait, cardan_sample** answer) {
  *answer = nullptr;
  return guarded<int>(CARDAN_ERROR, [&] {
    return hand_over(*client, wait != 0 ? client->end.wait(number) : client->end.poll(number), answer);
  });
}

void cardan_cancel(cardan_client* client, uint64_t number) { client->end.cancel(number); }

int cardan_call(cardan_client* client, const void* cdr, size_t size, int64_t timeout_ns, cardan_sample** answer) {
  *answer = nullptr;
  return guarded<int>(CARDAN_ERROR, [&] {
    const std::chrono::nanoseconds timeout(std::max<std::int64_t>(timeout_ns, 0));
    const std::int64_t began = cardan::steady_now();
    if (!client->end.has_server()) (void)client->end.wait_for_server(timeout);
    if (cardan::stopping()) return static_cast<int>(CARDAN_STOPPED);
    const std::chrono::nanoseconds left = timeout - std::chrono::nanoseconds(cardan::steady_now() - began);
    const std::uint64_t number = ask(*client, cdr, size, std::max(left, std::chrono::nanoseconds{0}));
    return hand_over(*client, client->end.wait(number), answer);
  });
}

int cardan_client_fd(cardan_client* client) {
  return guarded<int>(-1, [&] { return client->end.fd(); });
}

void cardan_close_client(cardan_client* client) { delete client; }

}  // extern "C"
