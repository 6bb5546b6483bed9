// SPDX-License-Identifier: Apache-2.0
#include "cardan/detail/unset.hpp"

#include <cxxabi.h>
#include <fmt/format.h>

#include <cstdlib>
#include <memory>

#include "cardan/error.hpp"
#include "src/runtime/executor/callback.hpp"

namespace cardan::detail {

std::string readable_name(const std::type_info& type) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> name(abi::__cxa_demangle(type.name(), nullptr, nullptr, &status),
                                                    &std::free);
  return status == 0 && name != nullptr ? name.get() : type.name();
}

void refuse_unset(const char* what, const char* made_by, const std::string& type) {
  const Callback* inside = running_callback();
  throw Error(ErrorCode::InvalidArgument,
              fmt::format("{}{}<{}> is used but was never set",
                          inside == nullptr
                              ? std::string("a ")
                              : fmt::format("component '{}', callback '{}': a ", inside->component(), inside->name()),
                          what, type),
              fmt::format("set it in on_start(): … = context.{}", made_by));
}

}  // namespace cardan::detail
