// SPDX-License-Identifier: Apache-2.0
#include "cardan/messages/detections.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "cardan/local_message.hpp"

namespace cardan {
namespace {

TEST(Detections2D, ComeBackFromTheRosForm) {
  LocalMessage<Detections2D> m(4096);
  m->header.frame_id = "front";
  m->detections.push_back({.label = "pedestrian",
                           .score = 0.9,
                           .center_x = 10,
                           .center_y = 20,
                           .theta = 0,
                           .size_x = 4,
                           .size_y = 8,
                           .id = "7"});
  m->detections.push_back({.label = "bicycle",
                           .score = 0.5,
                           .center_x = 1,
                           .center_y = 2,
                           .theta = 0.1,
                           .size_x = 3,
                           .size_y = 4,
                           .id = {}});
  const auto bytes = to_cdr(*m);
  LocalMessage<Detections2D> back(4096);
  const auto result = from_cdr(bytes, *back);
  ASSERT_TRUE(result) << result.text();
  ASSERT_EQ(back->detections.size(), 2U);
  EXPECT_EQ(back->detections[0].label, "pedestrian");
  EXPECT_EQ(back->detections[0].id, "7");
  EXPECT_EQ(back->detections[1].theta, 0.1);
  EXPECT_EQ(to_cdr(*back), bytes);
}

TEST(Detections3D, ComeBackFromTheRosForm) {
  LocalMessage<Detections3D> m(4096);
  Detection3D car;
  car.label = "car";
  car.score = 0.75;
  car.center.position = {1, 2, 3};
  car.size = {4.5, 1.8, 1.5};
  m->detections.push_back(car);
  const auto bytes = to_cdr(*m);
  LocalMessage<Detections3D> back(4096);
  ASSERT_TRUE(from_cdr(bytes, *back));
  EXPECT_EQ(back->detections[0].size, car.size);
  EXPECT_EQ(back->detections[0].center, car.center);
  EXPECT_EQ(to_cdr(*back), bytes);
}

TEST(Detections2D, TakesTheHypothesisWithTheHighestScore) {
  std::vector<std::byte> bytes;
  std::vector<std::byte> unused;
  CdrWriter writer(bytes, unused, nullptr);
  const std::array<double, 43> pose_and_covariance{};
  CdrForm<Header>::write(writer, Header{});
  writer.count(3);
  for (const auto& [label, score] : {std::pair{"car", 0.2}, std::pair{"pedestrian", 0.7}, std::pair{"tree", 0.1}}) {
    writer.string(label);
    writer.number(score);
    writer.numbers(pose_and_covariance.data(), pose_and_covariance.size());
  }
  for (int i = 0; i < 5; ++i) writer.number(1.0);
  writer.string("id");
  Detection2D detection;
  const auto result = from_cdr(bytes, detection);
  ASSERT_TRUE(result) << result.text();
  EXPECT_EQ(detection.label, "pedestrian");
  EXPECT_EQ(detection.score, 0.7);
}

TEST(Detections2D, AnnouncingMoreThanThereIsNeedsNoMemory) {
  std::vector<std::byte> bytes;
  std::vector<std::byte> unused;
  CdrWriter writer(bytes, unused, nullptr);
  CdrForm<Header>::write(writer, Header{});
  writer.count(0xffffffff);
  LocalMessage<Detections2D> m(4096);
  const auto result = from_cdr(bytes, *m);
  EXPECT_EQ(result.error, CdrError::Truncated);
  EXPECT_EQ(result.field, "detections");
}

}  // namespace
}  // namespace cardan
