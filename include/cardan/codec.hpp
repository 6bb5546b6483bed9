// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <typeindex>
#include <typeinfo>
#include <vector>

#include "cardan/detail/sample_block.hpp"
#include "cardan/message.hpp"

namespace cardan {

/// How objects of a C++ type that cannot live in shared memory travel to other processes. Specialize it with these
/// members (cardan/protobuf.hpp does so for Protobuf's messages). Without a specialization the type stays
/// within its process.
///
/// ```cpp
/// static std::string type_name();                                  // "my.Package.Type"
/// static std::string schema();                                     // what a recorder stores with it; may be empty
/// static bool encode(const T& object, std::vector<std::byte>& to); // false: cannot be encoded
/// static bool decode(std::span<const std::byte> bytes, T& object); // false: malformed
/// ```
template <class T>
struct codec;

namespace detail {

template <class T>
concept Encodable = requires(const T& object, std::vector<std::byte>& to) {
  { codec<T>::type_name() };
  { codec<T>::schema() };
  { codec<T>::encode(object, to) };
};

/// The runtime's knowledge of a topic's type: its C++ type here, and its form for other processes.
struct PayloadType {
  std::type_index cpp{typeid(void)};
  std::optional<MessageType> shared{};  ///< its message type in shared memory; nothing: it cannot leave the process
  AdoptFunction adopt = nullptr;
  bool native = false;  ///< `shared` is T itself, not an encoding of T
  /// For an object that is not native: appends the encoding that `shared` holds. Returns false if it cannot be encoded.
  bool (*encode)(const void* object, std::vector<std::byte>& to) = nullptr;
};

}  // namespace detail
}  // namespace cardan
