// SPDX-License-Identifier: Apache-2.0
#include "cardan/point_cloud.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <utility>

#include "cardan/local_message.hpp"

namespace cardan {
namespace {

TEST(PointCloud, GivesPointsInPlaceInPclsLayout) {
  LocalMessage<PointCloud> cloud(64 * 32);
  const auto points = cloud->resize_points<PointXYZI>(64, 4);
  ASSERT_EQ(points.size(), 64U);
  EXPECT_EQ(points[0].one, 1.0F);
  points[5] = {.x = 1, .y = 2, .z = 3, .intensity = 4};
  EXPECT_EQ(static_cast<void*>(points.data()), cloud->data.data());
  EXPECT_EQ(cloud->height, 4U);
  EXPECT_EQ(cloud->width, 16U);
  EXPECT_EQ(cloud->point_step, 32U);
  EXPECT_EQ(cloud->row_step, 512U);
  EXPECT_EQ(cloud->fields.size(), 4U);

  const PointCloud& seen = *cloud;
  EXPECT_EQ(seen.points<PointXYZI>()[5].intensity, 4);
  EXPECT_TRUE(seen.points<PointXYZ>().empty()) << "another size";
}

TEST(PointCloud, PointXyzHasSixteenBytes) {
  LocalMessage<PointCloud> cloud(64 * 16);
  EXPECT_EQ(cloud->resize_points_for_overwrite<PointXYZ>(64).size(), 64U);
  EXPECT_EQ(cloud->point_step, 16U);
  EXPECT_EQ(cloud->points<PointXYZ>().size(), 64U);
}

TEST(PointCloud, SaysWhenItDoesNotFit) {
  LocalMessage<PointCloud> cloud(100);
  EXPECT_THROW(static_cast<void>(cloud->resize_points<PointXYZ>(7)), std::length_error);
  EXPECT_THROW(static_cast<void>(cloud->resize_points<PointXYZ>(5, 2)), std::length_error);
  EXPECT_THROW(static_cast<void>(cloud->resize_points<PointXYZ>(5, 0)), std::length_error);
  EXPECT_THROW(static_cast<void>(cloud->resize_points<PointXYZ>(std::numeric_limits<std::size_t>::max())),
               std::length_error);
}

TEST(PointCloud, AReceivedCloudThatDoesNotFitTogetherHasNoPoints) {
  LocalMessage<PointCloud> cloud(64 * 32);
  const auto has_points = [&] { return !std::as_const(*cloud).points<PointXYZI>().empty(); };
  const auto reset = [&] { static_cast<void>(cloud->resize_points<PointXYZI>(64, 4)); };
  reset();
  EXPECT_TRUE(has_points());
  cloud->height = 5;
  EXPECT_FALSE(has_points());
  reset();
  cloud->width = std::numeric_limits<std::uint32_t>::max();
  cloud->height = std::numeric_limits<std::uint32_t>::max();
  EXPECT_FALSE(has_points());
  reset();
  cloud->width = 0x08000000;  // × 32 is 2^32
  cloud->row_step = 0;
  EXPECT_FALSE(has_points());
  reset();
  cloud->is_bigendian = true;
  EXPECT_FALSE(has_points());
  reset();
  cloud->fields[3].offset = 20;
  EXPECT_FALSE(has_points());
  reset();
  cloud->fields[0].datatype = PointField::Type::Float64;
  EXPECT_FALSE(has_points());
  reset();
  cloud->fields[0].offset = std::numeric_limits<std::uint32_t>::max();
  EXPECT_FALSE(has_points());
  EXPECT_EQ(cloud->float_offset("x"), -1);
  reset();
  cloud->row_step += 32;
  EXPECT_FALSE(has_points());
}

TEST(PointCloud, FindsFieldsByName) {
  LocalMessage<PointCloud> cloud(64 * 32);
  static_cast<void>(cloud->resize_points<PointXYZI>(1));
  EXPECT_EQ(cloud->float_offset("intensity"), 16);
  EXPECT_EQ(cloud->float_offset("ring"), -1);
  EXPECT_EQ(cloud->find_field("ring"), nullptr);
}

TEST(PointCloud, FrameHasThePointsAsPayloadAndIsDenseAfterIt) {
  LocalMessage<PointCloud> cloud(64 * 32);
  static_cast<void>(cloud->resize_points<PointXYZI>(64));
  CdrFrame frame;
  frame_cdr(*cloud, frame);
  EXPECT_EQ(static_cast<const void*>(frame.payload.data()), cloud->data.data());
  ASSERT_EQ(frame.suffix.size(), 1U);
  EXPECT_EQ(frame.suffix[0], std::byte{1});
}

}  // namespace
}  // namespace cardan
