// SPDX-License-Identifier: Apache-2.0
#include "demo/sensors/kitti_calibration.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cardan/error.hpp"
#include "cardan/transform_math.hpp"

namespace cardan::street {
namespace {

namespace fs = std::filesystem;

/// A rotation as the nine numbers of a file.
std::array<double, 9> matrix_of(const Quaternion& q) {
  std::array<double, 9> m{};
  for (std::size_t column = 0; column < 3; ++column) {
    const Vector3 v = rotate(q, {column == 0 ? 1.0 : 0.0, column == 1 ? 1.0 : 0.0, column == 2 ? 1.0 : 0.0});
    m[column] = v.x;
    m[3 + column] = v.y;
    m[6 + column] = v.z;
  }
  return m;
}

template <std::size_t N>
std::string line_of(const std::string& key, const std::array<double, N>& values) {
  std::string text = key + ":";
  for (const double value : values) text += fmt::format(" {:.9e}", value);  // KITTI's has six digits
  return text + "\n";
}

/// As KITTI writes it in its paper: pixels = P · R_rect · (R | T) · point.
std::array<double, 2> pixel_of(const std::array<double, 12>& p, const std::array<double, 9>& rect,
                               const std::array<double, 9>& r, const std::array<double, 3>& t,
                               const std::array<double, 3>& point) {
  std::array<double, 3> camera{}, rectified{}, pixel{};
  for (std::size_t i = 0; i < 3; ++i) {
    camera[i] = t[i];
    for (std::size_t k = 0; k < 3; ++k) camera[i] += r[i * 3 + k] * point[k];
  }
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t k = 0; k < 3; ++k) rectified[i] += rect[i * 3 + k] * camera[k];
  for (std::size_t i = 0; i < 3; ++i) {
    pixel[i] = p[i * 4 + 3];
    for (std::size_t k = 0; k < 3; ++k) pixel[i] += p[i * 4 + k] * rectified[k];
  }
  return {pixel[0] / pixel[2], pixel[1] / pixel[2]};
}

class Calibration : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = testing::TempDir() + "cardan-calibration-XXXXXX";
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
    write("calib_velo_to_cam.txt", "calib_time: 15-Mar-2012 11:37:16\r\n" + line_of("R", r_) + line_of("T", t_) +
                                       "delta_f: 0.000000e+00 0.000000e+00\n");
    write("calib_cam_to_cam.txt", cameras());
  }
  void TearDown() override { fs::remove_all(folder_); }
  void write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name, std::ios::binary) << text;
  }
  std::string cameras() const {
    return "corner_dist: 9.950000e-02\nS_rect_02: 1.242000e+03 3.750000e+02\n" + line_of("R_rect_00", rect_) +
           line_of("R_rect_02", rect_) + line_of("P_rect_02", p_) + line_of("P_rect_00", p0_);
  }
  /// The reason for which the folder is refused.
  std::string refused() const {
    try {
      static_cast<void>(read_kitti_calibration(folder_.string()));
      return "it was read";
    } catch (const Error& error) {
      EXPECT_NE(error.cause().find(folder_.string()), std::string::npos) << error.cause();
      EXPECT_NE(error.remedy().find("calib"), std::string::npos) << error.remedy();
      return error.cause();
    }
  }
  void expect_refused(const std::string& file, const std::string& text, const std::string& why) const {
    write(file, text);
    EXPECT_NE(refused().find(why), std::string::npos) << refused();
    EXPECT_NE(refused().find(file), std::string::npos) << refused();
  }

  fs::path folder_;
  // A camera that looks ahead, a little turned, 0.3 m ahead of the LiDAR.
  std::array<double, 9> r_ = matrix_of(inverse(from_rpy(-1.58, 0.01, -1.56)));
  std::array<double, 3> t_{-0.004, -0.08, -0.3};
  std::array<double, 9> rect_ = matrix_of(from_rpy(0.004, -0.007, 0.01));
  std::array<double, 12> p_{720, 0, 610, 45, 0, 720, 173, 0.2, 0, 0, 1, 0.003};
  std::array<double, 12> p0_{720, 0, 610, 0, 0, 720, 173, 0, 0, 0, 1, 0};
};

TEST_F(Calibration, PointsComeWhereKittisFormulaPutsThem) {
  const KittiCalibration read = read_kitti_calibration(folder_.string());
  EXPECT_EQ(read.width, 1242);
  EXPECT_EQ(read.height, 375);
  EXPECT_FALSE(read.imu);
  EXPECT_EQ(read.projection[3], 0) << "the frame is the camera's own";
  for (const auto& point : {std::array{8.0, 0.0, 0.0}, std::array{30.0, -9.0, -1.5}, std::array{3.0, 1.0, 0.7}}) {
    const auto expected = pixel_of(p_, rect_, r_, t_, point);
    const cardan::Point at = read.lidar * cardan::Point{point[0], point[1], point[2]};
    const ProjectionMatrix& k = read.projection;
    EXPECT_NEAR((k[0] * at.x + k[1] * at.y + k[2] * at.z) / at.z, expected[0], 1e-4);
    EXPECT_NEAR((k[5] * at.y + k[6] * at.z) / at.z, expected[1], 1e-4);
  }
  const KittiCalibration other = read_kitti_calibration(folder_.string(), 0);
  EXPECT_EQ(other.width, 0) << "the file does not have this one's size";
  EXPECT_NEAR(read.lidar.translation.x - other.lidar.translation.x, (45 - 610 * 0.003) / 720, 1e-9);
  EXPECT_THROW(static_cast<void>(read_kitti_calibration(folder_.string(), 3)), Error);
}

TEST_F(Calibration, EveryRotationComesBack) {
  for (const double roll : {0.0, 1.5707963, 3.1415926, -2.0}) {
    for (const double pitch : {0.0, 1.5, -1.57}) {
      for (const double yaw : {0.0, 3.1, -1.5707963}) {
        const Quaternion turn = from_rpy(roll, pitch, yaw);
        write("calib_velo_to_cam.txt", line_of("R", matrix_of(turn)) + line_of("T", t_));
        write("calib_cam_to_cam.txt", line_of("R_rect_00", matrix_of({})) + line_of("P_rect_02", p0_));
        const Quaternion q = read_kitti_calibration(folder_.string()).lidar.rotation;
        EXPECT_NEAR(std::abs(q.x * turn.x + q.y * turn.y + q.z * turn.z + q.w * turn.w), 1, 1e-9);
      }
    }
  }
}

TEST_F(Calibration, ItsEntriesAreATreeFromTheImuToTheCamera) {
  const Transform imu{{-0.8, 0.3, -0.8}, from_rpy(0.01, 0.002, -0.001)};
  write("calib_imu_to_velo.txt",
        line_of("R", matrix_of(imu.rotation)) + line_of("T", std::array{imu.translation.x, 0.3, -0.8}));
  const KittiCalibration read = read_kitti_calibration(folder_.string());
  const auto entries = transforms_of(read);
  ASSERT_EQ(entries.size(), 2U);
  EXPECT_EQ(entries[0].parent + " " + entries[0].child, "imu lidar");
  EXPECT_EQ(entries[1].parent + " " + entries[1].child, "lidar camera");
  const auto parsed = nlohmann::json::parse(transforms_text(entries)).at("transforms");
  ASSERT_EQ(parsed.size(), 2U);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(parsed[i].at("parent"), entries[i].parent);
    EXPECT_EQ(parsed[i].at("child"), entries[i].child);
    const auto xyz = parsed[i].at("xyz").get<std::vector<double>>();
    const auto rpy = parsed[i].at("rpy").get<std::vector<double>>();
    // The printed place and the place that was read undo each other.
    const Transform left = entries[i].place * inverse(Transform{{xyz.at(0), xyz.at(1), xyz.at(2)},
                                                                from_rpy(rpy.at(0), rpy.at(1), rpy.at(2))});
    EXPECT_NEAR(left.translation.x, 0, 1e-8);
    EXPECT_NEAR(left.translation.y, 0, 1e-8);
    EXPECT_NEAR(left.translation.z, 0, 1e-8);
    EXPECT_NEAR(std::abs(left.rotation.w), 1, 1e-15);
  }
  EXPECT_NEAR(inverse(entries[0].place).translation.x, -0.8, 1e-9) << "the IMU is behind the LiDAR";
  write("calib_imu_to_velo.txt", "R: 1\n");
  EXPECT_NE(refused().find("calib_imu_to_velo.txt: "), std::string::npos) << "it is optional, but not half of it";
}

TEST_F(Calibration, FilesThatAreNotACalibrationAreReported) {
  expect_refused("calib_cam_to_cam.txt", line_of("P_rect_02", p_), "the line 'R_rect_00: …' is missing");
  expect_refused("calib_cam_to_cam.txt", line_of("R_rect_00", rect_), "the line 'P_rect_02: …' is missing");
  expect_refused("calib_cam_to_cam.txt", "", "is missing");
  expect_refused("calib_cam_to_cam.txt", cameras() + line_of("P_rect_02", p_),
                 "line 7 gives 'P_rect_02' a second time");
  expect_refused("calib_cam_to_cam.txt", "P_rect_02: 1 2 3\n", "'P_rect_02' has 3 numbers instead of 12");
  expect_refused("calib_cam_to_cam.txt", "P_rect_02: 1 2 nan\n", "out of range");
  expect_refused("calib_cam_to_cam.txt", "P_rect_02: 1 -inf 3\n", "out of range");
  expect_refused("calib_cam_to_cam.txt", "P_rect_02: 1e400 2 3\n", "not a number");
  expect_refused("calib_cam_to_cam.txt", "P_rect_02: 1 2 0x3\n", "'0x3', which is not a number");
  expect_refused("calib_cam_to_cam.txt", "P_rect_02: 0 0 0 0 0 0 0 0 0 0 1 0\n", "not the projection");
  expect_refused("calib_cam_to_cam.txt", std::string(2000, 'x') + "\n", "line 1 has more than 1024 characters");
  expect_refused("calib_cam_to_cam.txt", std::string(70'000, '\n'), "more than 65536 bytes");
  expect_refused("calib_cam_to_cam.txt", std::string(500, '\0'), "is missing");
  expect_refused("calib_cam_to_cam.txt", line_of("P_rect_02", p_) + "S_rect_02: 0 -3\n", "not the size");
  write("calib_cam_to_cam.txt", cameras());
  EXPECT_EQ(refused(), "it was read");

  auto scaled = r_;
  for (double& value : scaled) value *= 1.1;
  expect_refused("calib_velo_to_cam.txt", line_of("R", scaled) + line_of("T", t_), "'R' is not a rotation");
  auto mirrored = r_;
  for (std::size_t i = 0; i < 3; ++i) mirrored[i] = -mirrored[i];
  expect_refused("calib_velo_to_cam.txt", line_of("R", mirrored) + line_of("T", t_), "a reflection");
  expect_refused("calib_velo_to_cam.txt", line_of("R", r_), "the line 'T: …' is missing");
  fs::remove(folder_ / "calib_velo_to_cam.txt");
  EXPECT_NE(refused().find("No such file"), std::string::npos) << refused();
  ASSERT_EQ(::mkfifo((folder_ / "calib_velo_to_cam.txt").c_str(), 0600), 0);
  EXPECT_NE(refused().find("it is not a file"), std::string::npos) << refused();
}

TEST_F(Calibration, ItIsFoundAboveADrivesPictures) {
  const fs::path data = folder_ / "drive_sync/image_03/data";
  fs::create_directories(data);
  for (const fs::path& from : {folder_, folder_ / "drive_sync", data, data / "%010d.png"})
    EXPECT_EQ(find_kitti_calibration(from.string()), folder_.string()) << from;
  EXPECT_EQ(find_kitti_calibration((data / "too/deep").string()), "");
  EXPECT_EQ(find_kitti_calibration(""), "");
  EXPECT_EQ(kitti_camera_of((data / "%010d.png").string()), 3);
  EXPECT_EQ(kitti_camera_of("drive/image_0"), 2);
  EXPECT_EQ(kitti_camera_of("street.avi"), 2);
}

}  // namespace
}  // namespace cardan::street
