// SPDX-License-Identifier: Apache-2.0
#include "bench/results/compare.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <unordered_map>

#include "bench/results/bootstrap.hpp"
#include "bench/results/statistics.hpp"

namespace cardan::bench {
namespace {

// Below them an interval says nothing: the median of four, or a p99 that is the greatest of a hundred.
constexpr std::size_t kFewestForMedian = 5;
constexpr std::size_t kFewestForTail = 300;
// What all bootstraps of a comparison draw: a minute or two at the limits of read_result().
constexpr std::size_t kMostDrawsOfAll = 2'000'000'000;
constexpr std::size_t kMostRounds = 1000, kFewestRoundsOfAll = 200;

double quantile(const Measurement& m, double fraction) {
  std::vector<double> all = m.pooled();
  std::sort(all.begin(), all.end());
  return percentile(all, fraction);
}

/// The bootstrap of a few runs takes their deviation for that of all: it is too small by √(k ÷ (k − 1)), and its own
/// noise is that of Student's t. Of a single run nobody knows how runs differ.
double for_few_runs(std::size_t before, std::size_t after) {
  const std::size_t fewest = std::min(before, after);
  if (fewest < 2) return 1;
  const auto k = static_cast<double>(fewest);
  return std::sqrt(k / (k - 1)) * student_t95(before + after - 2) / student_t95(1'000'000);
}

/// Logarithms of the ratios of two bootstrap distributions, each drawn independently of the other.
struct LogRatios {
  double deviation = 0;
  std::pair<double, double> interval95{0, 0};
};

std::optional<LogRatios> log_ratios(const Measurement& before, const Measurement& after, double fraction,
                                    std::size_t rounds) {
  const std::vector<double> a = bootstrap_quantile(before.runs, fraction, 1, rounds);
  const std::vector<double> b = bootstrap_quantile(after.runs, fraction, 2, rounds);
  // The logarithm of the ratio is a difference of two independent ones.
  const auto logs_of = [](const std::vector<double>& values) {
    std::vector<double> logs;
    for (const double v : values)
      if (v > 0) logs.push_back(std::log(v));
    return logs;
  };
  const std::vector<double> log_a = logs_of(a);
  const std::vector<double> log_b = logs_of(b);
  if (log_a.size() != a.size() || log_b.size() != b.size() || a.empty() || b.empty()) return std::nullopt;
  const Summary sa = summarize(log_a);
  const Summary sb = summarize(log_b);
  LogRatios out;
  out.deviation = std::sqrt(sa.std * sa.std + sb.std * sb.std) * for_few_runs(before.runs.size(), after.runs.size());
  // Each distribution is sorted: pairs of them in another order are a sample of their difference.
  std::vector<double> differences;
  const std::size_t n = std::min(log_a.size(), log_b.size());
  for (std::size_t i = 0; i < n; ++i)
    differences.push_back(log_b[(i * 379 + 17) % log_b.size()] - log_a[i * log_a.size() / n]);
  std::sort(differences.begin(), differences.end());
  out.interval95 = {percentile(differences, 0.025), percentile(differences, 0.975)};
  return out;
}

Change verdict(const std::pair<double, double>& interval, double threshold, bool more_is_better) {
  const bool greater = interval.first > threshold;
  const bool less = interval.second < 1 / threshold;
  if (!greater && !less) return Change::Same;
  return greater == more_is_better ? Change::Better : Change::Worse;
}

/// By what is judged.
struct Measure {
  double threshold = 1, z = 0;
  std::size_t rounds = kMostRounds;
};

FigureChange compare_quantile(const char* name, double fraction, const Measurement& before, const Measurement& after,
                              const Measure& by) {
  FigureChange out;
  out.figure = name;
  out.before = quantile(before, fraction);
  out.after = quantile(after, fraction);
  const auto ratios = log_ratios(before, after, fraction, by.rounds);
  if (!ratios || out.before <= 0 || out.after <= 0) {
    // Figures that may be 0 or below have no ratio.
    out.change = Change::TooFew;
    return out;
  }
  out.ratio = out.after / out.before;
  out.interval95 = {std::exp(ratios->interval95.first), std::exp(ratios->interval95.second)};
  const double half = by.z * ratios->deviation;
  out.interval = {out.ratio * std::exp(-half), out.ratio * std::exp(half)};
  out.change = verdict(out.interval, by.threshold, before.more_is_better);
  return out;
}

/// Of messages that were lost: whether the share has grown by more than chance (two proportions).
std::optional<FigureChange> compare_loss(const Measurement& before, const Measurement& after, double z) {
  if (!before.due || !before.lost || !after.due || !after.lost || *before.due == 0 || *after.due == 0)
    return std::nullopt;
  FigureChange out;
  out.figure = "lost";
  const auto n1 = static_cast<double>(*before.due);
  const auto n2 = static_cast<double>(*after.due);
  const auto lost1 = static_cast<double>(*before.lost);
  const auto lost2 = static_cast<double>(*after.lost);
  out.before = lost1 / n1;
  out.after = lost2 / n2;
  out.ratio = out.before > 0 ? out.after / out.before : (out.after > 0 ? INFINITY : 1);
  // One more of each (Agresti and Caffo), so that 0 of a few messages is not taken for never.
  const double p1 = (lost1 + 1) / (n1 + 2);
  const double p2 = (lost2 + 1) / (n2 + 2);
  const double deviation = std::sqrt(p1 * (1 - p1) / (n1 + 2) + p2 * (1 - p2) / (n2 + 2));
  out.interval95 = {p2 - p1 - 1.96 * deviation, p2 - p1 + 1.96 * deviation};
  out.interval = {p2 - p1 - z * deviation, p2 - p1 + z * deviation};
  if (out.interval.first > 0) out.change = Change::Worse;
  if (out.interval.second < 0) out.change = Change::Better;
  return out;
}

bool has_tail(const Measurement& before, const Measurement& after) {
  return std::min(before.kept(), after.kept()) >= kFewestForTail;
}

}  // namespace

std::string_view name_of(Change change) noexcept {
  switch (change) {
    case Change::Same:
      return "same within noise";
    case Change::Better:
      return "better";
    case Change::Worse:
      return "worse";
    case Change::TooFew:
      break;
  }
  return "too few samples, or figures of 0";
}

std::size_t Comparison::count(Change change) const {
  std::size_t n = 0;
  for (const Compared& row : rows)
    n += static_cast<std::size_t>(
        std::count_if(row.figures.begin(), row.figures.end(), [&](const auto& f) { return f.change == change; }));
  return n;
}

Comparison compare(const Result& before, const Result& after, const CompareOptions& options) {
  Comparison out;
  std::unordered_map<std::string, const Measurement*> later;
  for (const Measurement& m : after.measurements) later.emplace(m.identity(), &m);
  std::size_t verdicts = 0;
  for (const Measurement& m : before.measurements) {
    const auto found = later.find(m.identity());
    out.rows.push_back({&m, found == later.end() ? nullptr : found->second, {}});
    if (found == later.end()) continue;
    verdicts += 1U + (has_tail(m, *found->second) ? 1U : 0U) + (m.due && found->second->due ? 1U : 0U);
    later.erase(found);
  }
  for (const Measurement& m : after.measurements)
    if (later.contains(m.identity())) out.rows.push_back({nullptr, &m, {}});

  out.confidence = 1 - options.false_alarm / static_cast<double>(std::max<std::size_t>(verdicts, 1));
  const double z = normal_quantile(1 - (1 - out.confidence) / 2);
  std::size_t samples = 1;
  for (const Compared& row : out.rows)
    if (row.before != nullptr && row.after != nullptr) samples += 2 * (row.before->kept() + row.after->kept());
  const Measure by{options.threshold, z, std::clamp(kMostDrawsOfAll / samples, kFewestRoundsOfAll, kMostRounds)};
  for (Compared& row : out.rows) {
    if (row.before == nullptr || row.after == nullptr) continue;
    const Measurement& a = *row.before;
    const Measurement& b = *row.after;
    if (std::min(a.kept(), b.kept()) < kFewestForMedian) {
      FigureChange few{.figure = "p50", .change = Change::TooFew};
      if (a.kept() > 0 && b.kept() > 0) {
        few.before = quantile(a, 0.5);
        few.after = quantile(b, 0.5);
        if (few.before > 0) few.ratio = few.after / few.before;
      }
      row.figures.push_back(few);
    } else {
      row.figures.push_back(compare_quantile("p50", 0.5, a, b, by));
      if (has_tail(a, b)) row.figures.push_back(compare_quantile("p99", 0.99, a, b, by));
    }
    if (auto loss = compare_loss(a, b, z); loss && (*a.lost > 0 || *b.lost > 0)) row.figures.push_back(*loss);
  }

  for (const char* entry : {"cpu", "cpus", "kernel", "governor", "hypervisor", "memory_gib", "compiler"})
    if (const std::string a = before.host_entry(entry), b = after.host_entry(entry); a != b)
      out.differences.push_back(
          fmt::format("{}: {} before, {} after", entry, a.empty() ? "not known" : a, b.empty() ? "not known" : b));
  return out;
}

}  // namespace cardan::bench
