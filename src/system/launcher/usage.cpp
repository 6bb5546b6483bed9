// SPDX-License-Identifier: Apache-2.0
#include "src/system/launcher/usage.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstring>
#include <string>

namespace cardan::launcher {
namespace {

std::optional<Usage> read_stat(const std::string& path) {
  std::FILE* const file = std::fopen(path.c_str(), "re");
  if (file == nullptr) return {};
  std::array<char, 1024> line{};
  const std::size_t got = std::fread(line.data(), 1, line.size() - 1, file);
  std::fclose(file);
  line[got] = '\0';
  const char* at = std::strrchr(line.data(), ')');  // the name may hold spaces and brackets
  unsigned long user = 0;
  unsigned long system = 0;
  long pages = 0;
  if (at == nullptr ||
      std::sscanf(at, ") %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu %*d %*d %*d %*d %*d %*d %*u %*u %ld",
                  &user, &system, &pages) != 3)
    return {};
  return Usage{.cpu_seconds = static_cast<double>(user + system) / static_cast<double>(::sysconf(_SC_CLK_TCK)),
               .memory_bytes = static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE))};
}

}  // namespace

std::optional<Usage> usage_of(pid_t pid) { return read_stat(fmt::format("/proc/{}/stat", pid)); }

std::optional<Usage> usage_of_thread(pid_t pid, pid_t thread) {
  return read_stat(fmt::format("/proc/{}/task/{}/stat", pid, thread));
}

}  // namespace cardan::launcher
