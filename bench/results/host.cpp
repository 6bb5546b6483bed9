// SPDX-License-Identifier: Apache-2.0
#include "bench/results/host.hpp"

#include <fmt/format.h>
#include <sched.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <sstream>

namespace cardan::bench {
namespace {

// The first line of a file, or the text for "the system does not say".
std::string first_line(const char* path, const std::string& otherwise) {
  std::ifstream in(path);
  std::string line;
  return std::getline(in, line) && !line.empty() ? line : otherwise;
}

// "model name : Intel…" of /proc/cpuinfo (x86-64); arm64 has none there but names the board in the device tree.
std::string cpu_name() {
  std::ifstream in("/proc/cpuinfo");
  for (std::string line; std::getline(in, line);) {
    if (line.rfind("model name", 0) != 0) continue;
    const auto colon = line.find(':');
    if (colon != std::string::npos && colon + 2 <= line.size()) return line.substr(colon + 2);
  }
  std::string model = first_line("/proc/device-tree/model", "unknown");
  while (!model.empty() && model.back() == '\0') model.pop_back();
  return model;
}

bool under_hypervisor() {
  std::ifstream in("/proc/cpuinfo");
  for (std::string line; std::getline(in, line);) {
    if (line.rfind("flags", 0) == 0) return line.find(" hypervisor") != std::string::npos;
  }
  return false;
}

}  // namespace

Host describe_host() {
  Host host;
  host.cardan = CARDAN_BENCH_VERSION;
#if defined(__clang__)
  host.compiler = fmt::format("clang {}.{}.{}", __clang_major__, __clang_minor__, __clang_patchlevel__);
#else
  host.compiler = fmt::format("gcc {}.{}.{}", __GNUC__, __GNUC_MINOR__, __GNUC_PATCHLEVEL__);
#endif
  utsname name{};
  if (::uname(&name) == 0) host.kernel = fmt::format("{} {} {}", name.sysname, name.release, name.machine);
  host.cpu = cpu_name();
  host.governor = first_line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "none");
  host.hypervisor = under_hypervisor() ? "yes" : "no";
  host.cpus = static_cast<int>(::sysconf(_SC_NPROCESSORS_ONLN));
  host.memory_gib =
      static_cast<double>(::sysconf(_SC_PHYS_PAGES)) * static_cast<double>(::sysconf(_SC_PAGESIZE)) / (1 << 30);
  return host;
}

std::vector<int> allowed_cpus() {
  cpu_set_t set;
  CPU_ZERO(&set);
  std::vector<int> out;
  if (::sched_getaffinity(0, sizeof set, &set) != 0) return out;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(static_cast<unsigned>(cpu), &set)) out.push_back(cpu);
  }
  return out;
}

CpuTicks parse_cpu_ticks(std::string_view line) {
  // cpu user nice system idle iowait irq softirq steal guest guest_nice; guest time is part of user and nice already.
  std::istringstream in{std::string(line)};
  std::string word;
  in >> word;
  CpuTicks ticks;
  std::uint64_t value = 0;
  for (int field = 0; field < 8 && in >> value; ++field) {
    ticks.total += value;
    if (field == 3 || field == 4) ticks.idle += value;
    if (field == 7) ticks.steal = value;
  }
  return ticks;
}

CpuTicks read_cpu_ticks() { return parse_cpu_ticks(first_line("/proc/stat", "")); }

double steal_percent(const CpuTicks& from, const CpuTicks& to) noexcept {
  if (to.total <= from.total || to.steal < from.steal) return 0;
  return 100.0 * static_cast<double>(to.steal - from.steal) / static_cast<double>(to.total - from.total);
}

double other_load_percent(const CpuTicks& from, const CpuTicks& to, double own_ticks) noexcept {
  if (to.total <= from.total) return 0;
  const auto total = static_cast<double>(to.total - from.total);
  const auto spare = static_cast<double>(to.idle - from.idle) + static_cast<double>(to.steal - from.steal);
  return std::clamp(100.0 * (total - spare - own_ticks) / total, 0.0, 100.0);
}

}  // namespace cardan::bench
