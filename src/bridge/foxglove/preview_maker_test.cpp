// SPDX-License-Identifier: Apache-2.0
#include "src/bridge/foxglove/preview_maker.hpp"

#include <gtest/gtest.h>
#include <poll.h>

#include <ctime>
#include <memory>

#include "cardan/clock.hpp"

namespace cardan::bridge::foxglove {
namespace {

void put(std::vector<std::byte>& to, std::uint32_t word) {
  while (to.size() % 4 != 0) to.push_back({});
  const auto* const bytes = reinterpret_cast<const std::byte*>(&word);
  to.insert(to.end(), bytes, bytes + sizeof(word));
}

/// CDR of a grey image.
FramePtr image(std::uint32_t width, std::uint32_t height) {
  auto frame = std::make_shared<OutgoingFrame>();
  std::vector<std::byte>& cdr = frame->cdr.prefix;
  put(cdr, 0x0100);                                          // little-endian
  for (const std::uint32_t word : {0U, 0U}) put(cdr, word);  // stamp
  put(cdr, 1);                                               // frame_id
  cdr.push_back({});
  put(cdr, height);
  put(cdr, width);
  put(cdr, 6);
  for (const char c : {'m', 'o', 'n', 'o', '8', '\0'}) cdr.push_back(static_cast<std::byte>(c));
  cdr.push_back({});  // is_bigendian
  put(cdr, width);
  put(cdr, width * height);
  cdr.resize(cdr.size() + std::size_t{width} * height);
  return frame;
}

std::int64_t cpu_ns(clockid_t of) {
  timespec now{};
  ::clock_gettime(of, &now);
  return now.tv_sec * 1'000'000'000 + now.tv_nsec;
}

PreviewMaker::Made wait_for_one(PreviewMaker& preview_maker) {
  for (;;) {
    pollfd ready{.fd = preview_maker.fd(), .events = POLLIN, .revents = 0};
    ::poll(&ready, 1, -1);
    if (auto all = preview_maker.results(); !all.empty()) return std::move(all.front());
  }
}

TEST(FoxglovePreviewMaker, MakesEachPreviewOfAMessage) {
  PreviewMaker preview_maker;
  const FramePtr frame = image(100, 50);
  preview_maker.start({.channel = 7,
                       .number = 3,
                       .frame = frame,
                       .previews = {{Preview::Kind::Picture, 320}, {Preview::Kind::Points, 5'000}}});
  const PreviewMaker::Made made = wait_for_one(preview_maker);
  EXPECT_EQ(made.channel, 7U);
  EXPECT_EQ(made.number, 3U);
  ASSERT_EQ(made.previews.size(), 2U);
  EXPECT_FALSE(made.previews.front().second->cdr.prefix.empty());
}

TEST(FoxglovePreviewMaker, UsesHalfOfAProcessorAtMostWhateverItIsAskedFor) {
  if (!makes_pictures()) GTEST_SKIP() << "no libjpeg";
  PreviewMaker preview_maker;
  const FramePtr frame = image(640, 400);
  const auto others = [] { return cpu_ns(CLOCK_PROCESS_CPUTIME_ID) - cpu_ns(CLOCK_THREAD_CPUTIME_ID); };
  const std::int64_t begin = steady_now(), used = others();
  for (std::uint64_t n = 1; n <= 40; ++n) {  // as a client that never has enough
    preview_maker.start({.channel = 1, .number = n, .frame = frame, .previews = {{Preview::Kind::Picture, 640}}});
    EXPECT_EQ(wait_for_one(preview_maker).number, n);
  }
  const auto passed = static_cast<double>(steady_now() - begin);
  // A half, and more because the last rest is not waited for.
  EXPECT_LT(static_cast<double>(others() - used), 0.55 * passed);
}

TEST(FoxglovePreviewMaker, EndsWhileItRests) {
  const FramePtr frame = image(1920, 1200);
  for (int i = 0; i < 20; ++i) {
    PreviewMaker preview_maker;
    preview_maker.start({.channel = 1, .number = 1, .frame = frame, .previews = {{Preview::Kind::Picture, 1920}}});
    if (i % 2 == 0) static_cast<void>(wait_for_one(preview_maker));
  }
}

}  // namespace
}  // namespace cardan::bridge::foxglove
