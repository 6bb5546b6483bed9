// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>

namespace cardan::detail {

/// Limits the time that questions about other users' memory may take. An owner can delay each answer, and can hand over
/// many areas. Any thread; takes a mutex.
class AnswerTimes {
 public:
  static AnswerTimes& of_process() {
    static auto& all = *new AnswerTimes;
    return all;
  }
  /// Returns how long one more answer may take (ns); 0: do not ask. Otherwise done() must follow. `now`: steady clock,
  /// ns.
  std::int64_t begin(uid_t whose, std::int64_t now) {
    const std::lock_guard lock(mutex_);
    if (now - began_ > kWindow) {
      began_ = now;
      of_all_ = 0;
      std::erase_if(of_, [](const auto& user) { return user.second.under_way == 0; });
      for (auto& [uid, user] : of_) user.spent = 0;
    }
    if (!of_.contains(whose) && of_.size() >= kUsers) return 0;
    Of& user = of_[whose];
    // The time that other users consume leaves each user its first question and some time for it.
    const std::int64_t left = std::min(kMostOfOne - user.spent, std::max(kMostOfAll - of_all_, kFirst - user.spent));
    if (left <= 0 || user.under_way >= kThreadsOfOne || (user.under_way != 0 && under_way_ >= kThreads)) return 0;
    ++user.under_way;
    ++under_way_;
    return left;
  }
  void spent(uid_t whose, std::int64_t ns) {
    const std::lock_guard lock(mutex_);
    of_all_ += ns;
    if (const auto user = of_.find(whose); user != of_.end()) user->second.spent += ns;
  }
  void done(uid_t whose) {
    const std::lock_guard lock(mutex_);
    --under_way_;
    --of_.at(whose).under_way;
  }

 private:
  static constexpr std::int64_t kWindow = 60'000'000'000;
  static constexpr std::int64_t kMostOfOne = 1'000'000'000;
  static constexpr std::int64_t kMostOfAll = 6'000'000'000;
  static constexpr std::int64_t kFirst = 20'000'000;
  static constexpr std::uint32_t kThreadsOfOne = 2;
  static constexpr std::uint32_t kThreads = 32;
  static constexpr std::size_t kUsers = 128;
  struct Of {
    std::int64_t spent = 0;
    std::uint32_t under_way = 0;
  };
  std::mutex mutex_;
  std::map<uid_t, Of> of_;
  std::int64_t began_ = 0;
  std::int64_t of_all_ = 0;
  std::uint32_t under_way_ = 0;
};

}  // namespace cardan::detail
