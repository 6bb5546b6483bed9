// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "cardan/cdr.hpp"
#include "cardan/detail/message_type.hpp"
#include "cardan/message.hpp"

namespace cardan {

/// The memory layout of a message type, as data. A program needs it that was not compiled with the type.
struct TypeLayout {
  /// A field of a struct: its name, its place in bytes, and its type.
  struct Field {
    std::string name;
    std::size_t offset = 0;  ///< bytes from the start of the struct
    std::shared_ptr<TypeLayout> type;
  };
  using Kind = detail::Kind;  ///< of these, those before `Pointer` occur
  Kind kind = Kind::Integer;
  std::size_t size = 0;       ///< bytes
  std::size_t alignment = 1;  ///< bytes
  bool is_signed = false;     ///< Integer
  /// Array: number of elements; FixedString, FixedVector: the bound; Vector, String, WString: the bound, 0: none
  std::size_t count = 0;
  std::shared_ptr<TypeLayout> element;  ///< Array, FixedVector, Vector; Enum: the integer below
  std::string name;                     ///< Message: "sensor_msgs/msg/Image"
  std::vector<Field> fields;            ///< Message
  std::string_view schema;              ///< Message that this program was compiled with: its ros2msg text; else empty
  std::size_t nodes = 1;                ///< types in it, including itself, each as often as it occurs
  bool in_payload = false;              ///< it is, or holds, a vector or string whose elements lie in the payload
  /// For a message whose CDR form differs from its fields (CdrForm): how it is written and read. Otherwise null.
  void (*write_cdr)(CdrWriter& writer, const void* message) = nullptr;
  /// The reading counterpart of `write_cdr`.
  bool (*read_cdr)(CdrReader& reader, void* message) noexcept = nullptr;
  std::size_t least_cdr = 0;  ///< the fewest bytes that a value takes on the wire; 0: not computed yet

  /// Equals message_traits<T>::type_hash() of the described type.
  [[nodiscard]] std::uint64_t hash() const;
  /// Whether it holds a vector or string whose elements lie in the payload.
  [[nodiscard]] bool has_vectors() const noexcept { return in_payload; }
};

/// The layout of a type that this program knows.
template <class T>
std::shared_ptr<TypeLayout> layout_of() {
  using Kind = TypeLayout::Kind;
  auto layout = std::make_shared<TypeLayout>();
  constexpr Kind kind = detail::kind_of<T>();
  layout->kind = kind;
  layout->size = sizeof(T);
  layout->alignment = alignof(T);
  layout->in_payload = detail::holds_vectors<T>();
  if constexpr (kind == Kind::Integer) {
    layout->is_signed = std::is_signed_v<T>;
  } else if constexpr (kind == Kind::Enum) {
    layout->element = layout_of<std::underlying_type_t<T>>();
  } else if constexpr (kind == Kind::Array) {
    layout->count = detail::ArrayOf<T>::count;
    layout->element = layout_of<typename detail::ArrayOf<T>::element>();
  } else if constexpr (kind == Kind::FixedString) {
    layout->count = detail::ContainerOf<T>::bound;
  } else if constexpr (kind == Kind::FixedVector) {
    layout->count = detail::ContainerOf<T>::bound;
    layout->element = layout_of<typename detail::ContainerOf<T>::element>();
  } else if constexpr (kind == Kind::Vector) {
    layout->element = layout_of<typename detail::ContainerOf<T>::element>();
  } else if constexpr (kind == Kind::Message) {
    layout->name = message_traits<T>::type_name();
    layout->schema = message_traits<T>::schema();
    if constexpr (detail::HasCdrForm<T>) {
      layout->write_cdr = [](CdrWriter& writer, const void* message) {
        CdrForm<T>::write(writer, *static_cast<const T*>(message));
      };
      layout->read_cdr = [](CdrReader& reader, void* message) noexcept {
        return CdrForm<T>::read(reader, *static_cast<T*>(message));
      };
      layout->least_cdr = detail::least_bytes<T>();
    }
    [&]<detail::Literal Name, auto... Members, std::size_t... Offsets, detail::Literal... Names>(
        detail::Reflection<T, Name, detail::Field<Names, Members, Offsets>...>) {
      (layout->fields.push_back({std::string(Names.view()), Offsets,
                                 layout_of<std::remove_cvref_t<decltype(std::declval<T&>().*Members)>>()}),
       ...);
    }(detail::reflection_of<T>{});
  }
  return layout;
}

/// Finds the layout of the type that a publisher names: by its hash among Cardan's own messages, or from the
/// publisher's schema text, as a C++ compiler lays out such a struct or as layout_of_definition() does. A layout from a
/// text is returned only if its hash equals the publisher's, so the result is certainly right. Null: unknown. `effort`:
/// how many types may be hashed in the search, of which those that were are taken off; null: a second of it.
std::shared_ptr<const TypeLayout> find_layout(const std::string& type_name, std::uint64_t type_hash,
                                              const std::string& schema, std::int64_t* effort = nullptr);
/// The effort of one search that find_layout() takes by default, in types that are hashed: about a second.
inline constexpr std::int64_t kUsualEffort = 20'000'000;

namespace detail {
/// The first step of find_layout(): the layout from the text alone, with every integer as it is written (an enum looks
/// like one). Null: not understood.
std::shared_ptr<const TypeLayout> layout_of_schema(const std::string& type_name, const std::string& schema);
}  // namespace detail

/// The layout of Cardan's own message of that ROS 2 name. Null if there is none.
std::shared_ptr<const TypeLayout> known_layout(std::string_view type_name);

/// The type as publishers name it. `schema` is used for a type that has none of its own.
[[nodiscard]] AnyMessageType message_type_of(const TypeLayout& type, std::string_view schema);

}  // namespace cardan
