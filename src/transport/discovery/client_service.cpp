// SPDX-License-Identifier: Apache-2.0
// The subscribing side's part of services: attaching to unlisted publications, and asking to be served.
#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "src/transport/discovery/client.hpp"
#include "src/transport/discovery/server.hpp"

namespace cardan::detail {

bool Client::attach_to(SubscriberCore& subscriber, const TopicEntry& entry, const std::string& topic,
                       std::uint64_t tag) {
  if (shunned_.contains(entry.process) || !has_room(subscriber, entry.owner)) return false;
  Connection* const c = connection_to(entry.process, entry.owner);
  if (c == nullptr) return false;
  const bool requested = request(subscriber, entry, *c, topic, tag);
  if (!requested && c->links.empty() && !c->had_stream) hang_up(c->fd());
  return requested;
}

std::uint64_t Client::ask(const Stream& card, handshake::Ask asked, ServiceCaller& caller) {
  asked.id = next_id_++;
  for (auto& [fd, c] : connections_)
    for (const auto& [id, link] : c->links) {
      if (link.stream != card.id) continue;
      asked.serial = link.entry.serial;
      asked.topic = link.subscriber->topic();
      c->asked[asked.id] = &caller;
      send(*c, asked);
      return asked.id;
    }
  const auto local = std::find_if(locals_.begin(), locals_.end(), [&](const Local& l) { return l.stream == card.id; });
  if (local == locals_.end()) return 0;
  for (const auto& [serial, p] : process_.published()) {
    if (p.core.get() != local->publisher || p.desk == nullptr) continue;
    asked.serial = serial;
    asked.topic = p.core->topic();
    const CallerNumber number = process_.next_caller();
    handshake::Served answer{.id = asked.id};
    const std::uint64_t id = asked.id;
    const auto refused =
        p.desk->admit({.number = number,
                       .peer = {.pid = ::getpid(), .uid = ::geteuid(), .gid = ::getegid(), .groups = {}},
                       .name = process_.name(),
                       .is_here = true,
                       .asked = std::move(asked)},
                      answer);
    if (refused) {
      caller.refused(*refused, false);
      return 0;
    }
    local_asks_.push_back({.id = id, .caller = &caller, .desk = p.desk, .number = number});
    caller.served(process_.id(), ::geteuid(), answer);
    return id;
  }
  return 0;
}

void Client::withdraw(const ServiceCaller& caller) {
  for (auto& [fd, c] : connections_)
    std::erase_if(c->asked, [&](const auto& one) {
      if (one.second != &caller) return false;
      send(*c, handshake::Detach{one.first});
      return true;
    });
  std::vector<LocalAsk> mine;
  std::copy_if(local_asks_.begin(), local_asks_.end(), std::back_inserter(mine),
               [&](const LocalAsk& one) { return one.caller == &caller; });
  std::erase_if(local_asks_, [&](const LocalAsk& one) { return one.caller == &caller; });
  for (const LocalAsk& one : mine) one.desk->caller_gone(one.number);
}

void Client::cancel(std::uint64_t id, std::uint64_t sequence) {
  for (auto& [fd, c] : connections_)
    if (c->asked.contains(id)) {
      send(*c, handshake::Cancel{.id = id, .sequence = sequence});
      return;
    }
  for (const LocalAsk& one : local_asks_)
    if (one.id == id) return one.desk->cancelled(one.number, sequence);
}

void Client::declined_local(CallerNumber number, std::uint64_t sequence, const std::string& why) {
  const auto one = std::find_if(local_asks_.begin(), local_asks_.end(),
                                [&](const LocalAsk& asked) { return asked.number == number; });
  if (one != local_asks_.end()) one->caller->declined(sequence, why);
}

void Client::local_service_ended(const ServiceDesk& desk) {
  std::erase_if(local_asks_, [&](const LocalAsk& one) { return one.desk == &desk; });
}

/// Returns false if the peer breaks the handshake. `mine`: the message is about a service.
bool Client::handle_service(Connection& c, const handshake::Message& message, bool& mine) {
  const auto it = c.asked.find(handshake::id_of(message));
  if (it == c.asked.end()) {
    // Answers to what was withdrawn meanwhile.
    mine = std::holds_alternative<handshake::Served>(message) || std::holds_alternative<handshake::Declined>(message);
    return true;
  }
  mine = true;
  ServiceCaller& caller = *it->second;
  if (const auto* served = std::get_if<handshake::Served>(&message)) {
    caller.served(c.process, c.peer.uid, *served);
    return true;
  }
  if (const auto* declined = std::get_if<handshake::Declined>(&message)) {
    caller.declined(declined->sequence, declined->why);
    return true;
  }
  if (const auto* no = std::get_if<handshake::Refused>(&message)) {
    c.asked.erase(it);
    caller.refused(*no, c.foreign);
    return true;
  }
  return false;
}

}  // namespace cardan::detail
