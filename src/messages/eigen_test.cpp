// SPDX-License-Identifier: Apache-2.0
#include "cardan/eigen.hpp"

#include <gtest/gtest.h>

#include <utility>

#include "cardan/local_message.hpp"

namespace cardan {
namespace {

TEST(EigenMap, IsTheCloudsOwnMemory) {
  LocalMessage<PointCloud> cloud(10 * 32);
  const auto points = cloud->resize_points<PointXYZI>(10, 2);
  for (std::size_t i = 0; i < points.size(); ++i)
    points[i] = {.x = static_cast<float>(i), .y = 1, .z = 2, .intensity = 99};
  const auto map = eigen_map(std::as_const(*cloud));
  ASSERT_EQ(map.cols(), 10);
  EXPECT_EQ(map(0, 7), 7.0F);
  EXPECT_EQ(map.rowwise().sum(), Eigen::Vector3f(45, 10, 20));
  eigen_map(*cloud).colwise() += Eigen::Vector3f(0, 0, 1);
  EXPECT_EQ(points[9].z, 3.0F);
  EXPECT_EQ(points[9].intensity, 99.0F);
}

TEST(EigenMap, HasNoColumnsForAnotherLayout) {
  LocalMessage<PointCloud> cloud(10 * 32);
  static_cast<void>(cloud->resize_points<PointXYZI>(10));
  cloud->fields[1].offset = 12;
  EXPECT_EQ(eigen_map(*cloud).cols(), 0);
  EXPECT_EQ(eigen_map(std::as_const(*cloud)).cols(), 0);
}

}  // namespace
}  // namespace cardan
