// SPDX-License-Identifier: Apache-2.0
#include "apps/view/numbers.hpp"

#include <CLI/CLI.hpp>
#include <cmath>
#include <string>

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

}  // namespace

void refuse_nonsense_numbers(CLI::App& app) {
  for (CLI::Option* const option : app.get_options()) {
    const std::string type = option->get_type_name();
    // Before checks that change the text, such as sizes.
    if (type.starts_with("FLOAT")) option->transform(CLI::Validator(finite, ""));
    if (type.starts_with("UINT")) option->transform(CLI::Validator(not_negative, ""));
  }
  for (CLI::App* const command : app.get_subcommands({})) refuse_nonsense_numbers(*command);
}

}  // namespace cardan::apps
