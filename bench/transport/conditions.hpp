// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace cardan::bench {

/// The surroundings of the frames of a cell: the reader's work, other programs, priorities, a limit of CPU time. It
/// lies in shared memory. By default there is nothing.
struct Conditions {
  double work_ms = 0;              ///< CPU time that a reader computes for after it read a frame
  std::uint32_t load_threads = 0;  ///< threads of another program on each CPU that the roles use
  double load_percent = 0;         ///< of the CPU that these threads ask for, together
  double cpu_percent = 0;          ///< of one core that all roles get, together; 0: no limit
  bool fifo = false;               ///< roles have the real-time policy SCHED_FIFO, the load has not
  friend bool operator==(const Conditions&, const Conditions&) = default;
};

/// "work=20+load=4x50+cpu=40+fifo"; "none" for the default. parse_conditions() understands it.
std::string name_of(const Conditions& conditions);
/// Throws cardan::Error{InvalidArgument} that names the word and what would be right.
Conditions parse_conditions(std::string_view word);

/// Computes until the calling thread has used this CPU time.
void compute_for(std::int64_t cpu_ns) noexcept;
/// Gives the calling thread SCHED_FIFO; threads that it starts inherit it. Throws cardan::Error{Refused}.
void become_real_time();
/// Why `conditions` cannot be had by this process on this computer; empty: they can.
std::string why_not(const Conditions& conditions);

/// Another program besides the roles: a process on each CPU. Its threads together compute for a share of periods of 5
/// to 15 ms. It goes with this object, and with the process that made it. Not thread-safe.
class BackgroundLoad {
 public:
  /// Does nothing if the conditions have no load. Throws cardan::Error: no process can be started.
  BackgroundLoad(const Conditions& conditions, const std::vector<int>& cpus);
  ~BackgroundLoad();
  BackgroundLoad(const BackgroundLoad&) = delete;
  BackgroundLoad& operator=(const BackgroundLoad&) = delete;

  /// Why a part of the load does not run; empty: all of it runs.
  [[nodiscard]] std::string failure();

 private:
  void end() noexcept;

  std::vector<pid_t> pids_;
};

/// A control group with a limit of CPU time, which is enforced in periods of 10 ms. It goes with this object, after its
/// processes have ended. Not thread-safe.
class CpuBudget {
 public:
  /// Does nothing without a limit. Throws cardan::Error: control groups cannot be used.
  explicit CpuBudget(double percent);
  ~CpuBudget();
  CpuBudget(const CpuBudget&) = delete;
  CpuBudget& operator=(const CpuBudget&) = delete;

  /// From now on `pid` lives on this budget.
  void take(pid_t pid) const;

 private:
  void remove() noexcept;

  std::string folder_{};
  bool takes_back_ = false;  ///< control groups of version 2 had no controller `cpu` before
};

}  // namespace cardan::bench
