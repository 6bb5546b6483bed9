// SPDX-License-Identifier: Apache-2.0
#include "src/transport/endpoint/bell_board.hpp"

namespace cardan::detail {

BellBoard::BellBoard() : area_("bells", layout::kBells * sizeof(layout::Bell)), used_(layout::kBells) {}

int BellBoard::allocate() {
  const std::lock_guard lock(mutex_);
  for (std::size_t i = 0; i < used_.size(); ++i) {
    if (used_[i]) continue;
    used_[i] = true;
    return static_cast<int>(i);
  }
  return -1;
}

void BellBoard::release(int index) noexcept {
  const std::lock_guard lock(mutex_);
  used_[static_cast<std::size_t>(index)] = false;
}

layout::Bell& BellBoard::bell(int index) const noexcept { return reinterpret_cast<layout::Bell*>(area_.data())[index]; }

}  // namespace cardan::detail
