// SPDX-License-Identifier: Apache-2.0
#include "demo/sensors/projection.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>

#include "cardan/transform_math.hpp"

namespace cardan::street {
namespace {

constexpr double kPictureWidth = 800, kPictureHeight = 600;
constexpr double kHalfTurn = std::numbers::pi;
// A focal length of 400 pixels.
const ProjectionMatrix kStraightCamera = pinhole(kPictureWidth, kPictureHeight, kHalfTurn / 2);
// A camera where the LiDAR is, and that looks ahead: the place of the LiDAR in its optical frame.
const Transform kLookingAhead = inverse(Transform{{}, from_rpy(-kHalfTurn / 2, 0, -kHalfTurn / 2)});

Detection3D upright(double x, double y, double z, double length, double width, double height) {
  Detection3D d;
  d.center.position = {x, y, z};
  d.size = {length, width, height};
  return d;
}

std::optional<BoxInPicture> look(const Detection3D& d, const Transform& place = kLookingAhead) {
  return box_in_picture(d, place, kStraightCamera, kPictureWidth, kPictureHeight);
}

TEST(Projection, ABoxAheadIsWhereItsNearFaceIs) {
  const auto found = look(upright(11, 0, 0, 2, 4, 2));  // its near face is 10 m ahead
  ASSERT_TRUE(found);
  EXPECT_EQ(found->count, 12U);
  EXPECT_NEAR(found->left, 400 - 2 * 40, 1e-9);
  EXPECT_NEAR(found->right, 400 + 2 * 40, 1e-9);
  EXPECT_NEAR(found->top, 300 - 40, 1e-9);
  EXPECT_NEAR(found->bottom, 300 + 40, 1e-9);
}

TEST(Projection, LeftOfTheVehicleIsLeftInThePictureAndHighIsAbove) {
  const auto found = look(upright(10, 4, 2, 0.01, 1, 1));
  ASSERT_TRUE(found);
  EXPECT_LT(found->right, 400);
  EXPECT_LT(found->bottom, 300);
}

TEST(Projection, ABoxThatIsTurnedIsDrawnTurned) {
  Detection3D turned = upright(10, 0, 0, 2, 2, 1);
  turned.center.orientation = from_rpy(0, 0, kHalfTurn / 4);
  const auto found = look(turned);
  ASSERT_TRUE(found);
  EXPECT_NEAR(found->right - found->left, 2 * std::sqrt(2.0) * 40, 1e-9) << "across, at the distance of its middle";
}

TEST(Projection, ABoxBehindTheCameraIsNotDrawn) {
  EXPECT_FALSE(look(upright(-10, 0, 0, 2, 2, 2)));
  EXPECT_FALSE(look(upright(0, 0, 0, 0.1, 0.1, 0.1))) << "nearer than the near plane";
}

TEST(Projection, AWallNextToTheCameraIsCutAndNotMirrored) {
  // A wall on the left, from behind the camera to 20 m ahead of it.
  const auto found = look(upright(5, 3, 0, 30, 0.2, 2));
  ASSERT_TRUE(found);
  EXPECT_LT(found->count, 12U);
  EXPECT_EQ(found->left, 0);
  EXPECT_LT(found->right, 400) << "all of it is on the left";
  for (std::size_t i = 0; i < found->count; ++i) {
    const PictureLine& l = found->lines[i];
    for (const double x : {l.x0, l.x1}) EXPECT_TRUE(x >= 0 && x <= kPictureWidth) << x;
    for (const double y : {l.y0, l.y1}) EXPECT_TRUE(y >= 0 && y <= kPictureHeight) << y;
  }
}

TEST(Projection, OutsideOfThePictureNothingIsDrawn) {
  EXPECT_FALSE(look(upright(10, 50, 0, 1, 1, 1)));
  EXPECT_FALSE(look(upright(10, 0, 40, 1, 1, 1)));
  const auto partly = look(upright(10, 10, 0, 0.01, 4, 1));  // from 8 to 12 m to the left, of which the picture has 10
  ASSERT_TRUE(partly);
  EXPECT_EQ(partly->left, 0);
  EXPECT_NEAR(partly->right, 400 - 8 * 40, 0.5);
}

TEST(Projection, NumbersThatAreNotFiniteDrawNothing) {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN(), infinity = std::numeric_limits<double>::infinity();
  EXPECT_FALSE(look(upright(nan, 0, 0, 1, 1, 1)));
  EXPECT_FALSE(look(upright(10, 0, 0, infinity, 1, 1)));
  EXPECT_FALSE(look(upright(10, 0, 0, 1, 1, 1), {{0, 0, nan}, {}}));
  EXPECT_FALSE(box_in_picture(upright(10, 0, 0, 1, 1, 1), kLookingAhead, {}, kPictureWidth, kPictureHeight))
      << "no projection is known";
  const auto huge = look(upright(1e300, 0, 0, 1e299, 1e299, 1e299));
  if (huge) {
    EXPECT_LE(huge->right, kPictureWidth);
  }
  static_cast<void>(box_in_picture(upright(10, 0, 0, 1, 1, 1), kLookingAhead, kStraightCamera, -1, nan));
}

}  // namespace
}  // namespace cardan::street
