// SPDX-License-Identifier: Apache-2.0
#include <mutex>

#include "src/runtime/executor/callback.hpp"
#include "src/runtime/executor/group.hpp"

namespace cardan::detail {

bool Strand::enter(Callback& callback) noexcept {
  const std::lock_guard lock(mutex_);
  if (granted_ == &callback) {
    granted_ = nullptr;
    return true;
  }
  if (!busy_) {
    busy_ = true;
    return true;
  }
  callback.parked_ = nullptr;
  (last_parked_ == nullptr ? first_parked_ : last_parked_->parked_) = &callback;
  last_parked_ = &callback;
  return false;
}

void Strand::leave() noexcept {
  Callback* parked = nullptr;
  {
    const std::lock_guard lock(mutex_);
    parked = first_parked_;
    if (parked == nullptr) {
      busy_ = false;
      return;
    }
    // Handed over instead of set free: the thread that left could be back before a woken worker arrives, repeatedly.
    first_parked_ = parked->parked_;
    if (first_parked_ == nullptr) last_parked_ = nullptr;
    granted_ = parked;
  }
  parked->group().unpark(*parked);
}

}  // namespace cardan::detail
