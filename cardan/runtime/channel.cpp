// SPDX-License-Identifier: Apache-2.0
#include "cardan/runtime/channel.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <thread>
#include <tuple>

#include "cardan/memory/error.hpp"
#include "cardan/runtime/last_samples.hpp"

namespace cardan::detail {

void Channel::deliver(SampleBlock& block, std::int64_t now) noexcept {
  if (tap_ != nullptr) (*tap_)(*this, block);
  inside_.fetch_add(1, std::memory_order_seq_cst);
  const std::uint32_t end = ports_end_.load(std::memory_order_acquire);
  for (std::uint32_t i = 0; i < end; ++i)
    if (Port* port = table_[i].load(std::memory_order_seq_cst))
      port->push(block, now, [port](Callback& callback, auto add) noexcept { port->group().offer(callback, add); });
  inside_.fetch_sub(1, std::memory_order_release);
}

void Channel::add(Port& port) {
  const std::lock_guard lock(mutex_);
  std::uint32_t i = 0;
  while (i < kMaxPorts && table_[i].load(std::memory_order_relaxed) != nullptr) ++i;
  if (i == kMaxPorts)
    throw Error(ErrorCode::Limit, fmt::format("topic '{}' has {} inputs in this process already", topic_, kMaxPorts),
                "spread the components over more processes");
  std::size_t made = 0;
  try {
    for (; made < publishers_.size(); ++made) publishers_[made]->hold_own(port.held_at_most());
  } catch (...) {
    while (made > 0) publishers_[--made]->hold_own_less(port.held_at_most());
    throw;
  }
  // While it is entered nobody publishes: what is there it is given here, what comes by deliver(), each sample once.
  std::vector<std::unique_lock<PriorityMutex>> nobody_publishes;
  std::vector<SampleBlock*> there;
  for (LastSamples* last : last_) {
    nobody_publishes.emplace_back(last->mutex());
    last->want();
    for (std::uint32_t k = 0; k < last->size(); ++k) there.push_back(&last->at(k));
  }
  std::sort(there.begin(), there.end(), [](const SampleBlock* a, const SampleBlock* b) {
    return std::tie(a->publish_ns, a->sequence) < std::tie(b->publish_ns, b->sequence);
  });
  const std::size_t too_many = there.size() - std::min<std::size_t>(there.size(), port.capacity());
  const std::int64_t now = port.group().clock().now();
  for (auto block = there.begin() + static_cast<std::ptrdiff_t>(too_many); block != there.end(); ++block)
    port.push(**block, now, [&port](Callback& callback, auto add) noexcept { port.group().offer(callback, add); });
  table_[i].store(&port, std::memory_order_seq_cst);
  if (ports_end_.load(std::memory_order_relaxed) < i + 1) ports_end_.store(i + 1, std::memory_order_release);
}

void Channel::remove(Port& port) noexcept {
  const std::lock_guard lock(mutex_);
  for (auto& entry : table_) {
    if (entry.load(std::memory_order_relaxed) != &port) continue;
    entry.store(nullptr, std::memory_order_seq_cst);
    for (const auto& publisher : publishers_) publisher->hold_own_less(port.held_at_most());
  }
  while (inside_.load(std::memory_order_seq_cst) != 0) std::this_thread::yield();
}

void Channel::add(LastSamples& last, const std::shared_ptr<PublisherCore>& publisher) {
  const std::lock_guard lock(mutex_);
  if (publisher != nullptr) {
    publisher->hold_own(held_at_most());  // also with none: readers may come later
    publishers_.push_back(publisher);
  }
  last_.push_back(&last);
}

void Channel::remove(const LastSamples& last, const std::shared_ptr<PublisherCore>& publisher) noexcept {
  const std::lock_guard lock(mutex_);
  std::erase(last_, &last);
  if (publisher != nullptr) std::erase(publishers_, publisher);
}

void Channel::forget(const LastSamples& last) noexcept {
  const std::lock_guard lock(mutex_);
  std::erase(last_, &last);
}

std::vector<Port*> Channel::ports() const {
  std::vector<Port*> all;
  for (const auto& entry : table_)
    if (Port* port = entry.load(std::memory_order_acquire)) all.push_back(port);
  return all;
}

std::uint32_t Channel::held_at_most() const {
  std::uint32_t held = 0;
  for (const Port* port : ports()) held += port->held_at_most();
  return held;
}

}  // namespace cardan::detail
