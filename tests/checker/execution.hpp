// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include "tests/checker/fiber.hpp"
#include "tests/checker/memory.hpp"

/// Runs a scenario's threads step by step, again and again, until every execution that the memory model allows has been
/// seen.
///
/// A run is a sequence of choices: which store a load reads, where a store is placed, whether a process dies here. Runs
/// are replayed from the start with the last choice advanced (depth first). The turn is not a choice: an execution is
/// given by which load reads which store, not by the order of independent steps. Stores, fences and plain bytes run
/// at once (a load may read an old store anyway). A load reads one of the stores that are there, or waits for one that
/// is still to come and then reads only that. So each execution comes up exactly once; runs in which somebody waited in
/// vain are cut. The litmus tests compare this with the brute force of all interleavings.
namespace cardan::checker {

/// The checks of a scenario after every run; its constructor spawns the threads.
class Scenario {
 public:
  Scenario() = default;
  Scenario(const Scenario&) = delete;
  Scenario& operator=(const Scenario&) = delete;
  virtual ~Scenario() = default;
  /// Called when no thread can continue; everything stored is visible to it.
  virtual void finish() {}
};
using Factory = std::function<std::unique_ptr<Scenario>()>;

struct Limits {
  std::uint64_t runs = 50'000'000;
  std::uint32_t steps = 1'500;  ///< of one run; more is taken for a livelock
  double seconds = 300;
  std::uint64_t random_seed = 0;    ///< 0: exhaustive; else `runs` random ones
  bool every_interleaving = false;  ///< brute force, to check the reduction
  bool count_distinct = false;      ///< of the executions, by their graphs
};

struct Result {
  bool failed = false;
  bool complete = false;  ///< every execution was seen
  std::string message;
  std::uint64_t runs = 0, executions = 0, steps = 0;  ///< runs: executions and those cut
  std::uint64_t distinct = 0;
  std::vector<std::uint32_t> choices;  ///< replays the failure
  std::vector<std::string> trace;
};

class Execution final : public Chooser {
 public:
  /// The one that runs now.
  static Execution& current();

  Result explore(const Factory& factory, const Limits& limits);
  /// One run by given choices, traced.
  Result replay(const Factory& factory, const std::vector<std::uint32_t>& choices);

  // --- for scenarios' constructors
  std::size_t spawn(const char* name, std::function<void()> body, bool mortal = false);
  std::size_t add_location(Name name, std::uint64_t value) { return memory_.add_location(name, value); }
  std::size_t add_cell(Name name, std::uint64_t value) { return memory_.add_cell(name, value); }

  // --- for threads, by way of env.hpp
  std::uint64_t load(std::size_t location, std::memory_order order, const char* label);
  void store(std::size_t location, std::uint64_t value, std::memory_order order, const char* label);
  std::uint64_t add(std::size_t location, std::uint64_t delta, std::uint64_t mask, std::memory_order order,
                    const char* label);
  bool exchange_if(std::size_t location, std::uint64_t& expected, std::uint64_t desired, std::memory_order order,
                   const char* label);
  /// Blocks until a load may return a value that is wanted.
  std::uint64_t load_when(std::size_t location, std::memory_order order, const char* label,
                          FunctionRef<bool(std::uint64_t)> wanted);
  void acquire_fence();
  void release_fence();
  std::uint64_t read_cell(std::size_t cell);
  void write_cell(std::size_t cell, std::uint64_t value);
  /// Free choice of the scenario's own (a time-out strikes or not).
  std::uint32_t choose(std::uint32_t count) override;
  std::uint32_t decide(const char* what, std::uint32_t count);
  /// Ends the run as a failure; from a thread it does not return.
  /// Takes the text over: what runs on a fiber may keep nothing on the heap.
  void fail(std::string message);

  // --- what is outside the protocols: sockets and the kernel
  /// A turn that waits until `ready`; then the caller knows all that `from` gives.
  void wait_until(FunctionRef<bool()> ready, const char* what);
  void acquire(const Clock& clock, std::uint64_t identity) { memory_.acquire_from(running_, clock, identity); }
  Clock release(std::uint64_t identity) { return memory_.release_to(running_, identity); }
  /// Until that thread has ended or died (a hang-up on its socket).
  void wait_for_end(std::size_t thread);
  bool is_dead(std::size_t thread) const { return threads_[thread].status == Status::Dead; }
  bool is_finished(std::size_t thread) const { return threads_[thread].status == Status::Finished; }
  std::size_t running() const { return running_; }
  Memory& memory() { return memory_; }
  /// Hands the turn on; comes back when this thread may continue.
  void turn();
  /// Does `access(look)` until it yields something, waiting for new stores to `location` (or for `changed`) in between.
  template <class F>
  Access read_or_wait(std::size_t location, Memory::Look look, F access) {
    if (!memory_.owns(running_, location) || every_interleaving_) turn();
    begin_step();
    for (;;) {
      look.may_wait = !every_interleaving_ && others_may_write(location);
      if (const std::optional<Access> a = access(look)) return *a;
      look.waited = true;
      look.since = memory_.location(location).arrivals;
      wait_for_store(location, look.since);
    }
  }
  void wait_in_vain_until(FunctionRef<bool()> ready);
  bool others_may_write(std::size_t location) const;
  bool others_may_run() const;
  bool interleaves() const { return every_interleaving_; }
  void begin_step();
  /// `strike` is called before each of the thread's steps; it may be the kernel's interrupt, or not.
  void set_interrupt(std::size_t thread, const FunctionRef<void()>& strike) { threads_[thread].interrupt = &strike; }
  void note(const std::string& text, const Access* access = nullptr);
  bool tracing() const { return tracing_; }

 private:
  enum class Status : std::uint8_t { Ready, Finished, Dead };
  struct Thread {
    Fiber fiber;
    std::function<void()> body;
    const char* name = "";
    Status status = Status::Ready;
    bool mortal = false;
    const FunctionRef<bool()>* ready = nullptr;  ///< on the fiber's stack; null: always
    const FunctionRef<void()>* interrupt = nullptr;
    bool in_vain = false;  ///< should it never be ready, the run is not an execution
  };
  struct Choice {
    std::uint32_t picked, count;
  };

  static void thread_main(void* self);
  void run_once(const Factory& factory);
  void resume(std::size_t thread);
  void step();
  void may_die();
  [[noreturn]] void stop_here();
  void wait_for_store(std::size_t location, std::uint32_t since);

  static constexpr std::size_t kNobody = kMaxThreads;
  Memory memory_;
  std::array<Thread, kMaxThreads> threads_;
  std::size_t spawned_ = 0;
  std::size_t running_ = kNobody;
  bool died_ = false;
  bool failed_ = false, cut_ = false, tracing_ = false, every_interleaving_ = false;
  std::string message_;
  std::vector<Choice> choices_;
  std::size_t position_ = 0;
  std::uint32_t steps_ = 0;
  std::uint64_t all_steps_ = 0, random_ = 0;
  Limits limits_;
  std::unordered_set<std::uint64_t> distinct_;
  std::vector<std::string> trace_;
};

}  // namespace cardan::checker
