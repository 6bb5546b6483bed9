// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "bench/results/measurement.hpp"
#include "bench/results/statements.hpp"

namespace cardan::bench {

/// What a report shows. Made by `prepare()`; points into the results.
struct Report {
  struct Judged {
    const Statement* statement = nullptr;
    Finding finding{};
  };
  const std::vector<Result>* results = nullptr;
  std::vector<const Measurement*> measurements{};
  std::vector<Judged> statements{};
  std::string made{};  ///< when, as text; "": it is not said
};

/// Judges the statements by the results, which must outlive the report. Throws Error{InvalidArgument}: two of the
/// results have the same measurement.
[[nodiscard]] Report prepare(const std::vector<Result>& results);

/// The whole page: no other file, no request, no script. All texts of the results are escaped.
[[nodiscard]] std::string to_html(const Report& report);
/// What a README shows: the computer, the main figures, the statements.
[[nodiscard]] std::string to_markdown(const Report& report);

/// Writes index.html, summary.md and results.json (all measurements in one file, for `compare`) to `folder`, which it
/// makes. Throws Error.
void write_report(const std::vector<Result>& results, const std::string& folder);

/// The words of the command line.
struct ReportArguments {
  std::vector<std::string> results{};
  std::string out = "out/report";
};
/// `cardan bench report`. Returns an exit code: 0 written, 1 it cannot be written, 2 a file is wrong.
int run_report(const ReportArguments& arguments);

}  // namespace cardan::bench
