// SPDX-License-Identifier: Apache-2.0
#include "cardan/detail/fusion_core.hpp"

#include <string>

#include "cardan/detail/basis.hpp"

namespace cardan::detail {

FusionCore::FusionCore(const FusionPolicy& policy, std::size_t inputs, std::span<const FusionStamp> stamps) {
  if (inputs < 2 || inputs > kMaxFusionInputs)
    refuse_fusion(std::to_string(inputs) + " inputs", "a fusion joins 2 to " + std::to_string(kMaxFusionInputs));
  inputs_ = std::span(all_).first(inputs);
  matcher_ = policy.rule().start(inputs_);
  time_ = policy.time();
  capacity_ = policy.rule().queue();
  entries_ = std::make_unique<FusionEntry[]>(inputs * capacity_);
  for (std::size_t i = 0; i < inputs; ++i) {
    inputs_[i].entries = &entries_[i * capacity_];
    inputs_[i].capacity = capacity_;
    inputs_[i].stamp = i < stamps.size() ? stamps[i] : nullptr;
    if (time_ == FusionTime::HeaderStamp && inputs_[i].stamp == nullptr)
      refuse_fusion("it uses header.stamp, but the messages of input " + std::to_string(i) + " have none",
                    "use FusionTime::Source or FusionTime::Publish, or specialize cardan::fusion_stamp for that type");
  }
}

FusionCore::~FusionCore() {
  for (FusionInput& input : inputs_)
    while (input.size > 0) drop(input.pop().block);
}

std::int64_t FusionCore::time_of(FusionInput& input, const SampleBlock& block) const noexcept {
  if (time_ == FusionTime::Publish) return block.publish_ns;
  const std::int64_t stamp = time_ == FusionTime::Source ? block.source_ns : input.stamp(block.message);
  if (stamp != 0) return stamp;
  input.count(FusionCount::Unstamped);
  return block.publish_ns;
}

void FusionCore::offer(std::size_t input, SampleBlock* block) noexcept {
  if (block == nullptr) return;
  block->references.fetch_add(1, std::memory_order_relaxed);
  FusionInput& in = inputs_[input];
  in.arrived = true;
  in.count(FusionCount::Offered);
  const FusionEntry entry{block, time_of(in, *block)};
  in.offered_time.store(entry.time, std::memory_order_relaxed);
  matcher_->offer(input, entry);
  note_waiting();
}

bool FusionCore::next(SampleBlock** set) noexcept {
  const bool fired = matcher_->next(set);
  if (fired) {
    fired_.store(fired_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    if (CallbackBasis* basis = CallbackBasis::here()) basis->fused(set, inputs_.size());
  }
  note_waiting();
  return fired;
}

void FusionCore::clear() noexcept {
  detail::clear(inputs_);
  matcher_->forget();
  note_waiting();
}

void FusionCore::note_waiting() noexcept {
  for (FusionInput& in : inputs_)
    in.counter(FusionCount::Waiting).store(in.newest_used ? 0 : in.size, std::memory_order_relaxed);
}

FusionStatistics FusionCore::statistics() const noexcept {
  FusionStatistics all;
  all.fired = fired_.load(std::memory_order_relaxed);
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    const auto read = [&](FusionCount what) { return inputs_[i].counter(what).load(std::memory_order_relaxed); };
    all.inputs[i] = {.offered = read(FusionCount::Offered),
                     .used = read(FusionCount::Used),
                     .unfired = read(FusionCount::Unfired),
                     .replaced = read(FusionCount::Replaced),
                     .overtaken = read(FusionCount::Overtaken),
                     .pushed_out = read(FusionCount::PushedOut),
                     .late = read(FusionCount::Late),
                     .cleared = read(FusionCount::Cleared),
                     .waiting = read(FusionCount::Waiting),
                     .unstamped = read(FusionCount::Unstamped),
                     .newest = inputs_[i].offered_time.load(std::memory_order_relaxed),
                     .never_arrived = read(FusionCount::NeverArrived),
                     .too_old = read(FusionCount::TooOld),
                     .absent = read(FusionCount::Absent)};
  }
  return all;
}

}  // namespace cardan::detail
