// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nanobind/nanobind.h>

#include <memory>
#include <string>

#include "cardan/any_type.hpp"
#include "cardan/detail/declaring.hpp"
#include "cardan/detail/service_end.hpp"

namespace cardan::python {

/// A service: its name, both types and its contract.
struct ServiceContract {
  std::string service;
  std::shared_ptr<AnyType> question, answer;
  ServiceOptions options;
};

/// Both types as a server and a client need them: what is read stays as it was published, and Content checks it.
[[nodiscard]] detail::ServiceType server_type(const ServiceContract& contract);
[[nodiscard]] detail::ServiceType client_type(const ServiceContract& contract);
/// A `QuestionHandle`, whose message is of `cls`. None: the question is malformed, and was declined. Takes over the
/// reference. With the GIL.
[[nodiscard]] nanobind::object question_of(const ServiceContract& contract, detail::TakenQuestion taken,
                                           nanobind::handle cls);
/// The word for an answer that does not fit its type.
inline constexpr const char* kMalformed = "malformed";
/// The answer, whose reference it takes over, as a message of `cls`. None: it is malformed, and the outcome's text says
/// so. With the GIL.
[[nodiscard]] nanobind::object answer_of(detail::Outcome& outcome, const ServiceContract& contract,
                                         nanobind::handle cls);
/// A loan as a message of `cls`.
[[nodiscard]] nanobind::object loan_of(detail::LoanedSlot slot, const std::shared_ptr<AnyType>& type,
                                       nanobind::handle cls);

/// `ServerHandle`, `QuestionHandle` and `ClientHandle`: both ends of a service.
void bind_service(nanobind::module_& m);

}  // namespace cardan::python
