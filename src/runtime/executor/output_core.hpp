// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "cardan/detail/loaned_slot.hpp"
#include "src/runtime/executor/await_recorders.hpp"
#include "src/runtime/executor/chain_end.hpp"
#include "src/runtime/executor/channel.hpp"
#include "src/runtime/executor/last_samples.hpp"
#include "src/runtime/executor/runtime_clock.hpp"
#include "src/transport/endpoint/hand_over.hpp"
#include "src/transport/endpoint/trace_names.hpp"

namespace cardan::detail {

/// The untyped half of an output: where its samples go. One thread at a time.
class OutputCore {
 public:
  /// `publisher`: null when the type cannot leave the process; `process`: null if no other process may see it. `depth`:
  /// samples that inputs of this process that are declared later are given. `chain`: of the objects that it publishes.
  OutputCore(std::shared_ptr<Channel> channel, std::shared_ptr<PublisherCore> publisher, Process* process,
             const RuntimeClock& clock, std::uint32_t depth, const ChainRole& chain = {},
             std::shared_ptr<const ChainEnds> ends = nullptr);
  OutputCore(const OutputCore&) = delete;
  OutputCore& operator=(const OutputCore&) = delete;
  ~OutputCore();

  [[nodiscard]] const std::shared_ptr<PublisherCore>& publisher() const noexcept { return publisher_; }
  [[nodiscard]] const Channel& channel() const noexcept { return *channel_; }
  /// The chains that end with its topic. Null: none.
  [[nodiscard]] const ChainEnds* chain_ends() const noexcept { return ends_.get(); }
  /// Its first publication waits there, if that is shut then; it outlives the output. Before the first one.
  void wait_first(RecorderGate& gate) noexcept {
    if (goes_outside()) gate_ = &gate;
  }
  /// Before each publication.
  void pass_gate() noexcept {
    if (gate_ != nullptr) [[unlikely]]
      std::exchange(gate_, nullptr)->pass(publisher_, announced_ns_);
  }
  /// Since when others could find it; steady clock.
  [[nodiscard]] std::int64_t announced_ns() const noexcept { return announced_ns_; }
  /// A slot, to other processes by shared memory and to this one's inputs where it lies. As Publisher::publish.
  bool publish(const Filled& filled) noexcept;
  /// Before an object is encoded for other processes.
  void begin_encoding() noexcept;
  /// An object of this process (an OwnBlock), to its inputs. Takes over the reference.
  void publish(SampleBlock* block) noexcept;
  /// When no slot is free although no loan is out: components of this process keep more samples than they said. Adds
  /// slots, up to a bound, and says so once. False: none can be added. Blocks while a subscriber attaches.
  bool make_room() noexcept;
  /// Whether other processes may read it, now or later.
  [[nodiscard]] bool goes_outside() const noexcept { return process_ != nullptr && publisher_ != nullptr; }
  /// An object could not be published to them: said once.
  void note_not_encoded() noexcept;
  [[nodiscard]] std::uint64_t published() const noexcept { return published_.load(std::memory_order_relaxed); }
  /// Its component has ended: later inputs get nothing from it, even while the output is kept.
  void forget_samples() noexcept {
    channel_->forget(last_);
    last_.stop();
  }
  /// No input of this process can come any more, if none is there: nothing is kept for it. While nothing is published.
  void stop_waiting_for_inputs() noexcept {
    if (channel_->ports().empty()) last_.stop();
  }

 private:
  template <bool kKeep>
  HandOver hand_over() noexcept;  ///< to the inputs here; kKeep: and for those that come later, with their lock
  void note_chains(SampleBlock& object) const noexcept;
  void note_cause(OwnBlock& object, const Basis& basis) const noexcept;

  const ChainRole chain_;
  std::shared_ptr<const ChainEnds> ends_;
  std::shared_ptr<Channel> channel_;
  std::shared_ptr<PublisherCore> publisher_;
  Process* process_;
  const RuntimeClock& clock_;
  LastSamples last_;
  std::uint64_t stream_;                 ///< of its samples in this process
  const trace::StreamName stream_name_;  ///< if it has no publisher, which would tell it
  Atomic<std::uint64_t> published_{0};
  std::uint64_t encoded_before_ = 0;  ///< the newest publication of an object to others before this one
  std::uint32_t room_made_ = 0;       ///< slots
  bool told_not_encoded_ = false;
  RecorderGate* gate_ = nullptr;  ///< until the first publication
  std::int64_t announced_ns_ = 0;
};

}  // namespace cardan::detail
