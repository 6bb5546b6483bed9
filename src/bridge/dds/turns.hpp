// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <deque>
#include <map>
#include <optional>
#include <utility>

namespace cardan::bridge::dds {

/// Requests of several clients, one of each in turn: many questions of one keep no other waiting.
/// Thread safety: one thread at a time. No function blocks.
template <class Who, class Item>
class Turns {
 public:
  struct Limits {
    std::size_t most = 64, most_of_one = 8;
  };
  explicit Turns(Limits limits) : limits_(limits) {}

  /// Returns the item that has no place: this one, or, if all places are taken, the newest of the one with the most.
  /// Throws bad_alloc.
  [[nodiscard]] std::optional<Item> add(const Who& who, Item item) {
    std::deque<Item>& own = waiting_[who];
    if (own.size() >= limits_.most_of_one) return item;
    std::optional<Item> left_out;
    if (size_ >= limits_.most) {
      const auto longest = std::max_element(waiting_.begin(), waiting_.end(), [](const auto& a, const auto& b) {
        return a.second.size() < b.second.size();
      });
      if (longest->second.size() <= own.size() + 1) {
        if (own.empty()) waiting_.erase(who);
        return item;
      }
      left_out = std::move(longest->second.back());
      longest->second.pop_back();
      --size_;
    }
    own.push_back(std::move(item));
    ++size_;
    return left_out;
  }

  /// The next one; empty: no request waits.
  [[nodiscard]] std::optional<Item> take() {
    if (waiting_.empty()) return {};
    auto at = last_ ? waiting_.upper_bound(*last_) : waiting_.begin();
    if (at == waiting_.end()) at = waiting_.begin();
    Item item = std::move(at->second.front());
    at->second.pop_front();
    --size_;
    last_ = at->first;
    if (at->second.empty()) waiting_.erase(at);
    return item;
  }

  [[nodiscard]] std::size_t size() const noexcept { return size_; }

 private:
  Limits limits_;
  std::map<Who, std::deque<Item>> waiting_;
  std::optional<Who> last_;  ///< whose turn it was
  std::size_t size_ = 0;
};

}  // namespace cardan::bridge::dds
