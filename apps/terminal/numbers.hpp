// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace CLI {
class App;
}

namespace cardan::apps {

/// Makes every option of every command that takes a number refuse what nobody can mean: "nan" and "inf",
/// which ranges let pass, and negative sizes and counts, which would become very large ones.
void refuse_nonsense_numbers(CLI::App& app);

/// The value of a flag that may have one. Throws Error (InvalidArgument): it is not a number of that range.
[[nodiscard]] double option_number(const std::string& option, const std::string& text, double least, double most);

}  // namespace cardan::apps
