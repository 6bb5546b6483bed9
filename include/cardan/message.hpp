// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "cardan/arena.hpp"
#include "cardan/detail/message_fields.hpp"

namespace cardan {

/// A type that can be published: a plain struct whose fields are named by CARDAN_MESSAGE, of standard layout, without a
/// destructor, pointers or references. It is trivially copyable, unless it holds `shm::vector`s: those cannot be copied
/// (the library moves the bytes).
template <class T>
concept Message =
    std::is_class_v<T> && detail::Described<T> && std::is_standard_layout_v<T> && std::is_trivially_destructible_v<T> &&
    std::is_default_constructible_v<T> && (std::is_trivially_copyable_v<T> || detail::holds_vectors<T>());

namespace detail {
/// The same as a value. A static_assert on it prints its own sentence instead of those of the concept.
template <class T>
inline constexpr bool kIsMessage = Message<T>;
}  // namespace detail

namespace shm {
/// Whether a message holds an `shm::vector` or `shm::string` somewhere, so that its content is more than its struct.
template <Message T>
inline constexpr bool has_vectors = detail::holds_vectors<T>();
}  // namespace shm

namespace detail {

template <class T, class F, Literal Name, auto... Members, std::size_t... Offsets, Literal... Names>
constexpr void for_each_field(T& message, F&& f,
                              Reflection<std::remove_const_t<T>, Name, Field<Names, Members, Offsets>...>) {
  (f(Names.view(), message.*Members), ...);
}

/// Calls `f(vector&, element_bytes, element_alignment)` for all vectors and strings of a message, in the order of the
/// fields.
template <class T, class F>
constexpr void for_each_vector(T& value, F&& f) {
  if constexpr (!holds_vectors<std::remove_const_t<T>>()) {
    return;
  } else if constexpr (ArrayOf<std::remove_const_t<T>>::is_array) {
    for (auto& element : value) for_each_vector(element, f);
  } else if constexpr (std::is_base_of_v<shm::VectorBase, T>) {
    using Element = typename T::value_type;
    f(value, sizeof(Element), alignof(Element));
  } else {
    for_each_field(
        value, [&](std::string_view, auto& field) { for_each_vector(field, f); },
        reflection_of<std::remove_const_t<T>>{});
  }
}

// FNV-1a. Any hash would do; this one is constexpr in three lines.
struct LayoutHash {
  std::uint64_t value = 14695981039346656037U;
  constexpr void add(std::string_view text) {
    for (const char c : text) value = (value ^ static_cast<unsigned char>(c)) * 1099511628211U;
    value = (value ^ 0xffU) * 1099511628211U;
  }
  constexpr void add(std::uint64_t number) {
    for (int i = 0; i < 8; ++i) value = (value ^ ((number >> (8 * i)) & 0xffU)) * 1099511628211U;
  }
};

template <class T>
constexpr void hash_type(LayoutHash& hash);

template <class T, Literal Name, auto... Members, std::size_t... Offsets, Literal... Names>
constexpr void hash_fields(LayoutHash& hash, Reflection<T, Name, Field<Names, Members, Offsets>...>) {
  hash.add(Name.view());
  ((hash.add(Names.view()), hash.add(Offsets),
    hash_type<std::remove_cvref_t<decltype(std::declval<T&>().*Members)>>(hash)),
   ...);
}

template <class T>
constexpr void hash_type(LayoutHash& hash) {
  constexpr Kind kind = kind_of<T>();
  hash.add(static_cast<std::uint64_t>(kind));
  hash.add(sizeof(T));
  if constexpr (kind == Kind::Integer) {
    hash.add(std::is_signed_v<T> ? 1U : 0U);
  } else if constexpr (kind == Kind::Enum) {
    hash_type<std::underlying_type_t<T>>(hash);
  } else if constexpr (kind == Kind::Array) {
    hash.add(ArrayOf<T>::count);
    hash_type<typename ArrayOf<T>::element>(hash);
  } else if constexpr (kind == Kind::FixedString) {
    hash.add(ContainerOf<T>::bound);
  } else if constexpr (kind == Kind::FixedVector) {
    hash.add(ContainerOf<T>::bound);
    hash_type<typename ContainerOf<T>::element>(hash);
  } else if constexpr (kind == Kind::Vector) {
    hash_type<typename ContainerOf<T>::element>(hash);
  } else if constexpr (kind == Kind::Message) {
    hash_fields(hash, reflection_of<T>{});
  }
}

template <class T>
consteval std::uint64_t layout_hash() {
  LayoutHash hash;
  hash_type<T>(hash);
  return hash.value;
}

template <class T, Literal Name, class... Fields>
constexpr std::string_view reflected_name(Reflection<T, Name, Fields...>) {
  return Reflection<T, Name, Fields...>::kName.view();
}

}  // namespace detail
}  // namespace cardan

#include "cardan/detail/message_type.hpp"
#include "cardan/message_schema.hpp"

namespace cardan {

/// The facts that CARDAN_MESSAGE declares about `T`.
/// Thread safety: everything is constant. Never blocks; the first call of `schema()` allocates.
template <Message T>
struct message_traits {
  /// The ROS 2 name, "sensor_msgs/msg/Image".
  [[nodiscard]] static constexpr std::string_view type_name() noexcept {
    return detail::reflected_name(detail::reflection_of<T>{});
  }

  /// Identity of the memory layout: a hash of the names, types, offsets and sizes of all fields. Two programs with the
  /// same hash interpret the same bytes alike.
  [[nodiscard]] static constexpr std::uint64_t type_hash() noexcept {
    constexpr std::uint64_t hash = detail::layout_hash<T>();
    return hash;
  }

  /// The `ros2msg` text of the type, followed by the types that it uses, in the form that MCAP and rosbag2 expect. It
  /// lives as long as the program.
  [[nodiscard]] static std::string_view schema() {
    static const std::string& text =
        *new std::string(detail::schema_text<T>());  // never freed, so that static destructors can use it
    return text;
  }

  /// Calls `f(std::string_view name, Field& field)` for each field, in order; `message` may be const.
  template <class M, class F>
    requires std::is_same_v<std::remove_const_t<M>, T>
  static constexpr void for_each_field(M& message, F&& f) {
    detail::for_each_field(message, std::forward<F>(f), detail::reflection_of<T>{});
  }
};

namespace detail {

/// The description of T for the untyped core. Allocates.
template <Message T>
MessageType message_type_of() {
  if constexpr (kIsStandard<T>) {
    return standard_message_type<T>();
  } else {
    using Traits = message_traits<T>;
    return make_message_type(Traits::type_name(), Traits::schema(), Traits::type_hash(), sizeof(T), alignof(T),
                             shm::has_vectors<T>);
  }
}

}  // namespace detail

namespace shm {

/// For the transport, on a loan's fresh message: empties the arena and makes it the storage of all vectors of
/// `message`, which become empty. `message` and `arena` must keep their distance (they live in one slot).
template <Message T>
void bind(T& message, Arena& arena) noexcept {
  arena.reset();
  detail::for_each_vector(message, [&](VectorBase& vector, std::size_t, std::size_t) { vector.bind_to(arena); });
}

/// For the transport, on the private copy of a received message whose original is at `shared`. Afterwards its vectors
/// point to the elements in [`payload`, `payload` + `payload_bytes`). Returns false if one of them lies elsewhere or is
/// not aligned; do not use the message then.
template <Message T>
[[nodiscard]] bool adopt(T& private_copy, const T* shared, const std::byte* payload,
                         std::size_t payload_bytes) noexcept {
  bool ok = true;
  const auto here = reinterpret_cast<std::uintptr_t>(&private_copy);
  detail::for_each_vector(private_copy, [&](VectorBase& vector, std::size_t bytes, std::size_t alignment) {
    const std::uintptr_t original =
        reinterpret_cast<std::uintptr_t>(shared) + (reinterpret_cast<std::uintptr_t>(&vector) - here);
    // All vectors are visited, even after a bad one, because none may keep an unchecked offset.
    if (!vector.adopt_from(reinterpret_cast<const VectorBase*>(original), payload, payload_bytes, bytes, alignment))
      ok = false;
  });
  return ok;
}

}  // namespace shm
}  // namespace cardan

/// Makes a struct a message. The arguments are the type, its ROS 2 name, and all its fields in order. Write it at
/// namespace scope, in any namespace, after the struct:
///
/// ```cpp
/// CARDAN_MESSAGE(my::Speed, "my_msgs/msg/Speed", stamp, metres_per_second)
/// ```
#define CARDAN_MESSAGE(Type, name, ...)                                                                                \
  static_assert(::cardan::detail::check_message<Type, name CARDAN_FOR_EACH_(CARDAN_NAMED_TYPE_, Type, __VA_ARGS__)>(), \
                name " cannot be a Cardan message");                                                                   \
  static_assert(::cardan::detail::describe<Type, name CARDAN_FOR_EACH_(CARDAN_FIELD_, Type, __VA_ARGS__)>(),           \
                name " cannot be a Cardan message")

/// The same for a message of the library, at namespace scope outside every namespace: its description is instantiated
/// in the sources that use it. A line in src/messages/standard_messages.hpp checks and defines it.
#define CARDAN_STANDARD_MESSAGE_(Type, name, ...)                                                     \
  template <>                                                                                         \
  struct cardan::detail::StandardMessage<Type> {                                                      \
    static constexpr bool kIs = true;                                                                 \
    template <class T>                                                                                \
    using Of = ::cardan::detail::Reflection<T, name CARDAN_FOR_EACH_(CARDAN_FIELD_, T, __VA_ARGS__)>; \
  }

#define CARDAN_NAMED_TYPE_(Type, field) , ::cardan::detail::NamedType<#field, decltype(Type::field)>
#define CARDAN_FIELD_(Type, field) , ::cardan::detail::Field<#field, &Type::field, offsetof(Type, field)>

// Applies a macro to each of up to 256 names. The first 16 are written out, because the general way below scans its
// text hundreds of times, which took a tenth of the compile time of a program with few messages.
#define CARDAN_FOR_EACH_(m, T, f, ...) m(T, f) __VA_OPT__(CARDAN_FOR_2_(m, T, __VA_ARGS__))
#define CARDAN_FOR_2_(m, T, f, ...) m(T, f) __VA_OPT__(CARDAN_FOR_3_(m, T, __VA_ARGS__))
#define CARDAN_FOR_3_(m, T, f, ...) m(T, f) __VA_OPT__(CARDAN_FOR_4_(m, T, __VA_ARGS__))
#define CARDAN_FOR_4_(m, T, f, ...) m(T, f) __VA_OPT__(CARDAN_FOR_5_(m, T, __VA_ARGS__))
#define CARDAN_FOR_5_(m, T, f, ...) m(T, f) __VA_OPT__(CARDAN_FOR_6_(m, T, __VA_ARGS__))
#define CARDAN_FOR_6_(m, T, f, ...) m(T, f) __VA_OPT__(CARDAN_FOR_7_(m, T, __VA_ARGS__))
#define CARDAN_FOR_7_(m, T, f, ...) m(T, f) __VA_OPT__(CARDAN_FOR_8_(m, T, __VA_ARGS__))
#define CARDAN_FOR_8_(m, T, f, ...) m(T, f) __VA_OPT__(CARDAN_FOR_9_(m, T, __VA_ARGS__))
#define CARDAN_FOR_9_(m, T, f, ...) m(T, f) __VA_OPT__(CARDAN_FOR_10_(m, T, __VA_ARGS__))
#define CARDAN_FOR_10_(m, T, f, ...) m(T, f) __VA_OPT__(CARDAN_FOR_11_(m, T, __VA_ARGS__))
#define CARDAN_FOR_11_(m, T, f, ...) m(T, f) __VA_OPT__(CARDAN_FOR_12_(m, T, __VA_ARGS__))
#define CARDAN_FOR_12_(m, T, f, ...) m(T, f) __VA_OPT__(CARDAN_FOR_13_(m, T, __VA_ARGS__))
#define CARDAN_FOR_13_(m, T, f, ...) m(T, f) __VA_OPT__(CARDAN_FOR_14_(m, T, __VA_ARGS__))
#define CARDAN_FOR_14_(m, T, f, ...) m(T, f) __VA_OPT__(CARDAN_FOR_15_(m, T, __VA_ARGS__))
#define CARDAN_FOR_15_(m, T, f, ...) m(T, f) __VA_OPT__(CARDAN_FOR_16_(m, T, __VA_ARGS__))
#define CARDAN_FOR_16_(m, T, f, ...) m(T, f) __VA_OPT__(CARDAN_EXPAND_(CARDAN_FOR_EACH_STEP_(m, T, __VA_ARGS__)))
// The preprocessor does not recurse, so it is made to scan repeatedly.
#define CARDAN_PARENTHESES_ ()
#define CARDAN_EXPAND_(...) CARDAN_EXPAND4_(CARDAN_EXPAND4_(CARDAN_EXPAND4_(CARDAN_EXPAND4_(__VA_ARGS__))))
#define CARDAN_EXPAND4_(...) CARDAN_EXPAND3_(CARDAN_EXPAND3_(CARDAN_EXPAND3_(CARDAN_EXPAND3_(__VA_ARGS__))))
#define CARDAN_EXPAND3_(...) CARDAN_EXPAND2_(CARDAN_EXPAND2_(CARDAN_EXPAND2_(CARDAN_EXPAND2_(__VA_ARGS__))))
#define CARDAN_EXPAND2_(...) CARDAN_EXPAND1_(CARDAN_EXPAND1_(CARDAN_EXPAND1_(CARDAN_EXPAND1_(__VA_ARGS__))))
#define CARDAN_EXPAND1_(...) __VA_ARGS__
#define CARDAN_FOR_EACH_STEP_(macro, Type, field, ...) \
  macro(Type, field) __VA_OPT__(CARDAN_FOR_EACH_AGAIN_ CARDAN_PARENTHESES_(macro, Type, __VA_ARGS__))
#define CARDAN_FOR_EACH_AGAIN_() CARDAN_FOR_EACH_STEP_
