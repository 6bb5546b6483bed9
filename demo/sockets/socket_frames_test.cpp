// SPDX-License-Identifier: Apache-2.0
#include "demo/sockets/socket_frames.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <numeric>

#include "cardan/clock.hpp"
#include "cardan/error.hpp"
#include "cardan/point_cloud.hpp"
#include "demo/decision/decision.hpp"
#include "demo/sockets/socket_bus.hpp"

namespace cardan::street {
namespace {

using namespace std::chrono_literals;

class Sockets : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = testing::TempDir() + "cardan-sock-XXXXXX";
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::string path() const { return folder_ + "/topic"; }
  std::string folder_;
};

const auto kNever = [] { return false; };

TEST_F(Sockets, LargeFramesArriveWholeAlsoWhileTheReaderComputes) {
  SocketInbox inbox;
  SocketReader& reader = inbox.open(path());
  std::atomic<bool> done{false};
  std::atomic<std::uint64_t> published{0};
  std::thread writer([&] {
    SocketServer server(path());
    std::vector<std::uint32_t> frame(1'000'000);
    while (!done) {
      std::iota(frame.begin(), frame.end(), static_cast<std::uint32_t>(server.published()));
      const auto before = std::chrono::steady_clock::now();
      server.publish(std::as_bytes(std::span(frame)));
      published = server.published();
      EXPECT_LT(std::chrono::steady_clock::now() - before, 1s) << "a busy reader must not hold the writer up";
      std::this_thread::sleep_for(2ms);
    }
  });
  std::uint64_t missed = 0;
  std::uint64_t last = 0;
  for (int i = 0; i < 10; ++i) {
    ASSERT_TRUE(inbox.wait(kNever));
    const auto frame = inbox.take(reader);
    ASSERT_TRUE(frame);
    inbox.compute();
    EXPECT_LE(frame->published, steady_now());
    ASSERT_EQ(frame->bytes.size(), 4'000'000U);
    const auto* words = reinterpret_cast<const std::uint32_t*>(frame->bytes.data());
    for (std::size_t k = 0; k < 1'000'000; k += 999) ASSERT_EQ(words[k], frame->sequence - 1 + k);
    EXPECT_TRUE(last == 0 || frame->missed == frame->sequence - last - 1);
    last = frame->sequence;
    missed += frame->missed;
    // The reader computes until the writer is some frames ahead. A fixed time would not do: a loaded computer may give
    // the writer none.
    const auto limit = std::chrono::steady_clock::now() + 10s;
    for (const std::uint64_t ahead = published + 4; published < ahead && std::chrono::steady_clock::now() < limit;) {
      std::this_thread::sleep_for(1ms);
    }
  }
  EXPECT_GT(missed, 0U) << "the writer continued meanwhile";
  done = true;
  writer.join();
}

TEST_F(Sockets, AnEmptyTopicWaitsUntilToldToStop) {
  SocketInbox inbox;
  SocketReader& reader = inbox.open(path());
  int looks = 0;
  EXPECT_FALSE(inbox.wait([&] { return ++looks > 3; }));
  EXPECT_FALSE(inbox.take(reader));
}

TEST_F(Sockets, AServerThatComesBackIsFoundAgain) {
  SocketInbox inbox;
  SocketReader& reader = inbox.open(path());
  for (int round = 0; round < 2; ++round) {
    SocketServer server(path());
    EXPECT_FALSE(inbox.wait([looks = 0]() mutable { return ++looks > 4; })) << "connects meanwhile";
    server.publish({});
    ASSERT_TRUE(inbox.wait(kNever));
    const auto frame = inbox.take(reader);
    ASSERT_TRUE(frame);
    EXPECT_EQ(frame->sequence, 1U);
    EXPECT_EQ(frame->missed, 0U);
    EXPECT_EQ(frame->bytes.size(), 0U);
  }
  EXPECT_FALSE(std::filesystem::exists(path())) << "the socket is removed";
}

TEST_F(Sockets, APathThatIsTooLongOrMissingIsAnError) {
  EXPECT_THROW(SocketServer(folder_ + "/" + std::string(120, 'x')), Error);
  EXPECT_THROW(SocketServer(folder_ + "/missing/topic"), Error);
}

TEST_F(Sockets, MessagesWithVectorsKeepTheirContents) {
  constexpr Topic<PointCloud> kCloud{"/a/cloud", {.max_bytes = 100 * sizeof(PointXYZI)}};
  constexpr Topic<Decision> kDecision{"/a/decision", {}};
  std::atomic<bool> done{false};
  std::thread writer([&] {
    SocketBus bus(folder_);
    SocketBus::Output<PointCloud> clouds(bus, kCloud);
    SocketBus::Output<Decision> decisions(bus, kDecision);
    while (!done) {
      auto cloud = clouds.loan();
      const auto points = cloud->resize_points<PointXYZI>(100);
      for (std::size_t i = 0; i < points.size(); ++i) points[i].x = static_cast<float>(i);
      clouds.publish(std::move(cloud));
      auto decision = decisions.loan();
      decision->brake = false;
      decision->reason = "the path is free";
      decisions.publish(std::move(decision));
      std::this_thread::sleep_for(5ms);
    }
  });
  {
    SocketBus bus(folder_);
    SocketBus::Input<PointCloud> clouds(bus, kCloud);
    SocketBus::Input<Decision> decisions(bus, kDecision);
    const auto cloud = bus.next(clouds);
    ASSERT_TRUE(cloud);
    ASSERT_EQ(cloud->points<PointXYZI>().size(), 100U);
    EXPECT_FLOAT_EQ(cloud->points<PointXYZI>()[99].x, 99);
    EXPECT_GE(cloud.received, cloud.publish_time());
    bool decided = false;
    for (int i = 0; i < 100 && !decided; ++i) {
      const auto [another, decision] = bus.next_of(clouds, decisions);
      EXPECT_TRUE(another || decision);
      if (!decision) continue;
      decided = true;
      EXPECT_EQ(decision->reason, "the path is free");
    }
    EXPECT_TRUE(decided);
  }
  done = true;
  writer.join();
}

}  // namespace
}  // namespace cardan::street
