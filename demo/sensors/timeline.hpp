// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "demo/sensors/recorded_folder.hpp"

namespace cardan::street {

/// The recording that is played at the same time.
struct Beside {
  std::string folder{};     ///< as the user gives it; ignored unless it is a folder with times
  std::int64_t origin = 0;  ///< steady clock, ns, when the first round of both begins; 0: leave it to the recordings
};

/// When the frames of a recording are due, again and again, by the times at which they were taken. Two recordings of
/// the same drive, each with the other's times and the same `origin`, keep step, also as two processes and after a
/// restart. Not thread-safe.
class Timeline {
 public:
  /// `own`: when the frames were taken (ns, ascending, at least one); `other`: of the recording that is played at the
  /// same time, empty: none. `origin`: steady clock, ns, when the first round begins; 0: now, or for two that belong
  /// together a moment that both know.
  Timeline(std::vector<std::int64_t> own, const std::vector<std::int64_t>& other, std::int64_t origin);

  struct Due {
    std::size_t frame;
    std::int64_t time;  ///< steady clock, ns
  };
  /// The next frame after the last one; of several that are due by `now` already the newest.
  [[nodiscard]] Due next(std::int64_t now);
  /// Sleeps until then (steady clock, ns); looks at `stopping` every 50 ms and returns false when it says so.
  static bool sleep_until(std::int64_t time, const std::function<bool()>& stopping);

  /// The wall clock's time (ns) of a time of the steady clock.
  [[nodiscard]] static std::int64_t wall_time(std::int64_t time);

  /// Whether `other` is of the same time, so that both keep step.
  [[nodiscard]] bool paired() const noexcept { return paired_; }
  /// Of a round, ns: the frames of both and, before the next round, one frame's distance.
  [[nodiscard]] std::int64_t length() const noexcept { return length_; }

 private:
  [[nodiscard]] std::int64_t due(std::int64_t index) const noexcept;
  /// The newest that is due by `now`; -1: none yet.
  [[nodiscard]] std::int64_t newest(std::int64_t now) const noexcept;

  std::vector<std::int64_t> times_;  ///< from the beginning of a round
  std::int64_t origin_, length_;
  bool paired_ = false;
  std::optional<std::int64_t> last_;
};

/// Of a folder: by its times, or else at 10 Hz; `of_other`: the files of the other folder.
[[nodiscard]] Timeline timeline_of(const RecordedFolder& folder, const FrameFiles& of_other, const Beside& beside);

}  // namespace cardan::street
