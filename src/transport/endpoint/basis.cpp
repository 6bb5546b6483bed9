// SPDX-License-Identifier: Apache-2.0
#include "cardan/detail/basis.hpp"

#include <cstddef>
#include <utility>

#include "cardan/detail/sample_block.hpp"

namespace cardan::detail {
namespace {
// In the thread's static memory, because each publication reads it.
[[gnu::tls_model("initial-exec")]] thread_local constinit CallbackBasis* innermost = nullptr;
}  // namespace

void Basis::add(const SampleBlock& sample) noexcept {
  add(Basis{.origin_ns = sample.basis_ns(), .stream = sample.stream_id, .sequence = sample.sequence});
}

CallbackBasis::CallbackBasis() noexcept : outer_(std::exchange(innermost, this)) {}
CallbackBasis::~CallbackBasis() { innermost = outer_; }
CallbackBasis* CallbackBasis::here() noexcept { return innermost; }

void CallbackBasis::triggered_by(const SampleBlock& sample) noexcept {
  trigger_ = {};
  trigger_.add(sample);
  fused_ns_ = trigger_.origin_ns;
}

void CallbackBasis::fused(SampleBlock* const* set, std::size_t inputs) noexcept {
  fused_ns_ = 0;
  for (std::size_t i = 0; i < inputs; ++i)
    if (set[i] != nullptr) fused_ns_ = Basis::older(fused_ns_, set[i]->basis_ns());
}

Basis CallbackBasis::with(Basis named) const noexcept {
  named.add(read_);
  if (trigger_.stream == 0) return named;
  return {
      .origin_ns = Basis::older(fused_ns_, named.origin_ns), .stream = trigger_.stream, .sequence = trigger_.sequence};
}

Basis basis_of_publication(const Basis& named) noexcept {
  return innermost == nullptr ? named : innermost->with(named);
}

}  // namespace cardan::detail
