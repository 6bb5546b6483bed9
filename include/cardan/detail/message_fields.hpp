// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include "cardan/fixed_string.hpp"
#include "cardan/fixed_vector.hpp"
#include "cardan/shm_string.hpp"
#include "cardan/shm_vector.hpp"

// Which types a field of a message may have, and the checks that explain in words why a type is not allowed. Included
// by message.hpp.

namespace cardan::detail {

/// A string literal as a template argument.
template <std::size_t N>
struct Literal {
  char text[N]{};
  consteval Literal(const char (&source)[N]) {  // NOLINT(google-explicit-constructor)
    for (std::size_t i = 0; i < N; ++i) text[i] = source[i];
  }
  [[nodiscard]] constexpr std::string_view view() const { return {text, N - 1}; }
};

/// One field as the macro names it. It gives a check what it needs without a member pointer, which a reference does not
/// have.
template <Literal Name, class T>
struct NamedType {};

/// One field of a described message.
template <Literal Name, auto Member, std::size_t Offset>
struct Field {
  static constexpr auto kName = Name;
  static constexpr std::size_t kOffset = Offset;
};

/// The declarations of CARDAN_MESSAGE about a type.
template <class T, Literal Name, class... Fields>
struct Reflection {
  static constexpr auto kName = Name;
};

// This lets the macro be used in any namespace. Instantiating Describe<T, …> defines the friend that Key<T> declares,
// and argument-dependent lookup through Key<T> finds it wherever T lives. (A specialization could only be outside every
// namespace.)
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wnon-template-friend"
#endif
template <class T>
struct Key {
  friend constexpr auto cardan_reflection(Key<T>);
};
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif
template <class T, Literal Name, class... Fields>
struct Describe {
  friend constexpr auto cardan_reflection(Key<T>) { return Reflection<T, Name, Fields...>{}; }
};

/// Of a message of the library: CARDAN_STANDARD_MESSAGE_ specializes it. Its `Of<T>` is instantiated in the sources
/// that use the message, and not in all that include its header.
template <class T>
struct StandardMessage {
  static constexpr bool kIs = false;
};
template <class T>
inline constexpr bool kIsStandard = StandardMessage<T>::kIs;

template <class T>
concept Described = kIsStandard<T> || requires { cardan_reflection(Key<T>{}); };

template <Described T>
struct ReflectionOf {
  using type = decltype(cardan_reflection(Key<T>{}));
};
template <Described T>
  requires kIsStandard<T>
struct ReflectionOf<T> {
  using type = typename StandardMessage<T>::template Of<T>;
};
template <Described T>
using reflection_of = typename ReflectionOf<T>::type;

/// The kind of a field. The kinds from `Pointer` on cannot be part of a message.
enum class Kind {
  Bool,
  Integer,
  Float,
  Enum,
  Array,
  FixedString,
  FixedVector,
  Vector,
  String,
  Message,
  WString,  ///< of a layout that follows from a ROS definition; C++ has no such field
  Pointer,
  Reference,
  Qualified,
  Polymorphic,
  Container,
  NotDescribed,
  NoWireForm,
};

template <class T>
struct ContainerOf {
  static constexpr bool is_fixed_string = false;
  static constexpr bool is_fixed_vector = false;
  static constexpr bool is_vector = false;
};
template <std::size_t N>
struct ContainerOf<FixedString<N>> {
  static constexpr bool is_fixed_string = true;
  static constexpr bool is_fixed_vector = false;
  static constexpr bool is_vector = false;
  static constexpr std::size_t bound = N;
};
template <class T, std::size_t N>
struct ContainerOf<FixedVector<T, N>> {
  static constexpr bool is_fixed_string = false;
  static constexpr bool is_fixed_vector = true;
  static constexpr bool is_vector = false;
  static constexpr std::size_t bound = N;
  using element = T;
};
template <class T>
struct ContainerOf<shm::vector<T>> {
  static constexpr bool is_fixed_string = false;
  static constexpr bool is_fixed_vector = false;
  static constexpr bool is_vector = true;
  using element = T;
};

/// Arrays of every form as one row of elements: `double m[3][3]` and `std::array<std::array<double, 3>, 3>` are 9
/// doubles, both in memory and on the wire (ROS has no other form).
template <class T>
struct ArrayOf {
  static constexpr bool is_array = false;
  static constexpr std::size_t count = 1;
  using element = T;
};
template <class T, std::size_t N>
struct ArrayOf<T[N]> {
  static constexpr bool is_array = true;
  static constexpr std::size_t count = N * ArrayOf<T>::count;
  using element = typename ArrayOf<T>::element;
};
template <class T, std::size_t N>
struct ArrayOf<std::array<T, N>> {
  static constexpr bool is_array = N > 0;
  static constexpr std::size_t count = N * ArrayOf<T>::count;
  using element = typename ArrayOf<T>::element;
};

template <class T>
concept OwnsItsBytes = requires(T& t) {
  typename T::value_type;
  t.begin();
  t.end();
} && !std::is_trivially_copyable_v<T>;

template <class T>
consteval Kind kind_of();

// An element of an array or a vector. ROS has neither arrays nor vectors of arrays.
template <class T>
consteval Kind element_kind(Kind whole) {
  const Kind kind = kind_of<T>();
  if (kind >= Kind::Pointer) return kind;
  if (kind == Kind::Array || kind == Kind::FixedVector || kind == Kind::Vector) return Kind::NoWireForm;
  return whole;
}

template <class T>
consteval Kind kind_of() {
  if constexpr (std::is_reference_v<T>) {
    return Kind::Reference;
  } else if constexpr (std::is_pointer_v<T> || std::is_member_pointer_v<T> || std::is_null_pointer_v<T>) {
    return Kind::Pointer;
  } else if constexpr (ArrayOf<T>::is_array) {
    return element_kind<typename ArrayOf<T>::element>(Kind::Array);
  } else if constexpr (std::is_const_v<T> || std::is_volatile_v<T>) {
    return Kind::Qualified;
  } else if constexpr (std::is_same_v<T, bool>) {
    return Kind::Bool;
  } else if constexpr (std::is_integral_v<T> && sizeof(T) <= 8) {
    return Kind::Integer;
  } else if constexpr (std::is_floating_point_v<T> && (sizeof(T) == 4 || sizeof(T) == 8)) {
    return Kind::Float;
  } else if constexpr (std::is_enum_v<T>) {
    return Kind::Enum;
  } else if constexpr (ContainerOf<T>::is_fixed_string) {
    return Kind::FixedString;
  } else if constexpr (ContainerOf<T>::is_fixed_vector) {
    return element_kind<typename ContainerOf<T>::element>(Kind::FixedVector);
  } else if constexpr (ContainerOf<T>::is_vector) {
    return element_kind<typename ContainerOf<T>::element>(Kind::Vector);
  } else if constexpr (std::is_same_v<T, shm::string>) {
    return Kind::String;
  } else if constexpr (std::is_polymorphic_v<T>) {
    return Kind::Polymorphic;
  } else if constexpr (OwnsItsBytes<T>) {
    return Kind::Container;
  } else if constexpr (Described<T>) {
    return Kind::Message;
  } else {
    return Kind::NotDescribed;
  }
}

/// Whether a field holds shm::vectors or shm::strings, directly or in a nested message.
template <class T>
consteval bool holds_vectors();

template <class T, Literal Name, auto... Members, std::size_t... Offsets, Literal... Names>
consteval bool any_holds_vectors(Reflection<T, Name, Field<Names, Members, Offsets>...>) {
  return (holds_vectors<std::remove_reference_t<decltype(std::declval<T&>().*Members)>>() || ...);
}

template <class T>
consteval bool holds_vectors() {
  if constexpr (ArrayOf<T>::is_array) {
    return holds_vectors<typename ArrayOf<T>::element>();
  } else if constexpr (kind_of<T>() == Kind::Message) {
    return any_holds_vectors(reflection_of<T>{});
  } else {
    return std::is_base_of_v<shm::VectorBase, T>;
  }
}

// The template arguments of these two name the message and the field in the compiler's note below the text.
template <class Message, class Field>
struct CheckField;
template <class Message, Literal Name, class T>
struct CheckField<Message, NamedType<Name, T>> {
  static constexpr Kind kKind = kind_of<T>();
  static constexpr bool kVectors = holds_vectors<T>();
  static_assert(
      kKind != Kind::Pointer,
      "Cardan message: a field is a pointer, which means nothing in another process; use cardan::shm::vector, "
      "cardan::FixedString, or an index");
  static_assert(
      kKind != Kind::Reference,
      "Cardan message: a field is a reference, which means nothing in another process; store the value itself");
  static_assert(kKind != Kind::Container,
                "Cardan message: a field owns memory of this process (std::string, std::vector, …); use "
                "cardan::FixedString<N>, cardan::shm::string, cardan::shm::vector<T> or std::array");
  static_assert(kKind != Kind::Polymorphic,
                "Cardan message: a field has virtual functions: its hidden pointer means nothing in another process");
  static_assert(kKind != Kind::Qualified,
                "Cardan message: a field is const or volatile; a message is plain data, drop the qualifier");
  static_assert(
      kKind != Kind::NotDescribed,
      "Cardan message: a field's type is not a number, enum, array, FixedString, FixedVector, shm::vector, shm::string "
      "or described struct; give that struct its own CARDAN_MESSAGE line, before this one");
  static_assert(kKind != Kind::NoWireForm,
                "Cardan message: arrays and vectors of arrays or vectors have no ROS 2 form; put an inner array into a "
                "struct, or keep one flat list");
  static constexpr bool kOk = kKind < Kind::Pointer;
};

// By value and with a hand-written loop: under g++ 12's -fsanitize=undefined, a search in a template argument's text is
// not constant.
template <std::size_t N>
consteval bool is_ros_name(Literal<N> name) {
  std::size_t slashes = 0;
  std::size_t part = 0;  // letters since the last slash
  std::size_t first = 0;
  for (std::size_t i = 0; i + 1 < N; ++i) {
    const char c = name.text[i];
    if (c == '/') {
      if (part == 0) return false;
      if (slashes == 0) first = i;
      ++slashes;
      part = 0;
    } else if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_') {
      ++part;
    } else {
      return false;
    }
  }
  const char* rest = name.text + first;
  const auto is_kind = [rest](const char(&kind)[4]) {
    return rest[1] == kind[0] && rest[2] == kind[1] && rest[3] == kind[2] && rest[4] == '/';
  };
  return slashes == 2 && part > 0 && (is_kind("msg") || is_kind("srv"));
}

template <class Message, Literal Name, class... Fields>
consteval bool check_message() {
  static_assert(std::is_class_v<Message>, "Cardan message: only a struct can be described");
  static_assert(
      !std::is_polymorphic_v<Message>,
      "Cardan message: the struct has virtual functions: its hidden pointer means nothing in another process");
  static_assert(is_ros_name(Name),
                "Cardan message: the name must look like \"my_package/msg/MyType\" (ROS 2 type name)");
  static_assert(sizeof...(Fields) > 0, "Cardan message: name at least one field");
  constexpr bool fields_ok = (CheckField<Message, Fields>::kOk && ...);
  if constexpr (fields_ok && !std::is_polymorphic_v<Message>) {
    static_assert(
        std::is_standard_layout_v<Message>,
        "Cardan message: the struct is not standard layout: keep all fields public (or all private) and in one class");
    static_assert(std::is_trivially_destructible_v<Message>,
                  "Cardan message: the struct has a destructor; a message is plain data");
    static_assert(std::is_trivially_copyable_v<Message> || (CheckField<Message, Fields>::kVectors || ...),
                  "Cardan message: the struct has its own copy or move functions; a message is copied as plain bytes");
    static_assert(std::is_default_constructible_v<Message>, "Cardan message: the struct needs a default constructor");
  }
  return fields_ok;
}

/// A field that the macro does not list leaves a hole that no alignment explains.
template <class T, Literal Name, auto... Members, std::size_t... Offsets, Literal... Names>
consteval bool names_every_field(Reflection<T, Name, Field<Names, Members, Offsets>...>) {
  std::size_t end = 0;
  std::size_t widest = 1;
  bool ok = true;
  const auto visit = [&](std::size_t offset, std::size_t size, std::size_t alignment) {
    widest = alignment > widest ? alignment : widest;
    // `alignas` on a field is not part of its type; it shows in the struct's alignment.
    const bool aligned_on_purpose = alignof(T) > alignment && offset % alignof(T) == 0;
    ok = ok && offset >= end && (offset - end < alignment || (aligned_on_purpose && offset - end < alignof(T)));
    end = offset + size;
  };
  (visit(Offsets, sizeof(std::declval<T&>().*Members),
         alignof(std::remove_reference_t<decltype(std::declval<T&>().*Members)>)),
   ...);
  return ok && sizeof(T) - end < (widest > alignof(T) ? widest : alignof(T));
}

template <class T, Literal Name, class... Fields>
consteval bool describe() {
  static_assert(names_every_field(Reflection<T, Name, Fields...>{}),
                "Cardan message: CARDAN_MESSAGE does not name every field, or not in their order");
  return sizeof(Describe<T, Name, Fields...>) > 0;  // NOLINT(bugprone-sizeof-expression): makes it complete
}

/// The checks that CARDAN_MESSAGE does at once, for a message of the library.
template <class T, Literal Name, auto... Members, std::size_t... Offsets, Literal... Names>
consteval bool check_standard_message(Reflection<T, Name, Field<Names, Members, Offsets>...> reflection) {
  static_assert(names_every_field(Reflection<T, Name, Field<Names, Members, Offsets>...>{}),
                "Cardan message: CARDAN_STANDARD_MESSAGE_ does not name every field, or not in their order");
  static_cast<void>(reflection);
  return check_message<T, Name, NamedType<Names, std::remove_reference_t<decltype(std::declval<T&>().*Members)>>...>();
}

}  // namespace cardan::detail
