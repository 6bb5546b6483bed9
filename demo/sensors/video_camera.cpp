// SPDX-License-Identifier: Apache-2.0
#include "demo/sensors/video_camera.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <opencv2/core.hpp>
#include <opencv2/core/utils/logger.hpp>
#include <system_error>

#include "cardan/error.hpp"

namespace cardan::street {
namespace {

[[noreturn]] void unavailable(const std::string& cause, const std::string& remedy) {
  throw Error(ErrorCode::Unavailable, cause, remedy);
}

}  // namespace

VideoCamera::VideoCamera(const std::string& argument, const Beside& beside) : argument_(argument) {
  // Errors are reported below, once and with their remedy.
  cv::utils::logging::setLogLevel(cv::utils::logging::LOG_LEVEL_SILENT);
  if (is_folder_of_frames(argument)) {
    folder_ = std::make_unique<PictureFolder>(argument, beside);
    name_ = folder_->describe();
    width_ = folder_->size().width;
    height_ = folder_->size().height;
    return;
  }
  open_capture();
  width_ = static_cast<int>(capture_.get(cv::CAP_PROP_FRAME_WIDTH));
  height_ = static_cast<int>(capture_.get(cv::CAP_PROP_FRAME_HEIGHT));
  if (!capture_.grab() || width_ <= 0 || height_ <= 0) {
    throw Error(ErrorCode::InvalidArgument, argument + " delivers no picture",
                "check it with ffprobe, or give another one");
  }
  cv::Mat first;  // some devices deliver another size than they announce
  if (capture_.retrieve(first) && !first.empty()) {
    width_ = first.cols;
    height_ = first.rows;
  }
  double fps = capture_.get(cv::CAP_PROP_FPS);
  if (!std::isfinite(fps) || fps < 0.1 || fps > 1000) fps = 25;
  period_ = std::chrono::nanoseconds{static_cast<std::int64_t>(1e9 / fps)};
  const long rounded = std::lround(fps);
  name_ += ", " + std::to_string(width_) + " x " + std::to_string(height_);
  if (file_) name_ += " at " + std::to_string(rounded) + " fps, looped";
}

void VideoCamera::open_capture() {
  std::error_code failure;
  const auto status = std::filesystem::status(argument_, failure);
  const bool number = !argument_.empty() && argument_.size() <= 3 &&
                      std::all_of(argument_.begin(), argument_.end(), [](char c) { return c >= '0' && c <= '9'; });
  if (argument_.find("://") != std::string::npos) {
    name_ = argument_;
    if (!capture_.open(argument_))
      unavailable("cannot open " + argument_, "check the URL with ffprobe, and that the camera is on the network");
    return;
  }
  if (!std::filesystem::is_character_file(status) && (!number || std::filesystem::exists(status))) return open_file();
  name_ = number ? "/dev/video" + argument_ : argument_;
  if (!std::filesystem::exists(name_, failure)) {
    unavailable("there is no " + name_, "list the cameras: ls /dev/video*; or give a video file");
  }
  if (!capture_.open(name_, cv::CAP_V4L2)) {
    unavailable("cannot open the camera " + name_,
                "end the program that uses it, and add yourself to the group `video` (usermod -aG video $USER)");
  }
}

void VideoCamera::open_file() {
  std::error_code failure;
  if (!std::filesystem::exists(argument_, failure)) {
    unavailable("--camera " + argument_ + ": no such file",
                "give a video file, a folder of pictures, a V4L2 device number (0) or a URL");
  }
  if (!std::filesystem::is_regular_file(argument_, failure)) {  // a pipe would block, and cannot be looped
    throw Error(ErrorCode::InvalidArgument, "--camera " + argument_ + " is not a file",
                "give a video file, a folder of pictures, a V4L2 device number (0) or a URL");
  }
  if (!std::ifstream(argument_)) unavailable("--camera " + argument_ + " is not readable", "check its permissions");
  file_ = true;
  name_ = std::filesystem::path(argument_).filename().string();
  if (!capture_.open(argument_)) {
    throw Error(ErrorCode::InvalidArgument, "--camera " + argument_ + " is not a video that OpenCV can decode",
                "give a file that ffprobe understands, for example MP4 with H.264 or AVI");
  }
}

bool VideoCamera::grab() {
  if (capture_.grab()) return true;
  if (!file_) return false;
  // Not every container can seek; opening again always works.
  return (capture_.set(cv::CAP_PROP_POS_FRAMES, 0) && capture_.grab()) || (capture_.open(argument_) && capture_.grab());
}

bool VideoCamera::wait(const std::function<bool()>& stopping) {
  if (folder_) return folder_->wait(stopping);
  // A file's time is waited for first: a decoder that runs right after a publication keeps its reader from the CPU.
  if (stopping() || (file_ && !pace_.wait(period_, stopping))) return false;
  if (!grab()) {
    if (stopping()) return false;
    unavailable("the camera " + argument_ + " delivers no more pictures", "check its cable or network and start again");
  }
  return !stopping();
}

std::int64_t VideoCamera::stamp() const noexcept { return folder_ ? folder_->stamp() : wall_now(); }

void VideoCamera::read(std::span<std::uint8_t> into) {
  const auto changed = [&] {
    return Error(ErrorCode::Unavailable, "the picture of " + argument_ + " has changed its size or cannot be decoded",
                 "start again: the size is fixed when the driver starts");
  };
  if (into.size() != static_cast<std::size_t>(width_) * static_cast<std::size_t>(height_) * 3) throw changed();
  cv::Mat picture(height_, width_, CV_8UC3, into.data());
  if (folder_) return folder_->picture().copyTo(picture);
  // OpenCV allocates again when the size changes.
  if (!capture_.retrieve(picture) || picture.data != into.data()) throw changed();
}

std::unique_ptr<CameraSource> open_video(const std::string& argument, const Beside& beside) {
  return std::make_unique<VideoCamera>(argument, beside);
}

}  // namespace cardan::street
