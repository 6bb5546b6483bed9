// SPDX-License-Identifier: Apache-2.0
// The rows of `cardan bench transport` in the form of all results.
#include <fmt/format.h>

#include <algorithm>

#include "bench/transport/report.hpp"
#include "bench/transport/rows.hpp"

namespace cardan::bench {
namespace {

std::string command_of(const Contender& contender, const Cell& cell, std::uint32_t runs) {
  // `poll` is the way of a peer that has no other, and comes with `block`.
  const std::string_view wait = contender.wait == Wait::Poll ? name_of(Wait::Block) : name_of(contender.wait);
  const std::string_view sensor = name_of(cell.sensor);
  const std::string conditions =
      cell.conditions == Conditions{} ? std::string() : fmt::format(" --conditions {}", name_of(cell.conditions));
  return fmt::format(
      "cardan bench transport --peers {} --waits {} --scenarios {} {}{} --rate {:g} --frames {} --runs {}",
      name_of(contender.peer), wait, name_of(cell.scenario),
      sensor.empty() ? fmt::format("--sizes {}", cell.bytes) : fmt::format("--sensors {}", sensor), conditions,
      cell.rate_hz, cell.frames, runs);
}

}  // namespace

std::vector<Measurement> Results::measurements(std::uint32_t asked_runs) const {
  std::vector<Measurement> all;
  for (std::size_t c = 0; c < cells_.size(); ++c)
    for (std::size_t k = 0; k < contenders_.size(); ++k) {
      const std::vector<Entry>& runs = entries(c, k);
      if (runs.empty()) continue;
      const Cell& cell = cells_[c];
      Measurement frame{.part = "transport",
                        .peer = std::string(name_of(contenders_[k].peer)),
                        .setup = std::string(name_of(contenders_[k].wait)),
                        .cell = name_of(cell),
                        .unit = "us",
                        .bytes = static_cast<double>(cell.bytes),
                        .rate_hz = cell.rate_hz,
                        .publishers = cell.scenario.links * cell.scenario.publishers,
                        .readers = cell.scenario.links * cell.scenario.subscribers,
                        .noisy = std::any_of(runs.begin(), runs.end(), [](const Entry& e) { return e.stolen; }),
                        .command = command_of(contenders_[k], cell, asked_runs)};
      const auto add = [&](const char* quantity, auto samples_of) {
        Measurement m = frame;
        m.quantity = quantity;
        for (const Entry& entry : runs)
          m.runs.push_back(
              make_run(samples_of(entry.result), entry.result.steal_percent, entry.result.other_load_percent));
        all.push_back(std::move(m));
      };
      const auto samples = [](std::vector<double> RunResult::* which) {
        return [which](const RunResult& r) { return r.*which; };
      };
      const auto figure = [](double RunResult::* which) {
        return [which](const RunResult& r) { return std::vector<double>{r.*which}; };
      };
      add("transport", samples(&RunResult::transport_us));
      std::uint64_t sent = 0;
      std::uint64_t lost = 0;
      for (const Entry& entry : runs) {
        sent += entry.result.sent;
        lost += entry.result.lost;
      }
      all.back().due = sent * cell.scenario.subscribers;
      all.back().lost = std::min(lost, *all.back().due);
      add("end to end", samples(&RunResult::end_to_end_us));
      add("loan and publish", samples(&RunResult::handing_us));
      if (cell.scenario.subscribers > 1) {
        add("first to last reader", samples(&RunResult::spread_us));
        add("last reader", samples(&RunResult::last_us));
      }
      add("publisher's CPU", figure(&RunResult::publisher_cpu_us));
      add("reader's CPU", figure(&RunResult::reader_cpu_us));
      add(kAchievedRate, figure(&RunResult::achieved_rate_hz));
      all.back().unit = "Hz";
      all.back().more_is_better = true;
    }
  return all;
}

std::vector<Measurement> measurements_of(const std::vector<Figure>& figures) {
  std::vector<Measurement> all;
  for (const Figure& f : figures) {
    Measurement m{.part = "transport",
                  .peer = f.name == kPingPongName ? "none" : "cardan",
                  .cell = "single operation",
                  .quantity = f.name,
                  .unit = f.unit,
                  .command = f.name == kPingPongName ? "cardan bench transport --quick"
                                                     : "cardan bench transport --micro --sizes none --runs 1"};
    // "topics_1000_listed" is a point of a curve over topics.
    if (constexpr std::string_view kTopics = "topics_"; f.name.starts_with(kTopics)) {
      const auto end = f.name.find('_', kTopics.size());
      m.cell = "topics " + f.name.substr(kTopics.size(), end - kTopics.size());
      m.quantity = f.name.substr(end + 1);
    }
    m.runs.push_back(make_run(f.samples));
    all.push_back(std::move(m));
  }
  return all;
}

}  // namespace cardan::bench
