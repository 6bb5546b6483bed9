// SPDX-License-Identifier: Apache-2.0
#include "apps/terminal/wide_text.hpp"

#include <cstdint>

namespace cardan::apps {
namespace {

void append(std::string& out, std::uint32_t letter) {
  const auto rest = [&](unsigned shift) { out += static_cast<char>(0x80U | ((letter >> shift) & 0x3fU)); };
  if (letter < 0x80) {
    out += static_cast<char>(letter);
  } else if (letter < 0x800) {
    out += static_cast<char>(0xc0U | (letter >> 6U));
    rest(0);
  } else if (letter < 0x10000) {
    out += static_cast<char>(0xe0U | (letter >> 12U));
    rest(6);
    rest(0);
  } else {
    out += static_cast<char>(0xf0U | (letter >> 18U));
    rest(12);
    rest(6);
    rest(0);
  }
}

bool is_first(char16_t letter) { return letter >= 0xd800 && letter < 0xdc00; }
bool is_second(char16_t letter) { return letter >= 0xdc00 && letter < 0xe000; }

}  // namespace

std::string utf8(std::u16string_view wide) {
  std::string out;
  for (std::size_t i = 0; i < wide.size(); ++i) {
    if (is_first(wide[i]) && i + 1 < wide.size() && is_second(wide[i + 1])) {
      append(out, 0x10000U + ((wide[i] - 0xd800U) << 10U) + (wide[i + 1] - 0xdc00U));
      ++i;
    } else {
      append(out, is_first(wide[i]) || is_second(wide[i]) ? u'?' : wide[i]);
    }
  }
  return out;
}

std::u16string utf16(std::string_view text) {
  std::u16string out;
  for (std::size_t i = 0; i < text.size();) {
    const auto first = static_cast<unsigned char>(text[i]);
    const std::size_t bytes = first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
    std::uint32_t letter = bytes == 1 ? first : first & (0xffU >> (bytes + 1));
    for (std::size_t more = 1; more < bytes && i + more < text.size(); ++more)
      letter = (letter << 6U) | (static_cast<unsigned char>(text[i + more]) & 0x3fU);
    i += bytes;
    if (letter >= 0x10000) {
      out += static_cast<char16_t>(0xd800U + ((letter - 0x10000U) >> 10U));
      letter = 0xdc00U + (letter & 0x3ffU);
    }
    out += static_cast<char16_t>(letter);
  }
  return out;
}

}  // namespace cardan::apps
