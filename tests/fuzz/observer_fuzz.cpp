// SPDX-License-Identifier: Apache-2.0
// A hostile process answers programs that only look (`topic list`, `topic echo`, the web view) with anything. Must
// hold: they come to an end, and what they print is text.
#include "cardan/observer.hpp"

#include <sys/socket.h>

#include <thread>

#include "cardan/error.hpp"
#include "tests/fuzz/imposter.hpp"

namespace cardan::fuzz::observer_target {
namespace {

using namespace std::chrono_literals;

void is_text(const std::string& text) {
  require(text.size() < 8192, "a text of another user is endless");
  for (const char c : text)
    require(static_cast<unsigned char>(c) >= ' ' || c == '\n', "a text of another user has control characters");
}

void look(const DomainReport& report) {
  require(report.publishers.size() < 10'000, "an endless list");
  for (const PublisherReport& p : report.publishers) {
    for (const std::string* text : {&p.topic, &p.type, &p.layout, &p.program}) is_text(*text);
    (void)latency_percentile(p.latency, 99);
    for (const SubscriberReport& s : p.subscribers) {
      is_text(s.name);
      (void)latency_percentile(s.latency, 50);
    }
  }
  for (const std::string& text : report.problems) is_text(text);
}

void look(Observer& observer) {
  ObservedSample sample;
  for (int i = 0; i < 6; ++i) {
    if (!(i % 2 == 0 ? observer.copy_next(sample) : observer.copy_latest(sample))) continue;
    if (const Message* message = sample.as<Message>()) look_at(*message);
  }
  std::vector<ObservedStream::Stamp> stamps;
  for (const auto& stream : observer.streams()) {
    stream->stamps(stamps);
    require(stamps.size() <= 65, "more stamps than slots");
    (void)stream->schema();
    (void)stream->type();
    (void)(stream->published() + stream->bytes());
    (void)(stream->longest_gap_ns() < stream->last_sign_of_life());
    (void)(stream->checksum() && stream->ended());
  }
  for (const std::string& text : observer.problems()) is_text(text);
}

/// A connection's number is which of the observer's connections the letter goes out on.
void run(std::string_view input) {
  static const std::string domain = run_domain("observer");
  static const Offers& offers = *new Offers;
  const Imposter imposter(domain);
  imposter.announce();
  const std::vector<Letter> letters = letters_of(input, "1", offers.area_bytes());
  std::thread speaker([&] {
    std::vector<test::RawPeer> peers;  // open until the observer has gone: what it asks is not lost
    for (test::RawPeer peer = imposter.accept(); peer; peer = imposter.accept()) {
      for (const Letter& letter : letters)
        if (letter.connection == peers.size() && !letter.hang_up) say(peer.fd(), letter, offers);
      ::shutdown(peer.fd(), SHUT_WR);
      peers.push_back(std::move(peer));
    }
  });
  const ObserverOptions options{.timeout = 2s};
  try {
    Observer observer("/fuzz", options);
    look(observer);
    look(look_around(options));
    observer.refresh();
    look(observer);
  } catch (const Error& e) {
    fail(e.what());
  }
  imposter.withdraw();
  speaker.join();
}

handshake::Topics topics() {
  handshake::Publication one;
  one.report.topic = "/fuzz";
  one.report.type = "t";
  one.report.layout = "$H";
  one.report.serial = 1;
  one.report.depth = 4;
  one.report.max_bytes = 1;
  one.report.latency = {{3, 4}, {5, 6}};
  one.report.heartbeat_ns = 1;
  SubscriberReport reader;
  reader.name = "n";
  reader.pid = 1;
  reader.received = 1;
  reader.latency = {{7, 8}};
  one.report.subscribers = {reader};
  return {.topics = {one}};
}

std::vector<std::string> seeds() {
  const handshake::Hello hello{.pid = 1, .name = "imposter"};
  const handshake::Attached attached{.id = 1, .bytes = kAreaBytes, .access = Access::Owner};
  const handshake::Attached hole{.id = 1, .bytes = std::uint64_t{1} << 40, .access = Access::Owner};
  const std::string list = line("0", topics());
  return {
      line("0", hello) + line("0a", attached) + list,
      line("0", hello) + line("0a", attached) + line("0", handshake::Topics{.next = 2}) + list,
      line("0", hello) + line("0", handshake::Refused{.id = 1, .why = "not for you"}) + list,
      line("0", hello) + line("0", handshake::Gone{1}) + list,
      line("0", handshake::Hello{.version = 2}),
      line("0", hello) + line("0s", attached) + line("1", hello) + line("1", topics()),
      line("0", hello) + line("0h", hole),
  };
}

}  // namespace
CARDAN_FUZZ_TARGET(observer, run, seeds)
}  // namespace cardan::fuzz::observer_target
