// SPDX-License-Identifier: Apache-2.0
// A subscriber of another user that counts on every slot, and attaches again when it is cut off, together with an
// honest reader whose holds move from slot to slot as fast as they can. The honest one is never taken for a liar and
// never sees a torn sample; the publisher never lacks a slot; the liar sees the end of its connection before its
// samples change.
#include <sys/mman.h>

#include <atomic>
#include <deque>

#include "tests/hostile/attack.hpp"

namespace {

using namespace std::chrono_literals;
using namespace cardan::test;
namespace layout = cardan::layout;

constexpr std::size_t kFew = 4;
constexpr std::uint32_t kHeld = 200;
constexpr cardan::Topic<Big> kQueue{"/ping",
                                    {.max_bytes = kPingWords * 8, .depth = 64, .access = cardan::Access::Everyone}};

}  // namespace

/// Always holds the announced number of samples, and moves from slot to slot as fast as it can: a publisher that
/// adds up its hold words one after the other sees more than there ever were at once. It looks at the oldest sample
/// again before it lets it go.
CARDAN_ROLE(mover) {
  cardan::Subscriber<Big> in{kQueue, {.holds = kHeld}};
  std::atomic<std::uint64_t> torn{0}, taken{0};
  std::atomic<bool> stop{false};
  std::thread moves([&] {
    std::deque<cardan::Sample<Big>> held;
    while (!stop) {
      auto sample = in.take();
      if (!sample) continue;
      ++taken;
      held.push_back(std::move(sample));
      if (held.size() <= kHeld) continue;
      if (!intact(held.front())) ++torn;
      held.pop_front();
    }
  });
  say("ready");
  hear();
  stop = true;
  moves.join();
  int ended = 0;
  while (const auto event = in.event())
    if (event->kind != cardan::Event::Kind::Joined) ++ended;
  say("torn " + std::to_string(torn.load()));
  say("ended " + std::to_string(ended));
  say("taken " + std::to_string(taken.load()));
  return 0;
}

CARDAN_ROLE(counts_on_all) {
  Attack a = attach();
  if (!a.connected()) return 1;
  say("attached");
  std::uint64_t cut_off = 0;
  while (!heard()) {
    for (auto& h : a.words().hold) h.store(0x0101010101010101);
    for (int i = 0; i < 2000 && !hung_up(*a.peer); ++i) ::usleep(50);
    if (!hung_up(*a.peer)) continue;
    ++cut_off;
    a = {};
    while (!a.connected() && !heard()) {
      a = attach();
      if (!a.connected()) ::usleep(1000);
    }
    if (!a.connected()) break;
  }
  say("cut_off " + std::to_string(cut_off));
  return 0;
}

/// Takes one sample by hand, then counts on every slot, and watches the sample.
CARDAN_ROLE(watches_its_sample) {
  Attack a = attach();
  if (!a.connected()) return 1;
  void* map = ::mmap(nullptr, a.bytes, PROT_READ, MAP_SHARED, a.fds[0].get(), 0);
  if (map == MAP_FAILED) return 1;
  const auto* area = static_cast<const std::byte*>(map);
  layout::Header h{};
  std::memcpy(&h, area, sizeof(h));
  const auto& latest = *reinterpret_cast<const cardan::Atomic<std::uint64_t>*>(area + h.front_offset);
  say("attached");
  std::uint32_t slot = 0;
  const std::uint64_t* key = nullptr;
  std::uint64_t sequence = 0;
  for (;;) {  // as protocol::take()
    const auto e = cardan::protocol::unpack(latest.load());
    if (e.sequence == 0) continue;
    slot = e.slot;
    sequence = e.sequence;
    const auto* record = area + h.slots_offset + slot * h.slot_stride;
    a.words().hold[slot / 8].fetch_add(std::uint64_t{1} << (8 * (slot % 8)));
    if (reinterpret_cast<const layout::SlotMeta*>(record)->sequence.load() == sequence) {
      key = reinterpret_cast<const std::uint64_t*>(record + h.message_offset);
      break;
    }
    a.words().hold[slot / 8].fetch_sub(std::uint64_t{1} << (8 * (slot % 8)));
  }
  const std::uint64_t first = *key;
  for (auto& word : a.words().hold) word.fetch_or(0x0101010101010101);
  while (*static_cast<const volatile std::uint64_t*>(key) == first && !heard()) {
  }
  say(hung_up(*a.peer) ? "end seen first" : "changed before the end");
  return 0;
}

namespace {

class HostileLiar : public AttackTest {};

TEST_F(HostileLiar, HonestReadersStayWholeAndThePublisherNeverLacksASlot) {
  cardan::Publisher<Big> out{kQueue};
  Child mover("mover");
  mover.expect("ready");
  std::vector<Child> liars;
  for (unsigned i = 0; i < 4; ++i) {
    liars.push_back(Child("counts_on_all", {}, as_stranger(i)));
    liars.back().expect("attached");
  }
  const auto until = std::chrono::steady_clock::now() + (deep() ? 15s : 2500ms);
  std::uint64_t lacking = 0;
  while (std::chrono::steady_clock::now() < until)
    if (!publish_next(out, 1, kFew)) ++lacking;
  std::uint64_t cut_off = 0;
  for (const Child& liar : liars) liar.say("stop");
  for (Child& liar : liars) cut_off += std::stoull(liar.expect("cut_off"));
  mover.say("stop");
  EXPECT_EQ(mover.expect("torn"), "0") << "held samples were refilled";
  EXPECT_EQ(mover.expect("ended"), "0") << "the honest reader was cut off";
  EXPECT_NE(mover.expect("taken"), "0");
  EXPECT_EQ(lacking, 0U);
  EXPECT_GE(cut_off, 1U);
  EXPECT_EQ(mover.end(), 0);
  std::printf("  %llu publications, liars were cut off %llu times\n", static_cast<unsigned long long>(out.published()),
              static_cast<unsigned long long>(cut_off));
}

TEST_F(HostileLiar, SeesTheEndBeforeItsSampleChanges) {
  cardan::Publisher<Big> out{kQueue};
  ASSERT_TRUE(publish_next(out, 1, kFew));
  Child liar = stranger("watches_its_sample");
  liar.expect("attached");
  std::optional<std::string> line;
  while (!(line = liar.line(0ms))) ASSERT_TRUE(publish_next(out, 1, kFew));
  EXPECT_EQ(*line, "end seen first");
  EXPECT_EQ(liar.end(), 0);
}

}  // namespace
