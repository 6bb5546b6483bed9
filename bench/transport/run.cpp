// SPDX-License-Identifier: Apache-2.0
#include "bench/transport/run.hpp"

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <exception>
#include <utility>

#include "bench/transport/clock.hpp"
#include "bench/transport/futex.hpp"
#include "bench/transport/host.hpp"

namespace cardan::bench {
namespace {

constexpr std::int64_t kMs = 1'000'000;
constexpr std::int64_t kSetUpLimitNs = 15'000 * kMs;

double to_us(std::int64_t ns) noexcept { return static_cast<double>(ns) / 1e3; }

void place(const Area& area, const TransportOptions& options) {
  for (std::uint32_t p = 0; p < area.publishers(); ++p) area.role(p).cpu = options.publisher_cpu;
  for (std::uint32_t r = 0; r < area.subscribers(); ++r) {
    area.role(area.publishers() + r).cpu = options.reader_cpus[r % options.reader_cpus.size()];
  }
}

std::vector<int> cpus_of(const Area& area) {
  std::vector<int> cpus;
  for (std::uint32_t i = 0; i < area.publishers() + area.subscribers(); ++i) cpus.push_back(area.role(i).cpu);
  return cpus;
}

// True when all roles are set up; false: a failure, Ctrl-C, or too long.
bool wait_until_ready(const Area& area, Crew& crew, QuietSignals& signals) {
  const std::uint32_t count = area.publishers() + area.subscribers();
  const std::int64_t give_up = now_ns() + kSetUpLimitNs;
  while (area.header().ready.load(std::memory_order_acquire) < count) {
    signals.wait(2 * kMs);
    crew.reap();
    if (signals.interrupted() || !crew.failure().empty() || now_ns() > give_up) return false;
  }
  return true;
}

bool wait_until_ended(const Cell& cell, Crew& crew, QuietSignals& signals) {
  // A peer that cannot keep the rate runs slower than its beats: three times as long, and some more for big frames.
  const double slower = cell.conditions.cpu_percent > 0 ? std::max(1.0, 100 / cell.conditions.cpu_percent) : 1;
  const double seconds = slower * expected_seconds(cell);
  const std::int64_t give_up = now_ns() + static_cast<std::int64_t>((10 + 3 * seconds) * 1e9);
  while (!crew.all_ended()) {
    const std::int64_t left = give_up - now_ns();
    if (signals.interrupted() || !crew.failure().empty() || left <= 0) return false;
    signals.wait(left);
    crew.reap();
  }
  return crew.failure().empty();
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
    out.transport_us.push_back(to_us(received.first - sent.second));
    out.end_to_end_us.push_back(to_us(received.second - sent.first));
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

void evaluate_cpu(const Area& area, RunResult& out) {
  std::int64_t publisher_ns = 0;
  std::int64_t publisher_wall = 0;
  std::uint64_t published = 0;
  for (std::uint32_t p = 0; p < area.publishers(); ++p) {
    const RoleSlot& slot = area.role(p);
    publisher_ns += slot.cpu_ns;
    publisher_wall += slot.wall_ns;
    published += slot.messages;
    out.refused += slot.refused;
  }
  if (published > 0) out.publisher_cpu_us = to_us(publisher_ns) / static_cast<double>(published);
  if (publisher_wall > 0)
    out.achieved_rate_hz = 1e9 * static_cast<double>(published) / static_cast<double>(publisher_wall);

  std::int64_t reader_ns = 0;
  std::int64_t reader_wall = 0;
  std::int64_t reading = 0;
  std::uint64_t received = 0;
  for (std::uint32_t r = 0; r < area.subscribers(); ++r) {
    const RoleSlot& slot = area.role(area.publishers() + r);
    reader_ns += slot.cpu_ns;
    reader_wall += slot.wall_ns;
    reading += slot.reading_ns;
    received += slot.messages;
    out.torn += slot.torn;
  }
  if (received > 0) out.reader_cpu_us = to_us(reader_ns) / static_cast<double>(received);
  if (reader_wall > 0) {
    out.reader_cpu_percent = 100.0 * static_cast<double>(reader_ns) / static_cast<double>(reader_wall);
    const std::int64_t waiting = std::max<std::int64_t>(0, reader_ns - reading);
    out.waiting_cpu_percent = 100.0 * static_cast<double>(waiting) / static_cast<double>(reader_wall);
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

RunResult evaluate(const Area& area) {
  RunResult out;
  const Cell& cell = area.header().cell;
  for (std::uint32_t p = 0; p < area.publishers(); ++p) {
    for (std::uint32_t n = cell.warmup + 1; n <= cell.frames; ++n) evaluate_publication(area, p, n, out);
  }
  evaluate_cpu(area, out);
  return out;
}

std::string run_roles(const Area& area, const TransportOptions& options, const std::string& run_dir,
                      QuietSignals& signals, double& steal) {
  place(area, options);
  const PeerKind& kind = kind_of(area.header().contender.peer);
  return run_wired(area, kind.wire != nullptr ? kind.wire(area.header().cell) : Wiring{}, options.role_command, run_dir,
                   signals, steal);
}

std::string run_wired(const Area& area, Wiring wiring, const std::vector<std::string>& role_command,
                      const std::string& run_dir, QuietSignals& signals, double& steal) {
  const Conditions& conditions = area.header().cell.conditions;
  const CpuBudget budget(conditions.cpu_percent);
  Crew crew(area, std::move(wiring), role_command, run_dir, signals);
  const bool ready = wait_until_ready(area, crew, signals);
  // Only what is measured is under the conditions. Discovery on a tenth of a core would take longer than its limit.
  if (ready)
    for (const pid_t pid : crew.pids()) budget.take(pid);
  BackgroundLoad load(ready ? conditions : Conditions{}, cpus_of(area));
  const CpuTicks before = read_cpu_ticks();
  if (ready) {
    area.header().start_ns.store(now_ns() + 20 * kMs);
    area.header().go.store(1, std::memory_order_release);
    futex_wake_all(area.header().go);
  }
  const bool complete = ready && wait_until_ended(area.header().cell, crew, signals);
  steal = steal_percent(before, read_cpu_ticks());
  std::string failure = crew.failure().empty() ? load.failure() : crew.failure();
  crew.kill_all();
  if (complete || !failure.empty()) return failure;
  return ready ? "did not end in time" : "was not ready within 15 s";
}

RunOutcome run_once(const Contender& contender, const Cell& cell, const TransportOptions& options,
                    const std::string& run_dir, QuietSignals& signals) {
  RunOutcome outcome;
  const CpuTicks start = read_cpu_ticks();
  const double own_before = seconds_of_children();
  try {
    const Area area(contender, cell, fresh_topic());
    double steal = 0;
    outcome.failure = run_roles(area, options, run_dir, signals, steal);
    outcome.interrupted = signals.interrupted();
    if (outcome.failure.empty()) {
      outcome.result = evaluate(area);
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
