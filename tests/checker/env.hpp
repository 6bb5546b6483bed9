// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <optional>

#include "src/transport/protocol/order_table.hpp"
#include "tests/checker/execution.hpp"

/// The environment in which the real protocol code runs under the checker, and what its scenarios are made of.
namespace cardan::checker {

inline constexpr std::size_t kSiteCount = std::size(kSites);

enum class Kind : std::uint8_t { Unused, Load, Store, Modify, AcquireFence, ReleaseFence };

/// The table of orders, to be weakened at run time; and what each site was seen to do.
struct Orders {
  std::array<std::memory_order, kSiteCount> site;
  std::array<Kind, kSiteCount> kind{};
  std::optional<Site> left_out;  ///< this write or fence is not done at all

  Orders() {
    for (std::size_t i = 0; i < kSiteCount; ++i) site[i] = kSites[i].order;
  }
};
inline Orders& orders() {
  static Orders all;
  return all;
}
inline std::memory_order order_now(Site s) { return orders().site[static_cast<std::size_t>(s)]; }
inline const char* name_of(Site s) { return kSites[static_cast<std::size_t>(s)].name; }

/// An atomic word of the modelled memory. Made again for each run.
template <class T>
class Word {
 public:
  Word() = default;
  explicit Word(Name name, T value = {}) { init(name, value); }
  Word(const Word&) = delete;
  Word& operator=(const Word&) = delete;
  void init(Name name, T value = {}) {
    id_ = Execution::current().add_location(name, static_cast<std::uint64_t>(value));
  }
  std::size_t id() const { return id_; }
  void owned_by(std::size_t thread) { Execution::current().memory().set_owner(id_, thread); }
  /// After the run: the last value in modification order.
  T final_value() const { return static_cast<T>(Execution::current().memory().final_value(id_)); }

 private:
  std::size_t id_ = std::numeric_limits<std::size_t>::max();
};

/// Plain bytes: an access that races with another is a failure.
class Cell {
 public:
  Cell() = default;
  explicit Cell(Name name, std::uint64_t value = 0) { init(name, value); }
  Cell(const Cell&) = delete;
  Cell& operator=(const Cell&) = delete;
  void init(Name name, std::uint64_t value = 0) { id_ = Execution::current().add_cell(name, value); }
  std::uint64_t read() const { return Execution::current().read_cell(id_); }
  void write(std::uint64_t value) { Execution::current().write_cell(id_, value); }
  std::uint64_t final_value() const { return Execution::current().memory().final_cell(id_); }

 private:
  std::size_t id_ = std::numeric_limits<std::size_t>::max();
};

// Accesses with their own order, for litmus tests and for accesses without a site in the table.
template <class T>
T load(const Word<T>& word, std::memory_order order, const char* label = "load") {
  return static_cast<T>(Execution::current().load(word.id(), order, label));
}
template <class T>
void store(Word<T>& word, T value, std::memory_order order, const char* label = "store") {
  Execution::current().store(word.id(), static_cast<std::uint64_t>(value), order, label);
}
template <class T>
T add(Word<T>& word, T delta, std::memory_order order, const char* label = "add") {
  return static_cast<T>(Execution::current().add(word.id(), delta, std::numeric_limits<T>::max(), order, label));
}
template <class T>
bool exchange_if(Word<T>& word, T& expected, T desired, std::memory_order order, const char* label = "exchange") {
  std::uint64_t old = expected;
  const bool done = Execution::current().exchange_if(word.id(), old, desired, order, label);
  expected = static_cast<T>(old);
  return done;
}

/// The counterpart of `cardan::Native`.
struct Env {
  template <class T>
  using Word = checker::Word<T>;
  /// One, so that the scenarios' few slots need several words.
  static constexpr std::uint32_t kSlotsPerHoldWord = 1;

  static bool leaves_out(Site s) noexcept { return orders().left_out == s; }
  static void is(Site s, Kind kind) noexcept { orders().kind[static_cast<std::size_t>(s)] = kind; }

  template <Site S, class T>
  static T load(const Word<T>& word) noexcept {
    is(S, Kind::Load);
    return checker::load(word, order_now(S), name_of(S));
  }
  template <Site S, class T>
  static void store(Word<T>& word, T value) noexcept {
    is(S, Kind::Store);
    if (leaves_out(S)) return;
    checker::store(word, value, order_now(S), name_of(S));
  }
  template <Site S, class T>
  static T add(Word<T>& word, T value) noexcept {
    is(S, Kind::Modify);
    if (leaves_out(S)) return {};
    return checker::add(word, value, order_now(S), name_of(S));
  }
  template <Site S, class T>
  static T subtract(Word<T>& word, T value) noexcept {
    is(S, Kind::Modify);
    if (leaves_out(S)) return {};
    return checker::add(word, static_cast<T>(T{0} - value), order_now(S), name_of(S));
  }
  template <Site S, class T>
  static bool exchange_if(Word<T>& word, T& expected, T desired) noexcept {
    is(S, Kind::Modify);
    return checker::exchange_if(word, expected, desired, order_now(S), name_of(S));
  }
  static void compiler_fence() noexcept {}  // steps are in the program's order anyway
  static void acquire_fence() noexcept { Execution::current().acquire_fence(); }
  static void release_fence() noexcept { Execution::current().release_fence(); }
  template <Site S>
  static void fence() noexcept {
    if (kSites[static_cast<std::size_t>(S)].order == std::memory_order_acquire) is(S, Kind::AcquireFence);
    if (kSites[static_cast<std::size_t>(S)].order == std::memory_order_release) is(S, Kind::ReleaseFence);
    if (leaves_out(S)) return;
    if (is_acquire(order_now(S))) acquire_fence();
    if (is_release(order_now(S))) release_fence();
  }
};

inline void fail(std::string message) { Execution::current().fail(std::move(message)); }

/// A message on a socket, sent once: its receiver knows what its sender knew.
class Message {
 public:
  void send() {
    clock_ = Execution::current().release(100);
    sent_ = true;
  }
  void receive() {
    const auto sent = [this] { return sent_; };
    Execution::current().wait_until(sent, "receives the message");
    Execution::current().acquire(clock_, 101);
  }

 private:
  Clock clock_{};
  bool sent_ = false;
};

/// The kernel's queue of a futex word. Compare-and-enqueue and wake exclude each other; a comparison after a wake sees
/// what the waker had stored. Nothing else is taken from the kernel: no order between the two for the program's own
/// words.
class Futex {
 public:
  /// false: the word had changed (EAGAIN).
  bool wait(const Word<std::uint32_t>& word, std::uint32_t expected);
  void wake();
  bool sleeps(std::size_t thread) const { return sleeping_[thread]; }

 private:
  void pass(std::size_t self);

  Clock lock_{};
  std::uint64_t order_ = 0;   ///< names the sequence of operations so far
  std::uint32_t passes_ = 0;  ///< operations so far
  std::array<bool, kMaxThreads> sleeping_{};
};

/// A socket that is written a token and polled: like a futex queue, a lock makes the operations one before the other.
class Descriptor {
 public:
  void send();
  void drain();
  /// Sleeps until there is a token.
  void poll();
  bool sleeps(std::size_t thread) const { return sleeping_[thread]; }

 private:
  void enter();

  Clock lock_{};
  std::uint64_t order_ = 0;
  std::uint32_t passes_ = 0;
  bool readable_ = false;
  std::array<bool, kMaxThreads> sleeping_{};
};

/// The kernel's membarrier: while issue() runs, the other thread passes a full barrier somewhere between two of its
/// steps. Each then knows what the other had done before. Used once a run.
class ExpeditedBarrier {
 public:
  /// The thread that is interrupted.
  void strikes(std::size_t thread);
  void issue();

 private:
  void may_strike();

  std::size_t victim_ = 0;
  bool issued_ = false, passed_ = false;
  Clock before_{}, passing_{};
  const std::function<void()> call_ = [this] { may_strike(); };
  const FunctionRef<void()> interrupt_{call_};
};

}  // namespace cardan::checker
