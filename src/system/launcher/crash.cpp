// SPDX-License-Identifier: Apache-2.0
#include "src/system/launcher/crash.hpp"

#include <fmt/format.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <charconv>
#include <csignal>
#include <filesystem>
#include <string>
#include <system_error>

#include "src/system/launcher/usage.hpp"

namespace cardan::launcher {

bool crash(pid_t pid) {
  std::error_code failure;
  double most = -1;
  pid_t busiest = pid;
  for (std::filesystem::directory_iterator it(fmt::format("/proc/{}/task", pid), failure), end; !failure && it != end;
       it.increment(failure)) {
    const std::string name = it->path().filename().string();
    pid_t thread = 0;
    std::from_chars(name.data(), name.data() + name.size(), thread);
    const auto usage = usage_of_thread(pid, thread);
    if (!usage || usage->cpu_seconds <= most) continue;
    most = usage->cpu_seconds;
    busiest = thread;
  }
  return ::syscall(SYS_tgkill, pid, busiest, SIGSEGV) == 0;
}

}  // namespace cardan::launcher
