// SPDX-License-Identifier: Apache-2.0
#include "bench/transport/run.hpp"

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <deque>
#include <exception>
#include <utility>

#include "bench/results/host.hpp"
#include "bench/transport/clock.hpp"
#include "bench/transport/futex.hpp"

namespace cardan::bench {
namespace {

constexpr std::int64_t kMs = 1'000'000;
constexpr std::int64_t kSetUpLimitNs = 15'000 * kMs;

double to_us(std::int64_t ns) noexcept { return static_cast<double>(ns) / 1e3; }

// Roles of several links take all CPUs in turn: otherwise the publishers' one CPU would limit them before a budget
// does.
void place(std::span<const Area> links, const TransportOptions& options) {
  if (links.size() > 1) {
    std::vector<int> cpus{options.publisher_cpu};
    std::copy_if(options.reader_cpus.begin(), options.reader_cpus.end(), std::back_inserter(cpus),
                 [&](int cpu) { return cpu != options.publisher_cpu; });
    std::size_t next = 0;
    for (const Area& area : links)
      for (std::uint32_t i = 0; i < area.publishers() + area.subscribers(); ++i)
        area.role(i).cpu = cpus[next++ % cpus.size()];
    return;
  }
  const Area& area = links.front();
  for (std::uint32_t p = 0; p < area.publishers(); ++p) area.role(p).cpu = options.publisher_cpu;
  for (std::uint32_t r = 0; r < area.subscribers(); ++r) {
    area.role(area.publishers() + r).cpu = options.reader_cpus[r % options.reader_cpus.size()];
  }
}

std::vector<int> cpus_of(std::span<const Area> links) {
  std::vector<int> cpus;
  for (const Area& area : links)
    for (std::uint32_t i = 0; i < area.publishers() + area.subscribers(); ++i) cpus.push_back(area.role(i).cpu);
  return cpus;
}

/// The processes of all links.
class Crews {
 public:
  Crews(std::span<const Area> links, std::vector<Wiring> wirings, const std::vector<std::string>& role_command,
        const std::string& run_dir, const QuietSignals& signals)
      : links_(links) {
    for (std::size_t i = 0; i < links.size(); ++i)
      crews_.emplace_back(links[i], std::move(wirings.at(i)), role_command, run_dir, signals);
  }

  // True when all roles are set up; false: a failure, Ctrl-C, or too long.
  bool wait_until_ready(QuietSignals& signals) {
    const std::int64_t give_up = now_ns() + kSetUpLimitNs;
    while (!std::all_of(links_.begin(), links_.end(), [](const Area& area) {
      return area.header().ready.load(std::memory_order_acquire) >= area.publishers() + area.subscribers();
    })) {
      signals.wait(2 * kMs);
      reap();
      if (signals.interrupted() || !failure().empty() || now_ns() > give_up) return false;
    }
    return true;
  }

  bool wait_until_ended(QuietSignals& signals) {
    // A peer that cannot keep the rate runs slower than its beats: three times as long, or as much as its share of a
    // core is smaller, and some more for big frames. Links share what there is.
    const Cell& cell = links_.front().header().cell;
    const double slower = cell.conditions.cpu_percent > 0 ? std::max(3.0, 100 / cell.conditions.cpu_percent) : 3;
    const double seconds = slower * static_cast<double>(links_.size()) * expected_seconds(cell);
    const std::int64_t give_up = now_ns() + static_cast<std::int64_t>((10 + seconds) * 1e9);
    while (!std::all_of(crews_.begin(), crews_.end(), [](const Crew& crew) { return crew.all_ended(); })) {
      const std::int64_t left = give_up - now_ns();
      if (signals.interrupted() || !failure().empty() || left <= 0) return false;
      signals.wait(left);
      reap();
    }
    return failure().empty();
  }

  // From now on all are on this budget.
  void live_on(const CpuBudget& budget) const {
    for (const Crew& crew : crews_)
      for (const pid_t pid : crew.pids()) budget.take(pid);
  }

  // The first publishers of the links take turns within the period, as cameras with clocks of their own do.
  void start() const {
    const std::int64_t start = now_ns() + 20 * kMs;
    const auto period = static_cast<std::int64_t>(1e9 / links_.front().header().cell.rate_hz);
    const auto count = static_cast<std::int64_t>(links_.size());
    for (std::int64_t i = 0; i < count; ++i) {
      AreaHeader& header = links_[static_cast<std::size_t>(i)].header();
      header.start_ns.store(start + period * i / count);
      header.go.store(1, std::memory_order_release);
      futex_wake_all(header.go);
    }
  }

  [[nodiscard]] std::string failure() const {
    for (std::size_t i = 0; i < crews_.size(); ++i)
      if (const std::string words = crews_[i].failure(); !words.empty())
        return crews_.size() == 1 ? words : fmt::format("link {}: {}", i, words);
    return {};
  }
  void kill_all() noexcept {
    for (Crew& crew : crews_) crew.kill_all();
  }

 private:
  void reap() {
    for (Crew& crew : crews_) crew.reap();
  }

  std::span<const Area> links_;
  std::deque<Crew> crews_;
};

std::string run_wired_links(std::span<const Area> links, std::vector<Wiring> wirings,
                            const std::vector<std::string>& role_command, const std::string& run_dir,
                            QuietSignals& signals, double& steal) {
  const Conditions& conditions = links.front().header().cell.conditions;
  const CpuBudget budget(conditions.cpu_percent);
  Crews crews(links, std::move(wirings), role_command, run_dir, signals);
  const bool ready = crews.wait_until_ready(signals);
  // Only what is measured is under the conditions. Discovery on a tenth of a core would take longer than its limit.
  if (ready) crews.live_on(budget);
  BackgroundLoad load(ready ? conditions : Conditions{}, cpus_of(links));
  const CpuTicks before = read_cpu_ticks();
  if (ready) crews.start();
  const bool complete = ready && crews.wait_until_ended(signals);
  steal = steal_percent(before, read_cpu_ticks());
  std::string failure = crews.failure().empty() ? load.failure() : crews.failure();
  crews.kill_all();
  if (complete || !failure.empty()) return failure;
  return ready ? std::string(kNotInTime) : "was not ready within 15 s";
}

void evaluate_publication(const Area& area, std::uint32_t publisher, std::uint32_t n, RunResult& out) {
  const Stamps sent = area.published(publisher)[n];
  if (sent.second == 0) return;
  ++out.sent;
  out.handing_us.push_back(to_us(sent.handing_ns));
  std::int64_t first = 0;
  std::int64_t last = 0;
  std::uint32_t got = 0;
  for (std::uint32_t r = 0; r < area.subscribers(); ++r) {
    const Stamps received = area.received(r, publisher)[n];
    if (received.first == 0) continue;
    const bool asks = area.header().cell.scenario.asks;
    out.transport_us.push_back(to_us(asks ? sent.handing_ns : received.first - sent.second));
    out.end_to_end_us.push_back(to_us((asks ? sent.second + sent.handing_ns : received.second) - sent.first));
    first = got == 0 ? received.first : std::min(first, received.first);
    last = got == 0 ? received.first : std::max(last, received.first);
    ++got;
  }
  out.lost += area.subscribers() - got;
  if (got == area.subscribers()) {
    out.spread_us.push_back(to_us(last - first));
    out.last_us.push_back(to_us(last - sent.second));
  }
}

/// The CPU time of one side's roles together.
struct SideSums {
  std::int64_t cpu_ns = 0, wall_ns = 0, reading_ns = 0;
  std::uint64_t messages = 0, torn = 0, refused = 0;

  void add(const RoleSlot& slot) {
    cpu_ns += slot.cpu_ns;
    wall_ns += slot.wall_ns;
    reading_ns += slot.reading_ns;
    messages += slot.messages;
    torn += slot.torn;
    refused += slot.refused;
  }
  [[nodiscard]] double cpu_us_per_message() const {
    return messages > 0 ? to_us(cpu_ns) / static_cast<double>(messages) : 0;
  }
};

void evaluate_roles(std::span<const Area> links, RunResult& out) {
  SideSums publishers;
  SideSums readers;
  for (const Area& area : links)
    for (std::uint32_t i = 0; i < area.publishers() + area.subscribers(); ++i)
      (i < area.publishers() ? publishers : readers).add(area.role(i));
  out.refused = publishers.refused;
  out.publisher_cpu_us = publishers.cpu_us_per_message();
  if (publishers.wall_ns > 0)
    out.achieved_rate_hz = 1e9 * static_cast<double>(publishers.messages) / static_cast<double>(publishers.wall_ns);
  out.torn = readers.torn;
  out.reader_cpu_us = readers.cpu_us_per_message();
  if (readers.wall_ns > 0) {
    const auto wall = static_cast<double>(readers.wall_ns);
    out.reader_cpu_percent = 100.0 * static_cast<double>(readers.cpu_ns) / wall;
    const std::int64_t waiting = std::max<std::int64_t>(0, readers.cpu_ns - readers.reading_ns);
    out.waiting_cpu_percent = 100.0 * static_cast<double>(waiting) / wall;
  }
}

}  // namespace

double seconds_of_children() {
  rusage usage{};
  ::getrusage(RUSAGE_CHILDREN, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

std::string fresh_topic() {
  static std::uint64_t serial = 0;
  return fmt::format("/bench/{}/{}", ::getpid(), ++serial);
}

RunResult evaluate(std::span<const Area> links) {
  RunResult out;
  for (const Area& area : links) {
    const Cell& cell = area.header().cell;
    for (std::uint32_t p = 0; p < area.publishers(); ++p)
      for (std::uint32_t n = cell.warmup + 1; n <= cell.frames; ++n) evaluate_publication(area, p, n, out);
  }
  evaluate_roles(links, out);
  return out;
}

std::string run_links(std::span<const Area> links, const TransportOptions& options, const std::string& run_dir,
                      QuietSignals& signals, double& steal) {
  place(links, options);
  std::vector<Wiring> wirings;
  for (const Area& area : links) {
    const PeerKind& kind = kind_of(area.header().contender.peer);
    wirings.push_back(kind.wire != nullptr ? kind.wire(area.header().cell) : Wiring{});
  }
  return run_wired_links(links, std::move(wirings), options.role_command, run_dir, signals, steal);
}

std::string run_roles(const Area& area, const TransportOptions& options, const std::string& run_dir,
                      QuietSignals& signals, double& steal) {
  return run_links({&area, 1}, options, run_dir, signals, steal);
}

std::string run_wired(const Area& area, Wiring wiring, const std::vector<std::string>& role_command,
                      const std::string& run_dir, QuietSignals& signals, double& steal) {
  std::vector<Wiring> wirings;
  wirings.push_back(std::move(wiring));
  return run_wired_links({&area, 1}, std::move(wirings), role_command, run_dir, signals, steal);
}

RunOutcome run_once(const Contender& contender, const Cell& cell, const TransportOptions& options,
                    const std::string& run_dir, QuietSignals& signals) {
  RunOutcome outcome;
  const CpuTicks start = read_cpu_ticks();
  const double own_before = seconds_of_children();
  try {
    Cell link = cell;  // a role knows its own topic alone
    link.scenario.links = 1;
    std::vector<Area> links;
    for (std::uint32_t i = 0; i < cell.scenario.links; ++i) links.emplace_back(contender, link, fresh_topic());
    double steal = 0;
    outcome.failure = run_links(links, options, run_dir, signals, steal);
    outcome.interrupted = signals.interrupted();
    if (outcome.failure.empty()) {
      outcome.result = evaluate(links);
      outcome.result.steal_percent = steal;
      const double own = (seconds_of_children() - own_before) * static_cast<double>(::sysconf(_SC_CLK_TCK));
      outcome.result.other_load_percent = other_load_percent(start, read_cpu_ticks(), own);
    }
  } catch (const std::exception& e) {
    outcome.failure = e.what();
  }
  return outcome;
}

}  // namespace cardan::bench
