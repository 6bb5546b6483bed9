// SPDX-License-Identifier: Apache-2.0
#include "bench/transport/transport.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "bench/results/host.hpp"
#include "bench/temporary_folder.hpp"
#include "bench/transport/clock.hpp"
#include "bench/transport/operations.hpp"
#include "bench/transport/peers/peer.hpp"
#include "bench/transport/ping_pong.hpp"
#include "bench/transport/progress.hpp"
#include "bench/transport/report.hpp"
#include "bench/transport/role.hpp"
#include "bench/transport/rows.hpp"
#include "bench/transport/run.hpp"
#include "cardan/error.hpp"

namespace cardan::bench {
namespace {

constexpr int kPingPongMs = 100;

bool is_cardan(const Contender& contender) { return contender.peer == kCardan || contender.peer == kCardanReliable; }

/// Work, load and other links may take longer than a period, or stop a peer: then that is a result.
bool may_starve(const Cell& cell) { return !(cell.conditions == Conditions{}) || cell.scenario.links > 1; }

class Bench {
 public:
  explicit Bench(const TransportOptions& options) : options_(options), results_(options) {
    if (options.micro) operations_ = all_operations();
    if (!options.cells.empty())
      companions_ = start_companions(options.contenders, run_directory_.path(), [this](const std::string& words) {
        circumstances_.failures.push_back(words);
        progress_.line(words);
      });
  }

  int run() {
    announce();
    const CpuTicks before = read_cpu_ticks();
    for (std::uint32_t round = 0; round < options_.runs && !stopped(); ++round) {
      if (round > 0 && !time_for(expected_seconds(options_) / options_.runs)) {
        progress_.line(fmt::format("stops after {} of {} rounds: the next would end after {}", round, options_.runs,
                                   name_of_duration(options_.minutes * 60)));
        break;
      }
      run_round(round);
    }
    circumstances_.host = describe_host();
    circumstances_.steal_percent = steal_percent(before, read_cpu_ticks());
    circumstances_.left_out = options_.left_out;
    circumstances_.left_out.insert(circumstances_.left_out.end(), starved_.begin(), starved_.end());
    circumstances_.interrupted = signals_.interrupted();
    return report();
  }

 private:
  [[nodiscard]] bool stopped() const { return signals_.interrupted(); }
  [[nodiscard]] double elapsed() const { return static_cast<double>(now_ns() - started_) / 1e9; }
  [[nodiscard]] bool time_for(double seconds) const {
    return options_.minutes <= 0 || elapsed() + seconds <= options_.minutes * 60;
  }

  void announce() {
    for (const std::string& sentence : options_.left_out) progress_.line(sentence);
    std::size_t skipped = 0;
    for (const Cell& cell : options_.cells) {
      for (const Contender& c : options_.contenders) skipped += fits(c, cell, options_.reader_cpus.size()) ? 0U : 1U;
    }
    progress_.line(fmt::format("{} cells × {} contenders × {} rounds: about {}; publishers on CPU {}, readers on {}",
                               options_.cells.size(), options_.contenders.size(), options_.runs,
                               name_of_duration(expected_seconds(options_)), options_.publisher_cpu,
                               fmt::join(options_.reader_cpus, ",")));
    if (skipped > 0) {
      progress_.line(
          fmt::format("leaves out {} measurements with `spin`: more readers than CPUs for them ({}), or publishers or "
                      "links that share a CPU",
                      skipped, options_.reader_cpus.size()));
    }
    const auto& r = options_.reader_cpus;
    if (std::find(r.begin(), r.end(), options_.publisher_cpu) != r.end()) {
      progress_.line("publishers and readers share a CPU: spinning readers then keep the publisher waiting");
    }
  }

  void run_round(std::uint32_t round) {
    const auto round_trips = measure_ping_pong(options_.publisher_cpu, options_.reader_cpus.front(), kPingPongMs);
    ping_pong_.insert(ping_pong_.end(), round_trips.begin(), round_trips.end());
    for (std::size_t cell = 0; cell < options_.cells.size() && !stopped(); ++cell) {
      std::string found;
      for (const std::size_t contender : order_of(options_.contenders.size(), round)) {
        if (stopped()) break;
        if (!fits(options_.contenders[contender], options_.cells[cell], options_.reader_cpus.size())) continue;
        found += run_contender(round, cell, contender);
      }
      if (!found.empty())
        progress_.plain(fmt::format("round {}/{} {} {}: p50 µs{}", round + 1, options_.runs,
                                    name_of(options_.cells[cell]), name_of_bytes(options_.cells[cell].bytes), found));
    }
    run_operations(round);
  }

  void run_operations(std::uint32_t round) {
    for (std::size_t i = 0; i < operations_.size() && !stopped(); ++i) {
      progress_.now(fmt::format("round {}/{} · {}", round + 1, options_.runs, operations_[i].name()));
      const std::string failure = operations_[i].run(options_, run_directory_.path(), signals_);
      if (failure.empty() || stopped()) continue;
      circumstances_.failures.push_back(fmt::format("round {} {}: {}", round + 1, operations_[i].name(), failure));
      progress_.line(circumstances_.failures.back());
    }
  }

  // One run, repeated while the hypervisor takes too much; returns its p50 for the progress.
  std::string run_contender(std::uint32_t round, std::size_t cell_index, std::size_t contender_index) {
    const Cell& cell = options_.cells[cell_index];
    const Contender& contender = options_.contenders[contender_index];
    const std::string name = fmt::format("{}/{}", name_of(contender.peer), name_of(contender.wait));
    const std::string where = fmt::format("{} {} {}", name, name_of(cell), name_of_bytes(cell.bytes));
    const auto best = least_disturbed(
        [&](int attempt) -> std::optional<RunResult> {
          const double left = std::max(0.0, expected_seconds(options_) - elapsed());
          progress_.now(fmt::format("round {}/{} · {}{} · about {} left", round + 1, options_.runs, where,
                                    attempt > 0 ? " (again: steal)" : "", name_of_duration(left)));
          RunOutcome outcome = run_once(contender, cell, options_, run_directory_.path(), signals_);
          if (outcome.interrupted) return std::nullopt;
          if (outcome.failure.empty()) return std::move(outcome.result);
          const std::string words = fmt::format("round {} {}: {}", round + 1, where, outcome.failure);
          const bool is_result = may_starve(cell) && !is_cardan(contender) && outcome.failure == kNotInTime;
          (is_result ? starved_ : circumstances_.failures).push_back(words);
          progress_.line(words);
          return std::nullopt;
        },
        time_for(expected_seconds(cell)) ? kMostRepetitions : 0);
    if (!best) return {};
    const double p50 = summarize(best->transport_us).p50;
    results_.add(cell_index, contender_index, {round, *best, best->steal_percent > kMostStealPercent});
    return fmt::format(" {} {}", name, three_digits(p50));
  }

  int report() {
    if (!ping_pong_.empty()) {
      circumstances_.figures.insert(circumstances_.figures.begin(),
                                    {kPingPongName, "us", summarize(ping_pong_),
                                     fmt::format("a cache line from CPU {} to {} and back, batches of 200",
                                                 options_.publisher_cpu, options_.reader_cpus.front()),
                                     std::move(ping_pong_)});
    }
    for (const Operation& operation : operations_) operation.add_figures(circumstances_.figures);
    const auto rows = results_.rows();
    auto json = to_json(rows, circumstances_);
    std::vector<Measurement> measurements = results_.measurements(options_.runs);
    for (Measurement& m : measurements_of(circumstances_.figures)) measurements.push_back(std::move(m));
    json["measurements"] = to_json(measurements);
    std::uint64_t lost = 0;
    std::uint64_t torn = 0;
    for (const Row& row : rows) {
      if (!is_cardan(row.contender)) continue;
      torn += row.torn;
      if (!may_starve(row.cell)) lost += row.lost;
    }
    const std::string loss = fmt::format(
        "readers of `cardan` lost {} frames and saw {} torn. Topics here have depth 1: a reader that comes back later "
        "than the next publication gets the newest frame and counts the others as lost, so loss means that a reader "
        "was slower than the rate (too many readers on a CPU, steal, a rate too high); a torn frame is a bug",
        lost, torn);
    return finish(circumstances_, to_table(rows, circumstances_), options_.json, json, lost + torn > 0 ? loss : "");
  }

  const TransportOptions& options_;
  QuietSignals signals_;
  const TemporaryFolder run_directory_;  // so that the bench neither sees nor disturbs what runs on this computer
  Progress progress_;
  Results results_;
  Circumstances circumstances_;
  std::vector<std::string> starved_;  ///< runs of peers that the conditions stopped
  std::vector<double> ping_pong_;
  std::vector<Operation> operations_;
  std::vector<std::shared_ptr<void>> companions_;  // daemons of peers
  std::int64_t started_ = now_ns();
};

}  // namespace

int run_transport_bench(const TransportOptions& options) {
  return options.is_role ? play_role(options.role_fd, options.role_index) : Bench(options).run();
}

}  // namespace cardan::bench
