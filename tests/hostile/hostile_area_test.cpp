// SPDX-License-Identifier: Apache-2.0
// The cost of another user's publisher for a reader, by its claims about its memory, its frames and their times. As an
// ordinary user the attacker is the same user, so those tests need root.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <map>
#include <new>
#include <thread>

#include "cardan/clock.hpp"
#include "cardan/error.hpp"
#include "cardan/log.hpp"
#include "cardan/observer.hpp"
#include "src/transport/discovery/process.hpp"
#include "src/transport/endpoint/answer_times.hpp"
#include "tests/hostile/imposter.hpp"
#include "tests/hostile/strangers.hpp"
#include "tests/support/child.hpp"
#include "tests/support/frames.hpp"
#include "tests/support/run_directory.hpp"

namespace {

using namespace std::chrono_literals;
using cardan::Event;
using cardan::Fd;
using cardan::test::allocated_kib;
using cardan::test::Big;
using cardan::test::Child;
using cardan::test::kHonest;
using cardan::test::kMiB;
using cardan::test::kStranger;
using cardan::test::RawPeer;
using BigImposter = cardan::test::Imposter<Big>;
namespace layout = cardan::layout;
namespace detail = cardan::detail;

constexpr std::uint64_t kHonestWords = 200;

constexpr cardan::Topic<Big> kHoles{"/holes", {.max_bytes = 16 * kMiB, .access = cardan::Access::Everyone}};
constexpr cardan::Topic<Big> kGreedy{"/greedy", {.max_bytes = 64 * kMiB, .access = cardan::Access::Everyone}};
constexpr cardan::Topic<Big> kModest{kGreedy.name, {.max_bytes = 8192, .access = cardan::Access::Everyone}};
constexpr cardan::Topic<Big> kDamaged{"/damaged",
                                      {.max_bytes = 2 * kMiB, .depth = 8, .access = cardan::Access::Everyone}};
constexpr cardan::Topic<Big> kShared{"/shared", {.max_bytes = 8192, .depth = 4, .access = cardan::Access::Everyone}};
constexpr cardan::Topic<Big> kFresh{
    "/fresh", {.max_bytes = 8192, .depth = 4, .lifespan = 10s, .access = cardan::Access::Everyone}};

layout::SlotMeta& meta(const BigImposter& me, std::uint32_t slot) {
  const auto& h = me.core().header();
  return *reinterpret_cast<layout::SlotMeta*>(me.at(h.slots_offset + slot * h.slot_stride));
}

/// Names slot `slot` as publication n.
void point_at(const BigImposter& me, std::uint64_t n, std::uint32_t slot) {
  const auto& h = me.core().header();
  const std::uint64_t word = n << 16 | slot;
  reinterpret_cast<std::atomic<std::uint64_t>*>(me.at(h.ring_offset))[n % h.depth] = word;
  *reinterpret_cast<std::atomic<std::uint64_t>*>(me.at(h.front_offset)) = word;
}

/// A valid frame as publication n, but that `spoil` may change its slot's head.
template <class F>
void publish_one(const BigImposter& me, std::uint64_t n, F spoil) {
  auto& core = me.core();
  const auto slot = static_cast<std::uint32_t>(n % core.hot().committed);
  layout::SlotMeta& m = meta(me, slot);
  m.sequence = 0;
  auto* message = new (core.message(static_cast<int>(slot))) Big;
  auto* arena = new (core.arena(static_cast<int>(slot))) cardan::shm::Arena;
  arena->place(core.payload(static_cast<int>(slot)), core.payload_capacity());
  cardan::shm::bind(*message, *arena);
  cardan::test::fill(*message, cardan::test::key_of(666, n), 100);
  m.payload_bytes = arena->used;
  m.publish_ns = cardan::steady_now();
  m.source_ns = 0;
  m.has_checksum = 0;
  spoil(m);
  m.sequence = n;
  point_at(me, n, slot);
}

/// `text`: the event's; when it does not come, what came instead.
bool wait_for(cardan::Subscriber<Big>& in, std::initializer_list<Event::Kind> kinds, std::string& text) {
  const auto until = std::chrono::steady_clock::now() + 10s;
  while (std::chrono::steady_clock::now() < until) {
    (void)in.wait(1ms);
    while (const auto event = in.event()) {
      if (std::find(kinds.begin(), kinds.end(), event->kind) != kinds.end()) {
        text = event->text;
        return true;
      }
      text += event->text + "; ";
    }
  }
  return false;
}

}  // namespace

/// A good header, and a frame with a checksum in a slot whose payload is a hole: "above" what it says is committed, or
/// with a lie about that, told before or after the attach. The reader makes the file args[1] when it is attached.
CARDAN_ROLE(slot_in_a_hole) {
  BigImposter me(kHoles);
  const auto& h = me.core().header();
  const std::uint32_t slot = me.core().hot().committed + 2;
  if (slot >= h.max_slots) return 1;
  const auto lie = [&] { me.core().hot().committed = h.max_slots; };
  new (&meta(me, slot)) layout::SlotMeta{};
  meta(me, slot).payload_bytes = kHoles.options.max_bytes;
  meta(me, slot).has_checksum = 1;
  meta(me, slot).sequence = 1;
  if (args[0] == "before") lie();
  const long before = allocated_kib(me.core().area().read_only_fd());
  me.announce();
  cardan::test::say("attacking");
  bool published = false;
  while (!cardan::test::heard()) {
    me.serve(5ms);
    if (published || (args.size() > 1 ? !std::filesystem::exists(args[1]) : me.attached() == 0)) continue;
    me.serve(20ms);
    if (args[0] == "after") lie();
    point_at(me, 1, slot);
    published = true;
  }
  cardan::test::say("grew " + std::to_string(allocated_kib(me.core().area().read_only_fd()) - before));
  return 0;
}

CARDAN_ROLE(greedy) {
  BigImposter me(kGreedy);
  publish_one(me, 1, [](auto&) {});
  me.announce();
  cardan::test::say("attacking");
  while (!cardan::test::heard()) me.serve(5ms);
  return 0;
}

/// Many threads that allocate what is there already: a check of the memory waits for all of them.
CARDAN_ROLE(allocates_without_end) {
  constexpr std::size_t kBytes = 128 * kMiB;
  const Fd area(::memfd_create("busy", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (::ftruncate(area.get(), kBytes) != 0 || ::fallocate(area.get(), 0, 0, kBytes) != 0) return 1;
  ::fcntl(area.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | 0x0010 | F_SEAL_SEAL);
  BigImposter me(kGreedy);
  me.hand_over(area.get(), kBytes);
  me.announce();
  std::vector<std::thread> threads;
  for (int i = 0; i < 100; ++i)
    threads.emplace_back([&] {
      for (;;) ::fallocate(area.get(), 0, 0, kBytes);
    });
  cardan::test::say("attacking");
  while (!cardan::test::heard()) me.serve(5ms);
  std::_Exit(0);
}

/// The same, under a new name every 20 ms.
CARDAN_ROLE(allocates_under_many_names) {
  constexpr std::size_t kBytes = 128 * kMiB;
  const Fd area(::memfd_create("busy", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (::ftruncate(area.get(), kBytes) != 0 || ::fallocate(area.get(), 0, 0, kBytes) != 0) return 1;
  ::fcntl(area.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | 0x0010 | F_SEAL_SEAL);
  BigImposter me(kGreedy);
  me.hand_over(area.get(), kBytes);
  std::vector<std::thread> threads;
  for (int i = 0; i < 100; ++i)
    threads.emplace_back([&] {
      for (;;) ::fallocate(area.get(), 0, 0, kBytes);
    });
  cardan::test::say("attacking");
  while (!cardan::test::heard()) {
    me.announce();
    me.serve(20ms);
  }
  std::_Exit(0);
}

CARDAN_ROLE(honest_as_another_user) {
  cardan::Publisher<Big> out{kGreedy};
  cardan::test::say("ready");
  cardan::test::hear();
  return 0;
}

/// Nothing but full frames with wrong checksums; `good` of ten are right.
CARDAN_ROLE(damaged_frames) {
  const int good = std::stoi(args[0]);
  BigImposter me(kDamaged);
  me.announce();
  std::uint64_t n = 0;
  const auto publish = [&] {
    publish_one(me, ++n, [&](layout::SlotMeta& m) {
      if (static_cast<int>(n % 10) < good) return;
      m.has_checksum = 1;
      m.payload_bytes = kDamaged.options.max_bytes;
    });
  };
  for (int i = 0; i < 8; ++i) publish();
  cardan::test::say("attacking");
  while (!cardan::test::heard()) {
    me.serve(2ms);
    publish();
  }
  return 0;
}

/// Good frames as fast as they are taken, with a stamp that no honest publisher would have: the oldest, or of the
/// future.
CARDAN_ROLE(other_times) {
  const bool future = args[0] == "future";
  BigImposter me(args[1] == "fresh" ? kFresh : kShared);
  me.announce();
  std::uint64_t n = 0;
  const auto publish = [&] {
    publish_one(me, ++n,
                [&](layout::SlotMeta& m) { m.publish_ns = future ? cardan::steady_now() + 3'600'000'000'000 : 1; });
  };
  publish();
  cardan::test::say("attacking");
  while (!cardan::test::heard()) {
    me.serve(300us);
    for (int i = 0; i < 8; ++i) publish();
  }
  return 0;
}

CARDAN_ROLE(honest_beside) {
  cardan::Publisher<Big> out{args[0] == "fresh" ? kFresh : kShared};
  cardan::test::say("ready");
  while (!cardan::test::heard()) {
    cardan::test::publish_next(out, kHonest, kHonestWords);
    std::this_thread::sleep_for(1ms);
  }
  return 0;
}

namespace {

class HostileArea : public cardan::test::OwnRunDirectory {
 protected:
  HostileArea() {
    ::chmod(cardan::test::run_directory().c_str(), 01777);
    cardan::set_log([](auto, const auto&) {});
    (void)detail::Process::of({});  // makes the domain's folder
  }
  ~HostileArea() override { cardan::set_log({}); }
  static Child stranger(const std::string& role, const cardan::test::Args& args = {}, unsigned which = 0) {
    return Child(role, args, cardan::test::as_stranger(which));
  }
};

class HostileHoles : public HostileArea, public testing::WithParamInterface<const char*> {};

TEST_P(HostileHoles, AReaderFillsNone) {
  SKIP_UNLESS_ROOT();
  cardan::Subscriber in{kHoles};
  const std::string attached = cardan::test::run_directory() + "/attached";
  std::filesystem::remove(attached);
  Child attacker = stranger("slot_in_a_hole", {GetParam(), attached});
  attacker.expect("attacking");
  std::string text;
  const bool attaches = std::string(GetParam()) != "before";
  if (attaches) {
    ASSERT_TRUE(cardan::test::eventually([&] { return in.publishers() == 1; }));
    std::ofstream{attached}.flush();
  }
  EXPECT_TRUE(wait_for(in, {attaches ? Event::Kind::Misbehaved : Event::Kind::Incompatible}, text));
  EXPECT_TRUE(cardan::test::eventually([&] { return in.publishers() == 0; }));
  EXPECT_EQ(in.bad(), 0U) << "the frame was read";
  attacker.close_input();
  EXPECT_LE(std::stol(attacker.expect("grew")), 4) << "KiB of a hole were allocated";
  EXPECT_EQ(attacker.end(), 0);
}

TEST_P(HostileHoles, AnObserverFillsNone) {
  SKIP_UNLESS_ROOT();
  Child attacker = stranger("slot_in_a_hole", {GetParam()});
  attacker.expect("attacking");
  cardan::Observer observer(kHoles.name);
  cardan::ObservedSample sample;
  const auto until = std::chrono::steady_clock::now() + 100ms;
  while (std::chrono::steady_clock::now() < until) {
    EXPECT_FALSE(observer.copy_latest(sample));
    EXPECT_FALSE(observer.copy_next(sample));
    std::vector<cardan::ObservedStream::Stamp> stamps;
    for (const auto& stream : observer.streams()) stream->stamps(stamps);
    std::this_thread::sleep_for(1ms);
  }
  attacker.close_input();
  EXPECT_LE(std::stol(attacker.expect("grew")), 4) << "KiB of a hole were allocated";
  EXPECT_EQ(attacker.end(), 0);
}
INSTANTIATE_TEST_SUITE_P(All, HostileHoles, testing::Values("above", "before", "after"),
                         [](const auto& one) { return std::string(one.param); });

TEST_F(HostileArea, AnObserverCopiesNoLargerMessagesOfAnotherUserThanItWants) {
  SKIP_UNLESS_ROOT();
  Child honest = stranger("honest_beside", {"shared"});
  honest.expect("ready");
  cardan::ObservedSample sample;
  cardan::Observer any(kShared.name);
  EXPECT_TRUE(cardan::test::eventually([&] { return any.copy_latest(sample); }));
  EXPECT_TRUE(any.problems().empty());
  cardan::Observer modest(kShared.name, {.max_bytes_of_others = kHonestWords * 8 - 1});
  EXPECT_EQ(modest.streams().size(), 1U);
  EXPECT_FALSE(modest.copy_latest(sample));
  EXPECT_FALSE(modest.copy_next(sample));
  ASSERT_EQ(modest.problems().size(), 1U);
  EXPECT_NE(modest.problems()[0].find("not copied"), std::string::npos) << modest.problems()[0];
  EXPECT_EQ(honest.end(), 0);
}

TEST_F(HostileArea, AnotherUsersPayloadsDoNotExceedTheReadersContract) {
  SKIP_UNLESS_ROOT();
  cardan::Subscriber in{kModest};
  Child attacker = stranger("greedy");
  attacker.expect("attacking");
  std::string text;
  ASSERT_TRUE(wait_for(in, {Event::Kind::Incompatible}, text));
  for (const std::string& part : {std::to_string(kGreedy.options.max_bytes), std::to_string(kModest.options.max_bytes),
                                  std::to_string(attacker.pid()), std::string("imposter"), std::string("max_bytes = ")})
    EXPECT_NE(text.find(part), std::string::npos) << part << " is missing in: " << text;
  EXPECT_EQ(in.publishers(), 0U);
  // One that is there first is an event too, and no error.
  EXPECT_NO_THROW(cardan::Subscriber{kModest});
  attacker.close_input();
  EXPECT_EQ(attacker.end(), 0);
}

TEST_F(HostileArea, AnOwnerThatAllocatesWithoutEndDoesNotHoldTheHelperThread) {
  SKIP_UNLESS_ROOT();
  cardan::Subscriber in{kGreedy};
  Child attacker = stranger("allocates_without_end", {}, 7);
  attacker.expect("attacking");
  std::string text;
  // Asked again, since nobody knows; where the attacker has less of the processors it is looked at, and is not an area.
  EXPECT_TRUE(wait_for(in, {Event::Kind::Refused, Event::Kind::Incompatible}, text)) << text;
  const auto begin = std::chrono::steady_clock::now();
  detail::Process::of({}).run([] {});
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 5s);
  attacker.kill();
}

TEST_F(HostileArea, AnotherUserWhoseMemoryCannotBeLookedAtDelaysNobodyForLong) {
  SKIP_UNLESS_ROOT();
  cardan::Subscriber in{kGreedy};
  Child attacker = stranger("allocates_under_many_names", {}, 8);
  attacker.expect("attacking");
  std::this_thread::sleep_for(1500ms);
  std::chrono::nanoseconds waited{0};
  const auto end = std::chrono::steady_clock::now() + 4s;
  int turns = 0;
  for (; std::chrono::steady_clock::now() < end; ++turns) {
    const auto begin = std::chrono::steady_clock::now();
    detail::Process::of({}).run([] {});
    waited += std::chrono::steady_clock::now() - begin;
    std::this_thread::sleep_for(5ms);
  }
  EXPECT_LT(waited, 2s) << "of 4 s, for " << turns << " turns of the helper thread";
  Child honest("honest_as_another_user", {}, cardan::test::as_user(kStranger + 1));
  honest.expect("ready");
  EXPECT_TRUE(cardan::test::eventually([&] { return in.publishers() == 1; }));
  attacker.kill();
}

TEST_F(HostileArea, AnOwnerWhoseMemoryCouldNotBeCheckedIsAskedAgain) {
  SKIP_UNLESS_ROOT();
  auto& times = detail::AnswerTimes::of_process();
  constexpr unsigned kWhose = kStranger + 40;
  ASSERT_GT(times.begin(kWhose, cardan::steady_now()), 0);
  times.done(kWhose);
  times.spent(kWhose, 2'000'000'000);
  Child honest("honest_as_another_user", {}, cardan::test::as_user(kWhose));
  honest.expect("ready");
  cardan::Subscriber in{kGreedy};
  std::string text;
  EXPECT_TRUE(wait_for(in, {Event::Kind::Refused}, text));
  EXPECT_EQ(in.publishers(), 0U);
  times.spent(kWhose, -2'000'000'000);  // the minute is over
  EXPECT_TRUE(cardan::test::eventually([&] { return in.publishers() == 1; })) << "it is refused for good";
  EXPECT_EQ(honest.end(), 0);
}

TEST_F(HostileArea, OneTakeChecksOneLargeDamagedFrameAndAStreamOfThemIsCutOff) {
  Child attacker = stranger("damaged_frames", {"0"});
  attacker.expect("attacking");
  cardan::Subscriber in{kDamaged};
  EXPECT_TRUE(cardan::test::eventually([&] { return in.publishers() == 1; }));
  std::uint64_t before = 0;
  for (int i = 0; i < 1000 && in.publishers() != 0; ++i) {
    EXPECT_FALSE(in.take());
    const std::uint64_t bad = in.bad();
    EXPECT_LE(bad - before, 1U) << "refused in one take()";
    before = bad;
    std::this_thread::sleep_for(1ms);
  }
  std::string text;
  EXPECT_TRUE(wait_for(in, {Event::Kind::Misbehaved}, text));
  EXPECT_NE(text.find("damaged"), std::string::npos) << text;
  EXPECT_EQ(in.publishers(), 0U);
  EXPECT_LE(in.bad(), 64U);
  attacker.close_input();
  EXPECT_EQ(attacker.end(), 0);
}

TEST_F(HostileArea, ManyDamagedFramesWithGoodOnesBetweenAreTolerated) {
  Child attacker = stranger("damaged_frames", {"1"});
  attacker.expect("attacking");
  cardan::Subscriber in{kDamaged};
  EXPECT_TRUE(cardan::test::eventually([&] {
    (void)in.wait(1ms);
    return in.bad() >= 200;
  }));
  EXPECT_EQ(in.publishers(), 1U);
  EXPECT_GT(in.received(), 10U);
  attacker.close_input();
  EXPECT_EQ(attacker.end(), 0);
}

class HostileTimes : public HostileArea, public testing::WithParamInterface<const char*> {};

TEST_P(HostileTimes, OtherPublishersHaveTheirTurn) {
  SKIP_UNLESS_ROOT();
  cardan::Subscriber<Big> in{kShared, {.depth = std::string(GetParam()) == "future" ? 1U : 0U}};
  Child honest("honest_beside", {"shared"});
  honest.expect("ready");
  Child attacker = stranger("other_times", {GetParam(), "shared"});
  attacker.expect("attacking");
  ASSERT_TRUE(cardan::test::eventually([&] {
    (void)in.take();
    return in.publishers() == 2;
  }));
  int good = 0;
  int others = 0;
  for (int i = 0; i < 1500; ++i) {
    std::this_thread::sleep_for(500us);  // so that both always have something
    const auto sample = in.take();
    if (!sample) continue;
    (cardan::test::writer_of(sample->key) == kHonest ? good : others) += 1;
  }
  EXPECT_GE(good, 40) << "of the honest publisher, and " << others << " of the other";
  attacker.close_input();
  EXPECT_EQ(attacker.end(), 0);
  EXPECT_EQ(honest.end(), 0);
}
INSTANTIATE_TEST_SUITE_P(All, HostileTimes, testing::Values("past", "future"),
                         [](const auto& one) { return std::string(one.param); });

TEST_F(HostileArea, AStampOfTheFutureIsNeitherTheNewestForEverNorYoung) {
  Child honest("honest_beside", {"fresh"});
  honest.expect("ready");
  Child attacker = stranger("other_times", {"future", "fresh"});
  attacker.expect("attacking");
  cardan::Subscriber in{kFresh};
  ASSERT_TRUE(cardan::test::eventually([&] { return in.publishers() == 2; }));
  cardan::ObservedSample copy;
  int good = 0;
  for (int i = 0; i < 100; ++i) {
    std::this_thread::sleep_for(500us);
    if (!in.copy_latest(copy)) continue;
    const auto* message = copy.as<Big>();
    if (message != nullptr && cardan::test::writer_of(message->key) == kHonest) ++good;
  }
  EXPECT_GT(good, 50) << "copies of the newest";
  for (int i = 0; i < 200; ++i)
    if (const auto sample = in.wait(100ms)) {
      EXPECT_EQ(cardan::test::writer_of(sample->key), kHonest) << "older than its lifespan, or anything else";
    }
  EXPECT_GT(in.bad(), 0U);
  attacker.close_input();
  EXPECT_EQ(attacker.end(), 0);
  EXPECT_EQ(honest.end(), 0);
}

}  // namespace
