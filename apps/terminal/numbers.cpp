// SPDX-License-Identifier: Apache-2.0
#include "apps/terminal/numbers.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <charconv>
#include <cmath>
#include <string>
#include <system_error>

#include "cardan/error.hpp"

namespace cardan::apps {
namespace {

std::string finite(std::string& text) {
  double value = 0;
  if (!CLI::detail::lexical_cast(text, value) || std::isfinite(value)) return {};  // the option reports the former
  return "'" + text + "' is not a finite number";
}

std::string not_negative(std::string& text) {
  return text.starts_with('-') ? "'" + text + "' is negative" : std::string();
}

double number(const std::string& text) {
  double value = 0;
  return CLI::detail::lexical_cast(text, value) ? value : std::nan("");
}

std::string positive(std::string& text) {
  return number(text) > 0 ? std::string() : "'" + text + "' is not a number above 0";
}

std::string none_or_more(std::string& text) {
  return number(text) >= 0 ? std::string() : "'" + text + "' is not a number from 0 on";
}

}  // namespace

void refuse_nonsense_numbers(CLI::App& app) {
  for (CLI::Option* const option : app.get_options()) {
    const std::string type = option->get_type_name();
    // CLI11's own words for these two name its largest number, with 309 digits.
    if (type == "FLOAT:POSITIVE" || type == "INT:POSITIVE" || type == "UINT:POSITIVE")
      option->transform(CLI::Validator(positive, ""));
    if (type == "FLOAT:NONNEGATIVE" || type == "INT:NONNEGATIVE") option->transform(CLI::Validator(none_or_more, ""));
    // Before checks that change the text, such as sizes.
    if (type.starts_with("FLOAT")) option->transform(CLI::Validator(finite, ""));
    if (type.starts_with("UINT")) option->transform(CLI::Validator(not_negative, ""));
  }
  for (CLI::App* const command : app.get_subcommands({})) refuse_nonsense_numbers(*command);
}

double option_number(const std::string& option, const std::string& text, double least, double most) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || !(value >= least) || value > most)
    throw Error(ErrorCode::InvalidArgument,
                fmt::format("{}={} is not a number from {} to {}", option, text, least, most),
                fmt::format("give one, as in {}=10, or leave it out", option));
  return value;
}

}  // namespace cardan::apps
