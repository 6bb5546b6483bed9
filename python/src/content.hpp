// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Python.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <vector>

#include "cardan/any_publisher.hpp"
#include "cardan/any_subscriber.hpp"
#include "cardan/any_type.hpp"
#include "cardan/arena.hpp"

namespace cardan::python {

/// The data that travels with a message. 0 for a loan.
struct Info {
  std::uint64_t sequence = 0;
  std::uint64_t missed = 0;
  std::int64_t publish_ns = 0;  ///< of the steady clock; of a recorded message, of the wall clock
  std::int64_t source_ns = 0;
  std::int64_t origin_ns = 0;  ///< of the steady clock; 0: not known
  std::int64_t log_ns = 0;     ///< of a recorded message: when it was recorded, by the wall clock
  std::string topic{};         ///< of a recorded message
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
  /// The same of a component's input, which has checked that the sample is of this type. Takes over the reference.
  static std::shared_ptr<Content> of_block(std::shared_ptr<const AnyType> type, detail::SampleBlock* block);
  /// `memory` keeps the publisher's mapping as long as arrays over it exist, also after the publication.
  static std::shared_ptr<Content> of_loan(std::shared_ptr<const AnyType> type, AnyLoan loan,
                                          std::shared_ptr<const void> memory);
  /// A recorded message, decoded from its CDR form into this process's own memory, of which it takes at most
  /// `most_bytes`. `encoded`: the bytes are the type's only field, a list of bytes, as they are. Null: they do not fit
  /// the type, and `why` says so. Throws std::bad_alloc.
  static std::shared_ptr<Content> of_recorded(std::shared_ptr<const AnyType> type, std::span<const std::byte> bytes,
                                              bool encoded, std::uint64_t most_bytes, Info info, std::string& why);
  /// A message in this process's own memory that is being filled: what is written to a file, and not published. Throws
  /// std::bad_alloc.
  static std::shared_ptr<Content> of_draft(std::shared_ptr<const AnyType> type, std::size_t capacity);
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
  /// Of a loan or a draft.
  void set_source_time(std::int64_t ns);
  /// The publication of this loan rests on `other`, if that was published. Throws Error: it is not a loan.
  void rests_on(const Content& other);

  /// Whether all its memory is this process's own: then a child of fork() may read it.
  [[nodiscard]] bool own() const noexcept { return own_; }

  /// Throws Error: after the publication, and in a child of fork() unless own().
  void require_readable() const;
  /// The same, and for everything that is not a loan.
  void require_writable() const;

  /// Values are being written into a loan. Their conversion may run any code of Python, and other threads: until it has
  /// ended, the loan cannot be published, given back or written to by others. Throws Error, as require_writable().
  class Filling {
   public:
    explicit Filling(const std::shared_ptr<Content>& content);
    Filling(const Filling&) = delete;
    Filling& operator=(const Filling&) = delete;
    ~Filling() { content_->filling_ = false; }

   private:
    std::shared_ptr<Content> content_;
  };

  /// The publisher that a loan is of; null: it is a draft.
  [[nodiscard]] const void* publisher() const noexcept { return memory_.get(); }
  /// Whether arrays over a loan may be left.
  [[nodiscard]] bool has_arrays() const;

  /// Remembers an array over a loan, to make it read-only at the publication.
  void track(PyObject* array);
  /// The loan for the publication. All arrays that track() knows become read-only.
  [[nodiscard]] AnyLoan release();
  /// Gives the slot back unpublished.
  void discard();

 private:
  Content() = default;
  static std::shared_ptr<Content> of_shared(std::shared_ptr<const AnyType> type, const std::byte* message,
                                            std::span<const std::byte> payload, Info info);
  void end_arrays();
  void refuse_filling() const;
  void reserve(std::size_t capacity);

  struct Free {
    void operator()(std::byte* bytes) const noexcept {
      ::operator delete(bytes, std::align_val_t{shm::Arena::kAlignment});
    }
  };

  State state_ = State::Sample;
  std::shared_ptr<const AnyType> type_;
  std::byte* root_ = nullptr;
  std::shared_ptr<const void> sample_;  ///< keeps the slot
  std::vector<std::byte> copy_;
  std::unique_ptr<std::byte[], Free> own_payload_;
  shm::Arena arena_;  ///< over own_payload_
  bool own_ = false;
  bool filling_ = false;
  std::span<const std::byte> payload_;
  Info info_;
  const detail::SampleBlock* block_ = nullptr;  ///< of sample_: others that name this message rest on it
  AnyLoan loan_;
  std::shared_ptr<const void> memory_;
  std::vector<PyObject*> arrays_;  ///< weak references
  std::size_t prune_at_ = 16;
};

/// Fills a loan with a message in CDR, from any object with a buffer. Throws Error (InvalidArgument): the bytes are not
/// of this type, or parts of the loan are in use; nanobind::python_error: the object has no buffer. With the GIL.
void fill_from_cdr(const std::shared_ptr<Content>& content, PyObject* bytes);

}  // namespace cardan::python
