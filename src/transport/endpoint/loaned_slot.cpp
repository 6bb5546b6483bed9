// SPDX-License-Identifier: Apache-2.0
#include "cardan/detail/loaned_slot.hpp"

#include "src/transport/endpoint/publisher_core.hpp"
#include "src/transport/endpoint/trace.hpp"

namespace cardan::detail {

LoanedSlot::LoanedSlot(const std::shared_ptr<PublisherCore>& core) noexcept {
  const int slot = core->loan();
  if (slot < 0) return;
  core_ = core;
  slot_ = slot;
  message_ = core->message(slot);
}

void* LoanedSlot::arena() const noexcept { return core_->arena(slot_); }
std::byte* LoanedSlot::payload() const noexcept { return core_->payload(slot_); }
std::size_t LoanedSlot::payload_capacity() const noexcept { return core_->payload_capacity(); }

void LoanedSlot::soon() noexcept {
  if (slot_ >= 0) core_->soon();
}

void LoanedSlot::rests_on(const SampleBlock& sample) noexcept {
  if (slot_ < 0) return;
  trace::note(trace::Kind::Read, sample.stream_id, sample.sequence, core_->header().stream);
  named.add(sample);
  core_->rests_on(slot_, sample);
}

void LoanedSlot::reset() noexcept {
  if (slot_ >= 0 && !is_forked_child()) core_->abandon(slot_);
  slot_ = -1;
  message_ = nullptr;
  core_.reset();
}

}  // namespace cardan::detail
