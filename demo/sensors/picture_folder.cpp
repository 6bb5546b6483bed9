// SPDX-License-Identifier: Apache-2.0
#include "demo/sensors/picture_folder.hpp"

#include <fmt/format.h>

#include <opencv2/imgcodecs.hpp>

#include "cardan/clock.hpp"
#include "cardan/error.hpp"

namespace cardan::street {

PictureFolder::PictureFolder(const std::string& argument, const Beside& beside)
    : folder_(read_recorded_folder(argument, kPictureFiles)), timeline_(timeline_of(folder_, kScanFiles, beside)) {
  const std::string first = folder_.files.front().string();
  picture_ = cv::imread(first, cv::IMREAD_COLOR);
  if (picture_.empty())
    throw Error(ErrorCode::InvalidArgument,
                fmt::format("--camera {}: {} is not a picture that OpenCV can decode", argument, first),
                "give PNG or JPEG files");
  size_ = picture_.size();
  const double fps = static_cast<double>(folder_.files.size()) * 1e9 / static_cast<double>(timeline_.length());
  name_ = fmt::format("{}, {} pictures, {} x {} at {:.3g} fps, looped{}", argument, folder_.files.size(), size_.width,
                      size_.height, fps, timeline_.paired() ? ", in step with the scans" : "");
}

bool PictureFolder::wait(const std::function<bool()>& stopping) {
  const Timeline::Due next = timeline_.next(steady_now());
  const std::string file = folder_.files[next.frame].string();
  // It is decoded before it is due, so that decoding does not delay the publication.
  picture_ = cv::imread(file, cv::IMREAD_COLOR);
  if (picture_.size() != size_)
    throw Error(ErrorCode::Unavailable,
                picture_.empty() ? fmt::format("{} cannot be decoded", file)
                                 : fmt::format("{} has {} x {} pixels, but the pictures before it {} x {}", file,
                                               picture_.cols, picture_.rows, size_.width, size_.height),
                "give a folder of pictures of one size, and keep it while the demo runs");
  if (!Timeline::sleep_until(next.time, stopping)) return false;
  stamp_ = Timeline::wall_time(next.time);
  return true;
}

}  // namespace cardan::street
