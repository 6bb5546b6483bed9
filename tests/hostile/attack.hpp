// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <cstring>
#include <filesystem>
#include <random>
#include <thread>

#include "cardan/log.hpp"
#include "src/base/area.hpp"
#include "src/base/socket.hpp"
#include "src/transport/protocol/layout.hpp"
#include "tests/hostile/by_hand.hpp"
#include "tests/hostile/strangers.hpp"
#include "tests/support/child.hpp"
#include "tests/support/frames.hpp"
#include "tests/support/raw_peer.hpp"
#include "tests/support/run_directory.hpp"

/// The common part of the attacks on the publisher of /ping: a subscriber that is attached by hand, as another user.
namespace cardan::test {

inline constexpr std::size_t kPingWords = 4000;
inline constexpr cardan::Topic<Big> kPing{"/ping", {.max_bytes = kPingWords * 8, .access = cardan::Access::Everyone}};
inline constexpr cardan::Topic<Big> kPong{"/pong", {.max_bytes = kPingWords * 8}};
inline constexpr std::size_t kPageBytes = layout::align_up(sizeof(layout::SubscriberPage), layout::kPage);

/// Attached to /ping by hand, with its own page that it can write.
struct Attack {
  std::string socket;
  std::unique_ptr<RawPeer> peer;
  detail::Area page;
  std::vector<Fd> fds;  // the publisher's area and its bells, read-only
  std::size_t bytes = 0;
  std::size_t bell = 0;  // its line among the bells

  [[nodiscard]] layout::SubscriberPage& words() const {
    return *reinterpret_cast<layout::SubscriberPage*>(page.data());
  }
  [[nodiscard]] bool connected() const { return static_cast<bool>(peer); }
};

inline handshake::Attach attach_to_ping(const Target& target, std::uint64_t id) {
  auto request = attach_request<Big>(target, "/ping", id);
  request.announced->reliable = true;
  request.announced->prewake = true;
  return request;
}

inline detail::Area make_page() {
  detail::Area page("hostile", kPageBytes);
  page.commit(0, kPageBytes);
  auto* words = new (page.data()) layout::SubscriberPage{};
  words->magic = layout::kMagic;
  words->version = layout::kVersion;
  return page;
}

inline Attack attach() {
  Attack a;
  const Target target = target_of("/ping");
  a.peer = std::make_unique<RawPeer>(target.socket);
  a.page = make_page();
  if (!*a.peer || !a.peer->hello("hostile") || !a.peer->send(attach_to_ping(target, 1), {a.page.read_only_fd()})) {
    a.peer.reset();
    return a;
  }
  auto answer = a.peer->receive_op("attached", std::chrono::seconds(2));
  const auto message = answer ? handshake::decode(answer->text) : std::nullopt;
  const auto* attached = message ? std::get_if<handshake::Attached>(&*message) : nullptr;
  if (attached == nullptr || answer->fds.size() != 2) {
    a.peer.reset();
    return a;
  }
  a.bytes = attached->bytes;
  a.bell = attached->bell;
  a.fds = std::move(answer->fds);
  return a;
}

/// Calls `f(attack, random)` until the parent says stop; attaches again when it was cut off.
template <class F>
int keep_attacking(F f) {
  std::mt19937_64 random{4711};
  Attack a = attach();
  if (!a.connected()) return 1;
  cardan::test::say("attached");
  std::uint64_t rounds = 0;
  while (!cardan::test::heard()) {
    f(a, random);
    if (++rounds % 64 != 0) continue;
    char c = 0;
    if (::recv(a.peer->fd(), &c, 1, MSG_DONTWAIT | MSG_PEEK) == 0) {
      a = {};
      while (!a.connected() && !cardan::test::heard()) a = attach();
      if (!a.connected()) break;
    }
  }
  return 0;
}

/// A run directory that other users may write, a log that says nothing, and attackers.
class AttackTest : public OwnRunDirectory {
 protected:
  AttackTest() {
    ::chmod(run_directory().c_str(), 01777);
    cardan::set_log([](auto, const auto&) {});  // it hears of each refusal
  }
  ~AttackTest() override { cardan::set_log({}); }
  /// In a role, as another user where we are root.
  static Child stranger(const std::string& role, const Args& args = {}) { return Child(role, args, as_stranger()); }
};

}  // namespace cardan::test
