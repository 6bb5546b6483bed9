// SPDX-License-Identifier: Apache-2.0
#include "src/runtime/executor/port.hpp"

#include <algorithm>

#include "src/transport/endpoint/trace.hpp"

namespace cardan::detail {

namespace {
bool same_sample(const FailedOn& a, const FailedOn& b) noexcept {
  return a.sequence == b.sequence && a.publish_ns == b.publish_ns;
}
}  // namespace

void Port::note_failure() {
  FailedOn failed{.sequence = statistics().last_sequence.load(std::memory_order_relaxed),
                  .publish_ns = statistics().last_publish_ns.load(std::memory_order_relaxed)};
  const auto before = std::find_if(failed_on_.begin(), failed_on_.end(),
                                   [&](const FailedOn& known) { return same_sample(known, failed); });
  if (before != failed_on_.end()) {
    failed.times = before->times + 1;
    failed_on_.erase(before);
  } else if (failed_on_.size() >= kMostFailedOn) {
    // Of a stream each of whose samples fails, none comes again: those that did are worth more.
    const auto once = std::find_if(failed_on_.begin(), failed_on_.end(),
                                   [](const FailedOn& known) { return known.times < kFailuresToLeaveOut; });
    failed_on_.erase(once != failed_on_.end() ? once : failed_on_.begin());
  }
  failed_on_.push_back(failed);
}

void Port::remember_failures(std::vector<FailedOn> samples) {
  failed_on_ = std::move(samples);
  for (const FailedOn& failed : failed_on_)
    if (failed.times >= kFailuresToLeaveOut) leaves_out_.push_back(failed);
}

bool Port::leaves_out(const SampleBlock& block) const noexcept {
  const FailedOn this_one{.sequence = block.sequence, .publish_ns = block.publish_ns};
  return std::any_of(leaves_out_.begin(), leaves_out_.end(),
                     [&](const FailedOn& failed) { return same_sample(failed, this_one); });
}

void Port::note_age(const SampleBlock& block, std::int64_t now) noexcept {
  if (block.origin_ns == kUnknownOrigin)
    statistics().unknown_ages.fetch_add(1, std::memory_order_relaxed);
  else
    statistics().age.add(std::max<std::int64_t>(0, now - (block.origin_ns != 0 ? block.origin_ns : block.publish_ns)));
}

SampleBlock* Port::put(SampleBlock& block, std::int64_t now) noexcept {
  if (block.missed != 0) statistics().missed.fetch_add(block.missed, std::memory_order_relaxed);
  if (!leaves_out_.empty() && leaves_out(block)) {
    statistics().skipped.fetch_add(1, std::memory_order_relaxed);
    return &block;
  }
  statistics().transport.add(std::max<std::int64_t>(0, now - block.publish_ns));
  SampleBlock* pushed_out = nullptr;
  if (count_ == capacity_) {
    pushed_out = pop();
    if (call_) statistics().dropped.fetch_add(1, std::memory_order_relaxed);
    if (call_) trace::note(trace::Kind::Drop, *pushed_out, *this);
  }
  trace::note(trace::Kind::Queue, block, *this);
  ring_[(first_ + count_++) % capacity_] = {&block, now};
  if (!call_) {
    show_last(block);
    note_age(block, now);
  }
  show_queued();
  return pushed_out;
}

void Port::take_now(SampleBlock& block, std::int64_t now) noexcept {
  if (block.missed != 0) statistics().missed.fetch_add(block.missed, std::memory_order_relaxed);
  statistics().transport.add(std::max<std::int64_t>(0, now - block.publish_ns));
  note_age(block, now);
  show_last(block);
  call_(&block);
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
  note_age(*picked_, now);
  show_last(*picked_);
  show_queued();
}

bool Port::give_up_oldest() noexcept {
  SampleBlock* oldest = group().with_lock([this]() noexcept -> SampleBlock* {
    if (count_ == 0) return nullptr;
    statistics().dropped.fetch_add(1, std::memory_order_relaxed);
    statistics().given_up.fetch_add(1, std::memory_order_relaxed);
    SampleBlock* block = pop();
    trace::note(trace::Kind::Drop, *block, *this);
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
