// SPDX-License-Identifier: Apache-2.0
// The fusion: results of the same frame are joined by its exact number, and put together.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "bench/pipeline/messages.hpp"

namespace cardan::bench::perception {

using Results = std::array<Result, kFinders.size()>;  ///< of one frame, in the order of kFinders

/// Joins the results of the finders by the frame's number. A finder that is late, or that loses frames, delays or loses
/// those frames and no others. Not thread safe; allocates nothing.
class FrameJoin {
 public:
  static constexpr std::size_t kWindow = 64;  ///< frames that can wait for their results

  /// The three results of the frame that this one completes; null: it completes none. Valid until the next call.
  const Results* add(const Result& result) noexcept;

  [[nodiscard]] std::uint64_t completed() const noexcept { return completed_; }
  /// Frames that a newer one pushed out of the window before all their results were there.
  [[nodiscard]] std::uint64_t given_up() const noexcept { return given_up_; }
  /// Results that came when their frame had been given up, or a second time.
  [[nodiscard]] std::uint64_t unusable() const noexcept { return unusable_; }

 private:
  struct Waiting {
    std::uint64_t number = 0;
    std::uint32_t here = 0;  ///< a bit for each finder
    Results results{};
  };
  std::array<Waiting, kWindow> window_{};
  std::uint64_t completed_ = 0, given_up_ = 0, unusable_ = 0;
};

/// The fusion's result for a frame.
struct Fused {
  bool has_lanes = false;      ///< both lines were found
  std::uint32_t seen = 0;      ///< detections
  std::uint32_t followed = 0;  ///< tracks that a detection confirms
  std::uint32_t in_lane = 0;   ///< detections and unconfirmed tracks between the lines
};
[[nodiscard]] Fused fuse(const Results& results) noexcept;

/// Intersection over union of two boxes, 0 to 1.
[[nodiscard]] float overlap(const Box& a, const Box& b) noexcept;

}  // namespace cardan::bench::perception
