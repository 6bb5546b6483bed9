// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <typeinfo>

#include "cardan/message.hpp"

namespace cardan::detail {

/// A C++ type's name as it is written in code.
[[nodiscard]] std::string readable_name(const std::type_info& type);

/// A topic's or a parameter's type, for people.
template <class T>
[[nodiscard]] std::string type_text() {
  if constexpr (Message<T>)
    return std::string(message_traits<T>::type_name());
  else
    return readable_name(typeid(T));
}

/// Throws Error (InvalidArgument). It names the component and the callback that use an output, an input or a parameter
/// which Context::`made_by` never made. Any thread.
[[noreturn]] void refuse_unset(const char* what, const char* made_by, const std::string& type);

}  // namespace cardan::detail
