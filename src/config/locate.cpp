// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "src/config/document.hpp"

namespace cardan::config {
namespace {

void add(const Node& node, const std::string& pointer, Source& source) {
  std::size_t index = 0;
  for (const Node& element : node.elements) {
    const std::string at = fmt::format("{}/{}", pointer, index++);
    source.values.emplace(at, element.place);
    add(element, at, source);
  }
  for (const Member& member : node.members) {
    if (member.duplicate) continue;
    const std::string at = join(pointer, member.name);
    const bool container = member.value.kind == Node::Kind::Object || member.value.kind == Node::Kind::Array;
    source.keys.emplace(at, member.place);
    source.values.emplace(at, container ? member.place : member.value.place);
    add(member.value, at, source);
  }
}

/// The pointer of what contains `pointer`; the whole file contains itself.
std::string_view parent(std::string_view pointer) noexcept {
  return pointer.substr(0, pointer.empty() ? 0 : pointer.rfind('/'));
}

}  // namespace

void locate(const Node& root, Source& source) {
  source.values.emplace("", root.place);
  add(root, "", source);
}

Place Source::key(std::string_view pointer) const {
  const auto found = keys.find(pointer);
  return found != keys.end() ? found->second : value(pointer);
}

Place Source::value(std::string_view pointer) const {
  for (;; pointer = parent(pointer)) {
    if (const auto found = values.find(pointer); found != values.end()) return found->second;
    if (pointer.empty()) return {};
  }
}

const std::string& Source::file(Place place) const noexcept {
  return place.file == 0 || place.file > included.size() ? file_name : included[place.file - 1];
}

std::string Source::line(Place place) const {
  if (place.line == 0) return file(place);
  return place.file == 0 ? fmt::format("line {}", place.line) : fmt::format("line {} of {}", place.line, file(place));
}

Problem Source::problem(std::string pointer, Place place, Severity severity, std::string cause,
                        std::string remedy) const {
  return {std::move(pointer),
          place.line,
          place.column,
          severity,
          std::move(cause),
          std::move(remedy),
          place.file == 0 ? std::string() : file(place)};
}

std::string join(std::string_view pointer, std::string_view name) {
  std::string joined{pointer};
  joined += '/';
  for (const char c : name) {
    if (c == '~')
      joined += "~0";
    else if (c == '/')
      joined += "~1";
    else
      joined += c;
  }
  return joined;
}

}  // namespace cardan::config
