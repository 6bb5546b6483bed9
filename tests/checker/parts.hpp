// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>

#include "cardan/transport/bell_protocol.hpp"
#include "cardan/transport/slot_protocol.hpp"
#include "tests/checker/env.hpp"

/// What the scenarios are built from: a publisher that loans, fills, publishes, wakes and reclaims in the order of
/// PublisherCore, subscribers that take, hold, read, drop and sleep in the order of SubscriberCore, and the helper
/// threads. All accesses to shared words go through the protocol functions or name their site.
namespace cardan::checker {

inline constexpr std::uint32_t kMaxSlots = 8;
inline constexpr std::uint32_t kMaxDepth = 4;
inline constexpr std::uint32_t kMaxReaders = 2;

/// Two words that belong together. Plain bytes, so that an unordered access is a race; or, for observers (who read
/// without holding, which plain bytes do not allow), relaxed atomic words.
struct Payload {
  Cell plain[2];
  Word<std::uint64_t> words[2];
  bool atomic = false;

  void fill(std::uint64_t n);
  /// Both words, which must belong to publication n.
  void expect(std::uint64_t n, std::uint32_t slot) const;
};

/// What only the publisher writes.
struct PublisherArea {
  Word<std::uint64_t> latest, ring[kMaxDepth], sequence[kMaxSlots];
  Word<std::uint32_t> bell, filling;
  Futex futex;
  Payload payload[kMaxSlots];
  std::uint32_t depth = 1, slots = 2;

  void init(std::uint32_t ring_depth, std::uint32_t slot_count, bool atomic_payload = false);
  protocol::PublisherRing<Env> writer();
  protocol::ReaderRing<Env> reader() const;
};

/// What only the subscriber writes.
struct SubscriberArea {
  Word<std::uint64_t> hold[1], cursor;
  Word<std::uint32_t> waiting;
  Cell mapping;  ///< 1 while the publisher has it mapped

  void init(int index);
  /// Only one thread of this subscriber takes and waits.
  void owned_by(std::size_t thread);
};

/// The publisher's process-local table, its quiescence counter, and both threads' sides of them.
struct Table {
  Word<std::uint32_t> entry[kMaxReaders];  ///< 0 none, else index + 1
  Word<std::uint32_t> end;                 ///< how many entries have ever been used
  Word<std::uint64_t> epoch;
  std::array<SubscriberArea*, kMaxReaders> areas{};

  void init();
  // Helper thread.
  void attach(std::uint32_t index, SubscriberArea& area);
  /// Takes it out and unmaps its area once the publishing thread cannot look at it any more.
  void detach(std::uint32_t index, ExpeditedBarrier* barrier = nullptr);
  // Before the threads start.
  void preset(std::uint32_t index, SubscriberArea& area);
};

/// The publishing thread. Options leave out what a scenario is not about, to keep its runs few.
class Publisher {
 public:
  struct Options {
    bool wakes = false;                ///< looks at `waiting` and rings
    bool epochs = false;               ///< counts quiescent points
    bool barrier = false;              ///< by a plain store, since detach() strikes with a barrier
    bool may_starve = true;            ///< else a missing free slot is a failure
    std::uint32_t reliable_looks = 0;  ///< at a slow reliable reader's cursor before its time-out
  };
  Publisher(PublisherArea& area, Table& table, Options options);

  /// False when no slot was free.
  bool publish_one();
  int loan();
  void publish(int slot);
  void prewake();
  void abandon(int slot);
  std::uint64_t published() const { return sequence_; }
  bool demoted() const { return demoted_; }

 private:
  enum class State : std::uint8_t { Returned, Free, Loaned, Published, Aside };
  class Inside;
  void reclaim();
  void wake();
  void ring();
  void touch(std::uint32_t index) const;
  void wait_for_reliable(std::uint64_t n);

  PublisherArea& area_;
  Table& table_;
  Options options_;
  std::array<State, kMaxSlots> state_{};
  std::array<std::uint64_t, kMaxSlots> published_as_{};
  std::array<std::uint32_t, kMaxSlots> free_{};
  std::uint32_t free_count_ = 0, phase_ = 0;
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

  struct Log {
    std::array<std::uint64_t, 8> sequence{}, missed{};
    std::size_t count = 0;
  };
  const Log& log() const { return log_; }

 private:
  PublisherArea& publisher_;
  SubscriberArea& own_;
  std::uint32_t depth_;
  Log log_;
};

/// After the run: each publication up to the cursor was taken once or counted as missed (I4).
void expect_exact_count(const SubscriberArea& area, std::initializer_list<const Reader*> threads);
/// After the run, when nobody died: every hold was given back (I3).
void expect_nothing_held(const SubscriberArea& area);

}  // namespace cardan::checker
