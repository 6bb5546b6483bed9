// SPDX-License-Identifier: Apache-2.0
#include "apps/top/sheets.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <set>

#include "apps/component/component_chains.hpp"
#include "apps/terminal/losses.hpp"

namespace cardan::apps::top {
namespace {

Cell name_cell(std::string_view name) { return {.text = printable(name)}; }
Cell count_cell(std::uint64_t count) { return {.text = std::to_string(count), .number = static_cast<double>(count)}; }
Cell rate_cell(double rate, double seconds) { return {.text = seconds > 0 ? count_text(rate) : "-", .number = rate}; }
Cell bytes_cell(double bytes) { return {.text = bytes_text(bytes), .number = bytes}; }
Cell percent_cell(double percent) {
  return {.text = percent < 0 ? "-" : fmt::format("{:.1f}", percent), .number = percent};
}
Cell latency_cell(const LatencyHistogram& histogram, double percent) {
  const auto ns = static_cast<double>(latency_percentile(histogram, percent));
  return {.text = time_text(ns), .number = ns};
}

/// One letter for each value, the newest last; the highest is as high as a letter.
Cell recent_cell(const std::vector<double>& values) {
  static constexpr std::array<const char*, 8> kHeights{"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  if (values.empty()) return {.text = "-", .number = 0};
  const double most = *std::max_element(values.begin(), values.end());
  std::string text;
  for (const double value : values)
    text += kHeights[most <= 0 ? 0 : static_cast<std::size_t>(std::clamp(value / most * 8, 0.0, 7.0))];
  return {.text = std::move(text), .number = values.back()};
}

/// Ten letters for a whole core.
Cell bar_cell(double percent) {
  static constexpr std::array<const char*, 8> kEighths{"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  constexpr std::size_t kLetters = 10;
  if (percent < 0) return {.text = "-", .number = percent};
  const auto eighths = static_cast<std::size_t>(std::min(percent, 100.0) / 100 * 8 * kLetters);
  std::string text;
  for (std::size_t i = 0; i < eighths / 8; ++i) text += "█";
  text += kEighths[eighths % 8];
  for (std::size_t i = (eighths + 7) / 8; i < kLetters; ++i) text += "·";
  return {.text = std::move(text), .number = percent};
}

/// "" of a process that nobody started with `cardan run`.
bool is_well(const std::string& state) {
  return state.empty() || state == "running" || state == "finished" || state == "starting";
}

/// Whether a view keeps values of earlier measurements.
template <class T>
bool are_kept(const std::vector<T>& all, std::vector<double> T::* recent) {
  return std::any_of(all.begin(), all.end(), [&](const T& one) { return !(one.*recent).empty(); });
}

std::string process_id(const ProcessFigures& p) { return p.pid != 0 ? std::to_string(p.pid) : "down " + p.name; }
std::string callback_id(const CallbackFigures& c) { return c.component + '\n' + c.counts.name; }
std::string chain_id(const ChainFigures& c) { return c.component + '\n' + c.counts.chain; }

std::string service_id(const ServiceFigures& s) { return s.name + '\n' + s.server.process; }

Sheet processes(const Figures& figures) {
  Sheet sheet{{{"PROCESS"},
               {"PID", true},
               {"STATE"},
               {"CPU %", true},
               {"MEMORY", true},
               {"OUT Hz", true},
               {"OUT/s", true},
               {"PUB", true},
               {"SUB", true},
               {"RESTARTS", true},
               {"COMPONENTS"}},
              {"PROCESS", "CPU %", "MEMORY", "PID", "OUT Hz", "OUT/s", "STATE", "PUB", "SUB"},
              {},
              {}};
  for (const ProcessFigures& p : figures.processes)
    sheet.lines.push_back({process_id(p),
                           {name_cell(p.name),
                            {.text = p.pid == 0 ? "-" : std::to_string(p.pid), .number = static_cast<double>(p.pid)},
                            {.text = p.state.empty() ? "-" : printable(p.state)},
                            percent_cell(p.cpu_percent),
                            {.text = p.memory_bytes == 0 ? "-" : bytes_text(static_cast<double>(p.memory_bytes)),
                             .number = static_cast<double>(p.memory_bytes)},
                            rate_cell(p.out_hz, figures.seconds),
                            bytes_cell(p.out_bytes_per_s),
                            count_cell(p.publishes),
                            count_cell(p.subscribes),
                            count_cell(p.restarts),
                            name_cell(fmt::format("{}", fmt::join(p.components, ", ")))},
                           !is_well(p.state)});
  if (!are_kept(figures.processes, &ProcessFigures::recent_percent)) return sheet;
  // They come last: a narrow terminal cuts them first.
  sheet.columns.insert(sheet.columns.end(), {{"CPU", true}, {"CPU, RECENT", true}});
  sheet.drawn = 2;
  for (std::size_t i = 0; i < figures.processes.size(); ++i) {
    const ProcessFigures& p = figures.processes[i];
    sheet.lines[i].cells.push_back(bar_cell(p.cpu_percent));
    sheet.lines[i].cells.push_back(recent_cell(p.recent_percent));
  }
  return sheet;
}

Sheet topics(const Figures& figures) {
  Sheet sheet{{{"TOPIC"},
               {"RATE Hz", true},
               {"BYTES/s", true},
               {"p50", true},
               {"p99", true},
               {"AGE p99", true},
               {"LOST", true},
               {"READERS", true},
               {"WRITERS", true},
               {"TYPE"}},
              {"TOPIC", "RATE Hz", "BYTES/s", "p99", "AGE p99", "READERS", "p50"},
              {"LOST"},
              {}};
  for (const TopicFigures& t : figures.topics)
    sheet.lines.push_back(
        {t.name,
         {name_cell(t.name), rate_cell(t.rate_hz, figures.seconds), bytes_cell(t.bytes_per_s),
          latency_cell(t.latency, 50), latency_cell(t.latency, 99), latency_cell(t.age, 99), count_cell(t.lost_all),
          count_cell(t.readers), count_cell(t.writers.size()), name_cell(t.type)},
         t.lost != 0});
  if (!are_kept(figures.topics, &TopicFigures::recent_hz)) return sheet;
  sheet.columns.push_back({"RATE, RECENT", true});
  sheet.drawn = 1;
  for (std::size_t i = 0; i < figures.topics.size(); ++i)
    sheet.lines[i].cells.push_back(recent_cell(figures.topics[i].recent_hz));
  return sheet;
}

Sheet callbacks(const Figures& figures) {
  Sheet sheet{{{"COMPONENT"},
               {"CALLBACK"},
               {"RATE Hz", true},
               {"CPU %", true},
               {"TRANSPORT", true},
               {"WAITING", true},
               {"RUNNING", true},
               {"AGE", true},
               {"QUEUE", true},
               {"LOST", true},
               {"FAILED", true},
               {"PROCESS"}},
              {"COMPONENT", "CALLBACK", "RATE Hz", "RUNNING", "CPU %", "AGE", "TRANSPORT", "WAITING", "QUEUE"},
              {"LOST", "FAILED"},
              {}};
  for (const CallbackFigures& c : figures.callbacks) {
    const bool hanging = hangs(c.counts);
    const auto since = static_cast<double>(c.counts.running_since);
    sheet.lines.push_back(
        {callback_id(c),
         {name_cell(c.component),
          name_cell(c.counts.name),
          rate_cell(c.rate_hz, figures.seconds),
          percent_cell(c.busy_percent),
          latency_cell(c.counts.transport, 99),
          latency_cell(c.counts.waiting, 99),
          hanging ? Cell{.text = "hangs " + time_text(since), .number = since} : latency_cell(c.counts.running, 99),
          latency_cell(c.counts.age, 99),
          {.text = c.counts.capacity == 0 ? "-" : fmt::format("{}/{}", c.counts.queued, c.counts.capacity),
           .number = static_cast<double>(c.counts.queued)},
          count_cell(c.lost_all),
          count_cell(c.failed_all),
          name_cell(c.process)},
         hanging || c.counts.failures != 0});
  }
  return sheet;
}

Sheet chains(const Figures& figures) {
  Sheet sheet{{{"CHAIN"},
               {"FROM → TO"},
               {"RATE Hz", true},
               {"AGE p50", true},
               {"AGE p99", true},
               {"GREATEST", true},
               {"BUDGET", true},
               {"LATE", true},
               {"SLOWEST"},
               {"COMPONENT"},
               {"PROCESS"}},
              {"CHAIN", "AGE p99", "BUDGET", "LATE", "SLOWEST", "RATE Hz", "FROM → TO", "AGE p50", "GREATEST"},
              {"LATE"},
              {}};
  for (const ChainFigures& c : figures.chains) {
    const host::ChainReport& x = c.counts;
    const host::ChainHopReport* const slowest = slowest_of(x);
    const auto time = [](std::int64_t ns) {
      return Cell{.text = ns == 0 ? "-" : time_text(static_cast<double>(ns)), .number = static_cast<double>(ns)};
    };
    sheet.lines.push_back({chain_id(c),
                           {name_cell(x.chain), name_cell(x.from + " → " + x.to), rate_cell(c.rate_hz, figures.seconds),
                            latency_cell(x.age, 50), latency_cell(x.age, 99), time(x.greatest_age), time(x.budget_ns),
                            count_cell(c.late_all), name_cell(slowest == nullptr ? "-" : slowest->component),
                            name_cell(c.component), name_cell(c.process)},
                           x.late != 0});
  }
  return sheet;
}

Sheet services(const Figures& figures) {
  Sheet sheet{{{"SERVICE"},
               {"ANSWERS Hz", true},
               {"p50", true},
               {"p99", true},
               {"FAILED", true},
               {"CLIENTS", true},
               {"SERVER"},
               {"PID", true}},
              {"SERVICE", "ANSWERS Hz", "p99", "CLIENTS", "SERVER"},
              {"FAILED"},
              {}};
  for (const ServiceFigures& s : figures.services)
    sheet.lines.push_back({service_id(s),
                           {name_cell(s.name),
                            rate_cell(s.rate_hz, figures.seconds),
                            latency_cell(s.counts.answer, 50),
                            latency_cell(s.counts.answer, 99),
                            count_cell(s.failed_all),
                            count_cell(s.server.subscribers.size() + s.server.left_out),
                            name_cell(s.server.program),
                            {.text = std::to_string(s.server.pid), .number = static_cast<double>(s.server.pid)}},
                           s.failed != 0});
  return sheet;
}

std::string lower(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

}  // namespace

const char* name_of(View view) noexcept {
  switch (view) {
    case View::Processes:
      return "processes";
    case View::Topics:
      return "topics";
    case View::Callbacks:
      return "callbacks";
    case View::Chains:
      return "chains";
    case View::Services:
      break;
  }
  return "services";
}

Sheet sheet_of(const Figures& figures, View view) {
  switch (view) {
    case View::Processes:
      return processes(figures);
    case View::Topics:
      return topics(figures);
    case View::Callbacks:
      return callbacks(figures);
    case View::Chains:
      return chains(figures);
    case View::Services:
      break;
  }
  return services(figures);
}

bool descends_by_itself(const Sheet& sheet, std::size_t column) { return sheet.columns.at(column).right; }

void filter(Sheet& sheet, const std::string& part) {
  if (part.empty()) return;
  const std::string wanted = lower(part);
  std::erase_if(sheet.lines, [&](const Line& line) {
    for (std::size_t c = 0; c < line.cells.size(); ++c)
      if (!sheet.columns[c].right && lower(line.cells[c].text).find(wanted) != std::string::npos) return false;
    return true;
  });
}

void sort(Sheet& sheet, Order order) {
  const bool numbers = sheet.columns.at(order.column).right;
  // Not stable_sort: clang warns of what libstdc++ 12 does inside.
  std::sort(sheet.lines.begin(), sheet.lines.end(), [&](const Line& a, const Line& b) {
    const Cell& x = a.cells[order.column];
    const Cell& y = b.cells[order.column];
    const int less = numbers ? (x.number < y.number ? -1 : x.number > y.number ? 1 : 0) : x.text.compare(y.text);
    if (less == 0) return a.id < b.id;
    return order.descending ? less > 0 : less < 0;
  });
}

std::vector<std::string> table_of(const Sheet& sheet, std::size_t first, std::size_t count, std::size_t marked,
                                  Order order, Room room) {
  std::vector<Table::Column> columns = sheet.columns;
  columns.front().head.insert(0, "  ");  // the mark's place
  columns[order.column].head += order.descending ? "▼" : "▲";
  // The table chooses columns by their heads. The sorted column stays.
  const auto renamed = [&](std::vector<std::string> heads) {
    for (std::string& head : heads)
      for (std::size_t c = 0; c < columns.size(); ++c)
        if (sheet.columns[c].head == head) {
          head = columns[c].head;
          break;
        }
    return heads;
  };
  std::vector<std::string> keep = renamed(sheet.keep);
  std::erase(keep, columns[order.column].head);
  keep.insert(keep.begin(), columns[order.column].head);
  Table table(std::move(columns));
  table.keep(std::move(keep));
  table.trouble(renamed(sheet.trouble));
  const std::size_t end = std::min(first + count, sheet.lines.size());
  for (std::size_t i = first; i < end; ++i) {
    std::vector<std::string> cells;
    for (const Cell& cell : sheet.lines[i].cells) cells.push_back(cell.text);
    cells.front().insert(0, i == marked ? "> " : "  ");
    table.row(std::move(cells));
  }
  return table.lines(room);
}

std::string text_of(const Sheet& sheet) {
  Table table(sheet.columns);
  for (const Line& line : sheet.lines) {
    std::vector<std::string> cells;
    for (const Cell& cell : line.cells) cells.push_back(cell.text);
    table.row(std::move(cells));
  }
  return sheet.lines.empty() ? "" : table.text();
}

std::string summary_of(const Figures& figures) {
  double cpu = 0;
  double bytes = 0;
  std::size_t running = 0;
  for (const ProcessFigures& p : figures.processes) {
    cpu += std::max(p.cpu_percent, 0.0);
    running += p.pid != 0 ? 1U : 0U;
  }
  for (const TopicFigures& t : figures.topics) bytes += t.bytes_per_s;
  std::string text = fmt::format("{}, {}, {}, CPU {:.0f} %, {}/s", number_of(running, "process", "es"),
                                 number_of(figures.topics.size(), "topic"),
                                 number_of(figures.callbacks.size(), "callback"), cpu, bytes_text(bytes));
  if (figures.lost != 0) text += fmt::format(", {} lost", figures.lost);
  if (!figures.closed.empty())
    text += fmt::format(", {} not open to this user", number_of(figures.closed.size(), "topic"));
  if (figures.left_out != 0)
    text += fmt::format(", CPU of {} not looked up", number_of(figures.left_out, "process", "es"));
  return text;
}

}  // namespace cardan::apps::top
