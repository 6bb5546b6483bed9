// SPDX-License-Identifier: Apache-2.0
#include "src/runtime/service/service_callback.hpp"

#include <algorithm>
#include <utility>

#include "cardan/detail/basis.hpp"
#include "src/transport/endpoint/stream.hpp"
#include "src/transport/endpoint/subscriber_core.hpp"
#include "src/transport/endpoint/trace.hpp"

namespace cardan::detail {
namespace {

void let_go(const TakenQuestion& question) noexcept {
  question.end.decline_dropped(question.block->sequence);
  drop(question.block);
}

/// Of this process's clock; a question of a simulation has no stream, and the simulation's clock.
std::int64_t deadline_of(const SampleBlock& question) noexcept {
  if (question.source_ns == 0 || question.stream == nullptr) return question.source_ns;
  std::int64_t deadline = 0;  // another user's word: the sum may be too large, and means none then
  return __builtin_add_overflow(question.source_ns, question.stream->time_shift(), &deadline) ? 0 : deadline;
}

}  // namespace

bool ServiceCallback::has_work() noexcept { return core_->questions().ready_streams(); }

void ServiceCallback::drain(QuietOffer& offer) noexcept {
  for (;;) {
    TakenQuestion question = core_->take();
    if (question.block == nullptr) break;
    not_stuck();
    offer(*this, [&]() noexcept { put(std::move(question), steady_now()); });
  }
  if (core_->reason() == Reason::Limit) stuck();
}

void ServiceCallback::push(TakenQuestion&& question) {
  group().offer(*this, [&]() noexcept {
    if (count_ == ring_.size()) {  // of a simulation: it has no streams in which questions wait
      std::rotate(ring_.begin(), ring_.begin() + first_, ring_.end());
      first_ = 0;
      ring_.resize(2 * ring_.size());
    }
    put(std::move(question), group().clock().now());
  });
}

/// There is room: the subscriber lets no more than `holds` and one out.
void ServiceCallback::put(TakenQuestion&& question, std::int64_t now) noexcept {
  const SampleBlock& block = *question.block;
  statistics().transport.add(std::max<std::int64_t>(0, now - block.publish_ns));
  trace::note(trace::Kind::Queue, block, *this);
  ring_[(first_ + count_++) % ring_.size()] = {
      .question = std::move(question), .deadline_ns = deadline_of(block), .arrived_ns = now};
  show_queued();
}

ServiceCallback::Entry ServiceCallback::pop() noexcept {
  Entry entry = std::exchange(ring_[first_], {});
  first_ = (first_ + 1) % static_cast<std::uint32_t>(ring_.size());
  --count_;
  show_queued();
  return entry;
}

void ServiceCallback::pick(std::int64_t now) noexcept {
  if (count_ == 0) return;
  picked_ = pop();
  statistics().waiting.add(std::max<std::int64_t>(0, now - picked_.arrived_ns));
}

void ServiceCallback::invoke() {
  Entry entry = std::exchange(picked_, {});
  SampleBlock* const block = entry.question.block;
  if (block == nullptr) return;
  const bool overdue = entry.deadline_ns != 0 && group().clock().now() > entry.deadline_ns;
  if (overdue || entry.question.end.cancelled(block->sequence)) {
    statistics().unanswered.fetch_add(1, std::memory_order_relaxed);
    drop(block);
    return;
  }
  if (CallbackBasis* const basis = CallbackBasis::here()) basis->triggered_by(*block);
  call_(std::move(entry.question));
}

void ServiceCallback::clear() noexcept {
  for (;;) {
    const Entry entry = group().with_lock([this]() noexcept { return count_ == 0 ? Entry{} : pop(); });
    if (entry.question.block == nullptr) return;
    let_go(entry.question);
  }
}

}  // namespace cardan::detail
