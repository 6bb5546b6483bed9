// SPDX-License-Identifier: Apache-2.0
#include "src/base/capacity.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <optional>
#include <string>

namespace cardan {
namespace {

constexpr auto kUnlimited = std::numeric_limits<std::uint64_t>::max();

std::optional<std::uint64_t> read_number(const std::filesystem::path& file) {
  std::ifstream in(file);
  std::uint64_t value = 0;
  if (in >> value) return value;
  return std::nullopt;  // "max", or no such file
}

std::uint64_t mem_available() {
  std::ifstream in("/proc/meminfo");
  std::string key;
  std::uint64_t kib = 0;
  std::string unit;
  while (in >> key >> kib) {
    std::getline(in, unit);
    if (key == "MemAvailable:") return kib * 1024;
  }
  return kUnlimited;
}

std::uint64_t left_below(const std::filesystem::path& base, std::string group, const char* limit_file,
                         const char* usage_file) {
  std::uint64_t left = kUnlimited;
  for (;;) {
    const std::filesystem::path folder = base / group.substr(group.starts_with('/') ? 1 : 0);
    if (const auto limit = read_number(folder / limit_file)) {
      const std::uint64_t used = read_number(folder / usage_file).value_or(0);
      left = std::min(left, *limit > used ? *limit - used : 0);
    }
    if (group.empty() || group == "/") return left;
    group.resize(group.rfind('/') == std::string::npos ? 0 : group.rfind('/'));
  }
}

std::uint64_t cgroup_left() {
  std::ifstream in("/proc/self/cgroup");
  std::uint64_t left = kUnlimited;
  for (std::string line; std::getline(in, line);) {
    const auto second = line.find(':', line.find(':') + 1);
    if (second == std::string::npos) continue;
    const std::string group = line.substr(second + 1);
    if (line.starts_with("0::"))
      left = std::min(left, left_below("/sys/fs/cgroup", group, "memory.max", "memory.current"));
    else if (line.find(":memory:") != std::string::npos)
      left =
          std::min(left, left_below("/sys/fs/cgroup/memory", group, "memory.limit_in_bytes", "memory.usage_in_bytes"));
  }
  return left;
}

}  // namespace

std::uint64_t available_memory() {
  std::uint64_t available = std::min(mem_available(), cgroup_left());
  if (const char* limit = std::getenv("CARDAN_MEMORY_LIMIT"))
    available = std::min<std::uint64_t>(available, std::strtoull(limit, nullptr, 10));
  return available;
}

}  // namespace cardan
