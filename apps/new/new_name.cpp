// SPDX-License-Identifier: Apache-2.0
#include "apps/new/new_name.hpp"

#include <algorithm>

namespace cardan::apps {
namespace {

constexpr std::size_t kLongest = 40;
constexpr std::string_view kFallback = "lane_keeper";

bool lower(char c) { return c >= 'a' && c <= 'z'; }
bool upper(char c) { return c >= 'A' && c <= 'Z'; }
bool digit(char c) { return c >= '0' && c <= '9'; }
char to_upper(char c) { return lower(c) ? static_cast<char>(c - 'a' + 'A') : c; }

}  // namespace

std::string name_refusal(std::string_view name) {
  if (name.empty()) return "it is empty";
  if (name.size() > kLongest) return "it is longer than 40 letters";
  if (!std::all_of(name.begin(), name.end(), [](char c) { return lower(c) || digit(c) || c == '_'; }))
    return "it has other characters than lower-case letters, digits and '_'";
  if (!lower(name.front())) return "it does not begin with a letter";
  if (name.back() == '_' || name.find("__") != std::string_view::npos) return "its '_' are not between words";
  if (name == "cardan" || name == "std") return "it is the name of a library";
  return {};
}

std::string name_like(std::string_view name) {
  std::string out;
  for (std::size_t i = 0; i < name.size() && out.size() < kLongest; ++i) {
    const char c = name[i];
    const bool word = upper(c) && i > 0 && (lower(name[i - 1]) || digit(name[i - 1]));
    if ((word || !(lower(c) || upper(c) || digit(c))) && !out.empty() && out.back() != '_') out += '_';
    if (upper(c)) out += static_cast<char>(c - 'A' + 'a');
    if (lower(c) || (digit(c) && !out.empty())) out += c;
  }
  while (!out.empty() && (out.back() == '_' || out.size() > kLongest)) out.pop_back();
  return name_refusal(out).empty() ? out : std::string(kFallback);
}

std::string class_name_of(std::string_view name) {
  std::string out;
  bool first = true;
  for (const char c : name) {
    if (c == '_') {
      first = true;
      continue;
    }
    out += first ? to_upper(c) : c;
    first = false;
  }
  return out;
}

}  // namespace cardan::apps
