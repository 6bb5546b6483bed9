// SPDX-License-Identifier: Apache-2.0
#include "apps/run/run_view.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <functional>
#include <system_error>
#include <utility>

#include "apps/terminal/output.hpp"
#include "cardan/clock.hpp"
#include "src/system/launcher/crash_report.hpp"

namespace cardan::apps {
namespace {

using launcher::LogLine;

constexpr std::size_t kMostWaiting = std::size_t{4} << 20U;

std::uint64_t lines_in(std::string_view text) noexcept {
  return static_cast<std::uint64_t>(std::count(text.begin(), text.end(), '\n'));
}

}  // namespace

void PatientOutput::add(std::string_view text) {
  if (closed_ && error_ == 0) return;
  if (closed_ || waiting_.size() + text.size() > kMostWaiting) {
    dropped_ += lines_in(text);
    return;
  }
  if (dropped_ != 0 && waiting_.size() < kMostWaiting / 2)
    waiting_ += fmt::format("cardan: {} lines were dropped: they were not read in time\n", std::exchange(dropped_, 0));
  waiting_ += text;
  pump();
  if (error_ != 0) output_failed(error_);  // once: it is closed from now on
}

std::string PatientOutput::why() const {
  return error_ == 0 ? "it was not read in time" : std::generic_category().message(error_);
}

bool PatientOutput::pump(int timeout_ms) noexcept {
  std::size_t at = 0;
  while (at < waiting_.size()) {
    pollfd out{STDOUT_FILENO, POLLOUT, 0};
    if (::poll(&out, 1, timeout_ms) <= 0) break;
    // A pipe that can be written to has room for this much, and does not block.
    const ssize_t wrote =
        ::write(STDOUT_FILENO, waiting_.data() + at, std::min<std::size_t>(waiting_.size() - at, 4096));
    if (wrote < 0 && (errno == EINTR || errno == EAGAIN)) break;
    if (wrote < 0) {
      closed_ = true;
      if (errno != EPIPE) {  // a reader that has gone, as `head`, wants no more
        error_ = errno;
        dropped_ += lines_in(waiting_);
      }
      waiting_.clear();
      return false;
    }
    at += static_cast<std::size_t>(wrote);
  }
  waiting_.erase(0, at);
  return at > 0;
}

std::uint64_t PatientOutput::finish() noexcept {
  for (int i = 0; i < 20 && !waiting_.empty(); ++i)
    while (pump(100) && !waiting_.empty()) {
    }
  if (closed_ && error_ == 0) return 0;
  return dropped_ + lines_in(waiting_);
}

std::string log_text(const LogLine& line, std::size_t name_width, bool colours) {
  const std::string clock = launcher::clock_text(line.wall_ns);
  const bool own = line.source == LogLine::Source::Launcher;
  const char* mark = own && line.level == LogLevel::Error ? "!" : line.source == LogLine::Source::Error ? ":" : "|";
  const std::string text = printable(line.text);
  if (!colours) return fmt::format("{} {:<{}} {} {}\n", clock, line.name, name_width, mark, text);
  // A colour for each name, none of which is the red and yellow of trouble.
  constexpr int kColours[] = {32, 34, 35, 36, 92, 94, 95, 96};
  const int colour = own ? 1 : kColours[std::hash<std::string_view>{}(line.name) % std::size(kColours)];
  const char* trouble = line.level == LogLevel::Error ? "\x1b[31m" : line.level == LogLevel::Warning ? "\x1b[33m" : "";
  return fmt::format("\x1b[2m{}\x1b[0m \x1b[{}m{:<{}}\x1b[0m {} {}{}{}\n", clock, colour, line.name, name_width, mark,
                     own ? trouble : "", text, own ? "\x1b[0m" : "");
}

RunView::RunView(const config::Configuration& configuration, bool live, bool colours)
    : live_(live), colours_(colours), begun_ns_(steady_now()) {
  for (const config::Process& process : configuration.processes)
    name_width_ = std::max(name_width_, std::min<std::size_t>(process.name.size(), 20));
}

void RunView::line(const LogLine& line) {
  const std::string text = log_text(line, name_width_, colours_);
  if (!live_) return out_.add(text);
  lines_ += text;
  if (lines_.size() > kMostWaiting / 4) draw();
}

void RunView::show() {
  if (live_ && !lines_.empty()) draw();
  out_.pump();
}

void RunView::look(const launcher::Supervisor& supervisor, const std::vector<ComponentRow>& components) {
  const std::int64_t now = steady_now();
  Table all({{"PROCESS"},
             {"STATE"},
             {"PID", true},
             {"RESTARTS", true},
             {"CPU %", true},
             {"MEMORY", true},
             {"COMPONENT"},
             {"CALLS/S", true},
             {"TRANSPORT", true},
             {"WAITING", true},
             {"RUNNING", true},
             {"LOST", true},
             {"FAILED", true}});
  all.trouble({"LOST", "FAILED"});
  all.keep({"COMPONENT", "PROCESS", "STATE", "RESTARTS", "CALLS/S", "RUNNING", "CPU %", "MEMORY", "PID", "TRANSPORT"});
  all.carry_down(6);
  for (const launcher::ProcessStatus& p : supervisor.processes()) {
    std::string cpu = "-";
    std::string memory = "-";
    if (p.pid == 0) {
      used_.erase(p.pid);
    } else if (const auto usage = launcher::usage_of(p.pid)) {
      Used& before = used_[p.pid];
      if (before.at_ns != 0 && now - before.at_ns > 200'000'000)
        before.cpu_percent =
            1e11 * (usage->cpu_seconds - before.usage.cpu_seconds) / static_cast<double>(now - before.at_ns);
      if (before.at_ns == 0 || now - before.at_ns > 200'000'000) {
        before.usage = *usage;
        before.at_ns = now;
      }
      if (before.cpu_percent >= 0) cpu = fmt::format("{:.1f}", before.cpu_percent);
      memory = bytes_text(static_cast<double>(usage->memory_bytes));
    }
    std::vector<std::string> row{p.name,
                                 std::string(launcher::name_of(p.phase)),
                                 p.pid != 0 ? std::to_string(p.pid) : "-",
                                 std::to_string(p.restarts),
                                 cpu,
                                 memory};
    const bool well = p.phase == launcher::Phase::Running || p.phase == launcher::Phase::Finished;
    bool first = true;
    for (const ComponentRow& c : components) {
      if (c.process != p.name || p.pid == 0) continue;
      if (!first) row.assign(6, "");
      first = false;
      const auto time = [](std::int64_t ns) { return time_text(static_cast<double>(ns)); };
      for (std::string cell : {printable(c.component), c.calls_per_s < 0 ? "-" : fmt::format("{:.1f}", c.calls_per_s),
                               time(c.transport_ns), time(c.waiting_ns),
                               c.hangs_ns != 0 ? "hangs " + time(c.hangs_ns) : time(c.running_ns),
                               std::to_string(c.lost), std::to_string(c.failures)})
        row.push_back(std::move(cell));
      all.row(row, !well || c.hangs_ns != 0);
    }
    if (first) {
      row.resize(13);
      all.row(std::move(row), !well);
    }
  }
  std::string hanging;  // before the words that a narrow terminal cuts off
  for (const ComponentRow& c : components)
    if (c.hangs_ns != 0)
      hanging += fmt::format(" · {} hangs for {:.0f} s", printable(c.component), static_cast<double>(c.hangs_ns) / 1e9);
  title_ = fmt::format("{} · {} · {:.0f} s{} · latencies are p99 · Ctrl-C ends", supervisor.configuration().name,
                       config::name_of(supervisor.state()), static_cast<double>(now - begun_ns_) / 1e9, hanging);
  table_ = std::move(all);
}

void RunView::tick(const launcher::Supervisor& supervisor, const std::vector<ComponentRow>& components) {
  out_.pump();
  if (!live_) return;
  const std::int64_t now = steady_now();
  const bool due = now - drawn_ns_ >= 1'000'000'000;
  if (due) {
    look(supervisor, components);
    drawn_ns_ = now;
  }
  if (due || !lines_.empty() || !block_.drawn_for(terminal_size())) draw();
}

void RunView::draw() {
  constexpr std::size_t kRowsForSpace = 12;  // with fewer, each one is needed
  const Room size = terminal_size();
  std::vector<std::string> block;
  if (!title_.empty()) {
    if (size.rows >= kRowsForSpace) block.emplace_back();
    block.push_back(cut(title_, size.columns));
    const std::size_t taken = block.size() + 1;  // and the line of the cursor
    for (std::string& line : table_.lines({size.columns, size.rows > taken ? size.rows - taken : 1}))
      block.push_back(std::move(line));
  }
  out_.add(block_.draw(std::exchange(lines_, {}), block, size));
}

bool RunView::finish(const launcher::Supervisor& supervisor, const std::vector<ComponentRow>& components) {
  if (live_) {
    look(supervisor, components);
    draw();
  }
  const std::uint64_t unread = out_.finish();
  if (unread != 0)
    warn(fmt::format("{} line{} of the log {} not written to standard output: {}", unread, unread == 1 ? "" : "s",
                     unread == 1 ? "was" : "were", out_.why()));
  return unread == 0;
}

}  // namespace cardan::apps
