// SPDX-License-Identifier: Apache-2.0
#include "cardan/runtime/port.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "cardan/transport/log.hpp"

namespace cardan::detail {

SampleBlock* Port::put(SampleBlock& block, std::int64_t now) noexcept {
  statistics().transport.add(std::max<std::int64_t>(0, now - block.publish_ns));
  if (block.missed != 0) statistics().missed.fetch_add(block.missed, std::memory_order_relaxed);
  SampleBlock* pushed_out = nullptr;
  if (count_ == capacity_) {
    pushed_out = pop();
    if (call_) statistics().dropped.fetch_add(1, std::memory_order_relaxed);
  }
  ring_[(first_ + count_++) % capacity_] = {&block, now};
  if (!call_) show_last(block);
  show_queued();
  return pushed_out;
}

SampleBlock* Port::pop() noexcept {
  SampleBlock* block = ring_[first_].block;
  first_ = (first_ + 1) % capacity_;
  --count_;
  return block;
}

void Port::pick(std::int64_t now) noexcept {
  if (count_ == 0) return;  // given up since it became ready
  statistics().waiting.add(std::max<std::int64_t>(0, now - ring_[first_].arrived_ns));
  picked_ = pop();
  show_last(*picked_);
  show_queued();
}

bool Port::skipped(const SampleBlock& block) {
  const bool is_one = std::any_of(skips_.begin(), skips_.end(), [&](const Skip& skip) {
    return skip.sequence == block.sequence && skip.publish_ns == block.publish_ns;
  });
  if (!is_one) return false;
  statistics().skipped.fetch_add(1, std::memory_order_relaxed);
  log(LogLevel::Warning, fmt::format("{}: sample {} of input '{}' is skipped: this process crashed on it twice",
                                     component(), block.sequence, name()));
  return true;
}

bool Port::give_up_oldest() noexcept {
  SampleBlock* oldest = group().with_lock([this]() noexcept -> SampleBlock* {
    if (count_ == 0) return nullptr;
    statistics().dropped.fetch_add(1, std::memory_order_relaxed);
    statistics().given_up.fetch_add(1, std::memory_order_relaxed);
    SampleBlock* block = pop();
    show_queued();
    return block;
  });
  if (oldest != nullptr) drop(oldest);
  return oldest != nullptr;
}

void Port::clear() noexcept {
  for (;;) {
    SampleBlock* block = group().with_lock([this]() noexcept { return count_ == 0 ? nullptr : pop(); });
    if (block == nullptr) return;
    drop(block);
  }
}

}  // namespace cardan::detail
