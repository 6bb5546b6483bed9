// SPDX-License-Identifier: Apache-2.0
#include "demo/sensors/kitti.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "cardan/error.hpp"

namespace cardan::street {
namespace {

class Kitti : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = testing::TempDir() + "cardan-kitti-XXXXXX";
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  void write(const std::string& name, std::size_t floats) const {
    std::ofstream out(folder_ / name, std::ios::binary);
    for (std::size_t i = 0; i < floats; ++i) {
      const auto value = static_cast<float>(i);
      out.write(reinterpret_cast<const char*>(&value), sizeof(value));
    }
  }
  std::filesystem::path folder_;
};

TEST_F(Kitti, ScansComeInOrderOfTheirNames) {
  write("0000000001.bin", 8);
  write("0000000000.bin", 4);
  write("notes.txt", 1);
  KittiFolder folder(folder_.string());
  EXPECT_EQ(folder.scans(), 2U);
  std::vector<Point> out(10);
  EXPECT_EQ(folder.read(0, out), 1U);
  EXPECT_EQ(folder.read(1, out), 2U);
  EXPECT_FLOAT_EQ(out[1].x, 4);
  EXPECT_FLOAT_EQ(out[1].intensity, 7 * 255);
  EXPECT_EQ(folder.read(2, out), 1U) << "starts again";
  EXPECT_EQ(folder.read(1, std::span(out).first(1)), 1U) << "what does not fit is left out";
}

TEST_F(Kitti, AFileThatIsNotAScanIsReported) {
  EXPECT_THROW(KittiFolder{folder_.string()}, Error);
  EXPECT_THROW(KittiFolder{(folder_ / "missing").string()}, Error);
  write("0000000000.bin", 5);
  try {
    KittiFolder folder(folder_.string());
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(error.cause().find("20 bytes"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace cardan::street
