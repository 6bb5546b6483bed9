// SPDX-License-Identifier: Apache-2.0
#include "bench/results/arguments.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>

#include "cardan/error.hpp"

namespace cardan::bench {

void refuse(std::string cause, std::string remedy) {
  throw Error(ErrorCode::InvalidArgument, std::move(cause), std::move(remedy));
}

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> out;
  while (!text.empty()) {
    const auto at = text.find(separator);
    const auto word = text.substr(0, at);
    if (!word.empty()) out.emplace_back(word);
    if (at == std::string_view::npos) break;
    text.remove_prefix(at + 1);
  }
  return out;
}

std::optional<double> number_in(std::string_view text, double least, double most) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = error == std::errc{} && end == text.data() + text.size();
  return whole && value >= least && value <= most ? std::optional(value) : std::nullopt;
}

std::vector<std::string> some_of(const char* option, const std::string& text, const std::string& known) {
  const std::vector<std::string> all = split(known);
  std::vector<std::string> chosen;
  for (const std::string& word : text.empty() ? all : split(text)) {
    if (std::find(all.begin(), all.end(), word) == all.end())
      refuse(fmt::format("{}: there is no `{}`", option, word), fmt::format("use some of {}", known));
    if (std::find(chosen.begin(), chosen.end(), word) == chosen.end()) chosen.push_back(word);
  }
  if (chosen.empty()) refuse(fmt::format("{} names nothing", option), fmt::format("use some of {}", known));
  return chosen;
}

int choose_cpu(const char* option, int asked, std::size_t usual, const std::vector<int>& cpus) {
  if (asked < 0) return cpus.at(usual % cpus.size());
  if (std::find(cpus.begin(), cpus.end(), asked) == cpus.end())
    refuse(fmt::format("{}: this process may not use CPU {}", option, asked),
           fmt::format("use one of {}", fmt::join(cpus, ",")));
  return asked;
}

}  // namespace cardan::bench
