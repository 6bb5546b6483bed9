// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tests/checker/clock.hpp"
#include "tests/checker/function_ref.hpp"
#include "tests/checker/sc_order.hpp"

/// The C++20 memory model as far as the protocols use it: what each load may read and the place of each store in its
/// word's modification order. Everything here is a function of the execution graph (program order, reads-from,
/// modification order), not of the order in which the scheduler happened to run independent steps; the scheduler's
/// pruning rests on that.
namespace cardan::checker {

/// Picks one of `count` ways to continue; the scheduler explores them all.
class Chooser {
 public:
  virtual std::uint32_t choose(std::uint32_t count) = 0;

 protected:
  ~Chooser() = default;
};

struct Store {
  std::uint64_t value = 0;
  Clock release{};  ///< what an acquire of this store synchronizes with
  bool releases = false;
  bool followed = false;  ///< a read-modify-write took it: nothing may come between the two
  bool initial = true;
  std::uint8_t thread = 0;
  std::uint32_t step = 0;
  std::uint32_t arrival = 0;                      ///< how many stores had come before it in this run
  std::array<std::uint32_t, kMaxThreads> seen{};  ///< each thread's first step that read or wrote it
  const char* label = "initial value";
};

struct ScAccess {
  std::size_t node;
  std::size_t position;  ///< of the store that it wrote or read
  bool write;
};

struct Name {
  const char* text = "word";
  int index = -1;  ///< -1: not one of several
  std::string str() const { return index < 0 ? text : std::string(text) + "[" + std::to_string(index) + "]"; }
};

struct Location {
  Name name;
  std::vector<Store> stores;  ///< in modification order
  std::vector<ScAccess> sc;
  std::uint8_t writers = 0;    ///< bit a thread that stored other than by read-modify-write
  std::uint32_t arrivals = 0;  ///< stores so far, the initial one not counted
  int owner = -1;              ///< the only thread that ever writes it, where a scenario says so
};

struct PlainCell {
  Name name;
  std::uint64_t value = 0;
  Clock reads{};
  std::uint8_t writer = 0;
  std::uint32_t write_step = 0;
};

/// A value as traces show it; the protocols' packed words as publication and slot.
std::string show(std::uint64_t value);

/// The effect of one step, for traces.
struct Access {
  std::uint64_t value = 0;     ///< read, or written
  std::uint64_t written = 0;   ///< by a read-modify-write
  bool success = true;         ///< of a compare-exchange
  const char* from = nullptr;  ///< label of the store that was read; null: none was
  int from_thread = -1;        ///< -1: the initial value
  std::uint32_t from_step = 0;
};

class Memory {
 public:
  void clear();
  std::size_t add_location(Name name, std::uint64_t value);
  std::size_t add_cell(Name name, std::uint64_t value);

  /// The accesses that read. Each picks one of the stores that it may read, or, if `look.may_wait`, to wait for another
  /// one to come (nothing is returned). Having waited, it reads only what came since: the rest is another run's.
  struct Look {
    std::uint32_t since = 0;  ///< arrivals when it began to wait; with `waited` only
    bool waited = false;
    bool may_wait = false;
    const Clock* floor = nullptr;                              ///< it may not miss what happens before this either
    const FunctionRef<bool(std::uint64_t)>* wanted = nullptr;  ///< only such values
  };
  std::optional<Access> load(std::size_t thread, std::size_t location, std::memory_order order, const Look& look,
                             Chooser& chooser);
  std::optional<Access> add(std::size_t thread, std::size_t location, std::uint64_t delta, std::uint64_t mask,
                            std::memory_order order, const char* label, const Look& look, Chooser& chooser);
  std::optional<Access> exchange_if(std::size_t thread, std::size_t location, std::uint64_t expected,
                                    std::uint64_t desired, std::memory_order order, const char* label, const Look& look,
                                    Chooser& chooser);
  /// Is there anything that load() could read?
  bool can_load(std::size_t thread, std::size_t location, std::memory_order order, const Look& look);
  Access store(std::size_t thread, std::size_t location, std::uint64_t value, std::memory_order order,
               const char* label, Chooser& chooser);
  void acquire_fence(std::size_t thread);
  void release_fence(std::size_t thread);

  /// Plain bytes; a race is reported in words.
  std::optional<std::string> read_cell(std::size_t thread, std::size_t cell, std::uint64_t& value);
  std::optional<std::string> write_cell(std::size_t thread, std::size_t cell, std::uint64_t value);

  /// Only this thread will write it (checked). Then the thread's own accesses to it have one outcome and need no turn.
  void set_owner(std::size_t location, std::size_t thread) { locations_[location].owner = static_cast<int>(thread); }
  bool owns(std::size_t thread, std::size_t location) const {
    return locations_[location].owner == static_cast<int>(thread);
  }

  /// Synchronization outside the protocols (a socket's message, the kernel's report of a death).
  const Clock& clock(std::size_t thread) const { return threads_[thread].clock; }
  std::uint32_t step(std::size_t thread) const { return threads_[thread].step; }
  void acquire_from(std::size_t thread, const Clock& clock, std::uint64_t identity);
  void acquire_end_of(std::size_t thread, std::size_t ended);
  Clock release_to(std::size_t thread, std::uint64_t identity);
  void note(std::size_t thread, std::uint64_t what) { threads_[thread].hash = mix(threads_[thread].hash, what); }

  std::uint64_t final_value(std::size_t location) const { return locations_[location].stores.back().value; }
  std::uint64_t final_cell(std::size_t cell) const { return cells_[cell].value; }
  const Location& location(std::size_t i) const { return locations_[i]; }
  const Name& cell_name(std::size_t i) const { return cells_[i].name; }
  /// The same for two runs that built the same execution graph.
  std::uint64_t hash() const;

 private:
  struct ScStep {
    std::uint32_t step;
    std::size_t node;
  };
  struct ThreadState {
    Clock clock{};
    Clock pending_acquire{};  ///< what an acquire fence would synchronize with
    Clock fence{};            ///< of the last release fence
    bool fenced = false;
    std::uint32_t step = 0;
    std::uint64_t hash = 0;
    std::vector<ScStep> sc;
  };
  struct Place {
    std::size_t index;
    ScOrder::Set before, after;
  };

  void begin(std::size_t thread);
  std::size_t floor_of(const Location& location, const Clock& clock) const;
  ScOrder::Set sc_past(std::size_t thread) const;
  bool sc_place(const Location& location, const ScOrder::Set& past, std::size_t position, bool write,
                Place& place) const;
  enum class Use : std::uint8_t { Read, Modify };
  void collect(std::size_t thread, const Location& location, std::memory_order order, Use use, const Look& look);
  std::optional<Place> pick(const Look& look, Chooser& chooser);
  void sc_commit(std::size_t thread, Location& location, const Place& place, std::size_t position, bool write);
  Access read_at(std::size_t thread, std::size_t location, const Place& place, std::memory_order order);
  void write_at(std::size_t thread, std::size_t location, const Place& place, std::size_t position, std::uint64_t value,
                std::memory_order order, const char* label, bool is_rmw);
  Access modify_at(std::size_t thread, std::size_t location, const Place& place, std::uint64_t value,
                   std::memory_order order, const char* label);

  std::vector<Location> locations_;
  std::size_t used_locations_ = 0;
  std::vector<PlainCell> cells_;
  std::size_t used_cells_ = 0;
  std::array<ThreadState, kMaxThreads> threads_;
  ScOrder sc_;
  std::vector<Place> places_;
};

}  // namespace cardan::checker
