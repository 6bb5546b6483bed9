// SPDX-License-Identifier: Apache-2.0
// The share of the server that other users may take: places and time. Our own user keeps its part.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <mutex>
#include <string>
#include <vector>

#include "cardan/clock.hpp"
#include "src/bridge/foxglove/socket_server_fixture.hpp"

namespace cardan::bridge::foxglove {
namespace {

#define SKIP_UNLESS_ROOT() \
  if (!is_root()) GTEST_SKIP() << "skipped: only root can make sockets of other users"

/// Requests and bytes of other users.
class FoxgloveShares : public FoxgloveServer {
 protected:
  /// Waits until this many clients have gone. The minute only ends a test that hangs.
  bool have_gone(int clients) const {
    for (const auto end = steady_now() + 60'000'000'000; gone_ < clients && steady_now() < end;)
      std::this_thread::sleep_for(5ms);
    return gone_ >= clients;
  }
  static std::string get(const std::string& host) { return "GET / HTTP/1.1\r\nHost: " + host + "\r\n\r\n"; }
};

TEST_F(FoxgloveShares, IdleClientsOfAnotherUserLeavePlacesForOurs) {
  SKIP_UNLESS_ROOT();
  serve({});
  std::vector<Fd> strangers;
  for (int i = 0; i < 32; ++i)
    if (Fd fd = try_client(kStranger)) strangers.push_back(std::move(fd));
  EXPECT_EQ(strangers.size(), 4U) << "a quarter of 16";
  for (unsigned user = 1; user < 12; ++user)
    for (int i = 0; i < 6; ++i)
      if (Fd fd = try_client(kStranger + user)) strangers.push_back(std::move(fd));
  EXPECT_EQ(strangers.size(), 12U) << "three quarters of 16";
  for (int i = 0; i < 4; ++i) {
    const Fd ours = try_client();
    ASSERT_TRUE(ours) << "our own user has a place";
    EXPECT_TRUE(echoes(ours, "hello"));
  }
  for (const Fd& fd : strangers) EXPECT_TRUE(echoes(fd, "still there"));
}

TEST_F(FoxgloveShares, ConnectionsOfAnotherUserWithoutARequestPushNoneOfOursOut) {
  SKIP_UNLESS_ROOT();
  serve({.max_pending = 8, .handshake = 3'600'000ms});
  const Fd slow = connection();
  ASSERT_TRUE(send(slow, "GET / HTTP/1.1\r\n"));
  const Fd other = connection(kStranger + 1);
  std::vector<Fd> idle;
  for (int i = 0; i < 100; ++i) idle.push_back(connection(kStranger));
  EXPECT_EQ(receive(idle.front()), "") << "it gave way";
  ASSERT_TRUE(send(slow, "Host: localhost\r\n\r\n"));
  EXPECT_TRUE(receive(slow).ends_with("the page"));
  ASSERT_TRUE(send(other, get("localhost")));
  EXPECT_TRUE(receive(other).ends_with("the page")) << "nor that of another user";
}

TEST_F(FoxgloveShares, AFewPlacesHaveOneForOurUser) {
  SKIP_UNLESS_ROOT();
  serve({.max_clients = 1});
  const Fd stranger = try_client(kStranger);
  EXPECT_TRUE(stranger);
  EXPECT_FALSE(try_client(kStranger));
  const Fd ours = try_client();
  EXPECT_TRUE(ours);
  EXPECT_FALSE(try_client());
}

TEST_F(FoxgloveShares, TextsCountByTheirBytes) {
  serve({.max_requests = 50});
  const Fd fd = client();
  const auto begin = steady_now();
  for (int i = 0; i < 20; ++i) ASSERT_TRUE(send(fd, frame(1, std::string(9'998, 'x') + std::to_string(10 + i))));
  EXPECT_NE(receive(fd, "x29").find("x29"), std::string::npos);
  EXPECT_GE(steady_now() - begin, 2'000'000'000) << "200 kB; in a second, 50 requests of 512 bytes";
}

TEST_F(FoxgloveShares, LongTextsOfManyClientsLeaveATurnToOthersInBetween) {
  constexpr int kLong = 11, kShort = 40;
  serve({.max_clients = 32});
  const Fd first = client(), honest = client();
  std::array<Fd, kLong> others;
  for (Fd& fd : others) fd = client();
  std::unique_lock hold(hold_);  // the server handles nothing until all has arrived
  ASSERT_TRUE(send(first, frame(1, "wait")));
  for (const Fd& fd : others) ASSERT_TRUE(send(fd, frame(1, std::string(30'000, 'x'))));
  std::string requests;
  for (int i = 10; i < 10 + kShort; ++i) requests += frame(1, "a request " + std::to_string(i));
  ASSERT_TRUE(send(honest, requests));
  hold.unlock();
  EXPECT_NE(receive(honest, "request 49").find("request 49"), std::string::npos);
  for (const Fd& fd : others) EXPECT_NE(receive(fd, "xxx").find("xxx"), std::string::npos);
  stop();
  ASSERT_EQ(sizes_.size(), std::size_t{1 + kLong + kShort});
  const auto last = std::find_if(sizes_.rbegin(), sizes_.rend(), [](std::size_t size) { return size < 100; });
  int row = 0, longest = 0;
  for (auto size = sizes_.begin(); size != last.base(); ++size) {
    row = *size < 100 ? 0 : row + 1;
    longest = std::max(longest, row);
  }
  EXPECT_LE(longest, 1) << "long texts in a row, while another client's requests were there";
}

TEST_F(FoxgloveShares, AClientThatLeavesWhileItsLongTextWaitsIsForgotten) {
  serve({.max_clients = 32});
  const Fd first = client();
  std::vector<Fd> others(8);
  for (Fd& fd : others) fd = client();
  std::unique_lock hold(hold_);
  ASSERT_TRUE(send(first, frame(1, "wait")));
  for (const Fd& fd : others) ASSERT_TRUE(send(fd, frame(1, std::string(30'000, 'x'))));
  others.clear();
  hold.unlock();
  EXPECT_TRUE(have_gone(8));
  EXPECT_TRUE(echoes(first, std::string(30'000, 'y'))) << "the next one has its turn";
}

TEST_F(FoxgloveShares, ClientsOfAnotherUserShareItsBytes) {
  SKIP_UNLESS_ROOT();
  serve({.max_clients = 32, .max_requests = 200});
  std::array<Fd, 8> clients;
  for (Fd& fd : clients) fd = client(kStranger);
  const auto begin = steady_now();
  for (const Fd& fd : clients)
    for (int i = 0; i < 10; ++i) ASSERT_TRUE(send(fd, frame(1, std::string(9'999, 'x') + std::to_string(i))));
  for (const Fd& fd : clients) EXPECT_NE(receive(fd, "x9").find("x9"), std::string::npos) << "none is lost";
  EXPECT_GE(steady_now() - begin, 1'000'000'000) << "800 kB; in a second, 2 x 200 requests of 512 bytes";
}

TEST_F(FoxgloveShares, PingsAreRequests) {
  serve({.max_requests = 100});
  const Fd fd = client();
  const auto begin = steady_now();
  std::string flood;
  for (int i = 0; i < 600; ++i) flood += frame(9, "p");
  ASSERT_TRUE(send(fd, flood));
  EXPECT_TRUE(echoes(fd, "all of them"));
  EXPECT_GE(steady_now() - begin, 1'000'000'000) << "100 in a second, and those that one read from the socket has";
}

TEST_F(FoxgloveShares, FramesWithoutBytesAreReadSlowly) {
  serve({.max_requests = 20});
  const Fd fd = client();
  const auto begin = steady_now();
  std::string flood{"\x01\x80\0\0\0\0", 6};  // the first part of a text, and more of it without end
  for (int i = 0; i < 100'000; ++i) flood.append("\0\x80\0\0\0\0", 6);
  flood += std::string("\x80\x84\0\0\0\0last", 10);
  ASSERT_TRUE(send(fd, flood));
  EXPECT_NE(receive(fd, "last").find("last"), std::string::npos);
  EXPECT_GE(steady_now() - begin, 1'000'000'000) << "600 kB; in a second, 16 x 20 x 512 bytes";
}

TEST_F(FoxgloveShares, PagesCountForTheUserThatAsks) {
  SKIP_UNLESS_ROOT();
  serve({.max_requests = 50, .handshake = 60'000ms});
  const auto begin = steady_now();
  for (int i = 0; i < 40; ++i) {
    const Fd fd = connection(kStranger);
    ASSERT_TRUE(send(fd, get("localhost")));
    EXPECT_TRUE(receive(fd).ends_with("the page"));
  }
  EXPECT_GE(steady_now() - begin, 1'000'000'000) << "40 pages; in a second, 2 x 50 / 8";
}

TEST_F(FoxgloveShares, AClientThatLeavesWithRequestsInTheQueueLosesItsPlace) {
  serve({.max_clients = 1, .max_requests = 10});
  {
    const Fd fd = client();
    std::string flood;
    for (int i = 0; i < 4'000; ++i) flood += frame(1, "x");
    ASSERT_TRUE(send(fd, flood));
    ASSERT_EQ(::shutdown(fd.get(), SHUT_WR), 0);
    EXPECT_TRUE(have_gone(1)) << "4,000 requests take more than six minutes";
  }
  EXPECT_TRUE(echoes(client(), "the next one"));
}

TEST_F(FoxgloveShares, AClientThatLeavesWithMoreThanFitsIsNoticed) {
  serve({.max_clients = 1, .max_requests = 10, .ping = 500ms});
  {
    const Fd fd = client();
    const std::string message = frame(2, std::string(9'000, 'x'));  // it has no answer
    // Until both buffers are full: its end cannot be told then.
    for (std::size_t at = 0; at < std::size_t{64} << 20; at += message.size())
      if (::send(fd.get(), message.data(), message.size(), MSG_NOSIGNAL | MSG_DONTWAIT) < 0) break;
  }
  EXPECT_TRUE(have_gone(1)) << "megabytes at 5 kB in a second";
}

}  // namespace
}  // namespace cardan::bridge::foxglove
