// SPDX-License-Identifier: Apache-2.0
#include <mutex>
#include <utility>

#include "cardan/runtime/callback.hpp"
#include "cardan/runtime/group.hpp"

namespace cardan::detail {

bool Strand::enter(Callback& callback) noexcept {
  const std::lock_guard lock(mutex_);
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
    busy_ = false;
    parked = std::exchange(first_parked_, nullptr);
    last_parked_ = nullptr;
  }
  while (parked != nullptr) {
    Callback& callback = *parked;
    parked = callback.parked_;  // before the callback can be parked again
    callback.group().unpark(callback);
  }
}

}  // namespace cardan::detail
