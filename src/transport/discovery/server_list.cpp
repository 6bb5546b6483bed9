// SPDX-License-Identifier: Apache-2.0
// The reports of a publishing process about its topics to peers that may see them.
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <nlohmann/json.hpp>

#include "cardan/error.hpp"
#include "src/transport/discovery/access.hpp"
#include "src/transport/discovery/server.hpp"
#include "src/transport/discovery/wire.hpp"

namespace cardan::detail {
namespace {

constexpr std::size_t kMostOfOneTopic = 40 * 1024;  ///< bytes; a datagram has 64 KiB

}  // namespace

using nlohmann::json;

json Server::describe(const Process::Published& p) const {
  const PublisherCore& core = *p.core;
  const layout::Hot& hot = core.hot();
  json readers = json::array();
  json pooled = json::array();
  std::array<std::uint64_t, 128> all_latencies{};
  const bool each = core.subscribers() <= 16;  // a datagram has 64 KiB
  std::size_t bytes = 0;
  std::uint64_t left_out = 0;
  core.for_each_subscriber([&](const Attached& a) {
    json histogram = json::array();
    for (std::size_t b = 0; b < a.page->latency.size(); ++b) {
      const std::uint32_t count = a.page->latency[b].load(std::memory_order_relaxed);
      all_latencies[b] += count;
      if (count != 0 && each) histogram.push_back({b, count});
    }
    json reader{{"pid", a.pid},
                {"name", a.name},
                {"uid", a.uid},
                {"reliable", a.reliable},
                {"demoted", a.demoted.load()},
                {"received", a.page->received.load()},
                {"missed", a.page->missed.load()},
                {"bad", a.page->bad.load()},
                {"spin_ns", a.page->spin_ns.load()},
                {"sleeps", a.page->sleeps.load()},
                {"announced", a.announced},
                {"depth", a.depth},
                {"latency", histogram}};
    bytes += wire::print(reader).size() + 1;
    if (bytes > kMostOfOneTopic)
      ++left_out;
    else
      readers.push_back(std::move(reader));
  });
  for (std::size_t b = 0; b < all_latencies.size(); ++b)
    if (all_latencies[b] != 0) pooled.push_back({b, all_latencies[b]});
  return {{"topic", core.topic()},
          {"latency", pooled},
          {"type", core.type().name},
          {"hash", fmt::format("{:016x}", core.type().hash)},
          {"serial", p.entry.serial},
          {"depth", core.options().depth},
          {"max_bytes", core.options().max_bytes},
          {"reliable", core.options().reliable},
          {"access", static_cast<unsigned>(core.options().access)},
          {"via", core.via()},
          {"deadline_ns", core.options().deadline.count()},
          {"slots", hot.committed.load()},
          {"area_bytes", core.area().size()},
          {"published", core.published()},
          {"bytes", hot.bytes.load()},
          {"longest_gap_ns", hot.longest_gap_ns.load()},
          {"heartbeat_ns", hot.heartbeat_ns.load()},
          {"wakes", hot.wakes.load()},
          {"prewakes", hot.prewakes.load()},
          {"reliable_timeouts", hot.reliable_timeouts.load()},
          {"subscribers", readers},
          {"left_out", left_out}};
}

void Server::list(Connection& c, const json& m) {
  const std::string only = wire::text(m, "topic");
  json topics = json::array();
  std::uint64_t next = 0;
  std::size_t bytes = 0;
  for (auto it = process_.published().lower_bound(static_cast<std::uint32_t>(wire::number(m, "from")));
       it != process_.published().end(); ++it) {
    const PublisherCore& core = *it->second.core;
    if (core.options().process_private || (!only.empty() && core.topic() != only)) continue;
    try {
      if (!refusal(core.options().access, core.topic(), c.peer, process_.directory().root()).empty()) continue;
    } catch (const Error&) {
      continue;
    }
    json one = describe(it->second);
    const std::size_t size = wire::print(one).size() + 1;
    if (bytes + size > socket::kMaxMessage - 1024 && !topics.empty()) {
      next = it->first;  // the rest in the next datagram
      break;
    }
    bytes += size;
    topics.push_back(std::move(one));
  }
  reply(c, {{"op", "topics"}, {"topics", topics}, {"next", next}, {"pid", ::getpid()}, {"name", process_.name()}});
}

}  // namespace cardan::detail
