// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "cardan/detail/message_fields.hpp"

/// \file
/// The `ros2msg` text of a type that CARDAN_MESSAGE describes. Included by message.hpp.

namespace cardan {

/// One definition of a schema text: `{"std_msgs/Header", "builtin_interfaces/Time stamp\nstring frame_id\n"}`.
struct RosDefinition {
  std::string_view name;  ///< without "/msg", as schema texts spell it
  std::string_view body;  ///< one line for each field
};

/// For a type whose ROS form differs from its fields (for example a stamp that is one number here and two in ROS). A
/// specialization gives the definitions, its own first, then those that it uses and that are not the types of its
/// fields, as `static constexpr auto definitions = std::to_array<RosDefinition>({…})`.
template <class T>
struct RosForm;

namespace detail {

template <class T>
concept HasRosForm = requires { RosForm<T>::definitions.size(); };

/// "std_msgs/msg/Header" → "std_msgs/Header"
[[nodiscard]] std::string short_ros_name(std::string_view name);

template <class T>
[[nodiscard]] std::string ros_type() {
  constexpr Kind kind = kind_of<T>();
  if constexpr (kind == Kind::Bool) {
    return "bool";
  } else if constexpr (std::is_same_v<T, char>) {
    return "uint8";  // because the signedness of char depends on the processor
  } else if constexpr (kind == Kind::Integer) {
    return (std::is_signed_v<T> ? "int" : "uint") + std::to_string(8 * sizeof(T));
  } else if constexpr (kind == Kind::Float) {
    return "float" + std::to_string(8 * sizeof(T));
  } else if constexpr (kind == Kind::Enum) {
    return ros_type<std::underlying_type_t<T>>();
  } else if constexpr (kind == Kind::Array) {
    return ros_type<typename ArrayOf<T>::element>() + "[" + std::to_string(ArrayOf<T>::count) + "]";
  } else if constexpr (kind == Kind::FixedString) {
    return "string<=" + std::to_string(ContainerOf<T>::bound);
  } else if constexpr (kind == Kind::FixedVector) {
    return ros_type<typename ContainerOf<T>::element>() + "[<=" + std::to_string(ContainerOf<T>::bound) + "]";
  } else if constexpr (kind == Kind::Vector) {
    return ros_type<typename ContainerOf<T>::element>() + "[]";
  } else if constexpr (kind == Kind::String) {
    return "string";
  } else {
    return short_ros_name(reflected_name(reflection_of<T>{}));
  }
}

class SchemaWriter;
/// Adds a message of the library and what it uses; src/messages/standard_messages.cpp defines it.
template <class T>
void add_standard_message(SchemaWriter& writer);

class SchemaWriter {
 public:
  template <class T>
  void add() {
    if constexpr (kind_of<T>() == Kind::Array) {
      add<typename ArrayOf<T>::element>();
    } else if constexpr (kind_of<T>() == Kind::FixedVector || kind_of<T>() == Kind::Vector) {
      add<typename ContainerOf<T>::element>();
    } else if constexpr (kind_of<T>() == Kind::Message) {
      if constexpr (kIsStandard<T>)
        add_standard_message<T>(*this);
      else
        add_message(reflection_of<T>{});
    }
  }

  template <class T, Literal Name, auto... Members, std::size_t... Offsets, Literal... Names>
  void add_message(Reflection<T, Name, Field<Names, Members, Offsets>...>) {
    const std::string name = short_ros_name(Name.view());
    if (has(name)) return;
    if constexpr (HasRosForm<T>) {
      for (const RosDefinition& definition : RosForm<T>::definitions) add_definition(definition);
    } else {
      std::string body;
      (add_field(body, ros_type<std::remove_cvref_t<decltype(std::declval<T&>().*Members)>>(), Names.view()), ...);
      add_definition({name, body});
    }
    (add<std::remove_cvref_t<decltype(std::declval<T&>().*Members)>>(), ...);
  }

  /// If its name is new.
  void add_definition(const RosDefinition& definition);
  /// The same of all definitions in a schema text; its first one, which has no head, is of `name`.
  void add_schema(std::string_view name, std::string_view schema);
  [[nodiscard]] std::string text() const;

 private:
  [[nodiscard]] bool has(std::string_view name) const;
  static void add_field(std::string& body, const std::string& type, std::string_view name);

  std::vector<std::pair<std::string, std::string>> parts_;
};

template <class T>
[[nodiscard]] std::string schema_text() {
  SchemaWriter writer;
  writer.add<T>();
  return writer.text();
}

}  // namespace detail
}  // namespace cardan
