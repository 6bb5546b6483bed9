// SPDX-License-Identifier: Apache-2.0
#include "bench/pipeline/vision/pictures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <opencv2/core/utils/logger.hpp>
#include <opencv2/imgproc.hpp>
#include <opencv2/videoio.hpp>
#include <system_error>
#include <utility>

#include "bench/pipeline/messages.hpp"
#include "bench/pipeline/options.hpp"
#include "bench/pipeline/recording.hpp"
#include "cardan/cdr.hpp"
#include "cardan/error.hpp"
#include "cardan/image.hpp"
#include "cardan/local_message.hpp"
#include "demo/files.hpp"
#include "demo/sensors/camera_source.hpp"

namespace cardan::bench::perception {
namespace {

constexpr int kDrawnWidth = 640, kDrawnHeight = 480;
constexpr std::size_t kDrawnPictures = 60;

std::string usual_camera() {
  std::string camera = street::usual_camera();
  return camera == street::kDrawn ? std::string(kDrawnStreet) : camera;
}

}  // namespace

Pictures::Pictures(const std::string& camera, std::size_t most) {
  const std::string chosen = camera.empty() ? usual_camera() : camera;
  if (chosen != kDrawnStreet) {
    decode(chosen, most);
    return;
  }
  name_ = "a drawn street";
  for (std::size_t i = 1; i <= std::clamp<std::size_t>(most, 1, kDrawnPictures); ++i)
    pictures_.push_back(draw_street(i));
}

Pictures::Pictures(const StageInputs& inputs, std::size_t most) {
  if (inputs.from.empty())
    *this = Pictures(inputs.camera, most);
  else
    record(inputs.from, inputs.topic, most);
}

void Pictures::record(const std::string& file, const std::string& topic, std::size_t most) {
  name_ = std::filesystem::path(file).filename().string();
  std::size_t bytes = 0;
  read_recording(file, topic, "sensor_msgs/msg/Image", [&](std::span<const std::byte> message) {
    const auto refuse = [&](const std::string& why) {
      throw Error(ErrorCode::InvalidArgument, fmt::format("--from {}: an image {}", file, why),
                  "give a recording with uncompressed images of one size, bgr8, rgb8 or mono8");
    };
    LocalMessage<Image> image(message.size());
    if (const CdrResult read = from_cdr(message, *image); !read) refuse("cannot be read: " + read.text());
    const cv::Mat pixels = std::as_const(*image).mat();
    if (pixels.empty() || pixels.cols > static_cast<int>(Picture::kLargestSide) ||
        pixels.rows > static_cast<int>(Picture::kLargestSide) ||
        picture_bytes(static_cast<std::uint32_t>(pixels.cols), static_cast<std::uint32_t>(pixels.rows)) >
            Picture::kLargestBytes)
      refuse("is empty, or too large");
    cv::Mat picture;
    const std::string_view encoding = image->encoding.view();
    if (encoding == "bgr8")
      picture = pixels.clone();
    else if (encoding == "rgb8")
      cv::cvtColor(pixels, picture, cv::COLOR_RGB2BGR);
    else if (encoding == "mono8")
      cv::cvtColor(pixels, picture, cv::COLOR_GRAY2BGR);
    else
      refuse(fmt::format("is `{}`", encoding));
    if (!pictures_.empty() && picture.size() != size()) refuse("has another size than the one before");
    bytes += picture.total() * picture.elemSize();
    pictures_.push_back(picture);
    return pictures_.size() < most && bytes < kMostBytes;
  });
}

void Pictures::decode(const std::string& file, std::size_t most) {
  cv::utils::logging::setLogLevel(cv::utils::logging::LOG_LEVEL_SILENT);  // errors are reported here
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(file, ignored))
    throw Error(ErrorCode::Unavailable, fmt::format("--camera {}: no such file", file),
                fmt::format("give a video file, or `{}`", kDrawnStreet));
  name_ = std::filesystem::path(file).filename().string();
  cv::VideoCapture capture(file);
  cv::Mat picture;
  std::size_t bytes = 0;
  while (pictures_.size() < most && bytes < kMostBytes && capture.read(picture) && !picture.empty()) {
    if (picture.type() != CV_8UC3 || (!pictures_.empty() && picture.size() != size())) break;
    if (picture.cols > static_cast<int>(Picture::kLargestSide) ||
        picture.rows > static_cast<int>(Picture::kLargestSide) ||
        picture_bytes(static_cast<std::uint32_t>(picture.cols), static_cast<std::uint32_t>(picture.rows)) >
            Picture::kLargestBytes)
      throw Error(ErrorCode::InvalidArgument,
                  fmt::format("--camera {}: pictures of {} × {} are too large", file, picture.cols, picture.rows),
                  fmt::format("give one with pictures of up to {} MiB", Picture::kLargestBytes >> 20U));
    bytes += picture.total() * picture.elemSize();
    pictures_.push_back(picture.clone());
  }
  if (pictures_.empty())
    throw Error(ErrorCode::InvalidArgument, fmt::format("--camera {} is not a video that OpenCV can decode", file),
                "give a file that ffprobe understands, for example MP4 with H.264 or AVI");
}

cv::Mat draw_street(std::uint64_t number) {
  cv::Mat picture(kDrawnHeight, kDrawnWidth, CV_8UC3, cv::Scalar(200, 160, 120));  // the sky
  picture.rowRange(kDrawnHeight * 45 / 100, kDrawnHeight).setTo(cv::Scalar(70, 70, 70));
  const cv::Point far(kDrawnWidth / 2, kDrawnHeight * 45 / 100);
  for (const int x : {60, kDrawnWidth - 60})
    cv::line(picture, far + cv::Point(x < far.x ? -12 : 12, 10), {x, kDrawnHeight - 1}, cv::Scalar(240, 240, 240), 7,
             cv::LINE_AA);
  // A vehicle ahead, whose pattern a tracker can follow.
  const double phase = static_cast<double>(number % kDrawnPictures) / static_cast<double>(kDrawnPictures);
  const cv::Point corner(270 + static_cast<int>(std::lround(25 * std::sin(2 * CV_PI * phase))),
                         140);  // above the lines, which the lane finder looks for
  const cv::Rect vehicle(corner, cv::Size(96, 80));
  cv::rectangle(picture, vehicle, cv::Scalar(40, 40, 160), cv::FILLED);
  cv::rectangle(picture, {corner + cv::Point(12, 8), cv::Size(72, 26)}, cv::Scalar(220, 200, 180), cv::FILLED);
  for (const int x : {8, 72})
    cv::rectangle(picture, {corner + cv::Point(x, 48), cv::Size(16, 12)}, cv::Scalar(60, 60, 250), cv::FILLED);
  cv::rectangle(picture, {corner + cv::Point(34, 50), cv::Size(28, 10)}, cv::Scalar(250, 250, 250), cv::FILLED);
  return picture;
}

}  // namespace cardan::bench::perception
