// SPDX-License-Identifier: Apache-2.0
#include "cardan/detail/basis.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "cardan/detail/sample_block.hpp"
#include "src/transport/endpoint/stream.hpp"
#include "src/transport/endpoint/trace.hpp"
#include "src/transport/protocol/layout.hpp"

namespace cardan::detail {
namespace {
// In the thread's static memory, because each publication reads it.
[[gnu::tls_model("initial-exec")]] thread_local constinit CallbackBasis* innermost = nullptr;
}  // namespace

void Basis::add(const SampleBlock& sample) noexcept {
  Basis basis{.origin_ns = sample.basis_ns(),
              .stream = sample.stream_id,
              .sequence = sample.sequence,
              .shared_stream = sample.stream_id,
              .shared_sequence = sample.sequence};
  if (sample.is_private) {
    basis.shared_stream = static_cast<const OwnBlock&>(sample).cause_stream;
    basis.shared_sequence = static_cast<const OwnBlock&>(sample).cause_sequence;
  }
  add(basis);
}

void ChainGrounds::add(const SampleBlock& sample) noexcept {
  if (sample.chain_from != 0)
    add({.from = sample.chain_from,
         .hop = 0,
         .origin_ns = sample.foreign ? kUnknownOrigin : sample.publish_ns,
         .hop_ns = 0,
         .since_ns = sample.publish_ns});
  if (sample.foreign) return;
  const auto bring = [&](ChainGround ground) {
    if (ground.from == 0 || ground.from == sample.chain_from) return;  // a chain begins again where it began
    ground.since_ns = sample.publish_ns;
    add(ground);
  };
  if (sample.own_chains != nullptr)
    for (const ChainGround& ground : sample.own_chains->all()) bring(ground);
  constexpr auto relaxed = std::memory_order_relaxed;
  const std::int64_t shift = sample.stream == nullptr ? 0 : sample.stream->time_shift();
  for (std::size_t i = 0; i < sample.chain_count; ++i) {
    const layout::ChainEntry& e = sample.chains[i];
    const std::int64_t origin = our_origin(e.origin_ns.load(relaxed), shift, sample.publish_ns);
    const std::int64_t longest = origin == kUnknownOrigin ? 0 : sample.publish_ns - origin;
    bring({.from = e.from.load(relaxed),
           .hop = e.hop.load(relaxed),
           .origin_ns = origin,
           .hop_ns = std::clamp<std::int64_t>(e.hop_ns.load(relaxed), 0, longest),
           .since_ns = 0});
  }
}

void OwnBlock::take_ground_of(const SampleBlock& other) {
  origin_ns = other.origin_ns;
  stream_id = other.stream_id;
  is_private = other.is_private;
  if (is_private) {
    cause_stream = static_cast<const OwnBlock&>(other).cause_stream;
    cause_sequence = static_cast<const OwnBlock&>(other).cause_sequence;
  }
  foreign = other.foreign;
  chain_from = other.chain_from;
  if (other.chain_count == 0 && other.own_chains == nullptr) return;
  auto grounds = std::make_unique<ChainGrounds>();
  grounds->add(other);
  own_chains = std::move(grounds);
}

CallbackBasis::CallbackBasis() noexcept : outer_(std::exchange(innermost, this)) {}
CallbackBasis::~CallbackBasis() { innermost = outer_; }
CallbackBasis* CallbackBasis::here() noexcept { return innermost; }

void CallbackBasis::triggered_by(const SampleBlock& sample) noexcept {
  trigger_ = {};
  trigger_.add(sample);
  given_ = trigger_;
  chains_.clear();
  chains_.add(sample);
}

void CallbackBasis::fused(SampleBlock* const* set, std::size_t inputs) noexcept {
  given_ = {};
  chains_.clear();
  bool has_trigger = false;
  for (std::size_t i = 0; i < inputs; ++i) {
    if (set[i] == nullptr) continue;
    trace::note(trace::Kind::Read, *set[i]);
    given_.add(*set[i]);
    has_trigger = has_trigger || (set[i]->stream_id == trigger_.stream && set[i]->sequence == trigger_.sequence);
    chains_.add(*set[i]);
  }
  if (has_trigger) given_.caused_by(trigger_);
}

Basis CallbackBasis::with(Basis named) const noexcept {
  named.add(read_);
  if (given_.stream == 0) return named;
  named.origin_ns = Basis::older(given_.origin_ns, named.origin_ns);
  named.caused_by(given_);
  return named;
}

Basis basis_of_publication(const Basis& named) noexcept {
  return innermost == nullptr ? named : innermost->with(named);
}

}  // namespace cardan::detail
