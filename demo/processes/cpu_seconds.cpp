// SPDX-License-Identifier: Apache-2.0
#include "demo/processes/cpu_seconds.hpp"

#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>

#include "src/system/launcher/usage.hpp"

namespace cardan::street {

std::optional<double> cpu_seconds_of(pid_t pid) {
  const auto own = launcher::usage_of(pid);
  if (!own) return {};
  double sum = own->cpu_seconds;
  std::error_code gone;
  // The kernel lists children by the thread that started them.
  for (std::filesystem::directory_iterator thread("/proc/" + std::to_string(pid) + "/task", gone), end;
       !gone && thread != end; thread.increment(gone)) {
    std::ifstream children(thread->path() / "children");
    for (pid_t child = 0; children >> child;)
      if (const auto usage = launcher::usage_of(child)) sum += usage->cpu_seconds;
  }
  return sum;
}

}  // namespace cardan::street
