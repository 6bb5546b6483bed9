// SPDX-License-Identifier: Apache-2.0
#include "src/config/shape.hpp"

#include "cardan/messages/cycle_hint.hpp"
#include "cardan/messages/header.hpp"
#include "src/config/shape_table.hpp"
#include "src/transport/protocol/layout.hpp"

namespace cardan::config {
namespace {

// Limits that the schema writes as numbers, and that are those of the code.
static_assert(field_of(table::kTopicShape, "depth").max == layout::kMaxDepth);
static_assert(field_of(table::kTopicShape, "max_bytes").max == layout::kMaxPayload);
static_assert(field_of(table::kCycleShape, "weight").max == CycleHint::kMaxWeight);
static_assert(field_of(table::kComponentShape, "priority").max == kMaxPriority);
static_assert(field_of(table::kCallbackShape, "priority").max == kMaxPriority);

bool is_plain(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
}

template <class Predicate>
bool all(std::string_view text, Predicate predicate) noexcept {
  for (const char c : text)
    if (!predicate(c)) return false;
  return true;
}

}  // namespace

constexpr Shape kFile = table::kFileShape;
constexpr Field kVariablesField = field_of(kFile, "variables");
constexpr Field kIncludeField = field_of(kFile, "include");
constexpr Field kWhenField = field_of(table::kProcessShape, "when");
constexpr Field kInstancesField = field_of(table::kComponentShape, "instances");

bool fits(Format format, std::string_view text) noexcept {
  const auto unsigned_of = [](char c) { return static_cast<unsigned char>(c); };
  switch (format) {
    case Format::Any:
      return text.find('\0') == std::string_view::npos;
    case Format::Filled:
      return !text.empty() && all(text, [&](char c) { return unsigned_of(c) >= ' ' && c != 0x7f; });
    case Format::Name:
      return !text.empty() && text.size() <= 64 && text.front() != '.' && text.front() != '-' &&
             all(text, [](char c) { return is_plain(c) || c == '.'; });
    case Format::Domain:
      return !text.empty() && text.size() <= 48 && all(text, is_plain);
    case Format::Topic:
      return text.size() >= 2 && text.size() <= 255 && text.front() == '/' &&
             all(text, [&](char c) { return unsigned_of(c) > ' ' && c != 0x7f; });
    case Format::Frame:
      return text.size() <= FrameId::capacity() && !text.starts_with('/') && fits(Format::Filled, text);
    case Format::Variable:
      return !text.empty() && all(text, [&](char c) { return unsigned_of(c) > ' ' && c != '=' && c != 0x7f; });
    case Format::Identifier:
      return !text.empty() && text.size() <= 64 && (text.front() < '0' || text.front() > '9') &&
             all(text, [](char c) { return is_plain(c) && c != '-'; });
    case Format::PythonClass: {
      const std::size_t colon = text.find(':');
      if (colon == std::string_view::npos || !fits(Format::Identifier, text.substr(colon + 1))) return false;
      for (std::string_view module = text.substr(0, colon);;) {
        const std::size_t dot = module.find('.');
        if (!fits(Format::Identifier, module.substr(0, dot))) return false;
        if (dot == std::string_view::npos) return true;
        module.remove_prefix(dot + 1);
      }
    }
  }
  return false;
}

std::string_view noun(Format format) noexcept {
  switch (format) {
    case Format::Any:
    case Format::Filled:
      return "text";
    case Format::Name:
      return "name";
    case Format::Domain:
      return "name of a domain";
    case Format::Topic:
      return "name of a topic";
    case Format::Frame:
      return "name of a frame";
    case Format::Variable:
      return "name of an environment variable";
    case Format::Identifier:
      return "name of a variable";
    case Format::PythonClass:
      return "module and class of Python";
  }
  return {};
}

std::string_view remedy(Format format) noexcept {
  switch (format) {
    case Format::Any:
      return "leave out the NUL";
    case Format::Filled:
      return "write at least one character, and no control characters";
    case Format::Name:
      return "use up to 64 letters, digits, '_', '-' and '.', but not '-' or '.' first";
    case Format::Domain:
      return "use up to 48 letters, digits, '-' and '_'";
    case Format::Topic:
      return "start with '/', as in /camera/front, and use up to 255 characters without spaces";
    case Format::Frame:
      return "use 1 to 60 characters, no '/' first and no control characters";
    case Format::Variable:
      return "use letters, digits and '_'";
    case Format::Identifier:
      return "use up to 64 letters, digits and '_', but no digit first";
    case Format::PythonClass:
      return "write \"module:Class\", as \"my_package.detector:Detector\"";
  }
  return {};
}

std::string_view pattern(Format format) noexcept {
  switch (format) {
    case Format::Any:
      return "";
    case Format::Filled:
      return "^[^\\u0000-\\u001f\\u007f]+$";
    case Format::Name:
      return "^[A-Za-z0-9_][A-Za-z0-9_.-]{0,63}$";
    case Format::Domain:
      return "^[A-Za-z0-9_-]{1,48}$";
    case Format::Topic:
      return "^/[^\\u0000-\\u0020\\u007f]{1,254}$";
    case Format::Frame:
      return "^[^\\u0000-\\u001f\\u007f/][^\\u0000-\\u001f\\u007f]{0,59}$";
    case Format::Variable:
      return "^[^\\u0000-\\u0020\\u007f=]+$";
    case Format::Identifier:
      return "^[A-Za-z_][A-Za-z0-9_]{0,63}$";
    case Format::PythonClass:
      return "^[A-Za-z_][A-Za-z0-9_]{0,63}(\\.[A-Za-z_][A-Za-z0-9_]{0,63})*:[A-Za-z_][A-Za-z0-9_]{0,63}$";
  }
  return {};
}

}  // namespace cardan::config
