// SPDX-License-Identifier: Apache-2.0
#include "cardan/transport/log.hpp"

#include <cstdio>
#include <mutex>

namespace cardan {
namespace {
std::mutex mutex;
std::function<void(LogLevel, const std::string&)>& current() {
  static auto* const sink = new std::function<void(LogLevel, const std::string&)>;
  return *sink;
}
}  // namespace

void set_log(std::function<void(LogLevel, const std::string&)> sink) {
  const std::lock_guard lock(mutex);
  current() = std::move(sink);
}

void detail::log(LogLevel level, const std::string& text) {
  const std::lock_guard lock(mutex);
  if (current()) return current()(level, text);
  static constexpr const char* kNames[] = {"info", "warning", "error"};
  std::fprintf(stderr, "cardan: %s: %s\n", kNames[static_cast<int>(level)], text.c_str());
}

}  // namespace cardan
