// SPDX-License-Identifier: Apache-2.0
// A publisher of another user, made by hand, that writes what it likes into its pages: it can falsify only its own
// samples. The victim subscribes to the same topic from it and from an honest publisher, whose frames must continue
// arriving whole; and its other topics must not notice anything.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstring>
#include <random>
#include <thread>

#include "cardan/error.hpp"
#include "cardan/log.hpp"
#include "cardan/wait_any.hpp"
#include "tests/hostile/imposter.hpp"
#include "tests/hostile/strangers.hpp"
#include "tests/support/child.hpp"
#include "tests/support/frames.hpp"
#include "tests/support/raw_peer.hpp"
#include "tests/support/run_directory.hpp"

namespace {

using namespace std::chrono_literals;
using cardan::Fd;
using cardan::test::Big;
using cardan::test::Child;
using cardan::test::kHonest;
using cardan::test::RawPeer;
namespace layout = cardan::layout;
namespace detail = cardan::detail;

constexpr std::size_t kVictimWords = 2000;
constexpr cardan::Topic<Big> kVictim{"/victim",
                                     {.max_bytes = kVictimWords * 8, .depth = 4, .access = cardan::Access::Everyone}};

/// One that claims to publish the victim's topic.
class FalseVictim : public cardan::test::Imposter<Big> {
 public:
  FalseVictim() : cardan::test::Imposter<Big>(kVictim) {}
};

/// One valid frame of the imposter, so that spoiling it is noticed.
void publish_own(detail::PublisherCore& core) {
  const int slot = core.loan();
  if (slot < 0) return;
  auto* message = new (core.message(slot)) Big;
  auto* arena = new (core.arena(slot)) cardan::shm::Arena;
  arena->place(core.payload(slot), core.payload_capacity());
  cardan::shm::bind(*message, *arena);
  cardan::test::fill(*message, cardan::test::key_of(666, core.published() + 1), 100);
  core.publish(slot, arena->used, 0);
}

}  // namespace

CARDAN_ROLE(honest) {
  cardan::Publisher<Big> out{kVictim};
  cardan::test::say("ready");
  while (!cardan::test::heard()) {
    cardan::test::publish_next(out, kHonest, kVictimWords);
    std::this_thread::sleep_for(1ms);
  }
  return 0;
}

CARDAN_ROLE(wild_header) {  // each attach finds another impossible header
  FalseVictim me;
  std::mt19937_64 random{5};
  cardan::test::say("attacking");
  while (!cardan::test::heard()) {
    me.fresh_area();
    publish_own(me.core());
    static constexpr std::uint64_t kValues[] = {
        0, 1, 7, 63, 64, 4096, 0x7fffffff, 0xffffffff, 0x7fffffffffffffff, ~std::uint64_t{0}, ~std::uint64_t{4095}};
    for (std::uint64_t n = random() % 3; n < 3; ++n) {
      const std::size_t at = random() % (offsetof(layout::Header, topic) / 8) * 8;
      const std::uint64_t value = random() % 3 == 0 ? random() : kValues[random() % std::size(kValues)] + random() % 3;
      std::memcpy(me.at(at), &value, random() % 2 == 0 ? 8 : 4);
    }
    me.announce();
    me.serve(3ms);
  }
  cardan::test::say("attached " + std::to_string(me.attached()));
  return 0;
}

CARDAN_ROLE(flipping_header) {  // it changes between one look and the next
  FalseVictim me;
  cardan::test::say("attacking");
  std::atomic<bool> end{false};
  std::thread flipper([&] {
    while (!end) {
      auto& h = const_cast<volatile layout::Header&>(me.header());
      const auto bytes = h.message_bytes;
      h.message_bytes = 0;
      h.slots_offset = h.slots_offset ^ (std::uint64_t{1} << 40);
      h.message_bytes = bytes;
      h.slots_offset = h.slots_offset ^ (std::uint64_t{1} << 40);
    }
  });
  while (!cardan::test::heard()) {
    me.announce();
    me.serve(3ms);
  }
  end = true;
  flipper.join();
  return 0;
}

CARDAN_ROLE(wild_words) {  // a good header, and then anything in the words that readers follow
  FalseVictim me;
  std::mt19937_64 random{6};
  cardan::test::say("attacking");
  while (!cardan::test::heard()) {
    me.fresh_area();
    for (int i = 0; i < 6; ++i) publish_own(me.core());
    me.announce();
    const auto& h = me.core().header();
    for (int i = 0; i < 60 && !cardan::test::heard(); ++i) {
      me.serve(200us);
      const std::uint64_t now = me.core().published();
      const std::uint64_t value =
          random() % 2 == 0 ? random() : (now + random() % 4) << 16 | random() % (h.max_slots + 2);
      const std::size_t slot = random() % 8;
      switch (random() % 5) {
        case 0:
          std::memcpy(me.at(h.front_offset), &value, 8);
          break;
        case 1:
          std::memcpy(me.at(h.ring_offset + random() % h.depth * 8), &value, 8);
          break;
        case 2:
          std::memcpy(me.at(h.slots_offset + slot * h.slot_stride + random() % 8 * 8), &value, 8);
          break;  // the slot's head
        case 3:
          std::memcpy(me.at(h.slots_offset + slot * h.slot_stride + h.message_offset + random() % 5 * 8), &value, 8);
          break;  // the vector
        default:
          std::memcpy(me.at(h.hot_offset + random() % 16 * 8), &value, 8);
      }
      publish_own(me.core());
    }
  }
  return 0;
}

CARDAN_ROLE(only_bad_frames) {  // as fast as it can, each with a length that lies and a time that makes it the oldest
  FalseVictim me;
  me.announce();
  cardan::test::say("attacking");
  auto& core = me.core();
  while (!cardan::test::heard()) {
    me.serve(1ms);
    const auto until = std::chrono::steady_clock::now() + 20ms;
    const auto& h = core.header();
    std::uint64_t n = core.published();
    while (std::chrono::steady_clock::now() < until) {
      ++n;
      auto* meta = reinterpret_cast<layout::SlotMeta*>(me.at(h.slots_offset));
      meta->publish_ns = std::numeric_limits<std::int64_t>::min() / 2;
      meta->payload_bytes = ~std::uint64_t{0};
      meta->sequence = n;
      reinterpret_cast<std::atomic<std::uint64_t>*>(me.at(h.ring_offset))[n % h.depth] = n << 16;
      *reinterpret_cast<std::atomic<std::uint64_t>*>(me.at(h.front_offset)) = n << 16;
      for (int i = 0; i < 100; ++i) cardan::cpu_relax();  // long enough for a reader to take it
    }
  }
  return 0;
}

CARDAN_ROLE(terabyte_of_nothing) {  // a sparse area that a reader's prefault would fill
  FalseVictim me;
  constexpr std::size_t kBytes = std::size_t{1} << 38;
  const Fd sparse(::memfd_create("sparse", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (::ftruncate(sparse.get(), static_cast<off_t>(kBytes)) != 0) return 1;
  auto* at = static_cast<std::byte*>(::mmap(nullptr, 1 << 20, PROT_READ | PROT_WRITE, MAP_SHARED, sparse.get(), 0));
  std::memcpy(at, me.at(0), me.core().header().slots_offset);
  auto& h = *reinterpret_cast<layout::Header*>(at);
  h.area_bytes = kBytes;
  h.max_slots = 2048;
  h.payload_offset = std::size_t{1} << 30;
  h.payload_stride = std::size_t{64} << 20;
  h.payload_bytes = h.payload_stride;
  reinterpret_cast<layout::Hot*>(at + h.hot_offset)->committed = 2048;
  ::fcntl(sparse.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | 0x0010 | F_SEAL_SEAL);
  me.hand_over(sparse.get(), kBytes);
  cardan::test::say("attacking");
  while (!cardan::test::heard()) {
    me.announce();
    me.serve(50ms);
  }
  return 0;
}

CARDAN_ROLE(babbles) {  // answers that are not answers
  FalseVictim me;
  std::mt19937_64 random{8};
  cardan::test::say("attacking");
  while (!cardan::test::heard()) {
    me.announce();
    me.serve(4ms, [&](std::string& text) {
      for (std::uint64_t n = random() % 4; n > 0; --n) {
        const std::size_t at = random() % text.size();
        if (random() % 2 == 0)
          text[at] = static_cast<char>(random());
        else
          text.insert(at, std::string(random() % 3000, "[{\"9-"[random() % 5]));
      }
    });
  }
  return 0;
}

CARDAN_ROLE(thief_of_sleepers) {  // moves sleepers on its bells to a word that nobody will ever ring
  FalseVictim me;
  me.announce();
  const cardan::detail::Area elsewhere("elsewhere", 4096);
  elsewhere.commit(0, 4096);
  cardan::test::say("attacking");
  long moved = 0;
  while (!cardan::test::heard()) {
    me.serve(1ms);
    for (int i = 0; i < static_cast<int>(layout::kBells); ++i) {
      const long n = ::syscall(SYS_futex, &me.bells().bell(i).phase, FUTEX_REQUEUE, 0, 1000L, elsewhere.data(), 0);
      if (n > 0) moved += n;
    }
  }
  cardan::test::say("moved " + std::to_string(moved));
  return 0;
}

namespace {

class HostilePublisher : public cardan::test::OwnRunDirectory, public testing::WithParamInterface<const char*> {
 protected:
  HostilePublisher() {
    ::chmod(cardan::test::run_directory().c_str(), 01777);
    cardan::set_log([](auto, const auto&) {});  // it is told of each attempt
  }
  ~HostilePublisher() override { cardan::set_log({}); }
  static Child stranger(const std::string& role) { return Child(role, {}, cardan::test::as_stranger()); }
};

TEST_P(HostilePublisher, FalsifiesOnlyItsOwnSamples) {
  const long before = cardan::test::number_in("/proc/self/status", "RssShmem");
  Child honest("honest");
  honest.expect("ready");
  cardan::Subscriber<Big> in{kVictim};
  Child attacker = stranger(GetParam());
  attacker.expect("attacking");
  std::uint64_t good = 0;
  std::uint64_t others = 0;
  std::uint64_t last = 0;
  std::uint64_t folded = 0;
  const auto begin = std::chrono::steady_clock::now();
  const auto length = cardan::test::deep() ? 15s : 1s;
  while (std::chrono::steady_clock::now() - begin < length || good < 100) {
    ASSERT_LT(std::chrono::steady_clock::now() - begin, length + 30s) << "only " << good << " honest frames";
    const auto sample = in.wait(1s);
    if (!sample) continue;
    for (const auto word : sample->words) folded ^= word;  // whatever it is, it can be read
    if (cardan::test::writer_of(sample->key) == kHonest && cardan::test::number_of(sample->key) == sample.sequence()) {
      ASSERT_TRUE(cardan::test::intact(sample));
      ASSERT_GT(sample.sequence(), last);
      last = sample.sequence();
      ++good;
    } else {
      ++others;
    }
  }
  // The helper thread lives: somebody new is found, and its end is told.
  Child another("honest");
  another.expect("ready");
  EXPECT_TRUE(cardan::test::eventually([&] {
    (void)in.take();
    return in.publishers() >= 2;
  }));
  const long after = cardan::test::number_in("/proc/self/status", "RssShmem");
  EXPECT_LT(after - before, 64 * 1024) << "the attacker made us commit memory (KiB)";
  EXPECT_EQ(another.end(), 0);
  attacker.close_input();
  attacker.end();
  EXPECT_EQ(honest.end(), 0);
  std::printf("  %llu honest frames, %llu others, %llu refused (%llx)\n", static_cast<unsigned long long>(good),
              static_cast<unsigned long long>(others), static_cast<unsigned long long>(in.bad()),
              static_cast<unsigned long long>(folded));
}
INSTANTIATE_TEST_SUITE_P(All, HostilePublisher,
                         testing::Values("wild_header", "flipping_header", "wild_words", "only_bad_frames",
                                         "terabyte_of_nothing", "babbles"),
                         [](const auto& one) { return std::string(one.param); });

class HostileBells : public HostilePublisher {};

TEST_F(HostileBells, SleepersMovedAwayAreStillWokenByTheHelper) {
  SKIP_UNLESS_ROOT();  // of one's own user it is not an attack but a bug
  cardan::Subscriber<Big> in{kVictim, {.events_end_wait = true}};
  Child thief = stranger("thief_of_sleepers");
  thief.expect("attacking");
  EXPECT_TRUE(cardan::test::eventually([&] { return in.publishers() == 1; }));
  while (in.event()) {
  }
  std::atomic<int> step{0};
  std::thread sleeper([&] {
    EXPECT_FALSE(in.wait(20s));
    EXPECT_EQ(in.reason(), cardan::Reason::Event);
    step = 1;
  });
  std::this_thread::sleep_for(200ms);
  Child honest("honest");  // joins: an event that ends the wait
  EXPECT_TRUE(cardan::test::eventually([&] { return step == 1; }))
      << "the sleeper was stolen, or the helper thread hangs";
  thief.close_input();
  thief.kill();
  sleeper.join();
  EXPECT_TRUE(cardan::test::eventually([&] { return static_cast<bool>(in.take()); }));
}

}  // namespace
