// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace CLI {
class App;
}

namespace cardan::apps {

/// Makes every option of every command that takes a number refuse what is none that anybody can mean: "nan" and "inf",
/// which ranges let pass, and negative sizes and counts, which would become very large ones.
void refuse_nonsense_numbers(CLI::App& app);

}  // namespace cardan::apps
