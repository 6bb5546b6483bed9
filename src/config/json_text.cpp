// SPDX-License-Identifier: Apache-2.0
#include "src/config/json_text.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cstdint>

namespace cardan::config {
namespace {

/// Bytes of the UTF-8 character at the beginning; 0: it is invalid.
std::size_t utf8_length(std::string_view text) noexcept {
  const auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U; };
  const auto follows = [&](std::size_t i, unsigned from = 0x80, unsigned to = 0xbf) {
    return byte(i) >= from && byte(i) <= to;
  };
  const unsigned first = byte(0);
  if (first < 0x80) return 1;
  if (first >= 0xc2 && first <= 0xdf) return follows(1) ? 2 : 0;
  if (first >= 0xe0 && first <= 0xef)  // no overlong forms, no halves of UTF-16 pairs
    return follows(1, first == 0xe0 ? 0xa0 : 0x80, first == 0xed ? 0x9f : 0xbf) && follows(2) ? 3 : 0;
  if (first >= 0xf0 && first <= 0xf4)
    return follows(1, first == 0xf0 ? 0x90 : 0x80, first == 0xf4 ? 0x8f : 0xbf) && follows(2) && follows(3) ? 4 : 0;
  return 0;
}

void append_utf8(std::string& out, std::uint32_t code) {
  const auto add = [&](std::uint32_t byte) { out += static_cast<char>(byte); };
  if (code < 0x80) {
    add(code);
  } else if (code < 0x800) {
    add(0xc0 | code >> 6);
    add(0x80 | (code & 0x3f));
  } else if (code < 0x10000) {
    add(0xe0 | code >> 12);
    add(0x80 | (code >> 6 & 0x3f));
    add(0x80 | (code & 0x3f));
  } else {
    add(0xf0 | code >> 18);
    add(0x80 | (code >> 12 & 0x3f));
    add(0x80 | (code >> 6 & 0x3f));
    add(0x80 | (code & 0x3f));
  }
}

/// The four hexadecimal digits at `at`, which moves past them; false: they are not there.
bool hex4(std::string_view text, std::size_t& at, std::uint32_t& code) {
  if (at + 4 > text.size()) return false;
  const char* const begin = text.data() + at;
  const auto [end, error] = std::from_chars(begin, begin + 4, code, 16);
  if (error != std::errc{} || end != begin + 4) return false;
  at += 4;
  return true;
}

/// The escape after a '\'; false: it is invalid.
bool escape(std::string_view text, std::size_t& at, std::string& out) {
  constexpr std::string_view kLetters = "\"\\/bfnrt";
  constexpr std::string_view kMeant = "\"\\/\b\f\n\r\t";
  const char c = text[at++];
  if (const std::size_t i = kLetters.find(c); i != std::string_view::npos) {
    out += kMeant[i];
    return true;
  }
  std::uint32_t code = 0;
  if (c != 'u' || !hex4(text, at, code) || (code >= 0xdc00 && code <= 0xdfff)) return false;
  if (code >= 0xd800 && code <= 0xdbff) {  // the first half of a UTF-16 pair
    std::uint32_t low = 0;
    if (!text.substr(at).starts_with("\\u")) return false;
    at += 2;
    if (!hex4(text, at, low) || low < 0xdc00 || low > 0xdfff) return false;
    code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
  }
  append_utf8(out, code);
  return true;
}

}  // namespace

TextError json_text(std::string_view text, std::size_t& at, std::string& out) {
  TextError error;
  const auto note = [&](std::string cause, std::string remedy) {
    if (error.cause.empty()) error = {std::move(cause), std::move(remedy), false};
  };
  for (++at; at < text.size() && text[at] != '\n';) {
    const char c = text[at];
    if (c == '"') {
      ++at;
      return error;
    }
    if (c == '\\' && at + 1 < text.size() && text[at + 1] != '\n') {
      const std::size_t begin = at++;
      if (!escape(text, at, out))
        note(fmt::format("the text has the unknown escape '\\{}'", text.substr(begin + 1, 1)),
             "write \\\\ for a backslash, \\\" for a quote, \\n for a new line");
    } else if (static_cast<unsigned char>(c) < ' ') {
      note(fmt::format("the text has the control character 0x{:02x}", static_cast<unsigned char>(c)),
           "write \\t for a tab, \\u00.. for others");
      ++at;
    } else if (const std::size_t length = utf8_length(text.substr(at)); length == 0) {
      note(fmt::format("the text has the byte 0x{:02x}, which is not UTF-8", static_cast<unsigned char>(c)),
           "save the file as UTF-8");
      ++at;
    } else {
      out += text.substr(at, length);
      at += length;
    }
  }
  return {"the text that starts here has no closing quote in its line", "add '\"'", true};
}

bool is_json_number(std::string_view text) noexcept {
  std::size_t i = 0;
  const auto digits = [&] {
    const std::size_t begin = i;
    while (i < text.size() && text[i] >= '0' && text[i] <= '9') ++i;
    return i - begin;
  };
  if (text.starts_with('-')) ++i;
  const bool zero = text.substr(i).starts_with('0');
  const std::size_t whole = digits();
  if (whole == 0 || (zero && whole > 1)) return false;
  if (i < text.size() && text[i] == '.') {
    ++i;
    if (digits() == 0) return false;
  }
  if (i < text.size() && (text[i] == 'e' || text[i] == 'E')) {
    ++i;
    if (i < text.size() && (text[i] == '+' || text[i] == '-')) ++i;
    if (digits() == 0) return false;
  }
  return i == text.size();
}

std::string json_quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\t') {
      out += "\\t";
    } else if (static_cast<unsigned char>(c) < ' ') {
      out += fmt::format("\\u{:04x}", static_cast<unsigned char>(c));
    } else {
      out += c;
    }
  }
  return out + '"';
}

}  // namespace cardan::config
