// SPDX-License-Identifier: Apache-2.0
// Attacks on the port: what does not end is ended, what is too much is refused, and the others continue.
#include "src/bridge/foxglove/socket_server.hpp"

#include <gtest/gtest.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <string>

#include "cardan/clock.hpp"
#include "cardan/error.hpp"
#include "src/bridge/foxglove/socket_server_fixture.hpp"

namespace cardan::bridge::foxglove {
namespace {

TEST_F(FoxgloveServer, WithoutMemoryForAClientTheOthersContinue) {
  serve({});
  const Fd other = client();
  for (const char* words : {"no memory", "no memory then"}) {
    const Fd fd = client();
    EXPECT_TRUE(send(fd, frame(1, words)));
    receive(fd);  // until it has ended
    EXPECT_TRUE(echoes(other, "still here"));
  }
  const Fd page = connection();
  EXPECT_TRUE(send(page, "GET /large HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"));
  EXPECT_EQ(receive(page), "");
  no_memory_ = true;
  const Fd late = client();
  receive(late);
  no_memory_ = false;
  EXPECT_TRUE(echoes(other, "still here"));
  EXPECT_TRUE(echoes(client(), "and new ones come"));
  for (const auto end = steady_now() + 20'000'000'000; gone_ < 3 && steady_now() < end;)
    std::this_thread::sleep_for(1ms);
  EXPECT_EQ(gone_, 3) << "those of the two, and the last one";
}

TEST_F(FoxgloveServer, AWatchWithoutMemoryIsCalledAgain) {
  std::atomic<int> calls{0};
  ServerOptions options;
  options.port = 0;
  server_ = std::make_unique<SocketServer>(options, static_cast<Application&>(*this));
  const Fd ready(::eventfd(1, EFD_CLOEXEC | EFD_NONBLOCK));
  const auto watch = server_->watch(ready.get(), [&] {
    if (++calls < 3) throw std::bad_alloc();
  });
  watch->arm();
  for (const auto end = steady_now() + 20'000'000'000; calls < 3 && steady_now() < end;) server_->run(10ms);
  EXPECT_EQ(calls, 3);
}

TEST_F(FoxgloveServer, ServesItsPageToOwnNamesAlone) {
  serve({});
  const auto get = [this](const std::string& head) {
    const Fd fd = connection();
    send(fd, head + "\r\n\r\n");
    return receive(fd);
  };
  const std::string page = get("GET /?x HTTP/1.1\r\nHost: localhost:1");
  EXPECT_TRUE(page.starts_with("HTTP/1.1 200"));
  EXPECT_TRUE(page.ends_with("the page"));
  EXPECT_NE(page.find("default-src 'none'"), std::string::npos);
  EXPECT_TRUE(get("HEAD / HTTP/1.1\r\nHost: localhost").ends_with("\r\n\r\n"));
  EXPECT_TRUE(get("GET /no HTTP/1.1\r\nHost: localhost").starts_with("HTTP/1.1 404"));
  EXPECT_TRUE(get("GET /../x HTTP/1.1\r\nHost: localhost").starts_with("HTTP/1.1 404"));
  EXPECT_TRUE(get("POST / HTTP/1.1\r\nHost: localhost").starts_with("HTTP/1.1 405"));
  EXPECT_TRUE(get("GET / HTTP/1.1\r\nHost: evil.example").starts_with("HTTP/1.1 403"));
  EXPECT_TRUE(get("GET / HTTP/1.1").starts_with("HTTP/1.1 403"));
}

TEST_F(FoxgloveServer, PagesOfOtherSitesMayLeadToThePageButNotAskForData) {
  serve({});
  const auto get = [this](const std::string& path, const std::string& site) {
    const Fd fd = connection();
    send(fd, "GET " + path + " HTTP/1.1\r\nHost: localhost\r\nSec-Fetch-Site: " + site + "\r\n\r\n");
    return receive(fd).substr(0, 12);
  };
  for (const char* own : {"none", "same-origin"}) EXPECT_EQ(get("/look.json?x", own), "HTTP/1.1 200") << own;
  for (const char* other : {"cross-site", "same-site"}) {
    EXPECT_EQ(get("/look.json?x", other), "HTTP/1.1 403") << other;
    EXPECT_EQ(get("/", other), "HTTP/1.1 200") << other;
  }
}

TEST_F(FoxgloveServer, PagesOfOtherOriginsAndUnknownProtocolsAreRefused) {
  serve({.origins = {"https://good.example"}});
  const auto answer = [this](const std::string& rest) {
    const Fd fd = connection();
    send(fd, kUpgrade + rest + "\r\n");
    return receive(fd, "\r\n\r\n").substr(0, 12);
  };
  const std::string protocol = "Sec-WebSocket-Protocol: foxglove.websocket.v1\r\n";
  EXPECT_EQ(answer(protocol), "HTTP/1.1 101");
  EXPECT_EQ(answer(protocol + "Origin: http://127.0.0.1\r\n"), "HTTP/1.1 101");
  EXPECT_EQ(answer(protocol + "Origin: https://good.example\r\n"), "HTTP/1.1 101");
  EXPECT_EQ(answer(protocol + "Origin: https://evil.example\r\n"), "HTTP/1.1 403");
  EXPECT_EQ(answer(protocol + "Origin: null\r\n"), "HTTP/1.1 403");
  EXPECT_EQ(answer(""), "HTTP/1.1 400");
  EXPECT_EQ(answer("Sec-WebSocket-Protocol: chat\r\n"), "HTTP/1.1 400");
}

TEST_F(FoxgloveServer, InventedNamesLeaveRoomForOtherReasons) {
  serve({.max_clients = 1});
  for (int i = 0; i < 60; ++i) {
    const Fd fd = connection();
    const std::string name = std::to_string(i) + ".example";
    if (i % 2 == 0)
      send(fd, std::string(kUpgrade) + "Origin: https://" + name + "\r\n\r\n");
    else
      send(fd, "GET / HTTP/1.1\r\nHost: " + name + "\r\n\r\n");
    EXPECT_TRUE(receive(fd, "\r\n\r\n").starts_with("HTTP/1.1 403"));
  }
  const Fd first = client();
  EXPECT_FALSE(try_client());
  stop();
  const auto notes = server_->notes();
  EXPECT_LE(notes.size(), 24U);
  EXPECT_TRUE(std::any_of(notes.begin(), notes.end(),
                          [](const auto& note) { return note.find("max_clients") != std::string::npos; }));
}

TEST_F(FoxgloveServer, ARequestThatDoesNotEndIsEnded) {
  serve({.handshake = 200ms});
  const Fd silent = connection();
  const Fd half = connection();
  ASSERT_TRUE(send(half, "GET / HTT"));
  const Fd drop_by_drop = connection();
  // Each letter comes in time: the whole request does not.
  for (const std::string letter = "a"; send(drop_by_drop, letter);) {
    char byte = 0;
    if (::recv(drop_by_drop.get(), &byte, 1, MSG_DONTWAIT) == 0) break;
    std::this_thread::sleep_for(20ms);
  }
  EXPECT_EQ(receive(silent), "");
  EXPECT_EQ(receive(half), "");
}

TEST_F(FoxgloveServer, HeadersWithoutEndAreRefused) {
  serve({});
  const Fd fd = connection();
  std::string head = "GET / HTTP/1.1\r\n";
  for (int i = 0; i < 2'000; ++i) head += "X: yyyyyyyyyyyyyyyyyyyy\r\n";
  send(fd, head);
  EXPECT_EQ(receive(fd), "");
}

TEST_F(FoxgloveServer, GarbageIsRefused) {
  serve({});
  const Fd fd = connection();
  send(fd, std::string(5'000, '\xff'));
  EXPECT_EQ(receive(fd), "");
  const Fd unmasked = client();
  send(unmasked, "\x81\x01x");
  EXPECT_EQ(receive(unmasked).substr(0, 1), "\x88") << "a frame that closes";
  const Fd bad_letters = client();
  send(bad_letters, frame(1, "\xff\xfe"));
  EXPECT_EQ(receive(bad_letters).substr(0, 1), "\x88");
}

TEST_F(FoxgloveServer, ConnectionsWithoutARequestGiveWayToNewOnes) {
  serve({.max_pending = 4, .handshake = 3'600'000ms});
  std::vector<Fd> idle;
  for (int i = 0; i < 40; ++i) idle.push_back(connection());
  const Fd served = client();
  EXPECT_TRUE(echoes(served, "hello"));
  EXPECT_EQ(receive(idle.front()), "") << "ended";
}

TEST_F(FoxgloveServer, ClientsBeyondTheLimitAreRefusedAndOthersContinue) {
  serve({.max_clients = 2});
  const Fd first = client();
  {
    const Fd second = client();
    const Fd third = connection();
    send(third, kHello);
    EXPECT_TRUE(receive(third).starts_with("HTTP/1.1 503"));
  }
  EXPECT_TRUE(echoes(first, "still there"));
  for (;;) {  // the place of one that has left is free
    const Fd again = connection();
    send(again, kHello);
    if (receive(again, "\r\n\r\n").starts_with("HTTP/1.1 101")) break;
  }
}

TEST_F(FoxgloveServer, LargeMessagesAreRefusedBeforeTheyFillTheMemory) {
  serve({.max_text_bytes = 10'000});
  for (const int opcode : {1, 2}) {
    const Fd fd = client();
    send(fd, frame(opcode, std::string(20'000, 'x'), std::uint64_t{1} << 40));
    const std::string answer = receive(fd, "\x03\xf1");
    EXPECT_NE(answer.find("\x03\xf1"), std::string::npos) << "1009: too big";
  }
  const Fd good = client();
  EXPECT_TRUE(echoes(good, std::string(9'000, 'y')));
}

TEST_F(FoxgloveServer, ASilentClientIsAskedAndThenEnded) {
  serve({.ping = 50ms, .dead = 600ms});
  const Fd silent = client();
  const std::string all = receive(silent);  // it answers no ping
  EXPECT_NE(all.find('\x89'), std::string::npos) << "a ping came";
}

TEST_F(FoxgloveServer, AClientThatReadsNothingIsEndedAndDelaysNobody) {
  serve({.ping = 3'600'000ms, .dead = 500ms});
  const Fd stuck = client();
  ASSERT_TRUE(send(stuck, frame(1, "large")));
  {
    const Fd other = client();
    EXPECT_TRUE(echoes(other, "hello"));
  }
  while (gone_ < 2) std::this_thread::sleep_for(1ms);
  EXPECT_LT(receive(stuck).size(), std::size_t{64} << 20);
}

TEST_F(FoxgloveServer, AFloodOfRequestsIsReadSlowly) {
  serve({.max_requests = 100});
  const Fd fd = client();
  const auto begin = steady_now();
  std::string flood;
  for (int i = 1'000; i < 1'400; ++i) flood += frame(1, "x" + std::to_string(i));
  ASSERT_TRUE(send(fd, flood));
  EXPECT_NE(receive(fd, "x1399").find("x1399"), std::string::npos) << "none is lost";
  EXPECT_GE(steady_now() - begin, 1'000'000'000)
      << "100 requests a second, and those that one read from the socket has";
}

TEST(FoxgloveServerSetUp, AnUnusableAddressIsReported) {
  class Nothing final : public Application {
    std::unique_ptr<Client> connected(Connection&) override { return nullptr; }
    std::optional<Page> page(std::string_view) override { return std::nullopt; }
  } nothing;
  EXPECT_THROW(SocketServer({.address = "nowhere"}, nothing), Error);
  const SocketServer first({.port = 0}, nothing);
  EXPECT_THROW(SocketServer({.port = first.port()}, nothing), Error);
  try {
    const SocketServer elsewhere({.address = "192.0.2.1", .port = 0}, nothing);  // of documentation, no computer has it
    ADD_FAILURE() << "it listens on an address that is not ours";
  } catch (const Error& e) {
    EXPECT_TRUE(e.remedy().starts_with("give --address one of this computer")) << e.what();
  }
}

}  // namespace
}  // namespace cardan::bridge::foxglove
