// SPDX-License-Identifier: Apache-2.0
#include "src/base/printable.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <iterator>

namespace cardan::detail {
namespace {

struct Character {
  std::uint32_t code = 0;
  std::size_t bytes = 0;  ///< 0: these bytes are not UTF-8
};

/// Strict: no overlong form, no surrogate, nothing above U+10FFFF.
Character first_of(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<std::uint32_t>(static_cast<unsigned char>(text[i])); };
  const std::uint32_t lead = byte(0);
  if (lead < 0x80) return {lead, 1};
  const std::size_t bytes = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || text.size() < bytes) return {};
  std::uint32_t code = lead & (0x7fU >> bytes);
  for (std::size_t i = 1; i < bytes; ++i) {
    if ((byte(i) & 0xc0U) != 0x80) return {};
    code = code << 6U | (byte(i) & 0x3fU);
  }
  const std::uint32_t least = bytes == 2 ? 0x80 : bytes == 3 ? 0x800 : 0x10000;
  if (code < least || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff)) return {};
  return {code, bytes};
}

struct Range {
  std::uint32_t first, last;
};
constexpr Range kHarmful[] = {
    {0x00, 0x1f},        // C0
    {0x7f, 0x9f},        // DEL and C1: terminals take U+009B for ESC [
    {0xad, 0xad},        // soft hyphen
    {0x061c, 0x061c},    // Arabic letter mark
    {0x180e, 0x180e},    // no width
    {0x200b, 0x200f},    // no width, and marks of direction
    {0x2028, 0x202e},    // line and paragraph separator, embeddings and overrides of direction
    {0x2060, 0x206f},    // invisible operators, isolates of direction
    {0xfeff, 0xfeff},    // byte order mark
    {0xfff9, 0xfffb},    // interlinear annotation
    {0xe0000, 0xe007f},  // tags
};
bool harmful(std::uint32_t code) {
  return std::any_of(std::begin(kHarmful), std::end(kHarmful),
                     [code](const Range& r) { return code >= r.first && code <= r.last; });
}

std::string clean(std::string_view text, std::size_t longest, bool lines) {
  std::string result;
  result.reserve(std::min(text.size(), longest));
  while (!text.empty()) {
    const Character c = first_of(text);
    const bool keep = c.bytes != 0 && (!harmful(c.code) || (lines && (c.code == '\n' || c.code == '\t')));
    if (result.size() + (keep ? c.bytes : 1) > longest) break;
    if (keep)
      result.append(text.substr(0, c.bytes));
    else
      result.push_back('?');
    text.remove_prefix(std::max<std::size_t>(c.bytes, 1));
  }
  return result;
}

}  // namespace

std::string printable(std::string_view text, std::size_t longest) { return clean(text, longest, false); }
std::string printable_lines(std::string_view text, std::size_t longest) { return clean(text, longest, true); }

std::string printable_json(std::string_view json) {
  std::string result;
  result.reserve(json.size());
  while (!json.empty()) {
    const Character c = first_of(json);
    const std::size_t bytes = std::max<std::size_t>(c.bytes, 1);
    if (c.bytes == 0)
      result.push_back('?');
    else if (!harmful(c.code) || c.code == '\n')  // between two values; in a string it has been escaped
      result.append(json.substr(0, bytes));
    else if (c.code < 0x10000)
      fmt::format_to(std::back_inserter(result), "\\u{:04x}", c.code);
    else
      fmt::format_to(std::back_inserter(result), "\\u{:04x}\\u{:04x}", 0xd7c0U + (c.code >> 10U),
                     0xdc00U + (c.code & 0x3ffU));
    json.remove_prefix(bytes);
  }
  return result;
}

}  // namespace cardan::detail
