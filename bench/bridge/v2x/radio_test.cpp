// SPDX-License-Identifier: Apache-2.0
#include "bench/bridge/v2x/radio.hpp"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cmath>

namespace cardan::bench::v2x {
namespace {

constexpr std::int64_t kMs = 1'000'000;

std::vector<std::byte> frame_of(std::size_t bytes, int number) {
  std::vector<std::byte> frame(bytes);
  frame[0] = static_cast<std::byte>(number);
  return frame;
}

TEST(V2xAir, DelaysByTheRateAndTheDelay) {
  Air air({.delay_ms = 2, .jitter_ms = 0, .loss_percent = 0, .rate_mbit = 8}, 1);
  EXPECT_EQ(air.next(), 0);
  air.send(frame_of(1000, 1), 100 * kMs);  // 1000 bytes take 1 ms
  air.send(frame_of(1000, 2), 100 * kMs);  // and wait for each other
  EXPECT_EQ(air.next(), 103 * kMs);
  std::vector<std::byte> frame;
  EXPECT_FALSE(air.receive(frame, 103 * kMs - 1));
  ASSERT_TRUE(air.receive(frame, 103 * kMs));
  EXPECT_EQ(frame[0], std::byte{1});
  EXPECT_EQ(air.next(), 104 * kMs);
  ASSERT_TRUE(air.receive(frame, 104 * kMs));
  EXPECT_EQ(frame[0], std::byte{2});
  EXPECT_FALSE(air.receive(frame, 1000 * kMs));
}

TEST(V2xAir, JitterKeepsTheOrderAndItsSize) {
  Air air({.delay_ms = 5, .jitter_ms = 1, .loss_percent = 0, .rate_mbit = 1000}, 1);
  double sum = 0;
  double squares = 0;
  std::vector<std::byte> frame;
  constexpr int kFrames = 2000;
  for (int i = 0; i < kFrames; ++i) {
    const std::int64_t now = (i + 1) * 100 * kMs;
    air.send(frame_of(100, i), now);
    const double ms = static_cast<double>(air.next() - now) / kMs;
    sum += ms;
    squares += ms * ms;
    ASSERT_TRUE(air.receive(frame, air.next()));
  }
  const double mean = sum / kFrames;
  EXPECT_NEAR(mean, 5, 0.1);
  EXPECT_NEAR(std::sqrt(squares / kFrames - mean * mean), 1, 0.1);
  for (int i = 0; i < 100; ++i) air.send(frame_of(100, i), 0);
  std::int64_t before = 0;
  for (int i = 0; i < 100; ++i) {
    EXPECT_GE(air.next(), before);
    before = air.next();
    ASSERT_TRUE(air.receive(frame, air.next()));
    EXPECT_EQ(frame[0], static_cast<std::byte>(i));
  }
}

TEST(V2xAir, LosesItsShareAndWhatIsTooMuch) {
  Air air({.delay_ms = 1, .jitter_ms = 0, .loss_percent = 10, .rate_mbit = 1000}, 1);
  std::vector<std::byte> frame;
  for (int i = 0; i < 10000; ++i) {
    air.send(frame_of(100, i), i * kMs);
    while (air.receive(frame, i * kMs)) {
    }
  }
  EXPECT_NEAR(static_cast<double>(air.lost()), 1000, 100);
  EXPECT_EQ(air.overflown(), 0U);
  Air full({.delay_ms = 1000, .jitter_ms = 0, .loss_percent = 0, .rate_mbit = 1000}, 1);
  for (std::size_t i = 0; i < Air::kMostFrames + 5; ++i) full.send(frame_of(100, 0), 0);
  EXPECT_EQ(full.overflown(), 5U) << "memory is bounded";
}

TEST(V2xRadio, CarriesFramesBothWays) {
  using Clock = std::chrono::steady_clock;
  std::array<int, 2> one{}, two{};
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, one.data()), 0);
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, two.data()), 0);
  {
    const Radio radio(one[1], two[1], {.delay_ms = 20, .jitter_ms = 0, .loss_percent = 0, .rate_mbit = 1000});
    for (const auto& [from, to] : {std::pair{one[0], two[0]}, {two[0], one[0]}}) {
      const auto sent = Clock::now();
      ASSERT_EQ(::write(from, "hello", 5), 5);
      pollfd ready{to, POLLIN, 0};
      ASSERT_EQ(::poll(&ready, 1, 10000), 1);
      EXPECT_GE(Clock::now() - sent, std::chrono::milliseconds(20));
      std::array<char, 16> got{};
      EXPECT_EQ(::read(to, got.data(), got.size()), 5);
    }
  }  // ends while nothing is under way
  for (const int fd : {one[0], one[1], two[0], two[1]}) ::close(fd);
}

TEST(V2xLink, IsSaidAndHandedToTc) {
  EXPECT_EQ(Link{}.text(), "6 Mbit/s, 2 ± 1 ms, 1 % loss in each direction");
  const std::vector<std::string> words{"netem",  "delay", "2000us", "1000us", "distribution",
                                       "normal", "loss",  "1%",     "rate",   "6000kbit"};
  EXPECT_EQ(Link{}.netem(), words);
  EXPECT_EQ((Link{.jitter_ms = 0}.netem()[3]), "loss") << "tc wants no distribution without a jitter";
}

}  // namespace
}  // namespace cardan::bench::v2x
