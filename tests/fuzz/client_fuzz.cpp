// SPDX-License-Identifier: Apache-2.0
// A hostile publisher: its name in the run directory leads to a socket that answers a subscriber with anything. These
// hold: the subscriber lives, its samples can be read, and set-up ends.
#include <sys/socket.h>

#include <thread>

#include "cardan/error.hpp"
#include "cardan/observer.hpp"
#include "cardan/subscriber.hpp"
#include "src/transport/discovery/process.hpp"
#include "tests/fuzz/imposter.hpp"

namespace cardan::fuzz::client_target {
namespace {

constexpr Topic<Message> kTopic{"/fuzz", {.max_bytes = kWords * sizeof(std::uint64_t), .depth = 4}};

/// Says `input` to the subscriber once it has asked.
void speak(test::RawPeer& peer, const Imposter& imposter, std::string_view input, const Offers& offers) {
  peer = imposter.accept();
  if (!peer) return;
  const auto asked = peer.receive_op("attach");
  if (!asked) return;
  for (const Letter& letter : letters_of(input, std::to_string(test::id_of(*asked)), offers.area_bytes()))
    if (!letter.hang_up) say(peer.fd(), letter, offers);
  ::shutdown(peer.fd(), SHUT_WR);
}

void use(Subscriber<Message>& in) {
  for (int i = 0; i < 6; ++i)
    if (const auto sample = in.take()) look_at(*sample);
  ObservedSample copy;
  if (in.copy_latest(copy))
    if (const Message* message = copy.as<Message>()) look_at(*message);
  while (in.event()) {
  }
}

/// The first byte: whether the publisher is there before the subscriber, and whether its fd() is in use.
void run(std::string_view input) {
  static const std::string domain = run_domain("client");
  static const Offers& offers = *new Offers;
  static detail::Process& process = detail::Process::of({});
  Input parts(input);
  const std::uint8_t how = parts.byte();
  const Imposter imposter(domain);
  test::RawPeer peer{Fd{}};
  std::thread speaker;
  if (how % 2 == 0) {
    imposter.announce();
    speaker = std::thread([&] { speak(peer, imposter, parts.rest(), offers); });
  }
  try {
    Subscriber<Message> in(kTopic, {.holds = 2});
    if (how % 2 != 0) {
      imposter.announce();
      speak(peer, imposter, parts.rest(), offers);
    }
    if (how % 4 >= 2) (void)in.fd();
    if (speaker.joinable()) speaker.join();
    for (int round = 0; round < 64 && peer && unread(peer.fd()) != 0; ++round) process.run([] {});
    use(in);
    for (int round = 0; round < 2; ++round) process.run([] {});
    use(in);
  } catch (const Error&) {  // what the publisher refused with
  }
  if (speaker.joinable()) speaker.join();
}

std::vector<std::string> seeds() {
  const std::string hello = line("0", handshake::Hello{.pid = 1, .name = "imposter"});
  const handshake::Attached attached{
      .id = kTheirId, .bytes = kAreaBytes, .bell = 0, .bell_bytes = 65536, .cursor = 2, .owed_from = 6};
  const handshake::Attached hole{.id = kTheirId, .bytes = std::uint64_t{1} << 40, .bell = 1};
  const handshake::Refused refused{
      .id = kTheirId, .code = handshake::Reason::Type, .why = "it is another", .remedy = "none"};
  std::vector<std::string> all;
  for (const std::string how : {"0", "1", "2", "3"}) {
    all.push_back(how + hello + line("0ab", attached));
    all.push_back(how + hello + line("0", refused));
  }
  all.push_back("0" + hello + line("0sb", attached));
  all.push_back("1" + hello + line("0hb", hole));
  all.push_back("0" + hello + line("0", handshake::Gone{kTheirId}));
  all.push_back("0" + hello + line("0ab", attached) + line("0", handshake::Demoted{kTheirId}) +
                line("0", handshake::Ended{kTheirId}));
  return all;
}

}  // namespace
CARDAN_FUZZ_TARGET(client, run, seeds)
}  // namespace cardan::fuzz::client_target
