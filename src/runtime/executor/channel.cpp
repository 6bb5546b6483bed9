// SPDX-License-Identifier: Apache-2.0
#include "src/runtime/executor/channel.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <thread>
#include <tuple>

#include "cardan/error.hpp"
#include "src/runtime/executor/last_samples.hpp"
#include "src/transport/endpoint/publisher_core.hpp"

namespace cardan::detail {

void Channel::deliver(SampleBlock& block, std::int64_t now, const LastSamples& output) noexcept {
  if (tap_ != nullptr) (*tap_)(*this, block);
  inside_.fetch_add(1, std::memory_order_seq_cst);
  for (std::uint64_t left = output.readers.load(std::memory_order_acquire); left != 0; left &= left - 1)
    if (Port* port = table_[static_cast<std::size_t>(std::countr_zero(left))].load(std::memory_order_seq_cst))
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
  try {
    enter(port, i);
  } catch (...) {  // no memory, before anything was done
    for (const auto& publisher : publishers_) publisher->hold_own_less(port.held_at_most());
    throw;
  }
}

/// Each output is asked twice, and no lock is held meanwhile: its publisher may wait for a reader for long, and must
/// not keep the others from publishing. First what there is, in the order of times; then, from each, what has come
/// since, and from that moment on it hands over by itself. So each sample comes once, those of one output in their
/// order.
void Channel::enter(Port& port, std::size_t place) {
  const std::uint64_t bit = std::uint64_t{1} << place;
  std::vector<std::uint64_t> seen(outputs_.size());  ///< of each output, LastSamples::added()
  std::vector<SampleBlock*> there;
  std::size_t most = 0;
  for (const Source& output : outputs_) most += std::min(output.last->depth(), port.capacity());
  there.reserve(most);  // not while a publisher waits for the lock
  for (std::size_t k = 0; k < outputs_.size(); ++k) {
    LastSamples& last = *outputs_[k].last;
    if (outputs_[k].ended) continue;
    const std::lock_guard nobody_publishes(last.mutex());
    last.want();
    const std::uint32_t count = last.size();
    for (std::uint32_t n = count - std::min(count, port.capacity()); n < count; ++n) {
      last.at(n).references.fetch_add(1, std::memory_order_relaxed);
      there.push_back(&last.at(n));
    }
    seen[k] = last.added();
  }
  std::sort(there.begin(), there.end(), [](const SampleBlock* a, const SampleBlock* b) {
    return std::tie(a->publish_ns, a->sequence) < std::tie(b->publish_ns, b->sequence);
  });
  const std::int64_t now = port.group().clock().now();
  const auto push = [&](SampleBlock& block) noexcept {
    port.push(block, now, [&port](Callback& callback, auto add) noexcept { port.group().offer(callback, add); });
  };
  for (SampleBlock* block : there) {
    push(*block);
    drop(block);
  }
  table_[place].store(&port, std::memory_order_seq_cst);
  if (ports_end_.load(std::memory_order_relaxed) < place + 1)
    ports_end_.store(static_cast<std::uint32_t>(place) + 1, std::memory_order_release);
  for (std::size_t k = 0; k < outputs_.size(); ++k) {
    LastSamples& last = *outputs_[k].last;
    const std::lock_guard nobody_publishes(last.mutex());
    const std::uint64_t since = outputs_[k].ended ? 0 : last.added() - seen[k];
    const auto kept = static_cast<std::uint32_t>(std::min<std::uint64_t>(since, last.size()));
    if (since > kept) port.statistics().missed.fetch_add(since - kept, std::memory_order_relaxed);
    for (std::uint32_t n = last.size() - kept; n < last.size(); ++n) push(last.at(n));
    last.readers.fetch_or(bit, std::memory_order_release);
  }
}

void Channel::remove(Port& port) noexcept {
  const std::lock_guard lock(mutex_);
  for (auto& entry : table_) {
    if (entry.load(std::memory_order_relaxed) != &port) continue;
    const std::uint64_t bit = std::uint64_t{1} << (&entry - table_.data());
    for (const Source& output : outputs_) output.last->readers.fetch_and(~bit, std::memory_order_relaxed);
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
  std::uint64_t all = 0;
  for (std::size_t i = 0; i < kMaxPorts; ++i)
    if (table_[i].load(std::memory_order_relaxed) != nullptr) all |= std::uint64_t{1} << i;
  last.readers.store(all, std::memory_order_release);
  outputs_.push_back({&last, false});
}

void Channel::remove(const LastSamples& last, const std::shared_ptr<PublisherCore>& publisher) noexcept {
  const std::lock_guard lock(mutex_);
  std::erase_if(outputs_, [&](const Source& output) { return output.last == &last; });
  if (publisher != nullptr) std::erase(publishers_, publisher);
}

void Channel::forget(const LastSamples& last) noexcept {
  const std::lock_guard lock(mutex_);
  for (Source& output : outputs_)
    if (output.last == &last) output.ended = true;
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
