// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "cardan/detail/basis.hpp"

namespace cardan::detail {

class PublisherCore;

/// The parts of a loan that publish() needs.
struct Filled {
  std::shared_ptr<PublisherCore> core;
  int slot = -1;
  std::size_t payload_bytes = 0;
  std::int64_t source_ns = 0;
  Basis named{};
};

/// A slot that is being filled, whatever its type. It is returned when dropped. One owner at a time, any thread.
class LoanedSlot {
 public:
  LoanedSlot() noexcept = default;
  /// Takes a slot of `core`. Empty when all loans are out. Wait-free.
  explicit LoanedSlot(const std::shared_ptr<PublisherCore>& core) noexcept;
  LoanedSlot(LoanedSlot&& other) noexcept
      : source_ns(other.source_ns),
        named(other.named),
        core_(std::move(other.core_)),
        message_(std::exchange(other.message_, nullptr)),
        slot_(std::exchange(other.slot_, -1)) {}
  LoanedSlot& operator=(LoanedSlot&& other) noexcept {
    if (this != &other) {
      reset();
      source_ns = other.source_ns;
      named = other.named;
      core_ = std::move(other.core_);
      message_ = std::exchange(other.message_, nullptr);
      slot_ = std::exchange(other.slot_, -1);
    }
    return *this;
  }
  LoanedSlot(const LoanedSlot&) = delete;
  LoanedSlot& operator=(const LoanedSlot&) = delete;
  ~LoanedSlot() {
    if (slot_ >= 0) reset();
  }

  explicit operator bool() const noexcept { return slot_ >= 0; }
  /// The message's fixed struct. Null if the loan is empty.
  [[nodiscard]] void* message() const noexcept { return message_; }
  /// Where the arena of a type with vectors is, and its storage.
  [[nodiscard]] void* arena() const noexcept;
  [[nodiscard]] std::byte* payload() const noexcept;
  [[nodiscard]] std::size_t payload_capacity() const noexcept;
  /// Wakes subscribers that pre-wake. At most one system call.
  void soon() noexcept;
  /// The publication rests on this sample.
  void rests_on(const SampleBlock& sample) noexcept;
  /// Returns the slot.
  void reset() noexcept;
  [[nodiscard]] const std::shared_ptr<PublisherCore>& core() const noexcept { return core_; }
  /// Hands the slot over to publish(). The loan is empty afterwards.
  [[nodiscard]] Filled release(std::size_t payload_bytes) noexcept {
    message_ = nullptr;
    return {std::move(core_), std::exchange(slot_, -1), payload_bytes, source_ns, named};
  }

  std::int64_t source_ns = 0;
  Basis named{};  ///< what the program says that it rests on

 private:
  std::shared_ptr<PublisherCore> core_;
  void* message_ = nullptr;
  int slot_ = -1;
};

}  // namespace cardan::detail
