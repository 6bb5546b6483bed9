// SPDX-License-Identifier: Apache-2.0
// Unknown peers that connect to a publishing process and send anything, on several connections, with any descriptors,
// while it publishes. Must hold: the process lives, its answers are the handshake's, and nothing is left of a peer that
// has hung up.
#include <optional>

#include "cardan/publisher.hpp"
#include "src/transport/discovery/process.hpp"
#include "tests/fuzz/speech.hpp"
#include "tests/support/raw_peer.hpp"

namespace cardan::fuzz::server_target {
namespace {

constexpr std::size_t kBytes = kWords * sizeof(std::uint64_t);
constexpr Topic<Message> kPlain{"/fuzz", {.max_bytes = kBytes, .depth = 2}};
constexpr Topic<Message> kReliable{
    "/fuzz/reliable",
    {.max_bytes = kBytes, .depth = 2, .reliable = true, .reliable_timeout = std::chrono::microseconds{50}}};
constexpr Topic<Message> kClosed{"/fuzz/closed", {.max_bytes = kBytes, .access = Access::Policy}};
constexpr Topic<Message> kPrivate{"/fuzz/private", {.max_bytes = kBytes, .process_private = true}};

struct Victim {
  Publisher<Message> plain{kPlain}, reliable{kReliable}, closed{kClosed}, hidden{kPrivate};
  detail::Process& process = detail::Process::of({});
  std::string socket = process.directory().socket_path(process.id());
  Offers offers;

  void publish() {
    test::publish_next(plain, 7, kWords);
    test::publish_next(reliable, 7, kWords);
  }
  /// The helper thread handles a message of each connection, at least.
  void turn() const {
    process.run([] {});
  }
};

bool is_answer(const std::string& text) {
  const auto message = handshake::decode(text);
  return message && !std::holds_alternative<handshake::Other>(*message);
}

void run(std::string_view input) {
  static Victim& victim = *[] {
    run_domain("server");
    return new Victim;
  }();
  std::array<std::optional<test::RawPeer>, kConnections> peers;
  const auto read_answers = [&] {
    for (const auto& peer : peers) {
      socket::Message answer;
      while (peer && socket::receive(peer->fd(), answer) == socket::Received::Message)
        require(is_answer(answer.text), "an answer that is not the handshake's");
    }
  };
  const auto settle = [&] {
    for (int round = 0, left = 1; round < 64 && left != 0; ++round) {
      left = 0;
      for (const auto& peer : peers) left += peer ? unread(peer->fd()) : 0;
      victim.turn();
    }
  };
  std::size_t number = 0;
  for (const Letter& letter : letters_of(input)) {
    auto& peer = peers[letter.connection];
    if (letter.hang_up) {
      peer.reset();
      continue;
    }
    if (!peer) peer.emplace(victim.socket);
    require(static_cast<bool>(*peer), "the victim does not accept any more");
    say(peer->fd(), letter, victim.offers);
    if (++number % 8 == 0) {
      settle();
      read_answers();
    }
  }
  settle();
  victim.publish();
  settle();
  read_answers();
  for (auto& peer : peers) peer.reset();
  for (int i = 0; i < 4; ++i) victim.turn();  // from what may have been on its way: accepted, then gone
  require(victim.plain.subscribers() == 0 && victim.reliable.subscribers() == 0, "a peer that hung up is still there");
}

std::vector<std::string> seeds() {
  const handshake::Hello hello{.pid = 1, .name = "raw"};
  const handshake::Attach attach{
      .id = 1,
      .serial = 1,
      .topic = "/fuzz",
      .type = "test_msgs/msg/Big",
      .hash = "$H",
      .announced = handshake::Announcement{.holds = 1, .threads = 1, .reliable = true, .prewake = true}};
  handshake::Attach reliable = attach;
  reliable.id = 2;
  reliable.serial = 2;
  reliable.topic = "/fuzz/reliable";
  reliable.announced = handshake::Announcement{.holds = 4, .threads = 2, .reliable = true};
  const handshake::Attach observe{.id = 3, .serial = 1, .topic = "/fuzz", .observer = true};
  const handshake::Attach observe_closed{.id = 3, .serial = 3, .topic = "/fuzz/closed", .observer = true};
  const handshake::List list;
  std::string accents;
  for (int i = 0; i < 24; ++i) accents += "é";
  return {
      line("0", hello) + line("0p", attach) + line("0", list),
      line("0", hello) + line("0p", attach) + line("0l", handshake::Notify{1}) + line("0", handshake::Detach{1}),
      line("0", hello) + line("0p", reliable) + line("1", hello) + line("1p", reliable) + line("1p", attach) + "0-\n" +
          line("1", list),
      line("0", hello) + line("0", observe) + line("0", list),
      line("0", hello) + line("0", observe_closed),
      line("0", hello) + line("0", handshake::Trace{.id = 1}) + line("1", hello) +
          line("1", handshake::Trace{.id = 2}) + "0-\n" + line("1", handshake::Trace{.id = 3, .from = 2}),
      line("0", handshake::Hello{.name = accents}) + line("0p", attach) + line("0", list),
  };
}

}  // namespace
CARDAN_FUZZ_TARGET(server, run, seeds)
}  // namespace cardan::fuzz::server_target
