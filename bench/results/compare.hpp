// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bench/results/measurement.hpp"

namespace cardan::bench {

enum class Change : std::uint8_t { Same, Better, Worse, TooFew };
[[nodiscard]] std::string_view name_of(Change change) noexcept;  ///< "same within noise"

/// A figure of a measurement in two results.
struct FigureChange {
  std::string figure{};  ///< "p50", "p99", "lost"
  double before = 0, after = 0;
  double ratio = 1;                            ///< after ÷ before; of `lost`, of the shares, 0 if nothing was lost
  std::pair<double, double> interval95{1, 1};  ///< of the ratio
  std::pair<double, double> interval{1, 1};    ///< the same at the confidence of the whole comparison
  Change change = Change::Same;
};

/// A measurement in two results.
struct Compared {
  const Measurement* before = nullptr;  ///< lives as long as the result
  const Measurement* after = nullptr;
  std::vector<FigureChange> figures{};  ///< empty: it is in one of both only
};

struct CompareOptions {
  double threshold = 1.03;    ///< changes by less than this factor are nobody's concern
  double false_alarm = 0.05;  ///< chance of any wrong verdict in the whole comparison
};

struct Comparison {
  std::vector<Compared> rows{};            ///< in the order of the first result; then what is only in the second
  double confidence = 0;                   ///< of each single interval, so that all verdicts together may be trusted
  std::vector<std::string> differences{};  ///< sentences: how the two computers differ
  [[nodiscard]] std::size_t count(Change change) const;
};

/// Compares by the bootstrap of the logarithm of the ratio. A verdict is given where the whole interval, at a
/// confidence that allows for the number of verdicts (Bonferroni), is beyond `threshold`. Both results must outlive the
/// comparison. CPU time is bounded by the limits of read_result(): a minute or two for files at these limits.
[[nodiscard]] Comparison compare(const Result& before, const Result& after, const CompareOptions& options);

[[nodiscard]] std::string to_table(const Comparison& comparison);
[[nodiscard]] nlohmann::ordered_json to_json(const Comparison& comparison);

/// The words of the command line.
struct CompareArguments {
  std::string before{}, after{}, json{};
  double threshold = 1.03;
};
/// `cardan bench compare`: a table on stdout. Returns an exit code: 0 nothing is worse, 1 something is, 2 a file or an
/// option is wrong.
int run_compare(const CompareArguments& arguments);

}  // namespace cardan::bench
