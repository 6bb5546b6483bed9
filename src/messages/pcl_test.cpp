// SPDX-License-Identifier: Apache-2.0
#include "cardan/pcl.hpp"

#include <gtest/gtest.h>

#include "cardan/error.hpp"
#include "cardan/local_message.hpp"

namespace cardan {
namespace {

static_assert(sizeof(PointXYZ) == sizeof(pcl::PointXYZ) && alignof(PointXYZ) == alignof(pcl::PointXYZ));
static_assert(sizeof(PointXYZI) == sizeof(pcl::PointXYZI) && alignof(PointXYZI) == alignof(pcl::PointXYZI));
static_assert(offsetof(pcl::PointXYZI, intensity) == offsetof(PointXYZI, intensity));

TEST(ToPcl, CopiesPointsSizesAndStamp) {
  LocalMessage<PointCloud> cloud(10 * 32);
  cloud->header.stamp = 5'000'001'000;
  cloud->header.frame_id = "lidar";
  const auto points = cloud->resize_points<PointXYZI>(10, 2);
  points[7] = {.x = 1, .y = 2, .z = 3, .intensity = 4};
  const auto copy = to_pcl<pcl::PointXYZI>(*cloud);
  EXPECT_EQ(copy.width, 5U);
  EXPECT_EQ(copy.height, 2U);
  EXPECT_EQ(copy.header.frame_id, "lidar");
  EXPECT_EQ(copy.header.stamp, 5'000'001U);
  EXPECT_EQ(copy.points[7].z, 3.0F);
  EXPECT_EQ(copy.points[7].intensity, 4.0F);
  EXPECT_EQ(copy.points[7].data[3], 1.0F);
  EXPECT_EQ(to_pcl<pcl::PointXYZ>(*cloud).points[7].y, 2.0F);
}

TEST(ToPcl, RefusesACloudWithoutPositions) {
  LocalMessage<PointCloud> cloud(10 * 32);
  static_cast<void>(cloud->resize_points<PointXYZI>(10));
  cloud->fields.clear();
  EXPECT_THROW(static_cast<void>(to_pcl<pcl::PointXYZ>(*cloud)), Error);
}

}  // namespace
}  // namespace cardan
