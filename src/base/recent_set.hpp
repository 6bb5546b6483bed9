// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <deque>
#include <set>
#include <utility>

namespace cardan::detail {

/// The last `capacity` different values that were inserted. The bound is needed because memory must not grow with the
/// number of names that other users choose.
/// Not thread safe.
template <class T>
class RecentSet {
 public:
  explicit RecentSet(std::size_t capacity) : capacity_(capacity) {}

  void insert(T value) {
    if (!all_.insert(value).second) return;
    order_.push_back(std::move(value));
    if (order_.size() <= capacity_) return;
    all_.erase(order_.front());
    order_.pop_front();
  }
  [[nodiscard]] bool contains(const T& value) const { return all_.contains(value); }
  [[nodiscard]] std::size_t size() const noexcept { return order_.size(); }
  template <class P>
  void erase_if(P which) {
    std::erase_if(all_, which);
    std::erase_if(order_, which);
  }

 private:
  std::size_t capacity_;
  std::set<T> all_;
  std::deque<T> order_;
};

}  // namespace cardan::detail
