// SPDX-License-Identifier: Apache-2.0
#include "cardan_rclcpp/detail/prompt.hpp"

#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>

namespace cardan::ros::detail {

namespace {

/// As sched_setattr(2) has it in its first version. glibc declares neither this nor the calls before 2.41.
struct Attributes {
  std::uint32_t size;
  std::uint32_t policy;
  std::uint64_t flags;
  std::int32_t nice;
  std::uint32_t priority;
  std::uint64_t runtime;  // of an ordinary thread: its time slice, ns
  std::uint64_t deadline;
  std::uint64_t period;
};
static_assert(sizeof(Attributes) == 48);

constexpr std::uint64_t kSlice = 100'000;  // ns, the shortest that Linux takes
constexpr std::uint64_t kResetOnFork = 1;

}  // namespace

void be_prompt() noexcept {
  Attributes own{};
  if (::syscall(SYS_sched_getattr, 0, &own, sizeof own, 0) != 0 || own.policy != SCHED_OTHER) return;
  sched_param lowest{};
  lowest.sched_priority = ::sched_get_priority_min(SCHED_FIFO);
  if (::pthread_setschedparam(::pthread_self(), SCHED_FIFO, &lowest) == 0) return;
  own.size = sizeof own;
  own.runtime = kSlice;
  own.flags &= kResetOnFork;  // the others mean that more fields must be set
  static_cast<void>(::syscall(SYS_sched_setattr, 0, &own, 0));
}

}  // namespace cardan::ros::detail
