// SPDX-License-Identifier: Apache-2.0
// A client's part of services: what it is told of them, and its questions.
#include <fmt/format.h>

#include <utility>

#include "src/bridge/foxglove/viewer.hpp"

namespace cardan::bridge::foxglove {
namespace {

constexpr std::size_t kMostCallsOfOne = 8;
constexpr std::size_t kServicesOfOneText = 16;  ///< their definitions are long

}  // namespace

void Viewer::advertise(const LocalService& service) {
  if (!service.is_owners || is_ours()) services_.to_advertise.insert(service.id);
}

void Viewer::unadvertise_service(std::uint32_t id) {
  services_.to_advertise.erase(id);
  if (services_.advertised.erase(id) != 0) services_.to_unadvertise.insert(id);
}

void Viewer::call(std::span<const std::byte> bytes) {
  const auto asked = parse_service_call(bytes);
  if (!asked) return tell(Level::Error, "A call of a service is malformed.");
  const auto fail = [&](const std::string& why) { push(service_failure_text(asked->service, asked->number, why)); };
  ServiceCaller* const caller = hub_.services();
  if (caller == nullptr)
    return fail("This server does not let clients call services (\"call_services\" of its rules).");
  if (!services_.advertised.contains(asked->service)) return fail("The service does not exist.");
  if (asked->encoding != "cdr") return fail("Questions are encoded as 'cdr'.");
  if (asked->question.size() > ServiceCaller::kMostQuestionBytes)
    return fail(fmt::format("A question has at most {} bytes.", ServiceCaller::kMostQuestionBytes));
  if (services_.calls >= kMostCallsOfOne)
    return fail(fmt::format("A client waits for the answers to at most {} calls.", kMostCallsOfOne));
  if (!caller->call({.peer = number_,
                     .service = asked->service,
                     .number = asked->number,
                     .question = {asked->question.begin(), asked->question.end()}}))
    return fail("Too many calls of all clients wait for their answers.");
  ++services_.calls;
}

void Viewer::answer(ServiceCaller::Answer&& answer) {
  services_.calls -= services_.calls != 0 ? 1 : 0;
  if (!answer.failure.empty()) {
    push(service_failure_text(answer.service, answer.number, answer.failure));
  } else if (services_.answer_bytes + answer.answer.size() > ServiceCaller::kMostAnswerBytes) {
    push(service_failure_text(answer.service, answer.number, "This client is too slow for the answers."));
  } else {
    services_.answer_bytes += answer.answer.size();
    services_.answers.push_back(std::move(answer));
  }
}

std::vector<std::byte> Viewer::next_answer() {
  const ServiceCaller::Answer answer = std::move(services_.answers.front());
  services_.answers.pop_front();
  services_.answer_bytes -= answer.answer.size();
  return service_answer(answer.service, answer.number, answer.answer);
}

std::string Viewer::next_services_text() {
  if (!services_.to_unadvertise.empty()) return unadvertise_services_text(std::exchange(services_.to_unadvertise, {}));
  std::vector<const LocalService*> some;
  while (!services_.to_advertise.empty() && some.size() < kServicesOfOneText) {
    const std::uint32_t id = services_.to_advertise.extract(services_.to_advertise.begin()).value();
    if (const LocalService* const service = hub_.service(id)) {
      services_.advertised.insert(id);
      some.push_back(service);
    }
  }
  return some.empty() ? std::string() : advertise_services_text(some);
}

}  // namespace cardan::bridge::foxglove
