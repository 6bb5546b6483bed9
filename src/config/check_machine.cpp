// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <thread>

#include "cardan/realtime.hpp"
#include "src/config/check_parts.hpp"

namespace cardan::config {
namespace {

constexpr std::uint64_t kBytesOfMebibyte = 1024 * 1024;
// The share that the kernel leaves to ordinary threads, whatever is asked for (sched_rt_runtime_us).
constexpr double kDeadlineShare = 0.95;

std::string cpus_text(int cpus) { return fmt::format("{} CPU{}", cpus, cpus == 1 ? "" : "s"); }

class MachineCheck {
 public:
  MachineCheck(const Configuration& configuration, const Machine& machine, ProblemList& problems)
      : c_(configuration), machine_(machine), problems_(problems) {}

  void check() {
    needs();
    for (const Process& p : c_.processes) {
      memory(p);
      for (const Component& component : p.components) {
        const std::string subject = fmt::format("component '{}'", component.name);
        if (component.thread) thread(*component.thread, component.pointer + "/thread", subject);
        for (const Callback& callback : component.callbacks)
          if (callback.thread)
            thread(*callback.thread, callback.pointer + "/thread",
                   fmt::format("callback '{}' of {}", callback.name, subject));
      }
      for (const Group& g : p.groups) {
        const std::string subject = fmt::format("group '{}' of process '{}'", g.name, p.name);
        cpus(g.cpus, g.pointer, subject);
        if (g.policy && *g.policy != Policy::Other) realtime(g.pointer, *g.policy, subject);
      }
    }
    together();
  }

 private:
  void needs() {
    if (c_.needs.cpus > machine_.cpus)
      problems_.error(
          "/needs/cpus",
          fmt::format("the system needs {}, but this computer has {}", cpus_text(c_.needs.cpus), machine_.cpus),
          "run it on a larger computer, or lower 'cpus' of 'needs'");
    if (c_.needs.memory_bytes > machine_.memory_bytes)
      problems_.error("/needs/memory_mib",
                      fmt::format("the system needs {} MiB of memory, but this computer has {}",
                                  c_.needs.memory_bytes / kBytesOfMebibyte, machine_.memory_bytes / kBytesOfMebibyte),
                      "run it on a larger computer, or lower 'memory_mib' of 'needs'");
    if (c_.needs.realtime && !machine_.realtime)
      problems_.error("/needs/realtime", "the system needs real-time priorities, but this user may not use them here",
                      "grant rtprio 99 in /etc/security/limits.conf (systemd: LimitRTPRIO=99; docker: --ulimit "
                      "rtprio=99); `cardan doctor` says more");
  }

  void memory(const Process& p) {
    memory_ += p.memory_bytes;
    if (p.memory_bytes <= machine_.memory_bytes) return;
    problems_.error(p.pointer + "/memory_mib",
                    fmt::format("process '{}' may use {} MiB of memory, but this computer has {}", p.name,
                                p.memory_bytes / kBytesOfMebibyte, machine_.memory_bytes / kBytesOfMebibyte),
                    "lower 'memory_mib'");
    memory_told_ = true;
  }

  void thread(const Thread& t, const std::string& at, const std::string& subject) {
    cpus(t.cpus, at, subject);
    if (t.policy != Policy::Other) realtime(at, t.policy, subject);
    if (t.policy != Policy::Deadline || t.period.count() <= 0) return;
    deadline_share_ += static_cast<double>(t.runtime.count()) / static_cast<double>(t.period.count());
    last_deadline_ = at;
  }

  void cpus(const std::vector<int>& list, const std::string& at, const std::string& subject) {
    for (std::size_t i = 0; i < list.size(); ++i)
      if (list[i] >= machine_.cpus)
        problems_.error(
            fmt::format("{}/cpus/{}", at, i),
            fmt::format("{} must run on CPU {}, but this computer has {}", subject, list[i], cpus_text(machine_.cpus)),
            machine_.cpus == 1 ? "use CPU 0" : fmt::format("use 0 to {}", machine_.cpus - 1));
  }

  void realtime(const std::string& at, Policy policy, const std::string& subject) {
    if (realtime_++ != 0) return;
    first_realtime_ = at + "/policy";
    first_cause_ = fmt::format("{} asks for the policy {}", subject, name_of(policy));
  }

  void together() {
    if (memory_ > machine_.memory_bytes && !memory_told_)
      problems_.warning("/processes",
                        fmt::format("the processes may use {} MiB of memory together, but this computer has {}",
                                    memory_ / kBytesOfMebibyte, machine_.memory_bytes / kBytesOfMebibyte),
                        "lower a 'memory_mib': the kernel kills processes if memory runs out");
    // One line for all: the same right is missing everywhere. Not again where `needs` makes it an error.
    if (realtime_ > 0 && !machine_.realtime && !c_.needs.realtime)
      problems_.warning(first_realtime_,
                        fmt::format("{}{}, but this user may not use it here: the kernel will refuse", first_cause_,
                                    realtime_ > 1 ? fmt::format(" (as do {} more)", realtime_ - 1) : ""),
                        "grant rtprio 99 in /etc/security/limits.conf (systemd: LimitRTPRIO=99; docker: --ulimit "
                        "rtprio=99); `cardan doctor` says more");
    const double most = kDeadlineShare * machine_.cpus;
    if (deadline_share_ > most)
      problems_.error(
          last_deadline_ + "/runtime_us",
          fmt::format(
              "threads with the policy deadline ask for {:.2f} CPUs together, but the kernel grants {:.2f} of {}",
              deadline_share_, most, machine_.cpus),
          "lower a 'runtime_us', or raise a 'period_us'");
  }

  const Configuration& c_;
  const Machine& machine_;
  ProblemList& problems_;
  std::uint64_t memory_ = 0;
  bool memory_told_ = false;
  int realtime_ = 0;
  std::string first_realtime_;
  std::string first_cause_;
  double deadline_share_ = 0;
  std::string last_deadline_;
};

}  // namespace

Machine this_machine() {
  Machine machine;
  machine.cpus = static_cast<int>(std::clamp<long>(::sysconf(_SC_NPROCESSORS_CONF), 1, CPU_SETSIZE));
  const long pages = ::sysconf(_SC_PHYS_PAGES);
  const long page = ::sysconf(_SC_PAGESIZE);
  machine.memory_bytes = static_cast<std::uint64_t>(std::max(0L, pages)) * static_cast<std::uint64_t>(page);
  // Limits, capabilities, control groups and filters of containers all have a say: a thread that asks knows best.
  std::thread([&] { machine.realtime = cardan::realtime({.priority = 1}).complete(); }).join();
  return machine;
}

void check_machine(const Configuration& configuration, const Machine& machine, ProblemList& problems) {
  MachineCheck(configuration, machine, problems).check();
}

}  // namespace cardan::config
