// SPDX-License-Identifier: Apache-2.0
#include "apps/message/find_type.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <optional>

#include "apps/message/message_files.hpp"
#include "apps/run_place.hpp"
#include "cardan/error.hpp"
#include "cardan/messages.hpp"
#include "cardan/observer.hpp"
#include "src/base/socket.hpp"
#include "src/config/suggest.hpp"
#include "src/messages/ros2_definitions.hpp"
#include "src/messages/standard_messages.hpp"
#include "src/runtime/encoded_form.hpp"

namespace cardan::apps {
namespace {

std::string with_msg(const std::string& name) {
  const auto slash = name.find('/');
  return slash == std::string::npos || name.find('/', slash + 1) != std::string::npos
             ? name
             : name.substr(0, slash) + "/msg" + name.substr(slash);
}

template <class... T>
std::vector<std::string> names_of(detail::MessageList<T...>) {
  return {std::string(message_traits<T>::type_name())...};
}

std::optional<AnyType> type_of_stream(const ObservedStream& stream) {
  const std::string schema = stream.schema();
  if (const char* const encoding = detail::encoding_of(stream.type(), stream.type_hash(), schema))
    throw Error(ErrorCode::InvalidArgument,
                fmt::format("messages of {} are encoded ({}), and have no layout here", stream.type(), encoding),
                "publish them with a program that encodes them");
  return AnyType::of_publisher(stream.type(), stream.type_hash(), schema);
}

std::optional<AnyType> running_type(const std::string& topic, const std::string& name, const std::string& domain,
                                    bool of_others) {
  const Observer observer(topic, {.domain = domain});
  for (const auto& stream : observer.streams())
    if (stream->type() == name && (of_others || is_of_this_user(*stream)))
      if (auto type = type_of_stream(*stream)) return type;
  return std::nullopt;
}

/// Of a publisher of any topic.
std::optional<AnyType> running_type(const std::string& name, const std::string& domain) {
  if (!why_nothing_runs().empty()) return std::nullopt;
  for (const PublisherReport& p : look_around({.domain = domain}).publishers)
    if (p.type == name)
      if (auto type = running_type(p.topic, name, domain, true)) return type;
  return std::nullopt;
}

[[noreturn]] void unknown(const TypeSearch& search, const std::string& name) {
  std::vector<std::string> near = known_types();
  std::string meant = config::nearest(name, near);
  if (name.find('/') == std::string::npos)  // "Imu"
    for (const std::string& one : near)
      if (one.ends_with("/" + name)) meant = one;
  throw Error(ErrorCode::InvalidArgument, fmt::format("no message type '{}' is known here", name),
              !meant.empty() ? fmt::format("did you mean '{}'?", meant)
              : search.folders.empty()
                  ? "name the folder of its package with --msgs; `cardan message list` shows those that are known"
                  : "the folders of --msgs need a file PACKAGE/msg/NAME.msg");
}

}  // namespace

AnyType find_type(const TypeSearch& search) {
  const std::string name = with_msg(search.name);
  if (name.find('/') == std::string::npos) unknown(search, name);
  // Its readers have the layout of those that publish it now.
  if (search.folders.empty() && !search.topic.empty() && why_nothing_runs().empty())
    if (auto type = running_type(search.topic, name, search.domain, false)) return *std::move(type);
  std::string missing;
  const std::string text = MessageFiles(search.folders).definition_of(name, &missing);
  if (missing.empty()) return AnyType::of_definition(name, text);
  if (auto own = known_layout(name)) {
    AnyMessageType type = message_type_of(*own, {});
    return {std::move(own), std::move(type)};
  }
  if (missing != short_ros2_name(name))
    throw Error(ErrorCode::InvalidArgument, fmt::format("{} uses {}, which nobody defines", name, with_msg(missing)),
                "name the folder of its package with --msgs too, or source the workspace that has it");
  if (search.topic.empty())
    if (auto type = running_type(name, search.domain)) return *std::move(type);
  unknown(search, name);
}

bool is_of_this_user(const ObservedStream& stream) {
  return stream.peer().uid == ::geteuid() || stream.peer().uid == 0;
}

std::vector<std::string> known_types() {
  std::vector<std::string> all = names_of(detail::StandardMessages{});
  for (const std::string_view name : standard_ros2_names()) all.push_back(with_msg(std::string(name)));
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

std::string type_name(const TypeLayout& t) {
  using Kind = TypeLayout::Kind;
  const std::string bound = t.count == 0 ? "" : fmt::format("<={}", t.count);
  switch (t.kind) {
    case Kind::Bool:
      return "bool";
    case Kind::Integer:
      return fmt::format("{}int{}", t.is_signed ? "" : "u", 8 * t.size);
    case Kind::Enum:
      return type_name(*t.element);
    case Kind::Float:
      return fmt::format("float{}", 8 * t.size);
    case Kind::FixedString:
    case Kind::String:
      return "string" + bound;
    case Kind::WString:
      return "wstring" + bound;
    case Kind::Array:
      return fmt::format("{}[{}]", type_name(*t.element), t.count);
    case Kind::FixedVector:
    case Kind::Vector:
      return fmt::format("{}[{}]", type_name(*t.element), bound);
    default:
      return t.name;
  }
}

}  // namespace cardan::apps
