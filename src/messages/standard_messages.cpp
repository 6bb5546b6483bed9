// SPDX-License-Identifier: Apache-2.0
#include "src/messages/standard_messages.hpp"

#include <array>

#include "cardan/message.hpp"

// The ROS 2 forms of the standard messages, and what sources that use these messages need of their descriptions. They
// are here, once, because computing them took a source that includes Cardan longer than everything of its own.

namespace cardan {

#define CARDAN_ROS_FORM_(Type, ...)                                                  \
  __VA_OPT__(template <> struct RosForm<Type> {                                      \
    static constexpr auto definitions = std::to_array<RosDefinition>({__VA_ARGS__}); \
  };)
CARDAN_STANDARD_MESSAGES_(CARDAN_ROS_FORM_)
#undef CARDAN_ROS_FORM_

}  // namespace cardan

namespace cardan::detail {

template <class T>
void add_standard_message(SchemaWriter& writer) {
  static_assert(check_standard_message(reflection_of<T>{}));
  writer.add_message(reflection_of<T>{});
}

template <class T>
MessageType standard_message_type() {
  using Traits = message_traits<T>;
  return make_message_type(Traits::type_name(), Traits::schema(), Traits::type_hash(), sizeof(T), alignof(T),
                           shm::has_vectors<T>);
}

#define CARDAN_DEFINE_STANDARD_(Type, ...)                 \
  template void add_standard_message<Type>(SchemaWriter&); \
  template MessageType standard_message_type<Type>();
CARDAN_STANDARD_MESSAGES_(CARDAN_DEFINE_STANDARD_)
#undef CARDAN_DEFINE_STANDARD_

}  // namespace cardan::detail
