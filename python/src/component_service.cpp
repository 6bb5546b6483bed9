// SPDX-License-Identifier: Apache-2.0
#include "python/src/component_service.hpp"

#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>

#include <chrono>
#include <utility>

#include "cardan/context.hpp"
#include "python/src/errors.hpp"
#include "python/src/message.hpp"

namespace nb = nanobind;

namespace cardan::python {
namespace {

/// A component's client of a service. Its callbacks get (answer, reason, text).
class ComponentClientHandle {
 public:
  ComponentClientHandle(std::shared_ptr<const Life> life, ServiceContract contract, Held cls,
                        detail::ClientCallback& client)
      : life_(std::move(life)), contract_(std::move(contract)), cls_(std::move(cls)), client_(client) {}

  /// None: no server is attached, or another loan is out.
  nb::object loan(nb::handle cls) {
    detail::LoanedSlot slot = detail::loan_of_client(client());
    if (!slot) return nb::none();
    core_ = slot.core().get();
    return loan_of(std::move(slot), contract_.question, cls);
  }
  std::uint64_t ask(const Message& message, std::int64_t timeout, nb::object callback) {
    if (core_ == nullptr || message.content->publisher() != core_ || message.at != message.content->root())
      throw Error(ErrorCode::InvalidArgument,
                  "this message is not a loan of the client of '" + contract_.service + "', or of its last server",
                  "ask what loan() returned");
    AnyLoan loan = message.content->release();
    return detail::ask(client(), detail::take_out(loan), std::chrono::nanoseconds(timeout),
                       calling(std::move(callback)));
  }
  void fail(nb::object callback) { (void)detail::fail_to_ask(client(), calling(std::move(callback))); }
  void cancel(std::uint64_t number) { detail::cancel_question(client(), number); }
  [[nodiscard]] bool has_server() const { return detail::has_server(client()); }

 private:
  [[nodiscard]] detail::ClientCallback& client() const {
    refuse_fork();
    (void)life_->of();
    return client_;
  }
  [[nodiscard]] detail::AnswerCall calling(nb::object callback) const {
    return [call = held(std::move(callback)), cls = cls_, contract = contract_](detail::Outcome&& outcome) {
      in_python([&] {
        const bool has_answer = outcome.block != nullptr;
        nb::object answer = has_answer ? answer_of(outcome, contract, cls.get()) : nb::none();
        const char* const reason = has_answer && answer.is_none() ? kMalformed : to_string(outcome.reason);
        nb::object result = nb::handle(call.get())(answer, reason, outcome.text);
      });
    };
  }

  std::shared_ptr<const Life> life_;
  ServiceContract contract_;
  Held cls_;
  detail::ClientCallback& client_;
  const void* core_ = nullptr;  ///< what its loans are of
};

}  // namespace

void declare_service(detail::ComponentCore& core, const ServiceContract& contract, Held cls, Held callback,
                     const AnswerOptions& options) {
  detail::declare_service(core, contract.service, server_type(contract), options,
                          [contract, cls = std::move(cls), call = std::move(callback)](detail::TakenQuestion&& taken) {
                            in_python([&] {
                              nb::object question = question_of(contract, std::move(taken), cls.get());
                              if (question.is_none()) return;
                              nb::object result = nb::handle(call.get())(question);
                            });
                          });
}

nb::object declare_client(std::shared_ptr<const Life> life, const ServiceContract& contract, Held cls,
                          const AskOptions& options) {
  detail::ComponentCore& core = detail::core_of(life->of());
  detail::ClientCallback& client = detail::declare_client(core, contract.service, client_type(contract), options);
  return nb::cast(new ComponentClientHandle(std::move(life), contract, std::move(cls), client),
                  nb::rv_policy::take_ownership);
}

void bind_component_service(nb::module_& m) {
  nb::class_<ComponentClientHandle>(m, "ComponentClientHandle")
      .def("loan", &ComponentClientHandle::loan, nb::arg("cls"))
      .def(
          "discard", [](ComponentClientHandle&, const Message& message) { message.content->discard(); },
          nb::arg("message"))
      .def("ask", &ComponentClientHandle::ask, nb::arg("message"), nb::arg("timeout_ns"), nb::arg("callback"))
      .def("fail", &ComponentClientHandle::fail, nb::arg("callback"))
      .def("cancel", &ComponentClientHandle::cancel, nb::arg("number"))
      .def("has_server", &ComponentClientHandle::has_server);
}

}  // namespace cardan::python
