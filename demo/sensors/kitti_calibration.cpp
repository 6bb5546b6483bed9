// SPDX-License-Identifier: Apache-2.0
#include "demo/sensors/kitti_calibration.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <system_error>

#include "cardan/error.hpp"
#include "cardan/transform_math.hpp"
#include "src/config/json_text.hpp"

namespace cardan::street {
namespace {

namespace fs = std::filesystem;

constexpr const char* kLidarFile = "calib_velo_to_cam.txt";
constexpr const char* kCameraFile = "calib_cam_to_cam.txt";
constexpr const char* kImuFile = "calib_imu_to_velo.txt";
constexpr std::size_t kFileBytes = std::size_t{64} << 10;  // KITTI's have 4 KB at most
constexpr std::size_t kLineBytes = 1024;
constexpr double kLargestNumber = 1e6;  // metres, or pixels

using Matrix3 = std::array<double, 9>;

/// A file of lines `key: number number …`.
class CalibrationFile {
 public:
  explicit CalibrationFile(fs::path path) : path_(std::move(path)) {
    std::error_code failure;
    if (!fs::is_regular_file(path_, failure)) cannot_read(failure ? failure.message() : "it is not a file");
    std::ifstream in(path_, std::ios::binary);
    if (!in) cannot_read("check its permissions");
    text_.resize(kFileBytes + 1);
    in.read(text_.data(), static_cast<std::streamsize>(text_.size()));
    if (in.bad()) cannot_read("the disk reports an error");
    text_.resize(static_cast<std::size_t>(in.gcount()));
    if (text_.size() > kFileBytes) bad(fmt::format("it has more than {} bytes", kFileBytes));
  }

  /// The numbers of a key. Returns false if the file does not have the key.
  template <std::size_t N>
  [[nodiscard]] bool find(std::string_view key, std::array<double, N>& values) const {
    bool found = false;
    std::size_t number = 0;
    for (std::string_view rest = text_; !rest.empty();) {
      std::string_view line = rest.substr(0, rest.find('\n'));
      rest.remove_prefix(std::min(line.size() + 1, rest.size()));
      ++number;
      if (line.size() > kLineBytes) bad(fmt::format("line {} has more than {} characters", number, kLineBytes));
      if (!line.starts_with(key) || line.substr(key.size(), 1) != ":") continue;
      if (found) bad(fmt::format("line {} gives '{}' a second time", number, key));
      found = true;
      read(line.substr(key.size() + 1), key, values);
    }
    return found;
  }
  template <std::size_t N>
  [[nodiscard]] std::array<double, N> get(std::string_view key) const {
    std::array<double, N> values{};
    if (!find(key, values)) bad(fmt::format("the line '{}: …' is missing", key));
    return values;
  }
  [[nodiscard]] Quaternion rotation(std::string_view key) const {
    const auto m = get<9>(key);
    for (std::size_t i = 0; i < 3; ++i) {
      for (std::size_t j = 0; j < 3; ++j) {
        double product = 0;
        for (std::size_t k = 0; k < 3; ++k) product += m[i * 3 + k] * m[j * 3 + k];
        if (std::abs(product - (i == j ? 1 : 0)) > 1e-3) bad(fmt::format("'{}' is not a rotation", key));
      }
    }
    const double determinant =
        m[0] * (m[4] * m[8] - m[5] * m[7]) - m[1] * (m[3] * m[8] - m[5] * m[6]) + m[2] * (m[3] * m[7] - m[4] * m[6]);
    if (determinant < 0) bad(fmt::format("'{}' is a reflection, not a rotation", key));
    return quaternion_of(m);
  }
  [[nodiscard]] Vector3 translation(std::string_view key) const {
    const auto v = get<3>(key);
    return {v[0], v[1], v[2]};
  }
  [[noreturn]] void bad(const std::string& why) const {
    throw Error(ErrorCode::InvalidArgument, fmt::format("{}: {}", path_.string(), why),
                "give the calibration files of the drive's day, as KITTI's raw data has them");
  }

 private:
  [[noreturn]] void cannot_read(const std::string& why) const {
    throw Error(ErrorCode::Unavailable, fmt::format("cannot read {}: {}", path_.string(), why),
                fmt::format("give the folder with {} and {} of the drive's day", kLidarFile, kCameraFile));
  }
  template <std::size_t N>
  void read(std::string_view text, std::string_view key, std::array<double, N>& values) const {
    std::size_t count = 0;
    while (true) {
      text.remove_prefix(std::min(text.find_first_not_of(" \t\r"), text.size()));
      if (text.empty()) break;
      const std::string_view word = text.substr(0, text.find_first_of(" \t\r"));
      text.remove_prefix(word.size());
      double value = 0;
      const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
      const std::string_view shown = word.substr(0, 40);
      if (error != std::errc{} || end != word.data() + word.size())
        bad(fmt::format("'{}' has '{}', which is not a number", key, shown));
      if (!(std::abs(value) <= kLargestNumber)) bad(fmt::format("'{}' has {}, which is out of range", key, shown));
      if (count < N) values[count] = value;
      ++count;
    }
    if (count != N) bad(fmt::format("'{}' has {} numbers instead of {}", key, count, N));
  }
  /// By the largest of the four, which never divides by a small number.
  static Quaternion quaternion_of(const Matrix3& m) {
    const double trace = m[0] + m[4] + m[8];
    const std::array<double, 4> squares{1 + 2 * m[0] - trace, 1 + 2 * m[4] - trace, 1 + 2 * m[8] - trace, 1 + trace};
    const std::array<std::array<double, 4>, 4> rows{{{squares[0], m[1] + m[3], m[2] + m[6], m[7] - m[5]},
                                                     {m[1] + m[3], squares[1], m[5] + m[7], m[2] - m[6]},
                                                     {m[2] + m[6], m[5] + m[7], squares[2], m[3] - m[1]},
                                                     {m[7] - m[5], m[2] - m[6], m[3] - m[1], squares[3]}}};
    const auto largest = static_cast<std::size_t>(std::max_element(squares.begin(), squares.end()) - squares.begin());
    const auto& q = rows[largest];
    const double length = std::sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
    return {q[0] / length, q[1] / length, q[2] / length, q[3] / length};
  }

  fs::path path_;
  std::string text_;
};

/// Splits P into the camera's own matrix, and the place of the reference camera in this one.
void take_projection(const CalibrationFile& file, int camera, KittiCalibration& out, Vector3& reference) {
  const std::string key = fmt::format("P_rect_{:02}", camera);
  const auto p = file.get<12>(key);
  const double fx = p[0], skew = p[1], cx = p[2], fy = p[5], cy = p[6];
  const bool last_row = std::abs(p[8]) < 1e-6 && std::abs(p[9]) < 1e-6 && std::abs(p[10] - 1) < 1e-6;
  if (!(fx >= 1) || !(fy >= 1) || std::abs(p[4]) > 1e-6 || !last_row)
    file.bad(fmt::format("'{}' is not the projection of a rectified camera", key));
  reference.z = p[11];
  reference.y = (p[7] - cy * reference.z) / fy;
  reference.x = (p[3] - cx * reference.z - skew * reference.y) / fx;
  out.projection = {fx, skew, cx, 0, 0, fy, cy, 0, 0, 0, 1, 0};
  std::array<double, 2> size{};
  const std::string of_size = fmt::format("S_rect_{:02}", camera);
  if (!file.find(of_size, size)) return;
  if (!(size[0] >= 1 && size[1] >= 1)) file.bad(fmt::format("'{}' is not the size of a picture", of_size));
  out.width = static_cast<int>(std::lround(size[0]));
  out.height = static_cast<int>(std::lround(size[1]));
}

/// To a nanometre, and to 10⁻⁹ rad: more than any calibration has.
double rounded_number(double value) { return std::round(value * 1e9) / 1e9 + 0.0; }  // + 0.0: no "-0.0"

std::string list_of(const Vector3& v) {
  return fmt::format("[{}, {}, {}]", rounded_number(v.x), rounded_number(v.y), rounded_number(v.z));
}

}  // namespace

int kitti_camera_of(const std::string& pictures) {
  constexpr std::string_view kFolder = "image_0";
  const std::size_t at = pictures.rfind(kFolder);
  if (at == std::string::npos || at + kFolder.size() >= pictures.size()) return kKittiCamera;
  const char digit = pictures[at + kFolder.size()];
  return digit >= '0' && digit <= '3' ? digit - '0' : kKittiCamera;
}

std::string find_kitti_calibration(const std::string& folder) {
  constexpr int kLevels = 4;  // DATE/DRIVE/image_02/data
  std::error_code failure;
  fs::path at = fs::absolute(folder, failure).lexically_normal();
  if (failure || folder.empty()) return {};
  for (int level = 0; level <= kLevels; ++level, at = at.parent_path())
    if (fs::is_regular_file(at / kLidarFile, failure)) return at.string();
  return {};
}

KittiCalibration read_kitti_calibration(const std::string& folder, int camera) {
  KittiCalibration out;
  const CalibrationFile lidar(fs::path(folder) / kLidarFile);
  const Transform to_reference{lidar.translation("T"), lidar.rotation("R")};
  const CalibrationFile cameras(fs::path(folder) / kCameraFile);
  // KITTI's P also moves the points from the reference camera to this one. Here the frame is the camera's own.
  Transform to_camera;
  take_projection(cameras, camera, out, to_camera.translation);
  out.lidar = to_camera * Transform{{}, cameras.rotation("R_rect_00")} * to_reference;
  std::error_code ignored;
  if (const fs::path imu = fs::path(folder) / kImuFile; fs::exists(imu, ignored)) {
    const CalibrationFile file(imu);
    out.imu = {file.translation("T"), file.rotation("R")};
  }
  return out;
}

std::vector<config::FrameTransform> transforms_of(const KittiCalibration& calibration) {
  std::vector<config::FrameTransform> all;
  if (calibration.imu) all.push_back({kImuFrame, kLidarFrame, inverse(*calibration.imu), {}});
  all.push_back({kLidarFrame, kCameraFrame, inverse(calibration.lidar), {}});
  return all;
}

std::string transforms_text(const std::vector<config::FrameTransform>& transforms) {
  std::string text = "{\"transforms\": [";
  for (const config::FrameTransform& t : transforms)
    text += fmt::format("{}\n  {{\"parent\": {}, \"child\": {}, \"xyz\": {}, \"rpy\": {}}}",
                        &t == transforms.data() ? "" : ",", config::json_quoted(t.parent), config::json_quoted(t.child),
                        list_of(t.place.translation), list_of(to_rpy(t.place.rotation)));
  return text + "\n]}\n";
}

}  // namespace cardan::street
