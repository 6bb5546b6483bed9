// SPDX-License-Identifier: Apache-2.0
// The publishing side's part of services: which peers are served, and what they learn about their questions.
#include <fmt/format.h>
#include <unistd.h>

#include <utility>

#include "src/transport/discovery/server.hpp"

namespace cardan::detail {
namespace {

constexpr std::size_t kMaxAsked = 64;  ///< services by which one connection is served

}  // namespace

void Server::ask(Connection& c, const handshake::Ask& asked) {
  const auto found = process_.published().find(asked.serial);
  if (found == process_.published().end() || found->second.core->topic() != asked.topic ||
      found->second.desk == nullptr)
    return reply(c,
                 handshake::Refused{.id = asked.id, .code = handshake::Reason::Other, .why = "the service has ended"});
  const std::shared_ptr<PublisherCore> card = found->second.core;
  ServiceDesk* const desk = found->second.desk;
  if (auto no = no_access(c, *card)) return refuse(c, asked.id, std::move(*no));
  if (asked.id == 0 || c.asked.contains(asked.id) || c.attachments.contains(asked.id) || c.asked.size() >= kMaxAsked)
    return refuse(c, asked.id,
                  {.code = handshake::Reason::Limit,
                   .why = "too many or duplicate requests to be served on one connection",
                   .remedy = "use more processes"});
  const CallerNumber number = process_.next_caller();
  handshake::Served answer{.id = asked.id};
  if (auto no = desk->admit({.number = number, .peer = c.peer, .name = c.name, .asked = asked}, answer))
    return refuse(c, asked.id, std::move(*no));
  c.asked[asked.id] = {.desk = desk, .number = number};
  reply(c, answer);
}

void Server::cancel(Connection& c, const handshake::Cancel& asked) {
  if (const auto it = c.asked.find(asked.id); it != c.asked.end())
    it->second.desk->cancelled(it->second.number, asked.sequence);
}

void Server::forget_asked(Connection& c) {
  for (const auto& [id, one] : std::exchange(c.asked, {})) one.desk->caller_gone(one.number);
}

void Server::decline(CallerNumber number, std::uint64_t sequence, const std::string& why) {
  for (auto& [fd, c] : connections_)
    for (const auto& [id, one] : c->asked)
      if (one.number == number) return reply(*c, handshake::Declined{.id = id, .sequence = sequence, .why = why});
}

}  // namespace cardan::detail
