// SPDX-License-Identifier: Apache-2.0
#include "src/system/launcher/placed_frames.hpp"

#include <gtest/gtest.h>

#include <string>

#include "cardan/error.hpp"
#include "tests/support/run_directory.hpp"

namespace cardan::launcher {
namespace {

class PlacedFramesTest : public test::OwnRunDirectory {
 protected:
  [[nodiscard]] config::Configuration with(int frames) const {
    config::Configuration configuration;
    configuration.domain = domain_;
    for (int i = 0; i < frames; ++i) {
      config::FrameTransform one;
      one.parent = "base";
      one.child = "frame" + std::to_string(i);
      configuration.transforms.push_back(one);
    }
    return configuration;
  }
  static std::size_t known() { return Transforms{TransformsOptions{}}.frames().size(); }
};

TEST_F(PlacedFramesTest, APlanThatIsRefusedTakesNothingAway) {
  PlacedFrames frames;
  frames.prepare(with(4));
  frames.publish();
  EXPECT_EQ(known(), 5U);
  config::Configuration wrong = with(300);
  wrong.topics["/tf_static"].depth = 1'000'000'000;
  EXPECT_THROW(frames.prepare(wrong), Error);
  EXPECT_EQ(known(), 5U);
  frames.prepare(with(4));
  frames.publish();
  EXPECT_EQ(known(), 5U);
  frames.prepare(with(300));
  frames.publish();
  EXPECT_EQ(known(), 301U);
}

}  // namespace
}  // namespace cardan::launcher
