// SPDX-License-Identifier: Apache-2.0
// A ROS 2 message definition as data, for programs that handle messages which they were not compiled with.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace cardan {

struct RosMessage;

struct RosType {
  enum class Kind : std::uint8_t {
    Bool,
    Int8,
    Uint8,
    Int16,
    Uint16,
    Int32,
    Uint32,
    Int64,
    Uint64,
    Float32,
    Float64,
    String,
    WString,
    Message
  };
  enum class Many : std::uint8_t { One, Fixed, List };  ///< a list is preceded by its length

  Kind kind = Kind::Bool;
  Many many = Many::One;
  std::size_t count = 0;                ///< of a fixed array
  std::size_t bound = 0;                ///< the most elements of a list; 0: unlimited
  std::size_t text_bound = 0;           ///< the most letters of a text; 0: unlimited
  bool octet = false;                   ///< of a Uint8: the definition says "byte"
  const RosMessage* message = nullptr;  ///< of a message
};

/// Bytes of a number or a bool; 0 for a kind without a fixed size.
[[nodiscard]] std::size_t size_of(RosType::Kind kind) noexcept;

struct RosField {
  std::string name;
  RosType type;
};

struct RosMessage {
  std::string name;  ///< "sensor_msgs/Image"
  std::vector<RosField> fields;
};

/// A message with all those that it uses.
/// Thread safety: immutable; any thread.
class RosSchema {
 public:
  /// `text`: a schema as recordings have it (MCAP's "ros2msg"): the message's own definition, then those that it uses,
  /// each after a line of 80 '=' and a line "MSG: package/Type"; builtin_interfaces' Time and Duration may be left
  /// out. Of a service's events ("package/srv/Name_Event") also the service's own text, as rosbag2 has it: the request,
  /// a line "---", the response. Throws Error: InvalidArgument with the line that makes no sense; Limit: more than 1
  /// MiB of text, 1,024 messages or 16,384 fields.
  RosSchema(std::string_view name, std::string_view text);

  [[nodiscard]] const RosMessage& root() const noexcept { return *messages_.front(); }

 private:
  std::vector<std::unique_ptr<RosMessage>> messages_;
};

}  // namespace cardan
