// SPDX-License-Identifier: Apache-2.0
#include "src/runtime/executor/output_core.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <exception>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "cardan/clock.hpp"
#include "cardan/log.hpp"
#include "src/base/random.hpp"
#include "src/runtime/executor/port.hpp"
#include "src/transport/discovery/process.hpp"
#include "src/transport/endpoint/publisher_core.hpp"
#include "src/transport/endpoint/trace.hpp"

namespace cardan::detail {

OutputCore::OutputCore(std::shared_ptr<Channel> channel, std::shared_ptr<PublisherCore> publisher, Process* process,
                       const RuntimeClock& clock, std::uint32_t depth, const ChainRole& chain,
                       std::shared_ptr<const ChainEnds> ends)
    : chain_(chain),
      ends_(std::move(ends)),
      channel_(std::move(channel)),
      publisher_(std::move(publisher)),
      process_(process),
      clock_(clock),
      last_(depth),
      stream_(publisher_ != nullptr ? publisher_->header().stream : random64()),
      stream_name_(publisher_ != nullptr ? trace::StreamName() : trace::StreamName(stream_, channel_->topic())) {
  if (publisher_ != nullptr) publisher_->belong_to(&clock_);
  channel_->add(last_, channel_->type().native ? publisher_ : nullptr);
  if (publisher_ == nullptr || process_ == nullptr) return;
  try {
    process_->add(publisher_);
  } catch (...) {
    channel_->remove(last_, publisher_);
    throw;
  }
  announced_ns_ = steady_now();
}

OutputCore::~OutputCore() {
  channel_->remove(last_, publisher_);
  last_.stop();  // before the publisher, whose slots they are
  if (publisher_ != nullptr && process_ != nullptr && !is_forked_child()) process_->remove(publisher_);
}

template <bool kKeep>
HandOver OutputCore::hand_over() noexcept {
  return {[](void* self, int slot) noexcept {
            auto& core = *static_cast<OutputCore*>(self);
            SampleBlock* block = core.publisher_->keep(slot);
            block->is_private = !core.goes_outside();
            const std::int64_t now = core.clock_.now();
            if (core.clock_.simulated()) {  // the slot's own time is of the steady clock
              if (block->origin_ns == block->publish_ns) block->origin_ns = now;
              block->publish_ns = now;
            }
            core.channel_->deliver(*block, now, core.last_);
            if constexpr (kKeep) core.last_.add(*block);
            drop(block);
          },
          this};
}

bool OutputCore::publish(const Filled& filled) noexcept {
  pass_gate();
  const auto publish_it = [&](HandOver here) {
    const bool in_time = publisher_->publish(filled.slot, filled.payload_bytes, filled.source_ns, here, filled.named);
    published_.store(published_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    return in_time;
  };
  if (!last_.wanted()) return publish_it(channel_->read_here() ? hand_over<false>() : HandOver{});
  const std::lock_guard lock(last_.mutex());
  last_.make_room();
  return publish_it(hand_over<true>());
}

void OutputCore::note_chains(SampleBlock& object) const noexcept {
  object.chain_from = chain_.topic;
  const CallbackBasis* const here = CallbackBasis::here();
  if (here == nullptr) return;
  ChainGrounds grounds;
  here->add_chains(grounds);
  if (grounds.all().empty()) return;
  chain_.add_hop(grounds, object.publish_ns);
  if (chain_.ends != nullptr) chain_.ends(chain_.self, grounds.all(), object.publish_ns);
  object.own_chains.reset(new (std::nothrow) ChainGrounds(grounds));  // without memory, its readers know no chain
}

void OutputCore::begin_encoding() noexcept {
  pass_gate();
  encoded_before_ = publisher_->published();
}

void OutputCore::note_cause(OwnBlock& object, const Basis& basis) const noexcept {
  object.is_private = true;
  const bool is_encoded = goes_outside() && publisher_->published() != encoded_before_;
  object.cause_stream = is_encoded ? stream_ : basis.shared_stream;
  object.cause_sequence = is_encoded ? publisher_->published() : basis.shared_sequence;
}

void OutputCore::publish(SampleBlock* block) noexcept {
  const std::uint64_t n = published_.load(std::memory_order_relaxed) + 1;
  published_.store(n, std::memory_order_relaxed);
  block->sequence = n;
  block->publish_ns = clock_.now();
  const Basis basis = basis_of_publication({});
  if (block->origin_ns == 0) block->origin_ns = basis.origin_ns;
  block->stream_id = stream_;
  note_cause(static_cast<OwnBlock&>(*block), basis);
  if (chain_.entries != 0) note_chains(*block);
  if (trace::on()) [[unlikely]]
    trace::write_publication(steady_now(), stream_, n, 0, basis);
  if (last_.wanted()) {
    const std::lock_guard lock(last_.mutex());
    channel_->deliver(*block, block->publish_ns, last_);
    last_.add(*block);
  } else {
    channel_->deliver(*block, block->publish_ns, last_);
  }
  drop(block);
}

void OutputCore::note_not_encoded() noexcept {
  if (std::exchange(told_not_encoded_, true)) return;
  try {
    log(LogLevel::Warning, fmt::format("{}: an object could not be encoded in the {} bytes that the topic allows: "
                                       "other processes and late joiners do not get it; raise the topic's max_bytes, "
                                       "or make it process_private if only this process reads it",
                                       channel_->topic(), publisher_->payload_capacity()));
  } catch (const std::exception&) {  // no memory for a line
  }
}

bool OutputCore::make_room() noexcept {
  constexpr std::uint32_t kStep = 8;
  constexpr std::uint32_t kMost = 128;
  if (!channel_->read_here() || room_made_ >= kMost || publisher_->all_loans_are_out()) return false;
  try {
    publisher_->hold_own(kStep);
    if (room_made_ == 0) {
      std::vector<std::string> names;
      for (const Port* port : channel_->ports()) names.push_back(port->component());
      log(LogLevel::Warning,
          fmt::format("{}: its readers in this process ({}) keep more samples than their inputs' `keeps` allow; they "
                      "get memory for up to {} more, then nothing can be published until they drop some",
                      channel_->topic(), fmt::join(names, ", "), kMost));
    }
    room_made_ += kStep;
    return true;
  } catch (const std::exception& e) {  // out of memory, or the topic's max_memory
    room_made_ = kMost;
    log(LogLevel::Warning,
        fmt::format("{}: no room for more samples that its readers keep: {}", channel_->topic(), e.what()));
    return false;
  }
}

}  // namespace cardan::detail
