// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>

#include "cardan/detail/declaring.hpp"
#include "cardan/detail/encoded.hpp"
#include "cardan/detail/forked.hpp"
#include "cardan/detail/unset.hpp"
#include "cardan/publisher.hpp"
#include "cardan/sample.hpp"

namespace cardan {

class Context;

/// An output of a component on a topic, made by Context::output(); here for objects of any type. Within the process
/// they pass as one pointer, the same for all subscribers. With a codec each object is also encoded, because
/// subscribers outside may come later and then receive the last `depth` (except on a `process_private` topic, which
/// outside subscribers cannot join). It is a handle: copies publish on the same stream. A handle that was never set
/// throws Error (InvalidArgument) when it is used.
/// Thread safety: one thread at a time, which holds for a component's callbacks. Never blocks, unless the topic is
/// reliable; allocates the reference count.
template <class T>
class Output {
 public:
  Output() = default;

  /// Publishes an object that must not change any more. Returns false if other processes cannot receive it, because it
  /// could not be encoded or is larger than the topic's `max_bytes`; the first time this is also logged. Subscribers in
  /// this process receive it nevertheless.
  bool publish(std::shared_ptr<const T> object, std::int64_t source_time = 0) {
    detail::OutputCore& core = this->core();
    bool encoded = true;
    if constexpr (detail::Encodable<T>) {
      if (const auto* publisher = detail::publisher_of_encoded(core)) {
        encoded = detail::publish_encoded(*publisher, *object, source_time);
        if (!encoded) detail::note_not_encoded(core);
      }
    }
    const Sample<T> sample = make_sample<T>(std::move(object), {.source_time = source_time});
    detail::SampleBlock* block = detail::block_of(sample);
    block->references.fetch_add(1, std::memory_order_relaxed);
    detail::publish_object(core, block);
    return encoded;
  }
  /// The same for an object that is moved into a `shared_ptr`, which allocates. `source_time`: as
  /// Loan::set_source_time().
  bool publish(T object, std::int64_t source_time = 0) {
    return publish(std::make_shared<const T>(std::move(object)), source_time);
  }

  /// Samples published so far by all copies of this handle; 0 if it was never set.
  [[nodiscard]] std::uint64_t published() const noexcept { return core_ == nullptr ? 0 : detail::published_by(*core_); }
  /// Whether it was set.
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

/// The same for messages (structs with CARDAN_MESSAGE). They are filled in place and read in place, in this process and
/// in others. Allocates nothing; throws only if it was never set.
template <Message T>
class Output<T> {
 public:
  Output() = default;

  /// Returns a free slot to fill. Empty when all of the topic's loans are out, or when subscribers in this process keep
  /// 128 samples more than they announced.
  [[nodiscard]] Loan<T> loan() { return detail::typed<T>(detail::loan_of_output(core())); }
  /// As Publisher::publish.
  bool publish(Loan<T>&& loan) {
    detail::OutputCore& core = this->core();
    return loan && !is_forked_child() && detail::publish_filled(core, detail::take_out(loan));
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

  /// Samples published so far by all copies of this handle; 0 if it was never set.
  [[nodiscard]] std::uint64_t published() const noexcept { return core_ == nullptr ? 0 : detail::published_by(*core_); }
  /// Whether it was set.
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
