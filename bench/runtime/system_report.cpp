// SPDX-License-Identifier: Apache-2.0
#include "bench/runtime/system_report.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "bench/results/words.hpp"
#include "bench/transport/progress.hpp"
#include "cardan/error.hpp"

namespace cardan::bench {
namespace {

using Json = nlohmann::ordered_json;

Json figures(const std::vector<double>& values) { return to_json(summarize(values)); }

}  // namespace

std::string SystemReport::text() const {
  std::string out;
  if (start)
    out += fmt::format(
        "\n{} components with {} topics in {} processes: all ready after {:.0f} ms; idle {:.2f} % of a core, {:.2f} % "
        "while a program looks once a second\n",
        start->components, start->topics, start->processes, start->ready_ms, start->idle_cpu_percent,
        start->looking_cpu_percent);
  if (crash) {
    const Summary noticed = summarize(crash->noticed_ms);
    const Summary again = summarize(crash->again_ms);
    out += fmt::format(
        "One of five processes killed, {} times: noticed after {:.1f} ms (p50; max {:.1f}), running again after {:.1f} "
        "(max "
        "{:.1f}), of which {:.1f} its own start; lost between the others: {} of {} frames\n",
        noticed.count, noticed.p50, noticed.max, again.p50, again.max, summarize(crash->own_start_ms).p50, crash->lost,
        crash->between_others + crash->lost);
  }
  if (!problem.empty()) out += "\nNot measured: " + problem + "\n";
  return out;
}

std::vector<Json> SystemReport::rows() const {
  std::vector<Json> all;
  if (start)
    all.push_back({{"peer", "cardan"},
                   {"scenario", "start"},
                   {"processes", start->processes},
                   {"components", start->components},
                   {"topics", start->topics},
                   {"ready_ms", start->ready_ms},
                   {"idle_cpu_percent", start->idle_cpu_percent},
                   {"looking_cpu_percent", start->looking_cpu_percent}});
  if (crash)
    all.push_back({{"peer", "cardan"},
                   {"scenario", "crash"},
                   {"crashes", crash->noticed_ms.size()},
                   {"noticed_ms", figures(crash->noticed_ms)},
                   {"running_again_ms", figures(crash->again_ms)},
                   {"own_start_ms", figures(crash->own_start_ms)},
                   {"sent_between_others", crash->between_others + crash->lost},
                   {"lost_between_others", crash->lost}});
  return all;
}

std::vector<Measurement> SystemReport::measurements() const {
  std::vector<Measurement> all;
  const auto add = [&](const char* cell, const char* quantity, const char* unit, std::vector<double> samples) {
    all.push_back({.part = "runtime",
                   .peer = "cardan",
                   .setup = "run",
                   .cell = cell,
                   .quantity = quantity,
                   .unit = unit,
                   .command = "cardan bench runtime"});
    all.back().runs.push_back(make_run(std::move(samples)));
  };
  if (start) {
    add("start", "all ready", "ms", {start->ready_ms});
    add("start", "idle CPU", "% of a core", {start->idle_cpu_percent});
    add("start", "CPU while somebody looks", "% of a core", {start->looking_cpu_percent});
  }
  if (crash) {
    add("crash", "noticed", "ms", crash->noticed_ms);
    all.back().due = crash->between_others + crash->lost;
    all.back().lost = crash->lost;
    add("crash", "running again", "ms", crash->again_ms);
    add("crash", "own start", "ms", crash->own_start_ms);
  }
  return all;
}

SystemReport measure_system(bool quick, const std::function<bool()>& stopped) {
  constexpr int kCrashes = 10;
  constexpr int kQuickCrashes = 3;
  SystemReport report;
  Progress progress;
  const Tell tell = [&](const std::string& words) { progress.now(words); };
  try {
    report.start = measure_start(stopped, tell);
    if (!stopped()) report.crash = measure_crash(quick ? kQuickCrashes : kCrashes, stopped, tell);
    if (!stopped() && (!report.start || !report.crash))
      report.problem = "a process of the measured system did not start";
  } catch (const Error& e) {
    report.problem = e.what();
  }
  return report;
}

}  // namespace cardan::bench
