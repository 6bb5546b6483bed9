// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstddef>
#include <string>
#include <string_view>

#include "cardan/error.hpp"
#include "cardan/message.hpp"

// The parts of a conversion between a Cardan message and its ROS message. The conversions of the standard messages
// are in convert/*.hpp, one header for each ROS package.

namespace cardan::ros {

/// The conversion of T. A specialization has
/// - `using type`: the ROS message;
/// - `static void to(const T&, type&)`;
/// - `static void from(const type&, T&)`, which throws cardan::Error (Limit) or std::length_error if it does not fit;
/// - `static std::size_t bytes(const type&)`: room that the message needs beyond its fixed part.
template <class T>
struct RosType;

namespace detail {

template <class T>
concept HasRosType = requires { typename RosType<T>::type; };

template <class Ros, class T>
concept IsRosMessageOf = HasRosType<T> && std::same_as<Ros, typename RosType<T>::type>;

/// Throws unless `text` fits into a FixedString.
template <class Text>
void assign_or_throw(Text& to, std::string_view text, const char* what) {
  if (!to.assign(text))
    throw Error(ErrorCode::Limit,
                std::string(what) + " has " + std::to_string(text.size()) + " bytes; Cardan's message has room for " +
                    std::to_string(Text::capacity()),
                "use a shorter name");
}

}  // namespace detail

/// The ROS message that belongs to T: sensor_msgs::msg::Image to cardan::Image.
template <class T>
using RosMessage = typename RosType<T>::type;

/// Copies a Cardan message into its ROS message. Stamps outside of what ROS can represent become the nearest one.
template <detail::HasRosType T>
void to_ros(const T& from, RosMessage<T>& to) {
  RosType<T>::to(from, to);
}

/// Copies a ROS message into a loan or a LocalMessage. Throws cardan::Error (Limit) for a text that does not fit, and
/// std::length_error for a list that does not; the message is then valid, but must not be used.
template <detail::HasRosType T>
void from_ros(const RosMessage<T>& from, T& to) {
  RosType<T>::from(from, to);
}

/// Room that `message` needs as a T beyond the fixed part: `max_bytes` of a topic or of a LocalMessage.
template <detail::HasRosType T>
std::size_t bytes_of(const RosMessage<T>& message) {
  return RosType<T>::bytes(message);
}

}  // namespace cardan::ros
