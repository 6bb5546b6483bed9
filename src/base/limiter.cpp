// SPDX-License-Identifier: Apache-2.0
#include "src/base/limiter.hpp"

#include <algorithm>

namespace cardan::detail {

bool Limiter::allow(const Cause& cause, std::int64_t now) {
  std::pair<std::string, uid_t> key{cause.what, cause.uid};
  if (!windows_.contains(key) && windows_.size() >= kPairs) {
    std::erase_if(windows_, [now](const auto& w) { return w.second.left_out == 0 && now - w.second.begin >= kWindow; });
    if (windows_.size() >= kPairs) key.second = kSeveral;
  }
  Window& w = windows_[key];
  if (w.left_out == 0 && now - w.begin >= kWindow) w = {.begin = now};
  if (w.used < at_once_ && w.left_out == 0) {
    ++w.used;
    return true;
  }
  ++w.left_out;
  return false;
}

std::vector<Limiter::LeftOut> Limiter::ended(std::int64_t now) {
  std::vector<LeftOut> all;
  for (auto& [key, w] : windows_) {
    if (w.left_out == 0 || now - w.begin < kWindow) continue;
    all.push_back({key.first, key.second, w.left_out});
    w = {.begin = now};
  }
  return all;
}

std::int64_t Limiter::next_end() const {
  std::int64_t next = 0;
  for (const auto& [key, w] : windows_)
    if (w.left_out != 0) next = next == 0 ? w.begin + kWindow : std::min(next, w.begin + kWindow);
  return next;
}

}  // namespace cardan::detail
