// SPDX-License-Identifier: Apache-2.0
#include "apps/top/state.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "apps/terminal/keys.hpp"

namespace cardan::apps::top {
namespace {

constexpr std::size_t kLongestFilter = 200;
constexpr std::size_t kRowsForKeys = 10;  ///< on fewer the keys are in the help alone
constexpr char32_t kEnter = '\r', kLineFeed = '\n', kBackspace = 0x7f, kControlH = 8, kControlU = 21, kTab = '\t';

const std::vector<std::string>& help_lines() {
  static const std::vector<std::string> kLines{
      "Keys",
      "",
      "  1 to 5, Tab     processes, topics, callbacks, chains, services",
      "  ↑ ↓ PgUp PgDn   choose a line (also k j, Home, End)",
      "  Enter, →        the details of the line; Esc or ← goes back",
      "  /               filter by name; Enter keeps it, Esc clears it",
      "  s S, > <        sort by the next column, the one before; r: the other way round",
      "  n c m l f       sort by name, CPU, memory, LOST or LATE, rate, where the view has it",
      "  Space           pause and resume",
      "  ?               this help",
      "  q, Ctrl-C       end",
      "",
      "Latencies are of the last measurement. TRANSPORT, WAITING and RUNNING are p99.",
      "A chain's age is that of the information at its end. SLOWEST is the component that took longest",
      "most often; LATE, the publications that exceeded the budget since this view began.",
      "p50 and p99 of a topic are from publish to take, of all its readers.",
      "LOST and FAILED count since this view began. With depth 1 a reader that is slower",
      "than the publisher skips samples on purpose; they count as lost here too.",
      "CPU % is of one core; of a callback from its times of running. A wide terminal also",
      "shows the last 30 measurements of rates and CPU, each up to its own highest value."};
  return kLines;
}

/// The columns that a key sorts by: the first one that a sheet has.
std::vector<std::string> columns_of_key(char32_t key) {
  switch (key) {
    case 'n':
      return {"TOPIC", "CHAIN", "SERVICE", "COMPONENT", "PROCESS"};
    case 'c':
      return {"CPU %"};
    case 'm':
      return {"MEMORY"};
    case 'l':
      return {"LOST", "LATE", "FAILED"};
    case 'f':
      return {"RATE Hz", "OUT Hz", "ANSWERS Hz"};
    default:
      return {};
  }
}

/// Where a sheet is sorted by as long as nobody says: the first number that shows which is busy.
std::size_t first_order(View view) {
  switch (view) {
    case View::Services:
      return 1;
    case View::Topics:
      return 2;
    case View::Chains:
      return 4;
    default:
      return 3;
  }
}

std::string styled(std::string text, const char* style, bool colours) {
  return colours ? style + std::move(text) + "\x1b[0m" : text;
}

/// At most this many values, the newest last.
std::vector<double> with_next(std::vector<double> values, double next) {
  constexpr std::size_t kMost = 30;
  if (values.size() == kMost) values.erase(values.begin());
  values.push_back(next);
  return values;
}

}  // namespace

State::State(View view, std::string filter) : view_(view), filter_(std::move(filter)) {}

void State::take(Figures figures) {
  if (paused_) return;
  figures_ = std::move(figures);
  has_figures_ = true;
  if (figures_.seconds <= 0) return;  // the first look has measured nothing
  std::map<std::string, std::vector<double>> rates;
  for (TopicFigures& t : figures_.topics) t.recent_hz = rates[t.name] = with_next(std::move(rates_[t.name]), t.rate_hz);
  rates_ = std::move(rates);  // of those that are gone, nothing is kept
  std::map<int, std::vector<double>> loads;
  for (ProcessFigures& p : figures_.processes)
    if (p.pid != 0) p.recent_percent = loads[p.pid] = with_next(std::move(loads_[p.pid]), std::max(p.cpu_percent, 0.0));
  loads_ = std::move(loads);
}

Order State::order_of(const Sheet& sheet) {
  if (!place().order) {
    const std::size_t column = first_order(view_);
    place().order = Order{column, descends_by_itself(sheet, column)};
  }
  return *place().order;
}

Sheet State::shown() {
  Sheet sheet = sheet_of(figures_, view_);
  filter(sheet, filter_);
  sort(sheet, order_of(sheet));
  return sheet;
}

void State::go_to(View view) {
  view_ = view;
  details_.reset();
  scroll_ = 0;
}

void State::move(std::ptrdiff_t rows) {
  if (help_ || details_) {
    scroll_ = static_cast<std::size_t>(std::max<std::ptrdiff_t>(0, static_cast<std::ptrdiff_t>(scroll_) + rows));
    return;
  }
  const Sheet sheet = shown();
  if (sheet.lines.empty()) return;
  const auto last = static_cast<std::ptrdiff_t>(sheet.lines.size()) - 1;
  Place& at = place();
  at.row = static_cast<std::size_t>(std::clamp<std::ptrdiff_t>(static_cast<std::ptrdiff_t>(at.row) + rows, 0, last));
  at.chosen = sheet.lines[at.row].id;
}

void State::change_order(int step) {
  const Sheet sheet = sheet_of(figures_, view_);
  const std::size_t count = sheet.columns.size() - sheet.drawn;
  const std::size_t column = (order_of(sheet).column + count + static_cast<std::size_t>(step + 1) - 1) % count;
  place().order = Order{column, descends_by_itself(sheet, column)};
}

void State::order_by(char32_t key) {
  const Sheet sheet = sheet_of(figures_, view_);
  for (const std::string& head : columns_of_key(key))
    for (std::size_t column = 0; column < sheet.columns.size(); ++column)
      if (sheet.columns[column].head == head) {
        place().order = Order{column, descends_by_itself(sheet, column)};
        return;
      }
}

bool State::press_in_filter(char32_t key) {
  if (!typing_) return false;
  if (key == kEnter || key == kLineFeed) {
    typing_ = false;
  } else if (key == kEscape) {
    typing_ = false;
    filter_.clear();
  } else if (key == kControlU) {
    filter_.clear();
  } else if (key == kBackspace || key == kControlH) {
    while (!filter_.empty() && (static_cast<unsigned char>(filter_.back()) & 0xc0U) == 0x80U) filter_.pop_back();
    if (!filter_.empty()) filter_.pop_back();
  } else if (key >= ' ' && key <= 0xff && key != kBackspace && filter_.size() < kLongestFilter) {
    filter_ += static_cast<char>(key);
  }
  return true;
}

void State::press(char32_t key) {
  if (press_in_filter(key)) return;
  if (key == 'q') {
    ended_ = true;
  } else if (help_) {
    if (key == kUp || key == kDown)
      move(key == kUp ? -1 : 1);
    else
      help_ = false;
    if (!help_) scroll_ = 0;
  } else if (key == '?') {
    help_ = true;
    scroll_ = 0;
  } else if (key >= '1' && key < '1' + kViews.size()) {
    go_to(static_cast<View>(key - '1'));
  } else if (key == kTab) {
    go_to(static_cast<View>((static_cast<std::size_t>(view_) + 1) % kViews.size()));
  } else if (key == ' ') {
    paused_ = !paused_;
  } else {
    press_in_list(key);
  }
}

void State::press_in_list(char32_t key) {
  constexpr std::ptrdiff_t kAll = 1'000'000;
  const auto page = static_cast<std::ptrdiff_t>(page_);
  switch (key) {
    case kUp:
    case 'k':
      return move(-1);
    case kDown:
    case 'j':
      return move(1);
    case kPageUp:
      return move(-page);
    case kPageDown:
      return move(page);
    case kHome:
      return move(-kAll);
    case kEnd:
      return move(kAll);
    case kEscape:
    case kLeft:
    case kBackspace:
      if (details_)
        details_.reset();
      else if (key == kEscape)
        filter_.clear();
      scroll_ = 0;
      return;
    default:
      break;
  }
  if (details_) return;
  switch (key) {
    case kEnter:
    case kLineFeed:
    case kRight:
      move(0);  // chooses the first line if none is
      if (!shown().lines.empty()) details_ = place().chosen;
      scroll_ = 0;
      return;
    case '/':
      typing_ = true;
      return;
    case 's':
    case '>':
      return change_order(1);
    case 'S':
    case '<':
      return change_order(-1);
    case 'r':
      place().order = Order{order_of(shown()).column, !order_of(shown()).descending};
      return;
    default:
      return order_by(key);
  }
}

std::string State::title() const {
  std::string tabs;
  for (const View view : kViews) {
    const bool here = view == view_;
    tabs += fmt::format("{}{} {}{}", here ? '[' : ' ', static_cast<int>(view) + 1, name_of(view), here ? ']' : ' ');
  }
  return fmt::format("cardan top {}{}", tabs, paused_ ? "  paused: Space resumes" : "  ? help, q end");
}

std::string State::keys() const {
  if (typing_) return "Enter keeps the filter   Esc clears it   Ctrl-U empties it";
  if (help_) return "↑ ↓ scroll   any other key closes the help   q end";
  if (details_) return "↑ ↓ PgUp PgDn scroll   Esc back   1-5 views   Space pause   ? help   q end";
  return "↑ ↓ choose  Enter details  / filter  s sort  r reverse  1-5 views  Space pause  ? help  q end";
}

std::vector<std::string> State::scrolled(std::vector<std::string> lines, Room room) {
  if (lines.size() <= room.rows) {
    scroll_ = 0;
    return lines;
  }
  const std::size_t below = lines.size() - room.rows;
  scroll_ = std::min(scroll_, below);
  lines.erase(lines.begin(), lines.begin() + static_cast<std::ptrdiff_t>(scroll_));
  lines.resize(room.rows);
  if (scroll_ != below) lines.back() = cut(fmt::format("… {} more lines below", below - scroll_ + 1), room.columns);
  return lines;
}

std::vector<std::string> State::list(Room room, bool colours) {
  const Sheet sheet = shown();
  if (sheet.lines.empty())
    return {cut(filter_.empty()
                    ? fmt::format("no {}", name_of(view_))
                    : fmt::format("no {} with '{}' — Esc clears the filter", name_of(view_), printable(filter_)),
                room.columns)};
  Place& at = place();
  const auto found =
      std::find_if(sheet.lines.begin(), sheet.lines.end(), [&](const Line& line) { return line.id == at.chosen; });
  // The chosen one is followed wherever it is sorted to; if it has gone, its row stays.
  if (found != sheet.lines.end()) at.row = static_cast<std::size_t>(found - sheet.lines.begin());
  at.row = std::min(at.row, sheet.lines.size() - 1);
  const bool fits = sheet.lines.size() + 1 <= room.rows;
  page_ = std::max<std::size_t>(room.rows, 3) - (fits ? 1 : 2);  // the head, and how many there are
  if (at.row < at.first) at.first = at.row;
  if (at.row >= at.first + page_) at.first = at.row - page_ + 1;
  at.first = std::min(at.first, sheet.lines.size() - std::min(page_, sheet.lines.size()));
  std::vector<std::string> lines = table_of(sheet, at.first, page_, at.row, order_of(sheet), {room.columns, page_ + 1});
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (i == 0)
      lines[i] = styled(lines[i], "\x1b[1m", colours);
    else if (at.first + i - 1 == at.row)
      lines[i] = styled(lines[i], "\x1b[7m", colours);
    else if (sheet.lines[at.first + i - 1].trouble)
      lines[i] = styled(lines[i], "\x1b[31m", colours);
  }
  if (!fits)
    lines.push_back(cut(
        fmt::format("{} to {} of {}", at.first + 1, std::min(at.first + page_, sheet.lines.size()), sheet.lines.size()),
        room.columns));
  return lines;
}

std::vector<std::string> State::screen(Room size, bool colours) {
  const Room room{std::max<std::size_t>(size.columns, 2) - 1, std::max<std::size_t>(size.rows, 1)};
  std::vector<std::string> lines{styled(cut(title(), room.columns), "\x1b[1m", colours)};
  std::vector<std::string> below;
  if (typing_)
    below.push_back(cut(fmt::format("/{}_   Enter keeps the filter, Esc clears it", printable(filter_)), room.columns));
  else if (!filter_.empty() && !details_ && !help_)
    below.push_back(cut(fmt::format("filter '{}' — / changes it, Esc clears it", printable(filter_)), room.columns));
  if (!figures_.problems.empty()) {
    const std::string more =
        figures_.problems.size() > 1 ? fmt::format(" (and {} more)", figures_.problems.size() - 1) : "";
    below.push_back(styled(cut(printable(figures_.problems.front()) + more, room.columns), "\x1b[33m", colours));
  }
  if (room.rows > 4) lines.push_back(cut(has_figures_ ? summary_of(figures_) : "looking …", room.columns));
  if (room.rows > 8) lines.emplace_back();
  const bool has_keys = room.rows > kRowsForKeys;
  const std::size_t taken = lines.size() + below.size() + (has_keys ? 1 : 0);
  const Room left{room.columns, room.rows > taken ? room.rows - taken : 1};
  std::vector<std::string> middle;
  if (help_) {
    for (const std::string& line : help_lines()) middle.push_back(cut(line, left.columns));
    middle = scrolled(std::move(middle), left);
  } else if (details_) {
    middle = scrolled(details_of(figures_, view_, *details_, left.columns), left);
  } else if (has_figures_) {
    middle = list(left, colours);
  }
  lines.insert(lines.end(), middle.begin(), middle.end());
  lines.insert(lines.end(), below.begin(), below.end());
  if (has_keys) {
    lines.resize(std::max(lines.size(), room.rows - 1));  // the keys are always at the same place
    lines.push_back(styled(cut(keys(), room.columns), "\x1b[2m", colours));
  }
  if (lines.size() > room.rows) lines.resize(room.rows);
  return lines;
}

}  // namespace cardan::apps::top
