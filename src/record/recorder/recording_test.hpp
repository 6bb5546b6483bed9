// SPDX-License-Identifier: Apache-2.0
// Topics to be recorded, and what is in the files, for the tests of the recorder.
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "cardan/cardan.hpp"
#include "cardan/local_message.hpp"
#include "cardan/mcap/reader.hpp"
#include "cardan/mcap/verify.hpp"
#include "cardan/recorder.hpp"
#include "tests/support/run_directory.hpp"

namespace cardan::record::test {

using namespace std::chrono_literals;

inline constexpr std::uint32_t kRows = 200, kColumns = 400;  // 240,000 bytes: no multiple of a block
// As deep as what is published in a test: nothing is lost however late the recorder gets to run.
inline constexpr Topic<Image> kCamera{"/camera", {.max_bytes = kRows * kColumns * 3, .depth = 64}};
inline constexpr Topic<Imu> kImu{"/imu", {.depth = 1024}};
inline constexpr Topic<Image> kShallow{"/shallow", {.max_bytes = kRows * kColumns * 3, .depth = 8}};

class RecorderTest : public cardan::test::OwnRunDirectory {
 protected:
  RecorderTest() {
    std::string name = (std::filesystem::temp_directory_path() / "cardan-record-XXXXXX").string();
    folder_ = ::mkdtemp(name.data());
  }
  ~RecorderTest() override { std::filesystem::remove_all(folder_); }

  [[nodiscard]] RecorderOptions options() const {
    return {.path = folder_ + "/a.mcap", .domain = domain_, .min_space = 0};
  }
  std::string folder_;
};

inline void publish_image(Publisher<Image>& out, std::uint32_t number) {
  auto loan = out.loan();
  ASSERT_TRUE(loan);
  const auto pixels = loan->resize(kRows, kColumns, "bgr8");
  for (std::size_t i = 0; i < pixels.size(); i += 64)
    std::memset(pixels.data() + i, static_cast<int>(number), std::min<std::size_t>(64, pixels.size() - i));
  loan->header.stamp = number;
  loan->header.frame_id = FrameId("front");
  out.publish(std::move(loan));
}

inline void publish_imu(Publisher<Imu>& out, std::uint32_t number) {
  auto loan = out.loan();
  ASSERT_TRUE(loan);
  loan->header.stamp = number;
  loan->angular_velocity.x = number;
  out.publish(std::move(loan));
}

inline bool reaches(const auto& done, std::chrono::milliseconds limit = 60s) {
  const auto until = std::chrono::steady_clock::now() + limit;
  while (!done() && std::chrono::steady_clock::now() < until) std::this_thread::sleep_for(2ms);
  return done();
}

inline const TopicReport& of_topic(const RecorderReport& report, const std::string& name) {
  for (const TopicReport& topic : report.topics)
    if (topic.topic == name) return topic;
  static const TopicReport none;
  return none;
}

/// The messages of a topic, each checked to be what was published under its number.
inline std::vector<std::uint32_t> numbers_in(const std::string& path, const std::string& topic) {
  const mcap::Reader reader(path);
  EXPECT_TRUE(reader.complete()) << path;
  std::vector<std::uint32_t> numbers;
  mcap::Messages messages = reader.messages({.wanted = [&](const mcap::Channel& c) { return c.topic == topic; }});
  while (const auto m = messages.next()) {
    if (topic == kCamera.name) {
      LocalMessage<Image> image(kRows * kColumns * 3);
      EXPECT_TRUE(from_cdr(m->message.data, *image));
      const auto number = static_cast<std::uint32_t>(image->header.stamp);
      EXPECT_EQ(image->data.size(), kRows * kColumns * 3);
      EXPECT_TRUE(std::all_of(image->data.begin(), image->data.end(),
                              [&](std::uint8_t pixel) { return pixel == static_cast<std::uint8_t>(number); }));
      numbers.push_back(number);
    } else {
      LocalMessage<Imu> imu;
      EXPECT_TRUE(from_cdr(m->message.data, *imu));
      EXPECT_EQ(imu->angular_velocity.x, static_cast<double>(imu->header.stamp));
      numbers.push_back(static_cast<std::uint32_t>(imu->header.stamp));
    }
    EXPECT_EQ(m->message.sequence, numbers.back());
  }
  EXPECT_TRUE(messages.problems().empty());
  return numbers;
}

inline std::vector<std::uint32_t> up_to(std::uint32_t last) {
  std::vector<std::uint32_t> all;
  for (std::uint32_t i = 1; i <= last; ++i) all.push_back(i);
  return all;
}

inline void expect_good(const std::string& path) {
  const auto verification = mcap::verify(path);
  EXPECT_TRUE(verification.good()) << path;
  for (const auto& problem : verification.problems) ADD_FAILURE() << problem.offset << ": " << problem.cause;
}

}  // namespace cardan::record::test
