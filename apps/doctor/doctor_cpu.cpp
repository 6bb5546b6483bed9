// SPDX-License-Identifier: Apache-2.0
// Doctor: CPUs, clocks, and what waking a sleeping thread costs here.
#include <fmt/format.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <thread>
#include <vector>

#include "apps/doctor/doctor.hpp"
#include "apps/terminal/output.hpp"
#include "cardan/clock.hpp"
#include "src/base/futex.hpp"
#include "src/transport/discovery/observer_link.hpp"

namespace cardan::apps {
namespace {

namespace fs = std::filesystem;
using Status = Finding::Status;

void cpus(Findings& all) {
  cpu_set_t set;
  CPU_ZERO(&set);
  ::sched_getaffinity(0, sizeof(set), &set);
  const int allowed = CPU_COUNT(&set);
  const long online = ::sysconf(_SC_NPROCESSORS_ONLN);
  std::string found = fmt::format("{} of {} open to this process", allowed, online);
  if (const std::string isolated = first_line("/sys/devices/system/cpu/isolated"); !isolated.empty())
    found += fmt::format("; isolated: {} (for realtime({{.cpus}}))", isolated);
  if (allowed < 2)
    all.push_back({"CPUs", Status::Warn, found + ": with one CPU a reader that spins delays the publisher it waits for",
                   "use Waiting block(), or give the container more CPUs"});
  else
    all.push_back({"CPUs", Status::Ok, found});
}

void governor(Findings& all) {
  std::set<std::string> names;
  std::error_code error;
  for (fs::directory_iterator it("/sys/devices/system/cpu/cpufreq", error), end; !error && it != end;
       it.increment(error))
    if (const std::string name = first_line(it->path() / "scaling_governor"); !name.empty()) names.insert(name);
  if (names.empty())
    all.push_back({"CPU frequency", Status::Note,
                   "not controlled by this system (but by the host of the virtual machine, or the firmware)"});
  else if (names == std::set<std::string>{"performance"})
    all.push_back({"CPU frequency", Status::Ok, "governor performance"});
  else
    all.push_back(
        {"CPU frequency", Status::Warn,
         fmt::format("governor {}: CPUs slow down between frames, and the first microseconds of each are slow",
                     fmt::join(names, ", ")),
         "as root: cpupower frequency-set -g performance"});
}

void idle_states(Findings& all) {
  long deepest = 0;
  std::string name;
  std::error_code error;
  for (fs::directory_iterator it("/sys/devices/system/cpu/cpu0/cpuidle", error), end; !error && it != end;
       it.increment(error)) {
    if (first_line(it->path() / "disable") == "1") continue;
    const long latency = std::strtol(first_line(it->path() / "latency").c_str(), nullptr, 10);
    if (latency > deepest) {
      deepest = latency;
      name = first_line(it->path() / "name");
    }
  }
  if (deepest > 0)
    all.push_back({"CPU idle states", Status::Note,
                   fmt::format("leaving the deepest ({}) takes {} µs; Waiting prewake() and anticipate() hide that, "
                               "cpupower idle-set -D {} forbids it",
                               name, deepest, deepest - 1)});
}

void virtual_machine(Findings& all) {
  std::ifstream in("/proc/cpuinfo");
  bool hypervisor = false;
  for (std::string line; !hypervisor && std::getline(in, line);)
    hypervisor = line.starts_with("flags") && line.find(" hypervisor") != std::string::npos;
  const std::string product = first_line("/sys/class/dmi/id/product_name");
  if (hypervisor)
    all.push_back(
        {"virtual machine", Status::Note,
         fmt::format("yes{}: waking an idle CPU goes through the host, and the host may take CPUs away (steal)",
                     product.empty() ? "" : " (" + product + ")")});
}

/// From just before waking a sleeping thread to its first instruction, asked for about 50 ms with the CPU left idle in
/// between.
std::vector<std::int64_t> measure_wake_up() {
  std::vector<std::int64_t> times;
  Atomic<std::uint32_t> bell{0};
  Atomic<std::int64_t> rung{0};
  std::atomic<bool> ready{false};
  constexpr std::uint32_t kRounds = 40;
  std::thread sleeper([&] {
    ready = true;
    for (std::uint32_t round = 0; round < kRounds; ++round) {
      while (bell.load(std::memory_order_acquire) == round) futex::wait(bell, round, steady_now() + 100'000'000);
      times.push_back(steady_now() - rung.load(std::memory_order_relaxed));
    }
  });
  while (!ready) std::this_thread::yield();
  for (std::uint32_t round = 0; round < kRounds; ++round) {
    std::this_thread::sleep_for(std::chrono::microseconds{1200});
    rung.store(steady_now(), std::memory_order_relaxed);
    bell.store(round + 1, std::memory_order_release);
    futex::wake(bell, 1);
  }
  sleeper.join();
  std::sort(times.begin(), times.end());
  return times;
}

void wake_up(Findings& all) {
  const std::vector<std::int64_t> times = measure_wake_up();
  const auto at = [&](std::size_t percent) { return static_cast<double>(times[(times.size() - 1) * percent / 100]); };
  std::string found = fmt::format("median {}, 95 % within {} for a reader that sleeps (measured now, {} times)",
                                  time_text(at(50)), time_text(at(95)), times.size());
  if (at(50) > 20'000) found += "; Waiting prewake() and anticipate() hide most of this time";
  all.push_back({"wake-up", Status::Note, found});
}

}  // namespace

void check_cpus(Findings& all) {
  cpus(all);
  governor(all);
  idle_states(all);
  virtual_machine(all);
  wake_up(all);
}

void check_clocks(Findings& all) {
  const std::string source = first_line("/sys/devices/system/clocksource/clocksource0/current_clocksource");
  constexpr int kCalls = 20'000;
  double best = 1e9;
  for (int round = 0; round < 5; ++round) {
    const std::int64_t begin = steady_now();
    std::int64_t last = begin;
    for (int i = 0; i < kCalls; ++i) last = steady_now();
    best = std::min(best, static_cast<double>(last - begin) / kCalls);
  }
  const std::string found = fmt::format("{}, {} a call", source.empty() ? "unknown source" : source, time_text(best));
  if (best > 250)
    all.push_back(
        {"clock", Status::Warn,
         found + ": every publish and every take reads it once, and here that is a system call or a slow device",
         "on x86 try tsc: echo tsc > /sys/devices/system/clocksource/clocksource0/current_clocksource"});
  else
    all.push_back({"clock", Status::Ok, found});
  if (const std::int64_t offset = detail::steady_clock_offset(); offset != 0)
    all.push_back(
        {"time namespace", Status::Note,
         fmt::format("the steady clock here is {} {} of the computer's; stamps between namespaces are corrected",
                     time_text(static_cast<double>(std::abs(offset))), offset > 0 ? "ahead" : "behind")});
}

}  // namespace cardan::apps
