// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>

#include "src/transport/protocol/bell_protocol.hpp"
#include "src/transport/protocol/event_protocol.hpp"
#include "src/transport/protocol/reclaim_protocol.hpp"
#include "src/transport/protocol/reliable_protocol.hpp"
#include "src/transport/protocol/slot_protocol.hpp"
#include "src/transport/protocol/table_protocol.hpp"
#include "tests/checker/env.hpp"

/// The parts of the scenarios: publishers, subscribers and helper threads around the code of production. The
/// table, the pool of slots with reclaim and judgement, publish, take, wake, the reliable wait and the sleepers are
/// those of src/transport/protocol/*_protocol.hpp; what is written here is in which order a scenario calls them.
namespace cardan::checker {

inline constexpr std::uint32_t kMaxSlots = 8;
inline constexpr std::uint32_t kMaxDepth = 4;
inline constexpr std::uint32_t kMaxReaders = 2;
inline constexpr std::uint32_t kHoldWords = kMaxSlots / Env::kSlotsPerHoldWord;

/// Two words that belong together. Plain bytes, so that an unordered access is a race; or, for observers (which read
/// without holding, which plain bytes do not allow), relaxed atomic words.
struct Payload {
  Cell plain[2];
  Word<std::uint64_t> words[2];
  bool atomic = false;

  void fill(std::uint64_t n);
  /// Both words, which must belong to publication n.
  void expect(std::uint64_t n, std::uint32_t slot) const;
};

/// Memory that only the publisher writes.
struct PublisherArea {
  Word<std::uint64_t> latest, ring[kMaxDepth], sequence[kMaxSlots];
  Word<std::uint32_t> bell, filling, backpressure;
  Futex futex;
  Payload payload[kMaxSlots];
  std::uint32_t depth = 1, slots = 2;

  void init(std::uint32_t ring_depth, std::uint32_t slot_count, bool atomic_payload = false);
  protocol::PublisherRing<Env> writer();
  protocol::ReaderRing<Env> reader() const;
};

/// Memory that only the subscriber writes.
struct SubscriberArea {
  Word<std::uint64_t> hold[kHoldWords], cursor;
  Word<std::uint32_t> waiting, armed, progress;
  Futex progress_futex;
  Descriptor descriptor;            ///< its fd(): publishers send, its threads drain and poll
  Cell mapping;                     ///< 1 while the publisher has it mapped
  std::uint32_t announced = 1'000;  ///< holds + threads; many: never judged

  void init(int index);
  /// Only one thread of this subscriber takes and waits.
  void owned_by(std::size_t thread);
};

/// The publisher's table, and the pages of its entries: index + 1.
struct Table : protocol::Table<Env, std::uint32_t, kMaxReaders> {
  std::array<SubscriberArea*, kMaxReaders> areas{};

  void init();
  // Helper thread.
  void attach(std::uint32_t index, SubscriberArea& area);
  /// Takes it out and unmaps its area once the publishing thread cannot look at it any more.
  void detach(std::uint32_t index, ExpeditedBarrier* barrier = nullptr);
  /// Takes it out only.
  void clear_entry(std::uint32_t index) {
    (void)clear(index, [] {});
  }
  // Before the threads start.
  void preset(std::uint32_t index, SubscriberArea& area);
};

/// The states of the slots, with names for traces.
struct States : protocol::SlotStates<Env> {
  void init(std::uint32_t slots);
  void owned_by(std::uint32_t slots, std::size_t thread);
  protocol::SlotState final_state(std::uint32_t slot) const { return words_[slot].final_value(); }
};

/// The publishing thread. Options leave out what a scenario is not about, to keep its runs few.
class Publisher {
 public:
  /// Wrong variants that a scenario must catch.
  enum class Fault : std::uint8_t {
    None,
    JudgesLivingSlots,  ///< counts an honest reader's slots that are not dead
    KeepsLiars,         ///< a liar's holds count for ever
    JudgesOtherReads,   ///< looks for a reader that shows too many in later reads, not in those that freed nothing
    WakesBeforeBell,    ///< the order of ring() turned round
  };
  struct Options {
    bool wakes = false;                ///< looks at `waiting` and rings
    bool epochs = false;               ///< counts quiescent points
    bool barrier = false;              ///< by a plain store, since detach() strikes with a barrier
    bool may_starve = true;            ///< else a missing free slot is a failure
    bool descriptors = false;          ///< rings them
    std::uint32_t reliable_looks = 0;  ///< at a slow reliable reader's cursor before its time-out
    bool reliable_sleeps = false;      ///< and sleeps on its progress instead
    Fault fault = Fault::None;
  };
  Publisher(PublisherArea& area, Table& table, Options options);
  /// After the area was made; before the threads start.
  void prepare();
  /// Only this thread loans, publishes and abandons.
  void owned_by(std::size_t thread);

  /// False when no slot was free.
  bool publish_one();
  int loan();
  void publish(int slot);
  void prewake();
  /// By any thread.
  void abandon(int slot);
  std::uint64_t published() const { return sequence_; }
  bool demoted() const { return demoted_; }
  bool cut_off(std::uint32_t index) const { return cut_off_[index]; }
  /// After the run: the slot is free, or will be at the next look.
  bool comes_back(std::uint32_t slot) const { return pool_.states.final_state(slot) != protocol::SlotState::Loaned; }

 private:
  struct Peers;
  using Pool = protocol::SlotPool<Env, States>;
  template <class F>
  void inside(F&& f);
  void ring();
  void touch(std::uint32_t index) const;
  std::uint32_t counted(std::uint32_t handle, bool of_dead_slots) const;
  void judge_living_slots();
  void judge_other_reads();
  void wait_for_reliable(std::uint64_t n);

  PublisherArea& area_;
  Table& table_;
  Options options_;
  Pool pool_;
  std::array<bool, kMaxReaders> cut_off_{};
  std::array<std::uint32_t, kMaxReaders> tokens_{};
  std::uint32_t phase_ = 0;
  bool rung_ = false;
  std::uint64_t sequence_ = 0, epoch_ = 0;
  bool demoted_ = false;
};

/// One thread of one subscriber.
class Reader {
 public:
  Reader(PublisherArea& publisher, SubscriberArea& own, std::uint32_t depth)
      : publisher_(publisher), own_(own), depth_(depth) {}

  struct Held {
    bool taken = false;
    std::uint64_t sequence = 0;
    std::uint32_t slot = 0;
  };
  Held take();
  void look(const Held& held) const { publisher_.payload[held.slot].expect(held.sequence, held.slot); }
  void drop(const Held& held) { protocol::drop<Env>(own_.hold, held.slot); }
  /// Takes, reads, drops. False: nothing new.
  bool take_one();
  /// Takes until it has publication `last`, sleeping when there is nothing.
  void wait_until(std::uint64_t last, bool prewakes = false);
  /// The same by its descriptor.
  void poll_until(std::uint64_t last);
  /// Tells a reliable publisher of its progress after each take from now on.
  void tells_progress() { tells_progress_ = true; }

  struct Log {
    std::array<std::uint64_t, 8> sequence{}, missed{};
    std::size_t count = 0;
  };
  const Log& log() const { return log_; }

 private:
  PublisherArea& publisher_;
  SubscriberArea& own_;
  std::uint32_t depth_;
  bool tells_progress_ = false;
  Log log_;
};

/// After the run: each publication up to the cursor was taken once or counted as missed (I4).
void expect_exact_count(const SubscriberArea& area, std::initializer_list<const Reader*> threads);
/// After the run, when nobody died: every hold was given back (I7).
void expect_nothing_held(const SubscriberArea& area);

}  // namespace cardan::checker
