// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace cardan::bench {

/// The cost of a big configuration before it does anything.
struct StartFigures {
  int processes = 10, components = 200, topics = 500;
  double ready_ms = 0;             ///< from starting the first process to the last one's being ready
  double idle_cpu_percent = 0;     ///< of one core: all processes and the launcher, nobody publishing
  double looking_cpu_percent = 0;  ///< the same while somebody asks for all statistics once a second
};

/// The consequences when one of five processes is killed while frames flow between all.
struct CrashFigures {
  std::vector<double> noticed_ms;    ///< from the signal to the launcher's knowing it
  std::vector<double> again_ms;      ///< from the signal to running again
  std::vector<double> own_start_ms;  ///< of which: the process's own start
  std::uint64_t between_others = 0;  ///< frames that came between the four that were not killed
  std::uint64_t lost = 0;            ///< frames that did not
};

/// Says how far it is.
using Tell = std::function<void(const std::string&)>;

/// Runs `cardan run`'s launcher on a configuration that is made for it, with this program as the host. Empty: a process
/// did not start, or `stopped()` said so. Throws Error as the launcher. Blocks for about 10 s.
[[nodiscard]] std::optional<StartFigures> measure_start(const std::function<bool()>& stopped, const Tell& tell);
[[nodiscard]] std::optional<CrashFigures> measure_crash(int crashes, const std::function<bool()>& stopped,
                                                        const Tell& tell);

}  // namespace cardan::bench
