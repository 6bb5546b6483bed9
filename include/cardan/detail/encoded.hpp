// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "cardan/codec.hpp"
#include "cardan/message.hpp"
#include "cardan/publisher.hpp"
#include "cardan/sample.hpp"
#include "cardan/shm_vector.hpp"
#include "cardan/subscriber.hpp"

namespace cardan::detail {

/// The form in which other processes see an object that cannot live in shared memory.
struct Encoded {
  shm::vector<std::uint8_t> data;
};

}  // namespace cardan::detail

CARDAN_MESSAGE(cardan::detail::Encoded, "cardan_msgs/msg/Encoded", data);

namespace cardan::detail {

/// Room for an encoded object if the topic's `max_bytes` is not set.
inline constexpr std::size_t kEncodedBytes = 64 * 1024;

/// The message type of the encodings of a codec with that name and schema.
[[nodiscard]] inline MessageType encoded_type(std::string name, std::string schema) {
  MessageType type = message_type_of<Encoded>();
  LayoutHash hash;
  hash.add("encoded");
  hash.add(name);
  type.name = std::move(name);
  type.schema = std::move(schema);
  type.hash = hash.value;
  return type;
}

/// The type of a topic of T: T itself, an encoding of T, or nothing that could leave the process.
template <class T>
PayloadType payload_type_of() {
  PayloadType type{.cpp = typeid(T)};
  if constexpr (Message<T>) {
    type.shared = message_type_of<T>();
    type.adopt = adopt_function_of<T>();
    type.native = true;
  } else if constexpr (Encodable<T>) {
    type.shared = encoded_type(codec<T>::type_name(), codec<T>::schema());
    type.adopt = adopt_function_of<Encoded>();
    type.encode = [](const void* object, std::vector<std::byte>& to) {
      return static_cast<bool>(codec<T>::encode(*static_cast<const T*>(object), to));
    };
  }
  return type;
}

/// Publishes an object to other processes. Returns false if it cannot be encoded, or is larger than the topic's
/// `max_bytes`.
template <class T>
bool publish_encoded(const std::shared_ptr<PublisherCore>& core, const T& object, std::int64_t source_ns) {
  thread_local std::vector<std::byte> bytes;
  bytes.clear();
  if (!codec<T>::encode(object, bytes)) return false;
  Loan<Encoded> loan = loan_of<Encoded>(core);
  if (!loan || !loan->data.try_resize_for_overwrite(bytes.size())) return false;
  if (!bytes.empty()) std::memcpy(loan->data.data(), bytes.data(), bytes.size());
  loan.set_source_time(source_ns);
  PublisherEnd::publish(take_out(loan));  // false would only mean that a reliable subscriber was too slow
  return true;
}

/// Decodes an encoded sample into one of T. Null: malformed. Takes over the reference.
template <class T>
SampleBlock* decode_sample(SampleBlock* block) noexcept {
  const Sample<Encoded> encoded = sample_of<Encoded>(block);
  try {
    auto object = std::make_shared<T>();
    if (!codec<T>::decode(std::as_bytes(std::span(encoded->data.data(), encoded->data.size())), *object))
      return nullptr;
    const Sample<T> sample =
        make_sample<T>(std::shared_ptr<const T>(std::move(object)), {.sequence = encoded.sequence(),
                                                                     .publish_time = encoded.publish_time(),
                                                                     .source_time = encoded.source_time(),
                                                                     .missed = encoded.missed()});
    SampleBlock* decoded = block_of(sample);
    static_cast<OwnBlock*>(decoded)->take_ground_of(*block);
    decoded->references.fetch_add(1, std::memory_order_relaxed);
    return decoded;
  } catch (...) {
    return nullptr;  // no memory: counted as lost, like a sample that came too early
  }
}

}  // namespace cardan::detail
