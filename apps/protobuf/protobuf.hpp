// SPDX-License-Identifier: Apache-2.0
// Protobuf messages whose types are known by a definition alone, which needs libprotobuf. It is in a library of its
// own, which is loaded when it is asked for: the command links none of it.
#pragma once

#include <cstddef>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace cardan::apps {

/// Limits on a definition, which is a file's or another process's. Far beyond what schemas of messages need.
inline constexpr std::size_t kMostProtobufBytes = 2 << 20;          ///< of a definition
inline constexpr std::size_t kMostProtobufFiles = 512;              ///< that the type needs
inline constexpr std::size_t kMostProtobufDeclarations = 32 << 10;  ///< messages, fields, enums, values in these files
inline constexpr std::size_t kMostProtobufOfAll = 256 << 10;        ///< the same of all types that exist at a time
inline constexpr std::size_t kMostProtobufNameBytes = 4 << 20;      ///< of all full names in these files
inline constexpr std::size_t kMostProtobufFields = 4096;            ///< of a message
inline constexpr int kMostProtobufDepth = 64;                       ///< of messages in messages
/// The most memory of one message's fields.
inline constexpr std::size_t kMostProtobufShown = 64 << 20;

/// A type of messages. Immutable; any thread.
class ProtobufType {
 public:
  virtual ~ProtobufType() = default;
  /// The fields by name, in the order of the definition. Lists (also maps, and bytes) longer than `longest_list` become
  /// {"count": n, "first": […]}; texts are cut after 64 KiB. A missing field has its default, or is null if
  /// the definition distinguishes the two. Empty: the bytes are not such a message, or it is too large to show; `why`
  /// says so. Time and memory are bounded by the message's size and kMostProtobufShown. Never blocks.
  [[nodiscard]] virtual std::optional<nlohmann::ordered_json> read(std::span<const std::byte> message,
                                                                   std::size_t longest_list,
                                                                   std::string& why) const = 0;
};

class ProtobufLibrary {
 public:
  virtual ~ProtobufLibrary() = default;
  /// The type `name` as `definition` has it: a serialized FileDescriptorSet with all files that the type needs. Null:
  /// it has not, or is beyond the limits above; `why` says so in words. Any thread; never blocks.
  [[nodiscard]] virtual std::unique_ptr<const ProtobufType> type(std::string_view name,
                                                                 std::span<const std::byte> definition,
                                                                 std::string& why) const = 0;
};

/// ProtobufLibrary::type() of the library, which is loaded the first time. If it is not there, `why` says what to
/// install. Any thread.
[[nodiscard]] std::unique_ptr<const ProtobufType> protobuf_type(std::string_view name,
                                                                std::span<const std::byte> definition,
                                                                std::string& why);

}  // namespace cardan::apps

extern "C" {
/// The library's functions.
const cardan::apps::ProtobufLibrary* cardan_protobuf_library();
}
