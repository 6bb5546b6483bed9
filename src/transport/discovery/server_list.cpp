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

using Counters = std::array<Atomic<std::uint32_t>, 128>;
using Sums = std::array<std::uint64_t, 128>;

/// The buckets that are not empty, which are also added to the sums of all subscribers.
LatencyHistogram histogram_of(const Counters& counters, Sums& sums) {
  LatencyHistogram found;
  for (std::uint32_t b = 0; b < counters.size(); ++b) {
    const std::uint32_t count = counters[b].load(std::memory_order_relaxed);
    sums[b] += count;
    if (count != 0) found.emplace_back(b, count);
  }
  return found;
}

LatencyHistogram histogram_of(const Sums& sums) {
  LatencyHistogram found;
  for (std::uint32_t b = 0; b < sums.size(); ++b)
    if (sums[b] != 0) found.emplace_back(b, sums[b]);
  return found;
}

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
  if (p.desk != nullptr) r.service = p.desk->report();
  describe_subscribers(core, r);
  return {.access = options.access, .report = std::move(r)};
}

void Server::describe_subscribers(const PublisherCore& core, PublisherReport& into) {
  Sums latencies{}, ages{};
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
                            .latency = histogram_of(a.page->latency, latencies),
                            .age = histogram_of(a.page->age, ages),
                            .greatest_age_ns = a.page->greatest_age_ns.load(),
                            .unknown_ages = a.page->unknown_origins.load()};
    if (!each) {
      reader.latency.clear();
      reader.age.clear();
    }
    bytes += handshake::encoded_size(reader);
    if (bytes > kMostOfOneTopic)
      ++into.left_out;
    else
      into.subscribers.push_back(std::move(reader));
  });
  into.latency = histogram_of(latencies);
  into.age = histogram_of(ages);
}

void Server::list(Connection& c, const handshake::List& asked) {
  handshake::Topics answer{.topics = {}, .next = 0, .pid = ::getpid(), .name = process_.name()};
  std::size_t bytes = 0;
  for (auto it = process_.published().lower_bound(asked.from); it != process_.published().end(); ++it) {
    const PublisherCore& core = *it->second.core;
    const bool is_card = it->second.desk != nullptr;
    const bool wanted = asked.topic.empty()           ? !is_card
                        : asked.topic == kAllServices ? is_card
                                                      : asked.topic == kEverything || core.topic() == asked.topic;
    if (!wanted || !it->second.listed || core.options().process_private) continue;
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
