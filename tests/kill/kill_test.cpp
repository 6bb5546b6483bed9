// SPDX-License-Identifier: Apache-2.0
// Processes are killed at random moments and started again: the others continue, and in the end nothing remains.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <random>
#include <thread>

#include "cardan/clock.hpp"
#include "cardan/wait_any.hpp"
#include "tests/support/child.hpp"
#include "tests/support/frames.hpp"
#include "tests/support/raw_peer.hpp"
#include "tests/support/run_directory.hpp"
#include "tests/support/tally.hpp"

namespace {

using namespace std::chrono_literals;
using cardan::steady_now;
using cardan::test::Big;
using cardan::test::Child;
using cardan::test::Small;

constexpr std::size_t kPublishers = 4;
constexpr std::size_t kSubscribers = 5;
constexpr std::size_t kWords = 8192 - 8;
constexpr std::uint32_t kHolds = 2;
constexpr std::size_t kLives = 16384;  // publisher processes in one test
constexpr std::uint32_t kPidMask = (1U << 22) - 1;

const cardan::Topic<Small> kSmall[] = {{"/kill/small0", {.depth = 4}}, {"/kill/small1", {.depth = 4}}};
const cardan::Topic<Big> kBig[] = {{"/kill/big0", {.max_bytes = kWords * 8}},
                                   {"/kill/big1", {.max_bytes = kWords * 8}}};

struct Shared {
  std::atomic<std::uint32_t> stop;
  std::atomic<std::uint64_t> published[kPublishers], failed[kPublishers];
  std::atomic<std::uint64_t> received[kSubscribers], torn[kSubscribers];
  std::array<std::atomic<std::int64_t>, kSubscribers> died[kLives], first[kLives];  // when each subscriber noticed
  std::atomic<std::uint32_t> life_of_pid[kPidMask + 1];
};
using Tally = cardan::test::Tally<Shared>;

}  // namespace

// publisher TALLY PLACE LIFE
CARDAN_ROLE(publisher) {
  Tally tally(args[0]);
  const std::size_t place = std::stoul(args[1]);
  const std::uint64_t life = std::stoull(args[2]);
  tally->life_of_pid[static_cast<std::uint32_t>(::getpid()) & kPidMask] = static_cast<std::uint32_t>(life);
  cardan::Publisher<Small> small{kSmall[place % 2]};
  cardan::Publisher<Big> big{kBig[place % 2]};
  while (tally->stop == 0) {
    if (!cardan::test::publish_next(small, life, 0)) ++tally->failed[place];
    if (!cardan::test::publish_next(big, life, kWords)) ++tally->failed[place];
    tally->published[place] += 2;
    std::this_thread::sleep_for(1ms);
  }
  return 0;
}

// subscriber TALLY PLACE
CARDAN_ROLE(subscriber) {
  Tally tally(args[0]);
  const std::size_t place = std::stoul(args[1]);
  const auto note = [&](const cardan::Event& e) {
    if (e.kind != cardan::Event::Kind::Died) return;
    const std::uint32_t life = tally->life_of_pid[static_cast<std::uint32_t>(e.pid) & kPidMask];
    tally->died[life][place] = steady_now();
  };
  const auto options = [&] { return cardan::SubscriberOptions{.holds = kHolds, .on_event = note}; };
  cardan::Subscriber<Small> small0{kSmall[0], options()};
  cardan::Subscriber<Small> small1{kSmall[1], options()};
  cardan::Subscriber<Big> big0{kBig[0], options()};
  cardan::Subscriber<Big> big1{kBig[1], options()};
  const auto drain = [&]<class T>(cardan::Subscriber<T>& in, cardan::Sample<T>& kept) {
    while (auto sample = in.take()) {
      if (!cardan::test::intact(sample) || (kept && !cardan::test::intact(kept))) ++tally->torn[place];
      auto& first = tally->first[cardan::test::writer_of(sample->key)][place];
      if (first == 0) first = steady_now();
      ++tally->received[place];
      kept = std::move(sample);  // dies with it in the hand
    }
  };
  cardan::Sample<Small> kept0, kept1;
  cardan::Sample<Big> kept2, kept3;
  while (tally->stop == 0) {
    cardan::wait_any_for(50ms, small0, small1, big0, big1);
    drain(small0, kept0);
    drain(small1, kept1);
    drain(big0, kept2);
    drain(big1, kept3);
  }
  return 0;
}

CARDAN_ROLE(sweeper) {  // the next one to come removes what the dead have left
  const cardan::Publisher<Small> out{kSmall[0]};
  return 0;
}

// large TALLY-less publisher of 5 slots of 13 MiB
CARDAN_ROLE(large) {
  const cardan::Topic<Big> topic{"/kill/large", {.max_bytes = std::size_t{13} << 20}};
  cardan::Publisher<Big> out{topic};
  cardan::test::publish_next(out, 1, 1000);
  cardan::test::say("ready");
  cardan::test::hear();
  return 0;
}

namespace {

class Kills : public cardan::test::OwnRunDirectory {
 protected:
  [[nodiscard]] std::string folder() const { return cardan::test::run_directory() + "/" + domain_; }
  /// Nothing in the run directory, once somebody has swept. A process killed while it began to listen leaves a name
  /// that is swept after 10 s.
  void expect_no_names() const {
    EXPECT_TRUE(cardan::test::eventually(
        [&] {
          Child("sweeper").end();
          return cardan::test::names_in(folder()) == 0;
        },
        20s))
        << cardan::test::names_in(folder()) << " names are left in the run directory";
  }
};

/// Slots committed by each publisher alive, asked as an observer would.
std::vector<std::uint64_t> committed_slots(const std::string& folder) {
  std::vector<std::uint64_t> all;
  for (const auto& path : cardan::test::sockets_in(folder)) {
    const cardan::test::RawPeer peer(path);
    if (!peer || !peer.hello() || !peer.send(cardan::test::handshake::List{})) continue;
    if (const auto answer = peer.receive_op("topics"))
      for (const auto slots : cardan::test::numbers_of(answer->text, "slots")) all.push_back(slots);
  }
  return all;
}

TEST_F(Kills, AnyoneAtAnyMoment) {
  const int kills = cardan::test::deep() ? 10'000 : 200;
  const long shmem_before = cardan::test::number_in("/proc/meminfo", "Shmem");
  Tally tally(cardan::test::run_directory() + "/kills");
  struct Actor {
    bool publishes = false;
    std::size_t place = 0;
    std::uint64_t life = 0;
    std::int64_t started = 0;
    Child process;
  };
  struct Death {
    std::uint64_t life;
    std::int64_t at;
  };
  std::vector<Actor> actors;
  std::vector<Death> deaths;
  std::vector<std::int64_t> births(kLives);
  std::array<std::vector<std::int64_t>, kSubscribers> subscriber_kills;
  std::uint64_t next_life = 1;
  const auto start = [&](bool publishes, std::size_t place) {
    const std::uint64_t life = publishes ? next_life++ : 0;
    if (publishes) births[life] = steady_now();
    return Actor{
        publishes, place, life, steady_now(),
        Child(publishes ? "publisher" : "subscriber", {tally.path(), std::to_string(place), std::to_string(life)})};
  };
  for (std::size_t i = 0; i < kPublishers; ++i) actors.push_back(start(true, i));
  for (std::size_t i = 0; i < kSubscribers; ++i) actors.push_back(start(false, i));
  const auto everyone_goes_on = [&] {
    std::array<std::uint64_t, kSubscribers> seen{};
    std::array<std::uint64_t, kPublishers> sent{};
    for (std::size_t i = 0; i < kSubscribers; ++i) seen[i] = tally->received[i];
    for (std::size_t i = 0; i < kPublishers; ++i) sent[i] = tally->published[i];
    return cardan::test::eventually(
        [&] {
          bool all = true;
          for (std::size_t i = 0; i < kSubscribers; ++i) all = all && tally->received[i] > seen[i] + 4;
          for (std::size_t i = 0; i < kPublishers; ++i) all = all && tally->published[i] > sent[i] + 4;
          return all;
        },
        30s);
  };
  ASSERT_TRUE(everyone_goes_on());
  std::mt19937 random(static_cast<std::mt19937::result_type>(steady_now()));
  for (int k = 0; k < kills; ++k) {
    std::this_thread::sleep_for(std::chrono::microseconds(random() % (cardan::test::deep() ? 60'000 : 150'000)));
    Actor& victim = actors[random() % actors.size()];
    const std::int64_t now = steady_now();
    victim.process.signal(SIGKILL);
    if (victim.publishes)
      deaths.push_back({victim.life, now});
    else
      subscriber_kills[victim.place].push_back(now);
    victim.process.kill();
    victim = start(victim.publishes, victim.place);
    if (k % 20 == 19) {
      ASSERT_TRUE(everyone_goes_on()) << "somebody is stuck after " << k + 1 << " kills";
    }
  }
  // depth, loan, spare, and the announcements of those there and of those just killed and not yet detached.
  for (const auto slots : committed_slots(folder()))
    EXPECT_LE(slots, 4 + 1 + 1 + (2 * kSubscribers) * (kHolds + 1)) << "committed slots grow";
  const std::int64_t ended = steady_now();
  tally->stop = 1;
  for (auto& a : actors) EXPECT_EQ(a.process.end(), 0) << (a.publishes ? "publisher " : "subscriber ") << a.place;

  std::vector<std::int64_t> died, first;
  for (const auto& [life, at] : deaths)
    for (std::size_t i = 0; i < kSubscribers; ++i) {
      const std::int64_t attached = tally->first[life][i];
      if (attached == 0 || attached >= at) continue;
      const bool killed_too =
          std::any_of(subscriber_kills[i].begin(), subscriber_kills[i].end(),
                      [&, t = at](std::int64_t k) { return k > attached && k < t + 5'000'000'000; });
      if (!killed_too && at < ended - 1'000'000'000) {
        EXPECT_NE(tally->died[life][i], 0)
            << "subscriber " << i << " did not notice the death of publisher process " << life;
      }
      if (tally->died[life][i] > at) died.push_back(tally->died[life][i] - at);
    }
  for (std::uint64_t life = kPublishers + 1; life < next_life; ++life)
    for (std::size_t i = 0; i < kSubscribers; ++i)
      if (tally->first[life][i] != 0) first.push_back(tally->first[life][i] - births[life]);
  for (std::size_t i = 0; i < kSubscribers; ++i) EXPECT_EQ(tally->torn[i], 0U) << "subscriber " << i;
  for (std::size_t i = 0; i < kPublishers; ++i)
    EXPECT_EQ(tally->failed[i], 0U) << "publisher " << i << " found no slot";
  std::printf("  %d kills\n  kill -> Died event:            %s\n", kills, cardan::test::spread(died).c_str());
  std::printf("  process start -> first sample: %s\n", cardan::test::spread(first).c_str());

  expect_no_names();
  long shmem_after = 0;
  const bool back = cardan::test::eventually([&] {
    shmem_after = cardan::test::number_in("/proc/meminfo", "Shmem");
    return shmem_after - shmem_before < 32 * 1024;
  });
  std::printf("  shared memory of the computer: %ld KiB before, %ld KiB after\n", shmem_before, shmem_after);
  EXPECT_TRUE(back);
}

TEST_F(Kills, APublisherWith64MiB) {
  std::vector<std::int64_t> times;
  for (int i = 0; i < (cardan::test::deep() ? 50 : 8); ++i) {
    Child publisher("large");
    publisher.expect("ready");
    std::atomic<std::int64_t> died{0};
    const cardan::Topic<Big> topic{"/kill/large", {.max_bytes = std::size_t{13} << 20}};
    cardan::Subscriber<Big> in{topic, {.on_event = [&](const cardan::Event& e) {
                                 if (e.kind == cardan::Event::Kind::Died) died = steady_now();
                               }}};
    const auto sample = in.wait(10s);
    ASSERT_TRUE(sample);
    const std::int64_t at = steady_now();
    publisher.signal(SIGKILL);
    ASSERT_TRUE(cardan::test::eventually([&] { return died != 0; }));
    EXPECT_TRUE(cardan::test::intact(sample)) << "a sample outlives its publisher";
    times.push_back(died - at);
  }
  std::printf("  kill -> Died event, 65 MiB mapped: %s\n", cardan::test::spread(times).c_str());
}

}  // namespace
