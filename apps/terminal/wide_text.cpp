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

}  // namespace cardan::apps
