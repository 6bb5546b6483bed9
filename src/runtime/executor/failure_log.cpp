// SPDX-License-Identifier: Apache-2.0
#include "src/runtime/executor/failure_log.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace cardan::detail {

std::optional<std::string> FailureLog::counted(const std::string& name, Window& window) {
  if (window.again == 0) return {};
  std::string line = window.said.size() == 1 && window.last == window.said.front()
                         ? fmt::format("{} threw the same {} more time{}: {}", name, window.again,
                                       window.again == 1 ? "" : "s", window.last)
                         : fmt::format("{} threw {} more time{}, the last: {}", name, window.again,
                                       window.again == 1 ? "" : "s", window.last);
  window.again = 0;
  return line;
}

std::vector<std::string> FailureLog::failed(const std::string& component, const std::string& callback,
                                            const std::string& what, std::int64_t now_ns) {
  std::string name = fmt::format("{}: callback '{}'", component, callback);
  if (!windows_.contains(name) && windows_.size() >= kCallbacks) name = "further callbacks";
  const std::string words = what.substr(0, kText);
  std::vector<std::string> lines;
  const auto [place, fresh] = windows_.try_emplace(name);
  Window& window = place->second;
  const bool over = !fresh && now_ns - window.begin_ns >= kWindow;
  if (over)
    if (auto line = counted(name, window)) lines.push_back(std::move(*line));
  if (fresh || over) {
    // The same exception as before the window's end is still counted: it has been reported.
    const bool goes_on = over && std::find(window.said.begin(), window.said.end(), words) != window.said.end();
    window.begin_ns = now_ns;
    window.said.clear();
    if (goes_on) {
      window.said.push_back(words);
      if (lines.empty()) {  // after a quiet time it is news
        lines.push_back(fmt::format("{} threw: {}", name, words));
      } else {
        ++window.again;
        window.last = words;
      }
      return lines;
    }
  }
  const bool known = std::find(window.said.begin(), window.said.end(), words) != window.said.end();
  if (!known && window.said.size() < kLines) {
    window.said.push_back(words);
    lines.push_back(fmt::format("{} threw: {}", name, words));
  } else {
    ++window.again;
    window.last = words;
  }
  return lines;
}

std::vector<std::string> FailureLog::over(std::int64_t now_ns) {
  std::vector<std::string> lines;
  for (auto& [name, window] : windows_) {
    if (now_ns - window.begin_ns < kWindow) continue;
    auto line = counted(name, window);
    if (!line) continue;
    lines.push_back(std::move(*line));
    window.begin_ns = now_ns;
    if (window.said.size() > 1) window.said = {window.last};  // of many, room for others again
  }
  return lines;
}

std::int64_t FailureLog::next() const noexcept {
  std::int64_t next = 0;
  for (const auto& [name, window] : windows_)
    if (window.again != 0) next = next == 0 ? window.begin_ns + kWindow : std::min(next, window.begin_ns + kWindow);
  return next;
}

std::vector<std::string> FailureLog::rest() {
  std::vector<std::string> lines;
  for (auto& [name, window] : windows_)
    if (auto line = counted(name, window)) lines.push_back(std::move(*line));
  return lines;
}

}  // namespace cardan::detail
