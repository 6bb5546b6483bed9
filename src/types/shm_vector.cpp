// SPDX-License-Identifier: Apache-2.0
#include "cardan/shm_vector.hpp"

#include <stdexcept>
#include <string>

namespace cardan::shm {

void VectorBase::throw_no_room(std::uint64_t count, std::size_t element_bytes) const {
  const std::string asked = "cardan::shm::vector: room for " + std::to_string(count) + " elements of " +
                            std::to_string(element_bytes) + " bytes asked, ";
  const Arena* const storage = arena();
  if (storage == nullptr) {
    throw std::length_error(
        asked + "but it has no storage — fill it inside a loan (publisher.loan()), not in a local variable");
  }
  throw std::length_error(
      asked + std::to_string(storage->left()) + " of the message's " + std::to_string(storage->capacity) +
      " bytes are left (each list begins at a multiple of 64) — raise max_bytes in the TopicOptions of this topic");
}

void VectorBase::throw_out_of_range(std::size_t i, std::size_t size) {
  throw std::out_of_range("cardan::shm::vector::at: index " + std::to_string(i) + " of " + std::to_string(size));
}

}  // namespace cardan::shm
