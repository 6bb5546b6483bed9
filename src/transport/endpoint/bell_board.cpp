// SPDX-License-Identifier: Apache-2.0
#include "src/transport/endpoint/bell_board.hpp"

#include <fmt/format.h>

#include "cardan/error.hpp"
#include "src/transport/endpoint/foreign.hpp"

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

std::shared_ptr<BellLine> PublisherBells::bell_for(uid_t uid, const std::shared_ptr<BellBoard>& board,
                                                   bool background) {
  background = background && !is_foreign(uid);  // another user has one bell
  std::erase_if(bells_, [](const auto& weak) { return weak.expired(); });
  const auto find = [&](bool of_background) -> std::shared_ptr<BellLine> {
    for (const auto& weak : bells_)
      if (auto bell = weak.lock();
          bell && bell->uid == uid && bell->background == of_background && uid != socket::kUnmapped)
        return bell;
    return nullptr;
  };
  if (auto bell = find(background)) return bell;
  const int index = board->allocate();
  if (index < 0) {
    if (auto bell = background ? find(false) : nullptr) return bell;
    throw Error(ErrorCode::Limit, fmt::format("this process already rings {} bells for one user", layout::kBells),
                "spread the topics over more processes");
  }
  auto bell = std::make_shared<BellLine>(board, index, uid);
  bell->phase = bell->word().load(std::memory_order_relaxed);
  bell->foreign = is_foreign(uid);
  bell->background = background;
  bells_.push_back(bell);
  return bell;
}

}  // namespace cardan::detail
