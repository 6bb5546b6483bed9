// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Python.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "cardan/messages/any_type.hpp"
#include "cardan/transport/any_publisher.hpp"
#include "cardan/transport/any_subscriber.hpp"

namespace cardan::python {

/// What travels with a message. 0 for a loan.
struct Info {
  std::uint64_t sequence = 0;
  std::uint64_t missed = 0;
  std::int64_t publish_ns = 0;
  std::int64_t source_ns = 0;
};

/// The memory of one message: a sample that was received, a loan that is being filled, or a private copy. All Python
/// objects that show a part of the message (records, lists of records, arrays) share it, so the slot is released when
/// the last of them goes.
/// Thread safety: that of the GIL.
class Content {
 public:
  enum class State : std::uint8_t { Sample, Loan, Published, Discarded };

  /// Null: the sample is malformed.
  static std::shared_ptr<Content> of_sample(std::shared_ptr<const AnyType> type, AnySample sample);
  /// `memory` keeps the publisher's mapping as long as arrays over it exist, also after the publication.
  static std::shared_ptr<Content> of_loan(std::shared_ptr<const AnyType> type, AnyLoan loan,
                                          std::shared_ptr<const void> memory);
  Content(const Content&) = delete;
  Content& operator=(const Content&) = delete;
  ~Content();

  /// A copy in this process's own memory, of a sample. Throws Error, std::bad_alloc.
  [[nodiscard]] std::shared_ptr<Content> copied() const;

  [[nodiscard]] const AnyType& type() const noexcept { return *type_; }
  [[nodiscard]] const std::shared_ptr<const AnyType>& shared_type() const noexcept { return type_; }
  /// The message's fixed struct.
  [[nodiscard]] std::byte* root() const noexcept { return root_; }
  [[nodiscard]] State state() const noexcept { return state_; }
  [[nodiscard]] bool writable() const noexcept { return state_ == State::Loan; }
  /// Whether `at` lies in the fixed struct, whose vectors have been checked, or in memory that only this process
  /// writes.
  [[nodiscard]] bool checked(const std::byte* at) const noexcept {
    return state_ != State::Sample || (at >= root_ && at < root_ + type_->layout().size);
  }
  [[nodiscard]] std::span<const std::byte> payload() const noexcept { return payload_; }
  [[nodiscard]] const Info& info() const noexcept { return info_; }
  [[nodiscard]] AnyLoan& loan() noexcept { return loan_; }
  [[nodiscard]] std::size_t capacity() const noexcept;

  /// Throws Error: after the publication, and in a child of fork().
  void require_readable() const;
  /// The same, and for everything that is not a loan.
  void require_writable() const;

  /// Remembers an array over a loan, to make it read-only at the publication.
  void track(PyObject* array);
  /// The loan for the publication. All arrays that track() knows become read-only.
  [[nodiscard]] AnyLoan release();
  /// Gives the slot back unpublished.
  void discard();

 private:
  Content() = default;
  void end_arrays();

  State state_ = State::Sample;
  std::shared_ptr<const AnyType> type_;
  std::byte* root_ = nullptr;
  AnySample sample_;
  std::vector<std::byte> copy_, own_payload_;
  std::span<const std::byte> payload_;
  Info info_;
  AnyLoan loan_;
  std::shared_ptr<const void> memory_;
  std::vector<PyObject*> arrays_;  ///< weak references
  std::size_t prune_at_ = 16;
};

}  // namespace cardan::python
