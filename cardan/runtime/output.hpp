// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <type_traits>
#include <utility>

#include "cardan/runtime/encoded.hpp"
#include "cardan/runtime/executor/output_core.hpp"
#include "cardan/runtime/unset.hpp"
#include "cardan/transport/publisher.hpp"
#include "cardan/transport/sample.hpp"

namespace cardan {

class Context;

/// What a component publishes on a topic, made by Context::output(): here objects of any type. They pass within the
/// process as one pointer, the same for all readers; with a codec each is also encoded, as readers outside may come
/// later and are then given the last `depth` (not of a `process_private` topic: nobody outside can come). A handle:
/// copies publish on the same stream. One that was never set throws Error (InvalidArgument) when it is used. Thread
/// safety: one thread at a time, which a component's callbacks are. Never blocks, unless the topic is reliable;
/// allocates what counts the references.
template <class T>
class Output {
 public:
  Output() = default;

  /// Publishes an object that nobody changes any more. False: other processes cannot have it, because it could not be
  /// encoded or is bigger than the topic's `max_bytes`; the first time that is also logged. Readers of this process
  /// have it all the same.
  bool publish(std::shared_ptr<const T> object, std::int64_t source_time = 0) {
    detail::OutputCore& core = this->core();
    bool encoded = true;
    if constexpr (detail::Encodable<T>)
      if (core.goes_outside() && !is_forked_child()) {
        core.pass_gate();
        encoded = detail::publish_encoded(core.publisher(), *object, source_time);
        if (!encoded) core.note_not_encoded();
      }
    const Sample<T> sample = make_sample<T>(std::move(object), {.source_time = source_time});
    detail::SampleBlock* block = detail::block_of(sample);
    block->references.fetch_add(1, std::memory_order_relaxed);
    core.publish(block);
    return encoded;
  }
  bool publish(T object, std::int64_t source_time = 0) {
    return publish(std::make_shared<const T>(std::move(object)), source_time);
  }

  [[nodiscard]] std::uint64_t published() const noexcept { return core_ == nullptr ? 0 : core_->published(); }
  explicit operator bool() const noexcept { return core_ != nullptr; }

 private:
  friend class Context;
  explicit Output(std::shared_ptr<detail::OutputCore> core) : core_(std::move(core)) {}
  [[nodiscard]] detail::OutputCore& core() const {
    if (core_ == nullptr) detail::refuse_unset("Output", "output(topic)", detail::type_text<T>());
    return *core_;
  }
  std::shared_ptr<detail::OutputCore> core_;
};

/// The same for messages (structs with CARDAN_MESSAGE): filled in place and read where they lie, in this process and
/// others. Allocates nothing; throws only when it was never set.
template <Message T>
class Output<T> {
 public:
  Output() = default;

  /// A free slot to fill. Empty when all of the topic's loans are out, or readers of this process keep 128 samples more
  /// than they said.
  [[nodiscard]] Loan<T> loan() {
    detail::OutputCore& core = this->core();
    if (is_forked_child()) return {};
    Loan<T> loan = detail::loan_of<T>(core.publisher());
    return loan || !core.make_room() ? std::move(loan) : detail::loan_of<T>(core.publisher());
  }
  /// As Publisher::publish.
  bool publish(Loan<T>&& loan) {
    detail::OutputCore& core = this->core();
    return loan && !is_forked_child() && core.publish(detail::take_out(loan));
  }
  /// Publishes a copy of a plain struct. False as above, or when all loans are out.
  bool publish(const T& message)
    requires std::is_trivially_copyable_v<T>
  {
    Loan<T> copy = loan();
    if (!copy) return false;
    *copy = message;
    return publish(std::move(copy));
  }

  [[nodiscard]] std::uint64_t published() const noexcept { return core_ == nullptr ? 0 : core_->published(); }
  explicit operator bool() const noexcept { return core_ != nullptr; }

 private:
  friend class Context;
  explicit Output(std::shared_ptr<detail::OutputCore> core) : core_(std::move(core)) {}
  [[nodiscard]] detail::OutputCore& core() const {
    if (core_ == nullptr) detail::refuse_unset("Output", "output(topic)", detail::type_text<T>());
    return *core_;
  }
  std::shared_ptr<detail::OutputCore> core_;
};

}  // namespace cardan
