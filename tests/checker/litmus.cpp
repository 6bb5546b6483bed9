// SPDX-License-Identifier: Apache-2.0
#include "tests/checker/litmus.hpp"

#include <cstdio>

#include "tests/checker/litmus_suite.hpp"

namespace cardan::checker {
namespace {

class LitmusRun final : public Scenario {
 public:
  LitmusRun(const Litmus& litmus, bool& seen) : litmus_(litmus), seen_(seen) {
    program_.r = registers_.r;
    static constexpr const char* kNames[] = {"P0", "P1", "P2", "P3"};
    for (std::size_t i = 0; i < litmus.threads.size(); ++i) {
      Execution::current().spawn(kNames[i], [this, i] { litmus_.threads[i](program_); });
    }
  }
  void finish() override {
    registers_.final_x = program_.x.final_value();
    registers_.final_y = program_.y.final_value();
    if (litmus_.outcome(registers_)) seen_ = true;
  }

 private:
  const Litmus& litmus_;
  bool& seen_;
  Registers registers_;
  Program program_;
};

const char* words(Expected e) {
  switch (e) {
    case Expected::Allowed:
      return "allowed";
    case Expected::Forbidden:
      return "forbidden";
    case Expected::Race:
      return "a race";
    case Expected::NotCovered:
      return "allowed, not covered";
  }
  return "";
}

}  // namespace

bool run_litmus(Execution& execution) {
  bool good = true;
  std::printf("%-64s %-22s %-8s %10s %12s\n", "litmus test", "the standard says", "seen", "executions", "brute force");
  for (const Litmus& litmus : litmus_suite()) {
    bool seen = false;
    const auto factory = [&] { return std::make_unique<LitmusRun>(litmus, seen); };
    const Result result = execution.explore(factory, {.count_distinct = true});
    const bool race = result.failed && result.message.starts_with("data race");
    const bool seen_reduced = seen;
    const Result brute = execution.explore(factory, {.every_interleaving = true, .count_distinct = true});
    const bool same = result.failed == brute.failed && seen == seen_reduced &&
                      (result.failed ||
                       (brute.complete && result.distinct == result.executions && result.distinct == brute.distinct));
    const bool wants_race = litmus.expected == Expected::Race;
    const bool ok =
        same &&
        (wants_race ? race : result.complete && !result.failed && seen == (litmus.expected == Expected::Allowed));
    good = good && ok;
    std::printf("%-64s %-22s %-8s %10llu %12llu%s\n", litmus.name, words(litmus.expected),
                race   ? "a race"
                : seen ? "yes"
                       : "no",
                static_cast<unsigned long long>(result.executions), static_cast<unsigned long long>(brute.runs),
                ok     ? ""
                : same ? "   <-- WRONG"
                       : "   <-- the two DIFFER");
  }
  std::printf("%zu litmus tests, %s\n", litmus_suite().size(),
              good ? "all as the standard says" : "NOT as the standard says");
  return good;
}

}  // namespace cardan::checker
