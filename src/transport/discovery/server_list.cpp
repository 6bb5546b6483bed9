// SPDX-License-Identifier: Apache-2.0
// The reports of a publishing process about its topics to peers that may see them.
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <utility>

#include "src/transport/discovery/server.hpp"

namespace cardan::detail {
namespace {

constexpr std::size_t kMostOfOneTopic = 40 * 1024;  ///< bytes; a datagram has 64 KiB

}  // namespace

handshake::Publication Server::describe(const Process::Published& p) const {
  const PublisherCore& core = *p.core;
  const TopicOptions& options = core.options();
  const layout::Hot& hot = core.hot();
  PublisherReport r;
  r.topic = core.topic();
  r.type = core.type().name;
  r.layout = fmt::format("{:016x}", core.type().hash);
  r.serial = p.entry.serial;
  r.depth = options.depth;
  r.max_bytes = options.max_bytes;
  r.reliable = options.reliable;
  r.via = core.via();
  r.deadline_ns = options.deadline.count();
  r.slots = hot.committed.load();
  r.area_bytes = core.area().size();
  r.published = core.published();
  r.bytes = hot.bytes.load();
  r.longest_gap_ns = hot.longest_gap_ns.load();
  r.heartbeat_ns = hot.heartbeat_ns.load();
  r.wakes = hot.wakes.load();
  r.prewakes = hot.prewakes.load();
  r.reliable_timeouts = hot.reliable_timeouts.load();
  describe_subscribers(core, r);
  return {.access = options.access, .report = std::move(r)};
}

void Server::describe_subscribers(const PublisherCore& core, PublisherReport& into) {
  std::array<std::uint64_t, 128> all_latencies{};
  const bool each = core.subscribers() <= 16;  // a datagram has 64 KiB
  std::size_t bytes = 0;
  core.for_each_subscriber([&](const Attached& a) {
    SubscriberReport reader{.name = a.name,
                            .pid = a.pid,
                            .uid = a.uid,
                            .reliable = a.reliable,
                            .demoted = a.demoted.load(),
                            .received = a.page->received.load(),
                            .missed = a.page->missed.load(),
                            .bad = a.page->bad.load(),
                            .spin_ns = a.page->spin_ns.load(),
                            .sleeps = a.page->sleeps.load(),
                            .announced = a.announced,
                            .depth = a.depth,
                            .latency = {}};
    for (std::size_t b = 0; b < a.page->latency.size(); ++b) {
      const std::uint32_t count = a.page->latency[b].load(std::memory_order_relaxed);
      all_latencies[b] += count;
      if (count != 0 && each) reader.latency.emplace_back(b, count);
    }
    bytes += handshake::encoded_size(reader);
    if (bytes > kMostOfOneTopic)
      ++into.left_out;
    else
      into.subscribers.push_back(std::move(reader));
  });
  for (std::size_t b = 0; b < all_latencies.size(); ++b)
    if (all_latencies[b] != 0) into.latency.emplace_back(b, all_latencies[b]);
}

void Server::list(Connection& c, const handshake::List& asked) {
  handshake::Topics answer{.topics = {}, .next = 0, .pid = ::getpid(), .name = process_.name()};
  std::size_t bytes = 0;
  for (auto it = process_.published().lower_bound(asked.from); it != process_.published().end(); ++it) {
    const PublisherCore& core = *it->second.core;
    if (core.options().process_private || (!asked.topic.empty() && core.topic() != asked.topic)) continue;
    if (no_access(c, core)) continue;
    handshake::Publication one = describe(it->second);
    const std::size_t size = handshake::encoded_size(one);
    if (bytes + size > socket::kMaxMessage - 1024 && !answer.topics.empty()) {
      answer.next = it->first;  // the rest in the next datagram
      break;
    }
    bytes += size;
    answer.topics.push_back(std::move(one));
  }
  reply(c, answer);
}

}  // namespace cardan::detail
