// SPDX-License-Identifier: Apache-2.0
// The keys of a configuration, and their values: the table that the reader goes by. scripts/shape_tables.py makes it
// from cardan.schema.json.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "cardan/configuration.hpp"

namespace cardan::config {

/// The forms of a text, or of the key of a map.
enum class Format : std::uint8_t {
  Any,          ///< without NUL
  Filled,       ///< not empty, without control characters
  Name,         ///< of the system, a process, component or group: it is used in logs and in names of files
  Domain,       ///< names a folder
  Topic,        ///< as the transport demands
  Frame,        ///< of coordinates
  Variable,     ///< of the environment
  Identifier,   ///< of a variable of the configuration
  PythonClass,  ///< "my_package.my_module:Class"
};
[[nodiscard]] bool fits(Format format, std::string_view text) noexcept;
/// Completes "… is not a valid ": "name", "topic's name", …
[[nodiscard]] std::string_view noun(Format format) noexcept;
/// The remedy.
[[nodiscard]] std::string_view remedy(Format format) noexcept;
/// The same as a regular expression of JSON Schema (characters are counted there, bytes here); "": anything.
[[nodiscard]] std::string_view pattern(Format format) noexcept;

struct Shape;

/// The value of a key, or an element of a list.
struct Field {
  enum class Kind : std::uint8_t {
    Boolean,
    Integer,
    Number,
    Text,
    Choice,
    Scalar,        ///< true, false, a number or a text
    ScalarOrList,  ///< the same, or a list of such: all of one kind
    Condition,     ///< on a variable: true, false or a text
    Object,
    Map,        ///< an object whose keys are names that the user gives
    List,       ///< of different elements
    OneOrMore,  ///< an element, or a list of at least one
  };
  std::string_view name{};
  Kind kind = Kind::Text;
  bool required = false;
  double min = 0;  ///< Integer, Number: both inclusive
  double max = 0;
  Format format = Format::Any;                  ///< Text: its format; Map: that of the keys
  std::span<const std::string_view> choices{};  ///< Choice; else of a required one: keys in whose place it stands
  const Shape* object = nullptr;                ///< Object
  const Field* element = nullptr;               ///< Map, List, OneOrMore: what each value or element is
  bool repeats = false;                         ///< List: elements may be equal
};

struct Shape {
  std::string_view title{};  ///< "component": for messages, and the name in the schema's $defs
  std::span<const Field> fields{};
};

/// One of its keys, for the compiler: another one is a compile error.
[[nodiscard]] consteval Field field_of(const Shape& shape, std::string_view name) {
  for (const Field& field : shape.fields)
    if (field.name == name) return field;
  throw "the shape has no such key";
}

/// The whole file; everything else hangs from it.
extern const Shape kFile;

// Keys that only composing a file reads.
extern const Field kVariablesField;  ///< of the file
extern const Field kIncludeField;    ///< of the file
extern const Field kWhenField;       ///< of an include, a process and a component
extern const Field kInstancesField;  ///< of a component

/// A kind of bridge: its program is cardan-bridge-NAME.
struct BridgeKind {
  std::string_view name;
  std::string_view what;   ///< for the help of the command
  std::string_view needs;  ///< its Debian package
};
inline constexpr std::array kBridges{
    BridgeKind{"dds", "Carry topics to and from ROS 2 and other DDS systems", "cyclonedds-dev"},
    BridgeKind{"foxglove", "Show topics in Foxglove, Lichtblick and a browser", "libboost-dev"},
    BridgeKind{"zenoh", "Carry topics to other computers and to Zenoh systems", "the whole command"},
};
template <std::size_t N>
[[nodiscard]] constexpr std::array<std::string_view, N> names_of(const std::array<BridgeKind, N>& kinds) noexcept {
  std::array<std::string_view, N> names{};
  for (std::size_t i = 0; i < N; ++i) names[i] = kinds[i].name;
  return names;
}

// In the order of the enumerations.
inline constexpr std::array<std::string_view, 4> kPolicies{"other", "fifo", "rr", "deadline"};
inline constexpr std::array<std::string_view, 2> kAffinities{"range", "one_to_one"};
inline constexpr std::array<std::string_view, 3> kOnException{"continue", "restart", "crash"};
inline constexpr std::array<std::string_view, 3> kIntrospection{"off", "metadata", "contents"};
inline constexpr std::array<std::string_view, 3> kRestartWhen{"crash", "always", "never"};
inline constexpr std::array<std::string_view, 5> kStates{"starting", "running", "degraded", "safe_stop", "stopped"};
inline constexpr std::array<std::string_view, 4> kWaitings{"block", "spin", "prewake", "anticipate"};
inline constexpr std::array kBridgeKinds = names_of(kBridges);
inline constexpr std::array<std::string_view, 3> kCompressions{"none", "lz4", "zstd"};
/// The kinds of a process without components.
inline constexpr std::array<std::string_view, 3> kProcessKinds{"bridge", "record", "command"};
inline constexpr std::array<std::string_view, 7> kConditions{"down",       "up",   "silent", "given_up",
                                                             "publishing", "late", "in_time"};
/// Whether the condition is about topics, not about processes.
[[nodiscard]] constexpr bool is_of_topics(std::string_view condition) noexcept {
  return condition == "silent" || condition == "publishing";
}
/// Whether the condition is about chains.
[[nodiscard]] constexpr bool is_of_chains(std::string_view condition) noexcept {
  return condition == "late" || condition == "in_time";
}

}  // namespace cardan::config
