// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <new>

#include "cardan/arena.hpp"
#include "cardan/message.hpp"

namespace cardan {

/// A message in this process's own memory, with room for its vectors: for reading files, for tests, for everything that
/// is not published. A loan is the same in shared memory. It can be moved; a moved-from one has no message.
/// Thread safety: like a plain struct. Never blocks.
template <Message T>
class LocalMessage {
 public:
  /// `max_bytes`: room for the elements of all vectors and strings, as in `TopicOptions::max_bytes`. Throws
  /// `std::bad_alloc`.
  explicit LocalMessage(std::size_t max_bytes = 0) : body_(std::make_unique<Body>()) {
    if constexpr (shm::has_vectors<T>) {
      bytes_.reset(static_cast<std::byte*>(::operator new(max_bytes + 1, std::align_val_t{shm::Arena::kAlignment})));
      body_->arena.place(bytes_.get(), max_bytes);
      shm::bind(body_->message, body_->arena);
    }
  }

  [[nodiscard]] T& operator*() noexcept { return body_->message; }
  [[nodiscard]] const T& operator*() const noexcept { return body_->message; }
  [[nodiscard]] T* operator->() noexcept { return &body_->message; }
  [[nodiscard]] const T* operator->() const noexcept { return &body_->message; }

 private:
  // The vectors find the arena by its distance, so both are in one block, whose address a move does not change.
  struct Body {
    shm::Arena arena;
    T message{};
  };
  struct Free {
    void operator()(std::byte* bytes) const noexcept {
      ::operator delete(bytes, std::align_val_t{shm::Arena::kAlignment});
    }
  };

  std::unique_ptr<Body> body_;
  std::unique_ptr<std::byte[], Free> bytes_;
};

}  // namespace cardan
