// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace cardan::bench {

/// The computer that was measured: figures of two hosts are never compared without it.
struct Host {
  std::string cardan, compiler, kernel, cpu, governor, hypervisor;
  int cpus = 0;
  double memory_gib = 0;
};

Host describe_host();

/// CPUs that this process may use, ascending.
std::vector<int> allowed_cpus();

/// CPU time of the whole machine since boot, in ticks (normally 10 ms).
struct CpuTicks {
  std::uint64_t total = 0;
  std::uint64_t idle = 0;   ///< nothing to do, waiting for a disk included
  std::uint64_t steal = 0;  ///< taken by the hypervisor for others
};

CpuTicks read_cpu_ticks();
/// The first line of /proc/stat.
CpuTicks parse_cpu_ticks(std::string_view line);
/// Share of steal between two readings, in percent.
double steal_percent(const CpuTicks& from, const CpuTicks& to) noexcept;
/// Share of the machine that others used between two readings, in percent, when `own_ticks` were ours.
double other_load_percent(const CpuTicks& from, const CpuTicks& to, double own_ticks) noexcept;

}  // namespace cardan::bench
