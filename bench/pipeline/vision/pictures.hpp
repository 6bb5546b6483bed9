// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <opencv2/core.hpp>
#include <string>
#include <vector>

#include "bench/pipeline/stages.hpp"

namespace cardan::bench::perception {

/// The pictures of the camera, decoded before the run: a camera's hardware makes them without the CPU, and so decoding
/// must not compete with the stages that are measured.
class Pictures {
 public:
  static constexpr std::size_t kMostBytes = 256U << 20U;  ///< of all pictures; a longer video is repeated from there

  /// `camera`: a video file, kDrawnStreet; empty: the street video, or drawn where that is missing. At most `most`
  /// pictures. Throws cardan::Error: Unavailable (no such file), InvalidArgument (not a video, or too large).
  Pictures(const std::string& camera, std::size_t most);
  /// The same, or from the images of a recording.
  Pictures(const StageInputs& inputs, std::size_t most);

  [[nodiscard]] const std::string& name() const noexcept { return name_; }  ///< "vtest.avi"
  [[nodiscard]] cv::Size size() const noexcept { return pictures_.front().size(); }
  /// Of frame `number`, from 1; 8-bit BGR. They repeat.
  [[nodiscard]] const cv::Mat& at(std::uint64_t number) const noexcept {
    return pictures_[static_cast<std::size_t>((number - 1) % pictures_.size())];
  }

 private:
  void decode(const std::string& file, std::size_t most);
  void record(const std::string& file, const std::string& topic, std::size_t most);

  std::string name_;
  std::vector<cv::Mat> pictures_;
};

/// A street: a lane between two white lines, and a box that moves along it. Frame `number` is the same each time.
[[nodiscard]] cv::Mat draw_street(std::uint64_t number);

}  // namespace cardan::bench::perception
