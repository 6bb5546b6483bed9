// SPDX-License-Identifier: Apache-2.0
#include "demo/report/view.hpp"
#include "demo/report/say.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <utility>
#include <vector>

namespace cardan::street {
namespace {

constexpr double kSecondsPerLine = 5;

// Cuts after `width` code points (everything here is one column wide).
std::string cut(const std::string& line, std::size_t width) {
  std::size_t columns = 0;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const bool starts = (static_cast<unsigned char>(line[i]) & 0xC0U) != 0x80U;
    if (starts && columns++ == width) return line.substr(0, i);
  }
  return line;
}

/// Of the topics' names where the other columns have 43.
std::size_t topic_width(std::size_t width) { return std::clamp<std::size_t>(width, 53, 79) - 45; }

std::string micros(double value) {
  if (std::isnan(value)) return "-";
  return value < 100 ? fmt::format("{:.1f}", value) : fmt::format("{:.0f}", value);
}

std::string decision_text(const Moment& m) {
  if (!m.has_decision) return "…";
  return fmt::format("{:<5} {}", m.brake ? "BRAKE" : "GO", m.reason);
}

}  // namespace

std::string render(const Moment& m, const Inputs& inputs, std::size_t width, bool colours) {
  std::vector<std::string> lines;
  lines.push_back(m.measuring ? fmt::format("Cardan demo · {} · {:.0f} s of {:.0f} s · Ctrl-C ends", name_of(m.setup),
                                            m.seconds, m.of_seconds)
                              : fmt::format("Cardan demo · {} · starting", name_of(m.setup)));
  lines.push_back("  camera  " + inputs.camera);
  lines.push_back("  LiDAR   " + inputs.lidar);
  // Where not all columns have room, the reader's name goes first, and never the missed samples.
  constexpr std::size_t kWhole = 109;
  const auto row = [&](const std::string& topic, const std::string& way, const std::string& rest) {
    lines.push_back(width >= kWhole
                        ? fmt::format("  {:<34} {:<30} {}", topic, way, rest)
                        : fmt::format("  {:<{}} {}", cut(topic, topic_width(width)), topic_width(width), rest));
  };
  row("topic", "from → to", fmt::format("{:>6} {:>7} {:>9} {:>9} {:>7}", "Hz", "MB/s", "p50 µs", "p99 µs", "missed"));
  for (std::size_t i = 0; i < kHops; ++i) {
    const auto& hop = m.hops[i];
    row(kHopList[i].topic, fmt::format("{} → {}", label_of(kHopList[i].from, inputs), label_of(kHopList[i].to, inputs)),
        fmt::format("{:>6.1f} {:>7.1f} {:>9} {:>9} {:>7}", hop.rate_hz, hop.megabytes_per_s,
                    micros(hop.transport_us.p50), micros(hop.transport_us.p99), hop.missed));
  }
  std::string cpu = "  CPU    ";
  for (const ProcessLoad& load : m.cpu) cpu += fmt::format(" {} {:.0f} %  ", load.process, load.cpu_percent);
  lines.push_back(cpu);
  const double p50 = m.decision_us.p50 * 1e-3;
  const double p99 = m.decision_us.p99 * 1e-3;
  lines.push_back(std::isnan(p50)
                      ? "  perception to decision  -"
                      : fmt::format("  perception to decision  p50 {:.1f} ms  p99 {:.1f} ms  ({} decisions)", p50, p99,
                                    m.decisions));
  lines.push_back("  " + decision_text(m));
  std::string out;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::string line = cut(lines[i], width);
    const bool decision = i + 1 == lines.size() && m.has_decision;
    if (colours && (i == 0 || decision)) {
      out += fmt::format("\x1b[1{}m{}\x1b[0m\n", decision ? (m.brake ? ";31" : ";32") : "", line);
    } else {
      out += line + "\n";
    }
  }
  return out;
}

std::string render_line(const Moment& m, const Inputs& inputs) {
  std::string out = fmt::format("{:>3.0f} s  {}:", m.seconds, name_of(m.setup));
  for (std::size_t i = 0; i < kHops; ++i) {
    const auto& hop = m.hops[i];
    out += fmt::format("  {} {:.0f} Hz {} µs missed {}", label_of(kHopList[i].from, inputs), hop.rate_hz,
                       micros(hop.transport_us.p50), hop.missed);
  }
  double cpu = 0;
  for (const ProcessLoad& load : m.cpu) cpu += load.cpu_percent;
  return out + fmt::format("  CPU {:.0f} %  {}", cpu, decision_text(m));
}

void View::show(const Moment& moment, const Inputs& inputs) {
  if (!live_) {
    if (!moment.measuring) return;
    if (moment.seconds < last_line_) last_line_ = -1;  // the second run
    if (last_line_ >= 0 && moment.seconds < last_line_ + kSecondsPerLine) return;
    if (moment.seconds < 1 && moment.of_seconds > 2) return;
    last_line_ = moment.seconds;
    say("{}\n", render_line(moment, inputs));
    std::fflush(stdout);
    return;
  }
  winsize size{};
  const bool known = ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0;
  const std::size_t width = known && size.ws_col > 0 ? size.ws_col : 100;
  const std::string picture = render(moment, inputs, width, true);
  const bool moved = drawn_ > 0 && std::pair(size.ws_col, size.ws_row) != size_;
  size_ = {size.ws_col, size.ws_row};
  std::string out;
  if (moved)
    out += "\x1b[H";  // where the terminal has put the old lines nobody knows: draws the whole screen again
  else if (drawn_ > 0)
    out += fmt::format("\x1b[{}A", drawn_);
  out += "\x1b[J" + picture;
  drawn_ = static_cast<std::size_t>(std::count(picture.begin(), picture.end(), '\n'));
  std::fwrite(out.data(), 1, out.size(), stdout);
  std::fflush(stdout);
}

void View::finish() {
  drawn_ = 0;
  std::fflush(stdout);
}

bool can_draw() {
  const char* terminal = std::getenv("TERM");
  return ::isatty(STDOUT_FILENO) == 1 && terminal != nullptr && std::string_view(terminal) != "dumb";
}

}  // namespace cardan::street
