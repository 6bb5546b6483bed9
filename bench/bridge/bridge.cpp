// SPDX-License-Identifier: Apache-2.0
#include "bench/bridge/bridge.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "bench/bridge/network.hpp"
#include "bench/bridge/parts.hpp"
#include "bench/bridge/setups.hpp"
#include "bench/results/arguments.hpp"
#include "bench/results/exit_code.hpp"
#include "bench/transport/progress.hpp"
#include "cardan/error.hpp"
#include "src/system/launcher/own_program.hpp"

namespace cardan::bench {
namespace bridging {
namespace {

constexpr double kUsualSeconds = 10, kQuickSeconds = 2, kMostSeconds = 600;
constexpr int kUsualRuns = 3, kMostRuns = 100;

struct Options {
  std::vector<const Setup*> setups{};
  double seconds = kUsualSeconds;
  int runs = kUsualRuns;
  std::string json{};
};

Options parse_options(const BridgeArguments& a) {
  Options options{.seconds = a.quick ? kQuickSeconds : kUsualSeconds, .runs = a.quick ? 1 : kUsualRuns, .json = a.json};
  if (a.seconds != 0) options.seconds = a.seconds;
  if (a.runs != 0) options.runs = a.runs;
  check_range("--seconds", options.seconds, 1.0, kMostSeconds);
  check_range("--runs", options.runs, 1, kMostRuns);
  const std::vector<std::string> wanted = some_of("--only", a.only, names_of_bridge_rows());
  for (const Setup& setup : all_setups())
    if (std::find(wanted.begin(), wanted.end(), setup.name) != wanted.end()) options.setups.push_back(&setup);
  return options;
}

bool can_run(const char* program) { return ::access(launcher::own_program(program).c_str(), X_OK) == 0; }

/// The joint result of two rows.
void compare(Report& report) {
  const auto p50_of = [&](const char* name) {
    for (Row& row : report.rows)
      if (row.name == name)
        if (const Figure* const p50 = row.find("latency p50")) return p50->median();
    return 0.0;
  };
  const double native = p50_of("dds-native");
  for (Row& row : report.rows)
    if (row.name == "dds-out" && native > 0 && p50_of("dds-out") > 0)
      row.add("latency p50 / native", "×", p50_of("dds-out") / native, Target{.limit = 1});
}

/// Whether a bridge lost messages that it should have carried.
bool has_lost(const Report& report) {
  return std::any_of(report.rows.begin(), report.rows.end(), [](const Row& row) {
    const Figure* const arrived = row.find("arrived");
    return arrived != nullptr && arrived->reached() == false;
  });
}

/// Empty: `why` says what is missing.
std::optional<OtherNetwork> other_network(std::string& why) {
  try {
    return std::make_optional<OtherNetwork>();
  } catch (const Error& e) {
    why = e.what();
    return std::nullopt;
  }
}

Report measure(const Options& options, Progress& progress) {
  Setting setting{.seconds = options.seconds,
                  .fastdds = can_run("cardan-bench-fastdds"),
                  .dds = can_run("cardan-bridge-dds"),
                  .foxglove = can_run("cardan-bridge-foxglove"),
                  .zenoh = can_run("cardan-bridge-zenoh") && can_run("cardan-zenoh"),
                  .stopped = is_stopped};
  std::optional<OtherNetwork> other;
  if (setting.zenoh) other = other_network(setting.no_other);
  if (other) setting.other = &*other;
  Report report;
  report.host = describe_host();
  report.seconds = options.seconds;
  report.runs = options.runs;
  const auto leave_out = [&](const std::string& sentence) {
    progress.line(sentence);
    report.left_out.push_back(sentence);
  };
  if (!setting.fastdds)
    leave_out("Fast DDS left out; to have it: apt-get install libfastrtps-dev libfastcdr-dev, and build again.");
  if (!setting.dds)
    leave_out("The bridge to DDS left out; to have it: apt-get install cyclonedds-dev, and build again.");
  if (!setting.foxglove) leave_out("The bridge to Foxglove left out; this build does not have it.");
  if (!setting.zenoh) leave_out("Zenoh left out; to have it: make zenoh.");
  leave_out(
      "cardan_rclcpp is not measured here: ros2/cardan_rclcpp/bench does, where a ROS 2 is sourced (docs/ros2.md).");
  const CpuTicks before = read_cpu_ticks();
  std::set<const Setup*> failed;
  for (int round = 0; round < options.runs; ++round) {
    for (const Setup* const setup : options.setups) {
      if (is_stopped() || failed.contains(setup) || !setup->possible(setting)) continue;
      progress.now(fmt::format("{}, round {} of {}", setup->name, round + 1, options.runs));
      auto found =
          std::find_if(report.rows.begin(), report.rows.end(), [&](const Row& r) { return r.name == setup->name; });
      Row row = found != report.rows.end() ? *found : Row{.name = setup->name, .title = setup->title};
      try {
        setup->measure(setting, row);
        progress.plain(fmt::format("{}, round {}", setup->name, round + 1));
      } catch (const Error& e) {
        failed.insert(setup);
        report.failures.push_back(fmt::format("{}: {}", setup->name, e.what()));
        progress.line("failed: " + report.failures.back());
      }
      if (row.figures.empty()) continue;
      if (found != report.rows.end())
        *found = std::move(row);
      else
        report.rows.push_back(std::move(row));
    }
  }
  report.steal_percent = steal_percent(before, read_cpu_ticks());
  report.interrupted = is_stopped();
  compare(report);
  return report;
}

int run(const Options& options) {
  catch_stop();
  enter_own_network();
  Progress progress;
  const Report report = measure(options, progress);
  return finish(report, to_table(report), options.json, to_json(report),
                has_lost(report) ? "a bridge did not carry all messages" : "");
}

}  // namespace
}  // namespace bridging

std::string names_of_bridge_rows() {
  std::vector<std::string> names;
  for (const bridging::Setup& setup : bridging::all_setups()) names.emplace_back(setup.name);
  return fmt::format("{}", fmt::join(names, ","));
}

int run_bridge_bench(const BridgeArguments& arguments) {
  if (!arguments.part.empty()) return play_bridge_part(arguments.part.c_str());
  return exit_code_of("bridge", [&] { return bridging::run(bridging::parse_options(arguments)); });
}

}  // namespace cardan::bench
