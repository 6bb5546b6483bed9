// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "bench/results/measurement.hpp"

namespace cardan::bench {

enum class Judgement : std::uint8_t { NotMeasured, Holds, DoesNotHold };
[[nodiscard]] std::string_view name_of(Judgement judgement) noexcept;

/// What the data of a run say about a statement.
struct Finding {
  Judgement judgement = Judgement::NotMeasured;
  std::string figures{};  ///< a sentence with the figures; what is missing, if it was not measured
};

/// The measurements of a run, for those that judge by them.
class Evidence {
 public:
  explicit Evidence(std::vector<const Measurement*> measurements, std::size_t hosts = 1)
      : all_(std::move(measurements)), hosts_(hosts) {}

  /// What is looked for; "" and 0: any.
  struct Wanted {
    std::string part{}, peer{}, setup{}, cell{}, quantity{};
    double bytes = 0;
  };
  [[nodiscard]] std::vector<const Measurement*> all(const Wanted& wanted) const;
  [[nodiscard]] const Measurement* one(const Wanted& wanted) const;  ///< the first; null: none
  /// Of the pooled samples. Empty: not measured.
  [[nodiscard]] std::optional<double> p50(const Wanted& wanted) const;
  /// The sizes of which `wanted` was measured, ascending.
  [[nodiscard]] std::vector<double> sizes(const Wanted& wanted) const;
  [[nodiscard]] std::size_t hosts() const noexcept { return hosts_; }

 private:
  std::vector<const Measurement*> all_;
  std::size_t hosts_;
};

/// A statement of a paper, and how the data of a run judge it.
struct Statement {
  std::string paper{};  ///< "Oops!", "SIM"
  std::string text{};   ///< what it says
  std::string rule{};   ///< when it holds here
  std::function<Finding(const Evidence&)> judge{};
};

/// The seven findings of Oops! and the headline claims of the five papers.
[[nodiscard]] const std::vector<Statement>& all_statements();

/// The parts of that list, a file each.
void add_oops_findings(std::vector<Statement>& statements);
void add_paper_claims(std::vector<Statement>& statements);

}  // namespace cardan::bench
