// SPDX-License-Identifier: Apache-2.0
#include "bench/results/page/plots.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <set>

#include "bench/results/bootstrap.hpp"
#include "bench/results/links.hpp"
#include "bench/results/page/svg.hpp"
#include "bench/results/words.hpp"

namespace cardan::bench {
namespace {

using Group = std::vector<const Measurement*>;

constexpr std::size_t kFewestForADistribution = 10;
constexpr std::size_t kPointsOfCdf = 80;

/// The same contender has the same colour in all plots.
class Palette {
 public:
  explicit Palette(const Group& all) {
    for (const Measurement* m : all) {
      // Cardan has a colour of its own; the others share the rest in turn.
      const int others = static_cast<int>(peers_.size() - peers_.count("cardan"));
      const int colour = peers_.emplace(m->peer, m->peer == "cardan" ? 0 : 1 + others % (kSeries - 1)).first->second;
      // What shares a colour differs in its dashes, as long as these last.
      if (dashes_.emplace(std::pair(m->peer, m->setup), used_dashes_[colour]).second) ++used_dashes_[colour];
    }
  }
  [[nodiscard]] int series(const Measurement& m) const { return peers_.at(m.peer); }
  [[nodiscard]] int dash(const Measurement& m) const { return dashes_.at({m.peer, m.setup}); }

 private:
  std::map<std::string, int> peers_;
  std::map<std::pair<std::string, std::string>, int> dashes_;
  std::map<int, int> used_dashes_;
};

/// Groups in the order in which their first member comes.
std::vector<Group> grouped(const Group& all, const std::function<std::string(const Measurement&)>& key) {
  std::vector<Group> groups;
  std::map<std::string, std::size_t> places;
  for (const Measurement* m : all) {
    const auto [place, fresh] = places.emplace(key(*m), groups.size());
    if (fresh) groups.emplace_back();
    groups[place->second].push_back(m);
  }
  return groups;
}

std::string unit_text(const Measurement& m) { return m.unit == "us" ? "µs" : m.unit; }
std::string axis_of(const Measurement& m) { return m.quantity + ", " + unit_text(m); }
/// "size" of "size, bytes".
std::string name_before_unit(const std::string& axis) { return axis.substr(0, axis.find(',')); }

bool is_distribution(const Measurement& m) {
  return std::any_of(m.runs.begin(), m.runs.end(),
                     [](const MeasuredRun& r) { return r.samples.size() >= kFewestForADistribution; });
}

Summary summary_of(const Measurement& m) { return summarize(m.pooled()); }

std::string interval_text(const Measurement& m) {
  const auto interval = median_interval95(m);
  return interval ? fmt::format("{} … {}", three_digits(interval->first), three_digits(interval->second)) : "–";
}

std::string rate_text(const Measurement& m) { return m.rate_hz > 0 ? fmt::format("{:g} Hz", m.rate_hz) : ""; }

std::string size_and_rate(const Measurement& m) {
  std::string out = name_of_size(m.bytes);
  if (m.rate_hz > 0) out += (out.empty() ? "" : ", ") + rate_text(m);
  return out;
}

std::string cell_and_size(const Measurement& m) { return m.cell + (m.bytes > 0 ? " " + size_and_rate(m) : ""); }

/// The contenders of a cell one below the other, whatever was measured between them.
Group cells_together(const Group& all) {
  Group out;
  for (const Group& cell : grouped(all, cell_and_size)) out.insert(out.end(), cell.begin(), cell.end());
  return out;
}

/// Of a cell such as "1p1s cpu=20": what follows `word` and nothing else; 0: the cell is another.
double number_after(const std::string& cell, const char* word) {
  const auto at = cell.find(word);
  if (at == std::string::npos) return 0;
  const char* const start = cell.c_str() + at + std::strlen(word);
  char* end = nullptr;
  const double value = std::strtod(start, &end);
  return end != start && *end == '\0' && std::isfinite(value) ? value : 0;
}

/// Of a cell of the transport: something surrounded its frames.
bool has_conditions(const Measurement& m) { return m.cell.find('=') != std::string::npos || m.cell.ends_with(" fifo"); }

void add_command(Plot& plot, const Measurement& m) {
  if (!m.command.empty() && std::find(plot.commands.begin(), plot.commands.end(), m.command) == plot.commands.end())
    plot.commands.push_back(m.command);
}

/// Those of one size and rate stay in their order.
void sort_by_size(Group& group) {
  std::map<std::pair<double, double>, Group> sizes;
  for (const Measurement* m : group) sizes[{m->bytes, m->rate_hz}].push_back(m);
  group.clear();
  for (const auto& [size, members] : sizes) group.insert(group.end(), members.begin(), members.end());
}

void cut(Group& group) {
  if (group.size() > kMostRowsOfPlot) group.resize(kMostRowsOfPlot);
}

class Plots {
 public:
  explicit Plots(const Group& all) : all_(all), palette_(all) {}

  std::vector<Plot> make(std::size_t& left_out) {
    boxes("boxes", [](const Measurement& m) { return m.quantity != "first to last reader"; });
    distributions();
    boxes("fairness", [](const Measurement& m) { return m.quantity == "first to last reader"; });
    scaling();
    bars();
    left_out = left_out_;
    return std::move(plots_);
  }

 private:
  // A place for another plot; null: there are too many.
  Plot* next(const char* kind, std::string title) {
    if (std::count_if(plots_.begin(), plots_.end(), [&](const Plot& p) { return p.kind == kind; }) >=
        static_cast<std::ptrdiff_t>(kMostPlots)) {
      ++left_out_;
      return nullptr;
    }
    Plot& plot = plots_.emplace_back();
    plot.kind = kind;
    plot.title = std::move(title);
    return &plot;
  }
  [[nodiscard]] PlotFrame frame_of(const Plot& plot, std::string description, std::string axis) const {
    return {fmt::format("plot{}", plots_.size()), plot.title, std::move(description), std::move(axis)};
  }

  void boxes(const char* kind, const std::function<bool(const Measurement&)>& chosen) {
    Group group_of_kind;
    for (const Measurement* m : all_)
      if (is_distribution(*m) && chosen(*m)) group_of_kind.push_back(m);
    for (Group& group : grouped(group_of_kind, [](const Measurement& m) {
           return fmt::format("{}\x1f{}\x1f{}\x1f{}", m.part, m.cell, m.quantity, m.unit);
         })) {
      const Measurement& first = *group.front();
      sort_by_size(group);
      cut(group);
      Plot* const plot = next(kind, fmt::format("{}: {}, {}", first.part, first.quantity, first.cell));
      if (plot == nullptr) continue;
      plot->head = {"size, rate", "peer", "p50", "95 % of p50", "p95", "p99", "greatest", "lost", "noise"};
      std::vector<Box> drawn;
      for (const Measurement* m : group) {
        std::vector<double> samples = m->pooled();
        if (samples.empty()) continue;
        std::sort(samples.begin(), samples.end());
        const auto q = [&](double fraction) { return percentile(samples, fraction); };
        drawn.push_back({size_and_rate(*m), name_of_contender(*m), palette_.series(*m), q(0.05), q(0.25), q(0.5),
                         q(0.75), q(0.95), q(0.99)});
        plot->rows.push_back({size_and_rate(*m), name_of_contender(*m), three_digits(q(0.5)), interval_text(*m),
                              three_digits(q(0.95)), three_digits(q(0.99)), three_digits(samples.back()),
                              m->lost ? fmt::format("{} of {}", *m->lost, *m->due) : "", m->noisy ? "noisy" : ""});
        add_command(*plot, *m);
      }
      plot->svg = box_plot(frame_of(*plot,
                                    "Boxes from the 25th to the 75th percentile with the median, whiskers from the "
                                    "5th to the 95th, a dot at the 99th; the axis is logarithmic.",
                                    axis_of(first)),
                           drawn);
    }
  }

  void distributions() {
    Group chosen;
    for (const Measurement* m : all_)
      if (is_distribution(*m) && !has_conditions(*m) &&
          (m->quantity == "transport" || m->quantity == "end to end" || m->quantity == "sensor to actuator" ||
           m->quantity == "round trip"))
        chosen.push_back(m);
    for (Group& group : grouped(chosen, [](const Measurement& m) {
           return fmt::format("{}\x1f{}\x1f{}\x1f{}\x1f{}\x1f{}", m.part, m.cell, m.quantity, m.unit, m.bytes,
                              m.rate_hz);
         })) {
      if (group.size() > 3U * kSeries) group.resize(3U * kSeries);  // more lines cannot be told apart
      const Measurement& first = *group.front();
      Plot* const plot =
          next("cdf", fmt::format("{}: {}, {} {}", first.part, first.quantity, first.cell, size_and_rate(first)));
      if (plot == nullptr) continue;
      plot->head = {"peer", "samples", "p10", "p50", "p90", "p99", "greatest"};
      std::vector<Line> lines;
      for (const Measurement* m : group) {
        std::vector<double> samples = m->pooled();
        std::sort(samples.begin(), samples.end());
        Line line{name_of_contender(*m), palette_.series(*m), palette_.dash(*m), {}};
        for (std::size_t i = 0; i <= kPointsOfCdf; ++i) {
          const double share = static_cast<double>(i) / kPointsOfCdf;
          line.points.emplace_back(percentile(samples, share), share);
        }
        lines.push_back(std::move(line));
        const auto q = [&](double fraction) { return three_digits(percentile(samples, fraction)); };
        plot->rows.push_back({name_of_contender(*m), std::to_string(samples.size()), q(0.1), q(0.5), q(0.9), q(0.99),
                              three_digits(samples.back())});
        add_command(*plot, *m);
      }
      plot->svg = line_plot(frame_of(*plot,
                                     "For each peer the share of messages that took at most this time; the axis of "
                                     "times is logarithmic.",
                                     "share of messages"),
                            lines, {axis_of(first), true, false});
    }
  }

  // Medians by size, by readers, by links, and of recorders by cameras.
  void scaling() {
    const auto is_latency = [](const Measurement& m) {
      return m.quantity == "transport" || m.quantity == "end to end" || m.quantity == "last reader";
    };
    curves(
        "size, bytes", true, is_latency, [](const Measurement& m) { return m.bytes; },
        [](const Measurement& m) { return m.cell; });
    curves(
        "readers", false, is_latency,
        [](const Measurement& m) {
          return m.publishers == 1 && !has_conditions(m) ? static_cast<double>(m.readers) : 0.0;
        },
        [](const Measurement& m) { return size_and_rate(m); });
    curves(
        "cameras", false, [](const Measurement& m) { return m.quantity == "recorded share"; },
        [](const Measurement& m) {
          return m.cell.rfind("cameras ", 0) == 0 ? std::strtod(m.cell.c_str() + 8, nullptr) : 0.0;
        },
        [](const Measurement& m) { return m.cell.substr(m.cell.find_last_of(' ') + 1); });
    curves(
        "topics", true, [](const Measurement& m) { return m.part == "transport"; },
        [](const Measurement& m) { return number_after(m.cell, "topics "); },
        [](const Measurement&) { return "of another process"; });
    curves(
        "CPU of all processes together, % of a core", false, is_latency,
        [](const Measurement& m) { return number_after(m.cell, " cpu="); },
        [](const Measurement& m) { return m.cell.substr(0, m.cell.find(" cpu=")) + ", " + size_and_rate(m); });
    curves(
        "links at once", false, is_latency,
        [](const Measurement& m) { return m.part == "transport" ? split_links(m.cell).first : 0; },
        [](const Measurement& m) { return split_links(m.cell).second + ", " + size_and_rate(m); });
    curves(
        "rate, Hz", false, is_latency,
        [](const Measurement& m) { return m.cell.find(" work=") != std::string::npos ? m.rate_hz : 0.0; },
        [](const Measurement& m) { return fmt::format("{}, {}", m.cell, name_of_size(m.bytes)); });
  }

  void curves(const char* x_name, bool log_x, const std::function<bool(const Measurement&)>& chosen,
              const std::function<double(const Measurement&)>& x_of,
              const std::function<std::string(const Measurement&)>& others_of) {
    Group with_x;
    for (const Measurement* m : all_)
      if (chosen(*m) && x_of(*m) > 0 && m->kept() > 0) with_x.push_back(m);
    for (const Group& group : grouped(with_x, [&](const Measurement& m) {
           return fmt::format("{}\x1f{}\x1f{}\x1f{}", m.part, others_of(m), m.quantity, m.unit);
         })) {
      const Measurement& first = *group.front();
      std::vector<Line> lines;
      std::set<double> places;
      std::vector<std::vector<std::string>> rows;
      std::vector<const Measurement*> shown;
      for (const Group& contender : grouped(group, name_of_contender)) {
        Line line{name_of_contender(*contender.front()),
                  palette_.series(*contender.front()),
                  palette_.dash(*contender.front()),
                  {}};
        for (const Measurement* m : contender) {
          line.points.emplace_back(x_of(*m), summary_of(*m).p50);
          places.insert(x_of(*m));
          rows.push_back({name_of_contender(*m), fmt::format("{:g}", x_of(*m)), three_digits(summary_of(*m).p50),
                          interval_text(*m)});
          shown.push_back(m);
        }
        std::sort(line.points.begin(), line.points.end());
        if (lines.size() < 3U * kSeries) lines.push_back(std::move(line));
      }
      if (places.size() < 2) continue;
      Plot* const plot = next("scaling", fmt::format("{}: {} by {}, {}", first.part, first.quantity,
                                                     name_before_unit(x_name), others_of(first)));
      if (plot == nullptr) continue;
      rows.resize(std::min(rows.size(), kMostRowsOfPlot));
      plot->head = {"peer", x_name, "p50", "95 % of p50"};
      plot->rows = std::move(rows);
      for (const Measurement* m : shown) add_command(*plot, *m);
      plot->svg = line_plot(
          frame_of(*plot, "For each peer the median, as the value of the horizontal axis grows.", axis_of(first)),
          lines, {x_name, log_x, first.unit != "%"});
    }
  }

  // What has a figure a run, the recorder's pipelines, and each stage of the perception pipeline.
  void bars() {
    Group chosen;
    for (const Measurement* m : all_)
      if (m->kept() > 0 && (m->quantity == "sensor to actuator" || m->part == "pipeline" || !is_distribution(*m)) &&
          m->cell.rfind("cameras ", 0) != 0)
        chosen.push_back(m);
    for (Group& group : grouped(
             chosen, [](const Measurement& m) { return fmt::format("{}\x1f{}\x1f{}", m.part, m.quantity, m.unit); })) {
      const Measurement& first = *group.front();
      group = cells_together(group);
      cut(group);
      Plot* const plot = next("bars", fmt::format("{}: {}", first.part, first.quantity));
      if (plot == nullptr) continue;
      plot->head = {"cell", "peer", "median, " + unit_text(first), "least", "greatest", "deviation", "noise"};
      std::vector<Bar> drawn;
      for (const Measurement* m : group) {
        const Summary s = summary_of(*m);
        const std::string cell = cell_and_size(*m);
        // Of samples the deviation, of runs their range.
        const bool many = is_distribution(*m);
        drawn.push_back({cell, name_of_contender(*m), palette_.series(*m), s.p50,
                         many ? std::max(0.0, s.p50 - s.std) : s.min, many ? s.p50 + s.std : s.max});
        plot->rows.push_back({cell, name_of_contender(*m), three_digits(s.p50), three_digits(s.min),
                              three_digits(s.max), three_digits(s.std), m->noisy ? "noisy" : ""});
        add_command(*plot, *m);
      }
      plot->svg = bar_plot(frame_of(*plot,
                                    "A bar for the median; its whisker is the standard deviation of samples, or the "
                                    "range of the runs.",
                                    axis_of(first)),
                           drawn);
    }
  }

  const Group& all_;
  Palette palette_;
  std::vector<Plot> plots_;
  std::size_t left_out_ = 0;
};

}  // namespace

std::vector<Plot> plots_of(const std::vector<const Measurement*>& measurements, std::size_t& left_out) {
  return Plots(measurements).make(left_out);
}

}  // namespace cardan::bench
