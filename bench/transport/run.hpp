// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bench/transport/area.hpp"
#include "bench/transport/crew.hpp"

namespace cardan::bench {

/// The results of one run of one contender in one cell; latencies in µs, of the frames after the discarded ones.
struct RunResult {
  std::vector<double>
      transport_us;  ///< per publication and reader: just before publish → in hand; `ask`: loan, question, answer
  std::vector<double> end_to_end_us;  ///< per publication and reader: before filling → every byte read; `ask`: → answer
  std::vector<double> spread_us;      ///< per publication that all readers got: first → last in hand
  std::vector<double> handing_us;     ///< per publication: what the publisher spends in loan and publish
  std::vector<double> last_us;        ///< per publication that all readers got: transport of the last one
  std::uint64_t sent = 0;             ///< publications
  std::uint64_t lost = 0;             ///< (publication, reader) pairs without an intact frame that arrived
  std::uint64_t torn = 0;             ///< frames that reached a reader with words of another
  std::uint64_t refused = 0;          ///< frames for which a publisher got no memory
  double publisher_cpu_us = 0;        ///< per message
  double reader_cpu_us = 0;           ///< per message and reader
  double reader_cpu_percent = 0;      ///< of a core, mean over readers
  double waiting_cpu_percent = 0;     ///< the same without the time from receipt to the last byte read
  double achieved_rate_hz = 0;        ///< of one publisher
  double steal_percent = 0;
  double other_load_percent = 0;  ///< of the whole machine: used by processes outside the bench
};

/// The failure of a run whose processes were all right, but slower than any that was planned for.
inline constexpr std::string_view kNotInTime = "did not end in time";

struct RunOutcome {
  RunResult result;
  std::string failure;       ///< in words, or kNotInTime; empty: the run is complete
  bool interrupted = false;  ///< somebody pressed Ctrl-C
};

/// Measures one contender in one cell once. Set-up trouble is a `failure`, not an exception; every process that it
/// started is gone when it returns.
RunOutcome run_once(const Contender& contender, const Cell& cell, const TransportOptions& options,
                    const std::string& run_dir, QuietSignals& signals);

/// Starts the area's roles, gives the signal and waits for their end. Empty: all went well; else what went wrong (or
/// `signals.interrupted()`). `steal` gets the steal while they ran, in percent.
std::string run_roles(const Area& area, const TransportOptions& options, const std::string& run_dir,
                      QuietSignals& signals, double& steal);
/// The same for several links at the same time, under the conditions of the first, which hold for all together. Their
/// publishers take turns within the period.
std::string run_links(std::span<const Area> links, const TransportOptions& options, const std::string& run_dir,
                      QuietSignals& signals, double& steal);
/// The same for roles that are wired otherwise, and started with `role_command`.
std::string run_wired(const Area& area, Wiring wiring, const std::vector<std::string>& role_command,
                      const std::string& run_dir, QuietSignals& signals, double& steal);

/// CPU time in seconds of every child that has been reaped.
double seconds_of_children();

/// A topic name that no run of this bench had before.
std::string fresh_topic();

/// Works out the figures from what the roles left in the areas of all links: samples of all, counts of all together,
/// and CPU and rate as the mean over the messages, readers or publishers of all.
RunResult evaluate(std::span<const Area> links);

}  // namespace cardan::bench
