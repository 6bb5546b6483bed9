// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "apps/tour/stage.hpp"
#include "cardan/image.hpp"
#include "cardan/subscriber.hpp"

namespace cardan::apps {

/// The common data of the steps: the processes, a reader that lives from one step to the next, and what was recorded.
struct TourGuide {
  Stage stage{};
  std::unique_ptr<Subscriber<Image>> reader{};
  std::uint64_t recorded = 0;  ///< frames in tour.mcap; 0 before the recording
  bool lost = false;           ///< the recorder lost frames
};

/// A step shows what it does, measures what happened, and throws Error if that is not what should have happened.
/// Also TourInterrupted, and CLI::RuntimeError if nobody reads its words any more.
struct TourStep {
  const char* title;
  const char* lines;  ///< the lines of code for it; empty: a command, which the step shows
  void (*run)(TourGuide&);
};

/// In their order.
[[nodiscard]] std::span<const TourStep> tour_steps();

/// Writes a line to standard output.
void say_in_tour(const std::string& line);

}  // namespace cardan::apps
