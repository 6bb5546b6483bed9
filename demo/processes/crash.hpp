// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "demo/report/measurements.hpp"
#include "src/system/launcher/supervisor.hpp"

namespace cardan::street {

/// A crash on purpose, and what followed. Milliseconds after it; below 0: that did not happen.
struct Crash {
  std::string component{}, process{}, cause{}, report{};
  double noticed_ms = -1;        ///< the launcher knew
  double degraded_ms = -1;       ///< the system's state said so
  double running_again_ms = -1;  ///< the process ran again, of which:
  double back_off_ms = -1;       ///< waiting on purpose, so that what crashes at once does not use up the computer
  double start_up_ms = -1;       ///< its own start
  double recovered_ms = -1;      ///< the system's state was back to running
  std::uint64_t lost = 0;        ///< frames between the parts that were not hit; meaningless if all are one process
  bool alone = false;            ///< the process has that component only
};

/// From what the launcher knows. `at`: when it was sent its signal, steady clock, ns.
[[nodiscard]] Crash what_followed(const launcher::Supervisor& supervisor, const std::string& component, std::int64_t at,
                                  const Figures& figures);

/// For people; says what did not happen.
[[nodiscard]] std::string text(const Crash& crash);

}  // namespace cardan::street
