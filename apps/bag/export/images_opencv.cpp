// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <opencv2/imgcodecs.hpp>
#include <opencv2/imgproc.hpp>
#include <opencv2/videoio.hpp>
#include <utility>

#include "apps/bag/export/images.hpp"
#include "cardan/error.hpp"
#include "cardan/image.hpp"

namespace cardan::apps {
namespace {

struct Conversion {
  std::string_view encoding;
  int code;  ///< OpenCV's
};

// To blue, green, red. OpenCV names a Bayer pattern by its second row's second and third pixel, ROS by its first two
// rows.
constexpr auto kConversions = std::to_array<Conversion>({
    {"rgb8", cv::COLOR_RGB2BGR},
    {"rgba8", cv::COLOR_RGBA2BGRA},
    {"rgb16", cv::COLOR_RGB2BGR},
    {"rgba16", cv::COLOR_RGBA2BGRA},
    {"bayer_rggb8", cv::COLOR_BayerBG2BGR},
    {"bayer_bggr8", cv::COLOR_BayerRG2BGR},
    {"bayer_gbrg8", cv::COLOR_BayerGR2BGR},
    {"bayer_grbg8", cv::COLOR_BayerGB2BGR},
    {"bayer_rggb16", cv::COLOR_BayerBG2BGR},
    {"bayer_bggr16", cv::COLOR_BayerRG2BGR},
    {"bayer_gbrg16", cv::COLOR_BayerGR2BGR},
    {"bayer_grbg16", cv::COLOR_BayerGB2BGR},
    {"yuv422", cv::COLOR_YUV2BGR_UYVY},
    {"uyvy", cv::COLOR_YUV2BGR_UYVY},
    {"yuv422_yuy2", cv::COLOR_YUV2BGR_YUY2},
    {"yuyv", cv::COLOR_YUV2BGR_YUY2},
    {"nv21", cv::COLOR_YUV2BGR_NV21},
});

/// Why pixels of this depth and number of channels have no place in a picture; empty: they have.
std::string unfit(const cv::Mat& pixels, const std::string& name) {
  switch (pixels.depth()) {
    case CV_8U:
    case CV_16U:
      return pixels.channels() == 2 ? name + " has two channels: neither gray nor color" : std::string();
    case CV_8S:
    case CV_16S:
    case CV_32S:
      return name + " holds signed numbers; PNG, JPEG and video hold 8 or 16 bits without a sign";
    default:
      return name + " holds fractions; PNG, JPEG and video hold 8 or 16 bits without a sign";
  }
}

void swap_bytes(cv::Mat& pixels) {
  for (int y = 0; y < pixels.rows; ++y) {
    auto* const row = pixels.ptr<std::uint16_t>(y);
    std::transform(row, row + pixels.cols * pixels.channels(), row,
                   [](std::uint16_t v) { return static_cast<std::uint16_t>(v << 8U | v >> 8U); });
  }
}

/// `out`: 1, 3 or 4 channels of 8 or 16 bits in OpenCV's order; maybe a view of the image's data.
std::string pixels_of(const RawImage& image, cv::Mat& out) {
  const std::string name(image.encoding.substr(0, 32));
  const ImageFormat format = image_format(image.encoding);
  if (!format.known()) return "no image encoding is called '" + name + "'";
  if (image.height == 0 || image.width == 0) return "it has no pixels";
  const std::uint64_t rows = format.rows(image.height);
  if (rows > kMostImageRows || image.width > kMostImageRows || image.step < format.row_bytes(image.width) ||
      rows > image.data.size() / image.step)
    return "its height, width and step need more bytes than it has";
  cv::Mat pixels(static_cast<int>(rows), static_cast<int>(image.width), format.cv_type(),
                 const_cast<std::byte*>(image.data.data()), image.step);
  if (image.is_bigendian && format.depth == ImageFormat::U16) {
    pixels = pixels.clone();
    swap_bytes(pixels);
  }
  const auto* const conversion = std::ranges::find(kConversions, image.encoding, &Conversion::encoding);
  if (conversion != kConversions.end()) {
    const bool shares_color = format.channels == 2 || format.row_halves != 2;  // between two neighbours, or four
    if (shares_color && (image.width % 2 != 0 || (format.row_halves != 2 && image.height % 2 != 0)))
      return name + " of an odd size shares its last color with pixels that are not there";
    cv::cvtColor(pixels, out, conversion->code);
    return {};
  }
  if (format.row_halves != 2) return "OpenCV has no conversion of " + name;
  out = pixels;
  return unfit(out, name);
}

/// Any picture that OpenCV reads, as it is.
std::string pixels_of(std::span<const std::byte> compressed, cv::Mat& out) {
  if (compressed.empty() || compressed.size() > static_cast<std::size_t>(std::numeric_limits<int>::max()))
    return "OpenCV cannot read it";
  const cv::Mat bytes(1, static_cast<int>(compressed.size()), CV_8UC1, const_cast<std::byte*>(compressed.data()));
  out = cv::imdecode(bytes, cv::IMREAD_UNCHANGED);
  return out.empty() ? "OpenCV cannot read it" : unfit(out, "it");
}

/// Blue, green, red of 8 bits, or gray if that will do.
std::string eight_bits(cv::Mat& pixels, bool gray_will_do) {
  if (pixels.depth() != CV_8U) return "it has 16 bits a channel, and JPEG and video have 8; --images png keeps them";
  if (pixels.channels() == 4) cv::cvtColor(pixels, pixels, cv::COLOR_BGRA2BGR);
  if (pixels.channels() == 1 && !gray_will_do) cv::cvtColor(pixels, pixels, cv::COLOR_GRAY2BGR);
  return {};
}

/// Runs what may throw OpenCV's exceptions.
template <class Function>
std::string guarded(Function&& function) {
  try {
    return function();
  } catch (const cv::Exception& e) {
    return "OpenCV: " + e.err;
  }
}

class OpenCvVideo final : public VideoFile {
 public:
  OpenCvVideo(std::string path, double rate) : path_(std::move(path)), rate_(std::round(rate * 100) / 100) {}

  std::string add(const RawImage& image) override { return add_any(image); }
  std::string add(std::span<const std::byte> compressed) override { return add_any(compressed); }

  std::string finish() override {
    writer_.release();
    // The writer itself does not report a full disk.
    return guarded([this]() -> std::string {
      const cv::VideoCapture back(path_);
      if (!back.isOpened()) return "it cannot be opened again";
      const double there = back.get(cv::CAP_PROP_FRAME_COUNT);
      return there == frames_ ? "" : cv::format("it has %.0f frames of %.0f", there, frames_);
    });
  }

 private:
  template <class Source>
  std::string add_any(const Source& source) {
    return guarded([&]() -> std::string {
      cv::Mat pixels;
      std::string cause = pixels_of(source, pixels);
      if (cause.empty()) cause = eight_bits(pixels, false);
      if (!cause.empty()) return cause;
      if (!writer_.isOpened()) open(pixels.size());
      if (pixels.size() != size_) return "its size is not that of the video's first frame";
      writer_.write(pixels);
      ++frames_;
      return {};
    });
  }

  void open(cv::Size size) {
    size_ = size;
    for (const char* code : {"avc1", "mp4v"})  // H.264, which every player and browser shows; else MPEG-4
      if (writer_.open(path_, cv::VideoWriter::fourcc(code[0], code[1], code[2], code[3]), rate_, size_)) return;
    throw Error(ErrorCode::Unavailable, "OpenCV cannot write a video to " + path_,
                "install an OpenCV with FFmpeg, or use --images png");
  }

  std::string path_;
  double rate_;
  cv::VideoWriter writer_;
  cv::Size size_;
  double frames_ = 0;
};

class OpenCvImages final : public ImageLibrary {
 public:
  std::string encode(const RawImage& image, const PictureOptions& options,
                     std::vector<unsigned char>& out) const override {
    return encode_any(image, options, out);
  }
  std::string encode(std::span<const std::byte> compressed, const PictureOptions& options,
                     std::vector<unsigned char>& out) const override {
    return encode_any(compressed, options, out);
  }
  std::unique_ptr<VideoFile> video(const std::string& path, double rate) const override {
    return std::make_unique<OpenCvVideo>(path, rate);
  }

 private:
  template <class Source>
  static std::string encode_any(const Source& source, const PictureOptions& options, std::vector<unsigned char>& out) {
    return guarded([&]() -> std::string {
      cv::Mat pixels;
      std::string cause = pixels_of(source, pixels);
      const bool jpeg = options.as == Picture::Jpeg;
      if (cause.empty() && jpeg) cause = eight_bits(pixels, true);
      if (!cause.empty()) return cause;
      const std::vector<int> how =
          jpeg ? std::vector<int>{cv::IMWRITE_JPEG_QUALITY, options.quality} : std::vector<int>{};
      return cv::imencode(jpeg ? ".jpg" : ".png", pixels, out, how) ? "" : "OpenCV cannot encode it";
    });
  }
};

}  // namespace
}  // namespace cardan::apps

const cardan::apps::ImageLibrary* cardan_image_library() {
  static const cardan::apps::OpenCvImages library;
  return &library;
}
