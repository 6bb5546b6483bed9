// SPDX-License-Identifier: Apache-2.0
#include "cardan/realtime.hpp"

#include <fmt/format.h>
#include <linux/capability.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "cardan/error.hpp"

namespace cardan {
namespace {

bool has_capability(unsigned number) {
  __user_cap_header_struct header{.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
  std::array<__user_cap_data_struct, 2> data{};
  if (::syscall(SYS_capget, &header, data.data()) != 0) return false;
  return (data[number / 32].effective >> (number % 32) & 1U) != 0;
}

RealtimeGrant schedule(const RealtimeOptions& o) {
  const bool fifo = o.policy == RealtimeOptions::Policy::Fifo;
  RealtimeGrant grant{.what = fmt::format("{} priority {}", fifo ? "SCHED_FIFO" : "SCHED_RR", o.priority)};
  const sched_param parameters{.sched_priority = o.priority};
  if (::sched_setscheduler(0, fifo ? SCHED_FIFO : SCHED_RR, &parameters) == 0) {  // 0: the calling thread
    grant.granted = true;
    return grant;
  }
  const int error = errno;
  rlimit limit{};
  ::getrlimit(RLIMIT_RTPRIO, &limit);
  if (error == EPERM && has_capability(CAP_SYS_NICE)) {
    grant.cause =
        "the kernel refuses it in spite of CAP_SYS_NICE: this control group has no real-time time, or a container's "
        "filter forbids the call";
    grant.remedy = "give the group some (cpu.rt_runtime_us), or allow sched_setscheduler in the container";
  } else if (error == EPERM) {
    grant.cause =
        fmt::format("this user may use priorities up to {} (RLIMIT_RTPRIO), and has no CAP_SYS_NICE", limit.rlim_cur);
    grant.remedy = fmt::format(
        "grant rtprio {0} in /etc/security/limits.conf (systemd: LimitRTPRIO={0}; docker: --ulimit rtprio={0}), or: "
        "setcap cap_sys_nice+ep PROGRAM",
        o.priority);
  } else {
    grant.cause = std::strerror(error);
    grant.remedy = "run `cardan doctor`";
  }
  return grant;
}

/// sched_setattr(2), of which older C libraries know nothing.
struct SchedulingAttributes {
  std::uint32_t size = sizeof(SchedulingAttributes);
  std::uint32_t policy = 0;
  std::uint64_t flags = 0;
  std::int32_t nice = 0;
  std::uint32_t priority = 0;
  std::uint64_t runtime_ns = 0, deadline_ns = 0, period_ns = 0;
};
constexpr std::uint32_t kSchedDeadline = 6;
constexpr std::uint64_t kResetOnFork = 1;

RealtimeGrant schedule_by_deadline(const RealtimeOptions& o) {
  RealtimeGrant grant{.what =
                          fmt::format("SCHED_DEADLINE {:g} of {:g} µs", static_cast<double>(o.runtime.count()) / 1e3,
                                      static_cast<double>(o.period.count()) / 1e3)};
  SchedulingAttributes attributes;
  attributes.policy = kSchedDeadline;
  attributes.flags = kResetOnFork;  // else the kernel forbids it to start threads
  attributes.runtime_ns = static_cast<std::uint64_t>(o.runtime.count());
  attributes.deadline_ns = attributes.period_ns = static_cast<std::uint64_t>(o.period.count());
  if (::syscall(SYS_sched_setattr, 0, &attributes, 0) == 0) {
    grant.granted = true;
    return grant;
  }
  const int error = errno;
  if (error == EBUSY) {
    grant.cause =
        "the kernel cannot promise that much: its deadline threads together would use more than it gives them";
    grant.remedy = "ask for less runtime or a longer period, or raise kernel.sched_rt_runtime_us";
  } else if (error == EPERM && !o.cpus.empty()) {
    grant.cause = "a deadline thread must be free to run on all CPUs of its cpuset";
    grant.remedy = "name no CPUs for it, or give it an exclusive cpuset";
  } else if (error == EPERM) {
    grant.cause =
        has_capability(CAP_SYS_NICE)
            ? "the kernel refuses it in spite of CAP_SYS_NICE: this thread may not run on all CPUs of its cpuset, "
              "or a container's filter forbids the call"
            : "it needs CAP_SYS_NICE";
    grant.remedy = "setcap cap_sys_nice+ep PROGRAM, run as root, or (docker) --cap-add SYS_NICE; name no CPUs";
  } else if (error == EINVAL) {
    grant.cause = "the kernel takes no such times";
    grant.remedy =
        "give at least 1,024 ns of runtime, and a period within kernel.sched_deadline_period_min_us and _max_us";
  } else {
    grant.cause = std::strerror(error);
    grant.remedy = "run `cardan doctor`";
  }
  return grant;
}

RealtimeGrant step(int nice) {
  RealtimeGrant grant{.what = fmt::format("nice {}", nice)};
  if (::setpriority(PRIO_PROCESS, static_cast<id_t>(::gettid()), nice) == 0) {  // on Linux of this thread alone
    grant.granted = true;
    return grant;
  }
  const int error = errno;
  rlimit limit{};
  ::getrlimit(RLIMIT_NICE, &limit);
  if (error == EPERM || error == EACCES) {
    const int best = 20 - static_cast<int>(std::min<rlim_t>(limit.rlim_cur, 40));
    grant.cause =
        fmt::format("this user may go down to nice {} (RLIMIT_NICE), and has no CAP_SYS_NICE", std::min(best, 19));
    grant.remedy = fmt::format(
        "grant nice {0} in /etc/security/limits.conf (systemd: LimitNICE={0}; docker: --ulimit nice={1}), or: setcap "
        "cap_sys_nice+ep PROGRAM",
        nice, 20 - nice);
  } else {
    grant.cause = std::strerror(error);
    grant.remedy = "run `cardan doctor`";
  }
  return grant;
}

std::string list_of(const std::vector<int>& cpus) { return fmt::format("{}", fmt::join(cpus, ",")); }

RealtimeGrant pin(const std::vector<int>& cpus) {
  RealtimeGrant grant{.what = (cpus.size() == 1 ? "CPU " : "CPUs ") + list_of(cpus)};
  cpu_set_t wanted;
  CPU_ZERO(&wanted);
  for (const int cpu : cpus) CPU_SET(static_cast<std::size_t>(cpu), &wanted);
  if (::sched_setaffinity(0, sizeof(wanted), &wanted) != 0) {
    const int error = errno;
    grant.cause =
        error == EINVAL
            ? "none of them is open to this process (a cpuset of a container or of systemd, or they are offline)"
            : std::strerror(error);
    grant.remedy =
        error == EINVAL
            ? "name CPUs that `cardan doctor` lists, or widen the cpuset (docker: --cpuset-cpus, systemd: AllowedCPUs)"
            : "allow sched_setaffinity in the container";
    return grant;
  }
  // The kernel takes the part that the cpuset allows, and says nothing about the rest.
  cpu_set_t got;
  CPU_ZERO(&got);
  ::sched_getaffinity(0, sizeof(got), &got);
  if (CPU_EQUAL(&got, &wanted) != 0) {
    grant.granted = true;
    return grant;
  }
  std::vector<int> missing;
  std::copy_if(cpus.begin(), cpus.end(), std::back_inserter(missing),
               [&](int cpu) { return CPU_ISSET(static_cast<std::size_t>(cpu), &got) == 0; });
  grant.cause = fmt::format("the cpuset of this process lacks {}; the thread runs on the others", list_of(missing));
  grant.remedy =
      "name CPUs that `cardan doctor` lists, or widen the cpuset (docker: --cpuset-cpus, systemd: AllowedCPUs)";
  return grant;
}

RealtimeGrant lock() {
  RealtimeGrant grant{.what = "locked memory"};
  rlimit limit{};
  ::getrlimit(RLIMIT_MEMLOCK, &limit);
  const bool unlimited = limit.rlim_cur == RLIM_INFINITY || has_capability(CAP_IPC_LOCK);
  // ONFAULT: areas reserve far more address space than they use. FUTURE only without a limit, because the kernel counts
  // reserved space against it, and a later area would be refused.
  const int flags = MCL_CURRENT | MCL_ONFAULT | (unlimited ? MCL_FUTURE : 0);
  const bool locked = ::mlockall(flags) == 0;
  const int error = errno;
  const std::string remedy =
      "raise RLIMIT_MEMLOCK (limits.conf: memlock unlimited; systemd: LimitMEMLOCK=infinity; docker: --ulimit "
      "memlock=-1), or grant CAP_IPC_LOCK";
  if (locked && unlimited) {
    grant.granted = true;
  } else if (locked) {
    grant.cause = fmt::format(
        "what is mapped now is locked, but not what comes later: the limit is {} KiB, and it counts reserved space too",
        limit.rlim_cur / 1024);
    grant.remedy = remedy;
  } else if (error == ENOMEM || error == EAGAIN || error == EPERM) {
    grant.cause = fmt::format("the limit for locked memory is {} KiB, which is less than this process has mapped",
                              limit.rlim_cur / 1024);
    grant.remedy = remedy;
  } else {
    grant.cause = std::strerror(error);
    grant.remedy = "run `cardan doctor`";
  }
  return grant;
}

void check(const RealtimeOptions& o) {
  if (o.priority < 0 || o.priority > 99)
    throw Error(ErrorCode::InvalidArgument, fmt::format("a real-time priority of {} does not exist", o.priority),
                "use 1 to 99, or 0 to leave the scheduling as it is");
  if (o.nice < -20 || o.nice > 19)
    throw Error(ErrorCode::InvalidArgument, fmt::format("nice {} does not exist", o.nice),
                "use -20 (first) to 19 (last), or 0 to leave it as it is");
  const bool deadline = o.policy == RealtimeOptions::Policy::Deadline;
  if (deadline && (o.priority != 0 || o.runtime.count() < 1024 || o.period < o.runtime))
    throw Error(ErrorCode::InvalidArgument,
                fmt::format("a deadline of {} ns in each {} ns with priority {} cannot be", o.runtime.count(),
                            o.period.count(), o.priority),
                "give at least 1,024 ns of runtime, a period that is not shorter, and no priority");
  const long configured = std::min<long>(::sysconf(_SC_NPROCESSORS_CONF), CPU_SETSIZE);
  for (const int cpu : o.cpus)
    if (cpu < 0 || cpu >= configured)
      throw Error(ErrorCode::InvalidArgument, fmt::format("this computer has no CPU {}", cpu),
                  fmt::format("use 0 to {}", configured - 1));
}

}  // namespace

bool RealtimeReport::complete() const noexcept {
  return std::all_of(grants.begin(), grants.end(), [](const RealtimeGrant& g) { return g.granted; });
}

std::string RealtimeReport::text() const {
  std::string all;
  for (const RealtimeGrant& g : grants) {
    if (!all.empty()) all += '\n';
    all += g.granted ? g.what + ": granted" : fmt::format("{}: refused: {} — {}", g.what, g.cause, g.remedy);
  }
  return all;
}

RealtimeReport realtime(const RealtimeOptions& options) {
  check(options);
  RealtimeReport report;
  if (options.lock_memory) report.grants.push_back(lock());
  if (!options.cpus.empty()) report.grants.push_back(pin(options.cpus));
  bool before_ordinary = false;
  if (options.policy == RealtimeOptions::Policy::Deadline) report.grants.push_back(schedule_by_deadline(options));
  if (options.priority > 0) report.grants.push_back(schedule(options));
  if (options.policy == RealtimeOptions::Policy::Deadline || options.priority > 0)
    before_ordinary = report.grants.back().granted;
  if (options.nice != 0 && !before_ordinary) report.grants.push_back(step(options.nice));
  return report;
}

}  // namespace cardan
