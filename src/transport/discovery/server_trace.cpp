// SPDX-License-Identifier: Apache-2.0
// The answer of a process to an observer that traces it.
#include <fmt/format.h>
#include <unistd.h>

#include <utility>

#include "cardan/error.hpp"
#include "src/transport/discovery/server.hpp"
#include "src/transport/endpoint/trace_names.hpp"

namespace cardan::detail {
namespace {

constexpr std::size_t kMostOfNames = 40 * 1024;  ///< bytes in one answer; a datagram has 64 KiB
constexpr std::size_t kNamesAtOnce = 1024;

}  // namespace

void Server::trace(Connection& c, const handshake::Trace& asked) {
  if (c.foreign)
    return refuse(c, asked.id,
                  {.code = handshake::Reason::Access,
                   .why = fmt::format("{} (pid {}) belongs to user {}: only that user and root may trace it",
                                      process_.name(), ::getpid(), ::geteuid()),
                   .remedy = "run cardan trace as that user, or as root"});
  handshake::Traced answer{.id = asked.id};
  std::vector<int> area;
  try {
    if (c.tracing) {
      c.tracing->grow();
    } else {
      c.tracing.emplace();
      area = {c.tracing->read_only_fd()};
    }
  } catch (const Error& e) {
    return refuse(c, asked.id,
                  {.code = e.code() == ErrorCode::NoMemory ? handshake::Reason::Memory : handshake::Reason::Limit,
                   .why = fmt::format("{} (pid {}) cannot be traced: {}", process_.name(), ::getpid(), e.cause()),
                   .remedy = e.remedy()});
  }
  answer.bytes = c.tracing->bytes();
  for (trace::RingOwner& owner : trace::ring_owners())
    answer.threads.push_back(
        {.ring = owner.ring, .owner = owner.owner, .thread = owner.thread, .name = std::move(owner.name)});
  answer.next = asked.from;
  std::size_t bytes = 0;
  for (trace::Named& named : trace::names_from(asked.from, kNamesAtOnce)) {
    handshake::TracedName name{
        .number = named.number, .stream = named.stream, .of = named.id, .text = std::move(named.text)};
    bytes += handshake::encoded_size(name);
    if (bytes > kMostOfNames) break;  // the rest in the next answer
    answer.next = name.number + 1;
    answer.names.push_back(std::move(name));
  }
  reply(c, answer, area);
}

}  // namespace cardan::detail
