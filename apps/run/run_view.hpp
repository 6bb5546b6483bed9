// SPDX-License-Identifier: Apache-2.0
// The view of `cardan run`: the merged log, and below it on a terminal a live table.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "apps/terminal/output.hpp"
#include "src/system/launcher/supervisor.hpp"
#include "src/system/launcher/usage.hpp"

namespace cardan::apps {

/// How a component runs, as its process says.
struct ComponentRow {
  std::string process{}, component{};
  double calls_per_s = -1;                                           ///< −1: not measured yet; of a fusion its sets
  std::int64_t transport_ns = -1, waiting_ns = -1, running_ns = -1;  ///< p99 since the component's start; −1: none yet
  std::uint64_t lost = 0;      ///< dropped from its queues, missed before, or skipped
  std::uint64_t failures = 0;  ///< exceptions
  std::int64_t hangs_ns = 0;   ///< for how long one of its callbacks has not come back; 0: none hangs
};

/// Standard output that never delays its writers: text that the reader does not take waits, and text that waits too
/// long is dropped and counted. One thread.
class PatientOutput {
 public:
  void add(std::string_view text);
  /// Writes what the reader takes now.
  void pump() noexcept { (void)pump(0); }
  /// Waits for the reader, at most two seconds. Lines that nobody has read then; 0 also of a reader that has gone.
  [[nodiscard]] std::uint64_t finish() noexcept;
  /// Why lines were dropped.
  [[nodiscard]] std::string why() const;

 private:
  bool pump(int timeout_ms) noexcept;
  std::string waiting_;
  std::uint64_t dropped_ = 0;  ///< lines
  bool closed_ = false;
  int error_ = 0;  ///< of a write: the disk is full, for example
};

/// A line of the merged log as text; with colours for a terminal.
[[nodiscard]] std::string log_text(const launcher::LogLine& line, std::size_t name_width, bool colours);

class RunView {
 public:
  /// `live`: with the table. `colours`: of the log.
  RunView(const config::Configuration& configuration, bool live, bool colours);

  void line(const launcher::LogLine& line);
  /// Writes what has come, where nothing ticks yet.
  void show();
  /// Some times a second: draws what has come, and the table each second.
  void tick(const launcher::Supervisor& supervisor, const std::vector<ComponentRow>& components);
  /// The table as it is in the end stays; all is written. False: lines were left out, as it says.
  [[nodiscard]] bool finish(const launcher::Supervisor& supervisor, const std::vector<ComponentRow>& components);

 private:
  /// Asks for what is shown.
  void look(const launcher::Supervisor& supervisor, const std::vector<ComponentRow>& components);
  void draw();

  bool live_, colours_;
  std::size_t name_width_ = 6;
  std::int64_t begun_ns_, drawn_ns_ = 0;
  struct Used {
    launcher::Usage usage;
    std::int64_t at_ns = 0;
    double cpu_percent = -1;  ///< −1: not measured yet
  };
  std::map<int, Used> used_;  ///< by pid
  PatientOutput out_;
  std::string lines_, title_;
  Table table_{std::vector<Table::Column>{}};
  LiveBlock block_;
};

}  // namespace cardan::apps
