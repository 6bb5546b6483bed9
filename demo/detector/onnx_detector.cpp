// SPDX-License-Identifier: Apache-2.0
#include "demo/detector/onnx_detector.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <opencv2/core/utility.hpp>
#include <opencv2/core/utils/logger.hpp>
#include <opencv2/imgproc.hpp>
#include <system_error>

#include "cardan/error.hpp"
#include "demo/detector/coco.hpp"
#include "demo/detector/onnx_inputs.hpp"
#include "demo/detector/people_detector.hpp"

namespace cardan::street {
namespace {

namespace fs = std::filesystem;

constexpr std::uintmax_t kMostBytes = 1U << 30;
constexpr int kLeastInput = 32, kLargestInput = 4096;  // pixels a side
constexpr float kOverlap = 0.45F;
constexpr const char* kRemedy =
    "give a model whose output is FastestDet's (1 x 85 x rows x columns), YOLOv5's (1 x N x 85) or YOLOv8's and "
    "YOLO11's "
    "(1 x 84 x N), with the 80 COCO classes";
constexpr const char* kExport =
    "export it for one picture of a fixed size and an older operator set, for example: yolo export model=yolov8n.pt "
    "format=onnx opset=12 dynamic=False simplify=True";

/// Below that a box is more likely wrong (FastestDet: on two dashcam drives, on guard rails and bushes).
float least_score(DetectorLayout layout) { return layout == DetectorLayout::FastestDet ? 0.6F : 0.35F; }

[[noreturn]] void refuse(const std::string& file, const std::string& why, const char* remedy) {
  throw Error(ErrorCode::InvalidArgument, fmt::format("--detector {}: {}", file, why), remedy);
}

/// The text of OpenCV, without its source files and in one line.
std::string words_of(const cv::Exception& e) {
  std::string words = e.err.empty() ? e.what() : e.err;
  std::replace_if(words.begin(), words.end(), [](unsigned char c) { return c < ' '; }, ' ');
  constexpr std::size_t kMost = 200;
  return words.size() <= kMost ? words : words.substr(0, kMost) + "…";
}

/// Runs `f`, which calls OpenCV's network.
template <class F>
void attempt(const std::string& file, const char* what, F f) {
  try {
    f();
  } catch (const cv::Exception& e) {
    refuse(file, fmt::format("OpenCV {} {}: {}", CV_VERSION, what, words_of(e)), kExport);
  } catch (const std::bad_alloc&) {
    refuse(file, fmt::format("OpenCV {} {}: it needs more memory than available", CV_VERSION, what), kExport);
  }
}

std::string bytes_of(const std::string& file) {
  std::error_code failure;
  const auto status = fs::status(file, failure);
  if (!fs::exists(status))
    throw Error(ErrorCode::Unavailable, fmt::format("--detector {}: no such file", file),
                "give an ONNX file (FastestDet or YOLO), or leave it out for OpenCV's pedestrian detector");
  if (!fs::is_regular_file(status)) refuse(file, "it is not a file", "give an ONNX file (FastestDet or YOLO)");
  std::ifstream in(file, std::ios::binary);
  if (!in)
    throw Error(ErrorCode::Unavailable, fmt::format("--detector {} is not readable", file), "check its permissions");
  const auto bytes = fs::file_size(file, failure);
  if (failure || bytes == 0 || bytes > kMostBytes)
    refuse(file, fmt::format("a model has 1 byte to {} MiB, but this file has {} bytes", kMostBytes >> 20, bytes),
           "give an ONNX file (FastestDet or YOLO)");
  std::string all(static_cast<std::size_t>(bytes), '\0');
  in.read(all.data(), static_cast<std::streamsize>(all.size()));
  all.resize(static_cast<std::size_t>(std::max<std::streamsize>(in.gcount(), 0)));
  return all;
}

}  // namespace

OnnxDetector::OnnxDetector(const std::string& file) : file_(file), name_(fs::path(file).filename().string()) {
  // Errors are reported here, once and with their remedy.
  cv::utils::logging::setLogLevel(cv::utils::logging::LOG_LEVEL_SILENT);
  const std::string model = bytes_of(file);
  learn_input(model);
  attempt(file, "cannot read it", [&] { net_ = cv::dnn::readNetFromONNX(model.data(), model.size()); });
  if (net_.empty()) refuse(file, "it is not an ONNX model", kRemedy);
  net_.setPreferableBackend(cv::dnn::DNN_BACKEND_OPENCV);
  net_.setPreferableTarget(cv::dnn::DNN_TARGET_CPU);
  learn_layout();
}

void OnnxDetector::learn_input(std::string_view model) {
  const std::vector<OnnxInput> inputs = onnx_inputs(model);
  if (inputs.empty()) refuse(file_, "it is not an ONNX model, or has no input", kRemedy);
  const std::vector<std::int64_t>& shape = inputs.front().shape;
  const bool picture = inputs.size() == 1 && shape.size() == 4 && shape[0] <= 1 && shape[1] == 3 &&
                       std::min(shape[2], shape[3]) >= kLeastInput && std::max(shape[2], shape[3]) <= kLargestInput;
  if (!picture)
    refuse(file_,
           fmt::format("it takes {}{}, not one picture (1 x 3 x rows x columns, {} to {} each)",
                       shape.empty() ? "something without a shape" : fmt::format("{}", fmt::join(shape, " x ")),
                       inputs.size() > 1 ? " and more" : "", kLeastInput, kLargestInput),
           kExport);
  input_ = cv::Size(static_cast<int>(shape[3]), static_cast<int>(shape[2]));
}

void OnnxDetector::learn_layout() {
  attempt(file_, "cannot run it", [&] {
    outputs_ = net_.getUnconnectedOutLayersNames();
    net_.setInput(cv::dnn::blobFromImage(cv::Mat(input_, CV_8UC3, cv::Scalar::all(0)), 1 / 255.0));
    net_.forward(results_, outputs_);
  });
  std::string shapes;
  for (output_ = 0; output_ < results_.size(); ++output_) {
    const cv::Mat& result = results_[output_];
    const std::vector<int> shape(result.size.p, result.size.p + result.dims);
    shapes += (shapes.empty() ? "" : ", ") + shape_text(shape);
    const auto layout = layout_of(shape, input_);
    if (!layout || result.type() != CV_32F || !result.isContinuous()) continue;
    layout_ = *layout;
    return;
  }
  refuse(file_,
         fmt::format("its output for {} x {} pixels is {}, which is not a layout that the demo knows", input_.width,
                     input_.height, shapes.empty() ? "nothing" : shapes),
         kRemedy);
}

cv::Size2f OnnxDetector::place(const cv::Mat& picture) {
  if (layout_ == DetectorLayout::FastestDet) {
    cv::resize(picture, fitted_, input_, 0, 0, cv::INTER_LINEAR);
    return {1, 1};
  }
  const double scale =
      std::min(static_cast<double>(input_.width) / picture.cols, static_cast<double>(input_.height) / picture.rows);
  const cv::Size size(std::clamp(cvRound(picture.cols * scale), 1, input_.width),
                      std::clamp(cvRound(picture.rows * scale), 1, input_.height));
  fitted_.create(input_, CV_8UC3);
  fitted_.setTo(cv::Scalar::all(114));  // the grey of YOLO's training
  cv::Mat part = fitted_(cv::Rect({0, 0}, size));
  cv::resize(picture, part, size, 0, 0, cv::INTER_LINEAR);
  return {static_cast<float>(size.width) / static_cast<float>(input_.width),
          static_cast<float>(size.height) / static_cast<float>(input_.height)};
}

std::span<const Seen> OnnxDetector::detect(const cv::Mat& picture) {
  seen_.clear();
  if (picture.empty()) return {};
  cv::Mat colour = picture;
  if (picture.channels() == 1) cv::cvtColor(picture, colour, cv::COLOR_GRAY2BGR);
  const cv::Size2f part = place(colour);
  const bool rgb = layout_ != DetectorLayout::FastestDet;
  cv::dnn::blobFromImage(fitted_, blob_, 1 / 255.0, cv::Size(), cv::Scalar(), rgb);
  net_.setInput(blob_);
  net_.forward(results_, outputs_);
  found_.clear();
  decode(layout_, results_[output_], input_, least_score(layout_), found_);
  keep_best(found_, kOverlap, kMostSeen);
  const auto width = static_cast<float>(picture.cols);
  const auto height = static_cast<float>(picture.rows);
  for (const Candidate& c : found_) {
    const float left = std::clamp(c.x / part.width, 0.0F, 1.0F) * width;
    const float top = std::clamp(c.y / part.height, 0.0F, 1.0F) * height;
    const float right = std::clamp((c.x + c.width) / part.width, 0.0F, 1.0F) * width;
    const float bottom = std::clamp((c.y + c.height) / part.height, 0.0F, 1.0F) * height;
    if (right - left >= 1 && bottom - top >= 1)
      seen_.push_back({left, top, right - left, bottom - top, c.score, kCocoClasses[c.category]});
  }
  return seen_;
}

std::unique_ptr<PictureDetector> open_detector(const std::string& model) {
  if (model.empty()) return std::make_unique<PeopleDetector>();
  return std::make_unique<OnnxDetector>(model);
}

void set_detector_threads(int threads) { cv::setNumThreads(threads); }

const bool kHasOpenCv = true;

}  // namespace cardan::street
