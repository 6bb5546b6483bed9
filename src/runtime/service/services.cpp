// SPDX-License-Identifier: Apache-2.0
#include "src/runtime/service/services.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "cardan/error.hpp"
#include "src/runtime/service/local_client.hpp"

namespace cardan::detail {
namespace {

/// A worker waits for many topics at once, and cannot spin for one of them.
ServiceOptions for_workers(ServiceOptions options) {
  if (options.waiting.kind == Waiting::Kind::Anticipate) options.waiting = block();
  return options;
}

}  // namespace

void Services::add(const DeclaredService& service) {
  if (service.server == nullptr) return;
  const auto [it, is_new] = servers_.emplace(service.name, service);
  if (!is_new)
    throw Error(ErrorCode::NameTaken,
                fmt::format("service '{}' has two servers in this process: components '{}' and '{}'", service.name,
                            it->second.server->component(), service.server->component()),
                "leave one of them out, or rename its service in the configuration");
}

void Services::remove(const DeclaredService& service) noexcept {
  if (service.client != nullptr) {
    std::erase(clients_, service.client);
    if (service.client->core() != nullptr) service.client->group().remotes().remove(*service.client);
    return;
  }
  if (const auto it = servers_.find(service.name); it != servers_.end() && it->second.server == service.server)
    servers_.erase(it);
  if (service.server->core() != nullptr) service.server->group().remotes().remove(*service.server);
  service.server->clear();
  if (service.server->core() != nullptr) service.server->core()->close();  // the component may keep questions
}

void Services::serve(const DeclaredService& service, const std::string& domain) {
  auto core = std::make_shared<ServerCore>(service.name, service.type.question, service.type.adopt_question,
                                           service.type.answer, for_workers(service.type.options),
                                           ServerOptions{.domain = domain, .holds = service.holds});
  core->open();
  service.server->serve(std::move(core));
  service.server->group().remotes().add(*service.server);
}

std::shared_ptr<ClientCore> Services::ask(const DeclaredService& service, const std::string& domain) {
  auto core =
      std::make_shared<ClientCore>(service.name, service.type.question, service.type.answer, service.type.adopt_answer,
                                   for_workers(service.type.options), ClientOptions{.domain = domain});
  service.client->ask_through(core);
  service.client->group().remotes().add(*service.client);
  return core;
}

void Services::refuse_other_type(const DeclaredService& client) const {
  const auto it = servers_.find(client.name);
  if (it == servers_.end()) return;
  const ServiceType &asked = client.type, &served = it->second.type;
  if (asked.question.hash == served.question.hash && asked.answer.hash == served.answer.hash) return;
  throw Error(ErrorCode::Incompatible,
              fmt::format("service '{}' answers {} with {} in component '{}', but component '{}' asks {} for {}",
                          client.name, served.question.name, served.answer.name, it->second.server->component(),
                          client.client->component(), asked.question.name, asked.answer.name),
              "use one type on both sides, or rename one of the services in the configuration");
}

void Services::ask_here(const DeclaredService& service) {
  refuse_other_type(service);
  service.client->ask_through(
      std::make_shared<LocalClient>(LocalClient::Parts{.service = service.name,
                                                       .question = service.type.question,
                                                       .answer = service.type.answer,
                                                       .options = service.type.options,
                                                       .server = [this, name = service.name]() -> ServiceCallback* {
                                                         const auto it = servers_.find(name);
                                                         return it == servers_.end() ? nullptr : it->second.server;
                                                       },
                                                       .ended = [client = service.client] { client->collect(); }},
                                    clock_));
  clients_.push_back(service.client);
}

std::int64_t Services::next_deadline() const noexcept {
  std::int64_t next = 0;
  for (const ClientCallback* client : clients_)
    if (const std::int64_t due = client->due(); due != 0) next = next == 0 ? due : std::min(next, due);
  return next;
}

void Services::end_overdue() {
  const std::int64_t now = clock_.now();
  for (ClientCallback* client : clients_)
    if (const std::int64_t due = client->due(); due != 0 && due <= now) client->collect();
}

}  // namespace cardan::detail
