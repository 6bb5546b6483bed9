// SPDX-License-Identifier: Apache-2.0
#include "tests/checker/memory.hpp"

#include <cstdio>
#include <cstdlib>
#include <limits>

namespace cardan::checker {
namespace {

constexpr std::uint32_t kNever = std::numeric_limits<std::uint32_t>::max();

// Thread t's number is kept plus one wherever it enters a hash, so that the initial store is nobody's.
std::uint64_t identity(const Store& s) { return s.initial ? 0 : (std::uint64_t{s.thread} + 1) << 32 | s.step; }

Access read_of(const Store& s) {
  Access a;
  a.value = s.value;
  a.from = s.label;
  a.from_thread = s.initial ? -1 : s.thread;
  a.from_step = s.step;
  return a;
}

}  // namespace

std::string show(std::uint64_t value) {
  if (value < 1U << 16 || value >> 32 != 0) return std::to_string(value);
  return "(" + std::to_string(value >> 16) + ", slot " + std::to_string(value & 0xffff) + ")";
}

void Memory::clear() {
  used_locations_ = 0;
  used_cells_ = 0;
  sc_.clear();
  for (std::size_t t = 0; t < kMaxThreads; ++t) {
    ThreadState& s = threads_[t];
    s.clock = {};
    s.pending_acquire = {};
    s.fence = {};
    s.fenced = false;
    s.step = 0;
    s.hash = t;
    s.sc.clear();
  }
}

std::size_t Memory::add_location(Name name, std::uint64_t value) {
  if (used_locations_ == locations_.size()) locations_.emplace_back();
  Location& l = locations_[used_locations_];
  l.name = name;
  l.stores.clear();
  l.sc.clear();
  l.writers = 0;
  l.arrivals = 0;
  l.owner = -1;
  l.stores.emplace_back().value = value;  // seen at step 0 by everybody: it happens before everything
  return used_locations_++;
}

std::size_t Memory::add_cell(Name name, std::uint64_t value) {
  if (used_cells_ == cells_.size()) cells_.emplace_back();
  cells_[used_cells_] = {name, value, {}, 0, 0};
  return used_cells_++;
}

void Memory::begin(std::size_t thread) {
  ThreadState& t = threads_[thread];
  ++t.step;
  t.clock[thread] = t.step;
}

/// Coherence: the newest store that this point already knows of, because a write or read of it happens before.
std::size_t Memory::floor_of(const Location& location, const Clock& clock) const {
  for (std::size_t i = location.stores.size(); i-- > 1;) {
    for (std::size_t u = 0; u < kMaxThreads; ++u) {
      if (location.stores[i].seen[u] <= clock[u]) return i;
    }
  }
  return 0;
}

/// The seq_cst operations that strongly happen before the thread's current step [intro.races]: those sequenced before
/// it, and those sequenced before something that happens before something sequenced before it. begin() has run, the
/// step's own acquire has not: an acquire by the very operation does not count.
ScOrder::Set Memory::sc_past(std::size_t thread) const {
  ScOrder::Set set;
  if (!threads_[thread].sc.empty()) set.set(threads_[thread].sc.back().node);
  for (std::size_t u = 0; u < kMaxThreads; ++u) {
    if (u == thread) continue;
    const auto& steps = threads_[u].sc;
    for (std::size_t i = steps.size(); i-- > 0;) {
      if (steps[i].step >= threads_[thread].clock[u]) continue;
      set.set(steps[i].node);
      break;
    }
  }
  return set;
}

/// Coherence order among the seq_cst operations on one word, [atomics.order] 4: by the store's place, a store before
/// its reads.
bool Memory::sc_place(const Location& location, const ScOrder::Set& past, std::size_t position, bool write,
                      Place& place) const {
  place.before = past;
  place.after.reset();
  for (const ScAccess& a : location.sc) {
    const bool before = a.position < position || (!write && a.position == position && a.write);
    const bool same = !write && a.position == position;
    if (before) {
      place.before.set(a.node);
    } else if (!same) {
      place.after.set(a.node);
    }
  }
  return sc_.close(place.before, place.after);
}

/// Appends everywhere a load may read (Modify: a read-modify-write may hook in), the newest first.
void Memory::collect(std::size_t thread, const Location& location, std::memory_order order, Use use, const Look& look) {
  const bool sc = order == std::memory_order_seq_cst;
  const ScOrder::Set past = sc ? sc_past(thread) : ScOrder::Set{};
  Clock clock = threads_[thread].clock;
  if (look.floor != nullptr) join(clock, *look.floor);
  const std::size_t floor = floor_of(location, clock);
  for (std::size_t i = location.stores.size(); i-- > floor;) {
    const Store& s = location.stores[i];
    if (look.waited && s.arrival <= look.since) continue;
    if (use == Use::Modify && s.followed) continue;
    if (look.wanted != nullptr && !(*look.wanted)(s.value)) continue;
    Place place{i, {}, {}};
    const bool write = use == Use::Modify;
    if (sc && !sc_place(location, past, write ? i + 1 : i, write, place)) continue;
    places_.push_back(place);
  }
}

std::optional<Memory::Place> Memory::pick(const Look& look, Chooser& chooser) {
  const auto count = static_cast<std::uint32_t>(places_.size());
  if (count == 0) return std::nullopt;
  const std::uint32_t choice = chooser.choose(count + (look.may_wait ? 1 : 0));
  if (choice == count) return std::nullopt;
  return places_[choice];
}

void Memory::sc_commit(std::size_t thread, Location& location, const Place& place, std::size_t position, bool write) {
  const std::size_t node = sc_.add(place.before, place.after);
  location.sc.push_back({node, position, write});
  threads_[thread].sc.push_back({threads_[thread].step, node});
}

Access Memory::read_at(std::size_t thread, std::size_t location, const Place& place, std::memory_order order) {
  ThreadState& t = threads_[thread];
  Location& l = locations_[location];
  Store& s = l.stores[place.index];
  s.seen[thread] = std::min(s.seen[thread], t.step);
  if (s.releases) {
    join(t.pending_acquire, s.release);
    if (is_acquire(order)) join(t.clock, s.release);
  }
  t.hash = mix(mix(t.hash, location << 4 | 1), identity(s));
  return read_of(s);
}

void Memory::write_at(std::size_t thread, std::size_t location, const Place& place, std::size_t position,
                      std::uint64_t value, std::memory_order order, const char* label, bool is_rmw) {
  ThreadState& t = threads_[thread];
  Location& l = locations_[location];
  if (l.owner >= 0 && l.owner != static_cast<int>(thread)) {
    std::fprintf(stderr, "checker: %s is written by a thread that does not own it\n", l.name.str().c_str());
    std::abort();
  }
  Store s;
  s.value = value;
  s.initial = false;
  s.thread = static_cast<std::uint8_t>(thread);
  s.step = t.step;
  s.arrival = ++l.arrivals;
  s.seen.fill(kNever);
  s.seen[thread] = t.step;
  s.label = label;
  if (is_release(order)) {
    s.release = t.clock;
    s.releases = true;
  } else if (t.fenced) {
    s.release = t.fence;
    s.releases = true;
  }
  if (is_rmw) {  // a read-modify-write continues the release sequence of what it read
    Store& previous = l.stores[position - 1];
    previous.followed = true;
    if (previous.releases) {
      join(s.release, previous.release);
      s.releases = true;
    }
  } else {
    l.writers = static_cast<std::uint8_t>(l.writers | 1U << thread);
  }
  for (ScAccess& a : l.sc) {
    if (a.position >= position) ++a.position;
  }
  l.stores.insert(l.stores.begin() + static_cast<std::ptrdiff_t>(position), s);
  t.hash = mix(mix(t.hash, location << 4 | 2), value);
  if (order == std::memory_order_seq_cst) sc_commit(thread, l, place, position, true);
}

Access Memory::modify_at(std::size_t thread, std::size_t location, const Place& place, std::uint64_t value,
                         std::memory_order order, const char* label) {
  Access a = read_at(thread, location, place, order);
  write_at(thread, location, place, place.index + 1, value, order, label, true);
  a.written = value;
  return a;
}

std::optional<Access> Memory::load(std::size_t thread, std::size_t location, std::memory_order order, const Look& look,
                                   Chooser& chooser) {
  Location& l = locations_[location];
  places_.clear();
  collect(thread, l, order, Use::Read, look);
  const auto place = pick(look, chooser);
  if (!place) return std::nullopt;
  begin(thread);
  const Access a = read_at(thread, location, *place, order);
  if (order == std::memory_order_seq_cst) sc_commit(thread, l, *place, place->index, false);
  return a;
}

bool Memory::can_load(std::size_t thread, std::size_t location, std::memory_order order, const Look& look) {
  places_.clear();
  collect(thread, locations_[location], order, Use::Read, look);
  return !places_.empty();
}

Access Memory::store(std::size_t thread, std::size_t location, std::uint64_t value, std::memory_order order,
                     const char* label, Chooser& chooser) {
  begin(thread);
  Location& l = locations_[location];
  const bool sc = order == std::memory_order_seq_cst;
  const ScOrder::Set past = sc ? sc_past(thread) : ScOrder::Set{};
  const std::size_t floor = floor_of(l, threads_[thread].clock);
  places_.clear();
  for (std::size_t i = l.stores.size(); i > floor; --i) {
    if (l.stores[i - 1].followed) continue;
    Place place{i, {}, {}};
    if (sc && !sc_place(l, past, i, true, place)) continue;
    places_.push_back(place);
  }
  const Place place = places_[chooser.choose(static_cast<std::uint32_t>(places_.size()))];
  write_at(thread, location, place, place.index, value, order, label, false);
  Access a;
  a.value = value;
  return a;
}

std::optional<Access> Memory::add(std::size_t thread, std::size_t location, std::uint64_t delta, std::uint64_t mask,
                                  std::memory_order order, const char* label, const Look& look, Chooser& chooser) {
  Location& l = locations_[location];
  places_.clear();
  collect(thread, l, order, Use::Modify, look);
  const auto place = pick(look, chooser);
  if (!place) return std::nullopt;
  begin(thread);
  return modify_at(thread, location, *place, (l.stores[place->index].value + delta) & mask, order, label);
}

std::optional<Access> Memory::exchange_if(std::size_t thread, std::size_t location, std::uint64_t expected,
                                          std::uint64_t desired, std::memory_order order, const char* label,
                                          const Look& look, Chooser& chooser) {
  // It may fail by a stale value, but a strong one never fails by the value that it expects.
  Location& l = locations_[location];
  const auto equal = [expected](std::uint64_t v) { return v == expected; };
  const auto other = [expected](std::uint64_t v) { return v != expected; };
  const FunctionRef<bool(std::uint64_t)> is_equal = equal;
  const FunctionRef<bool(std::uint64_t)> is_other = other;
  places_.clear();
  Look success = look;
  success.wanted = &is_equal;
  collect(thread, l, order, Use::Modify, success);
  Look failure = look;
  failure.wanted = &is_other;
  collect(thread, l, std::memory_order_relaxed, Use::Read, failure);
  const auto place = pick(look, chooser);
  if (!place) return std::nullopt;
  begin(thread);
  if (l.stores[place->index].value == expected) return modify_at(thread, location, *place, desired, order, label);
  Access a = read_at(thread, location, *place, std::memory_order_relaxed);
  a.success = false;
  return a;
}

void Memory::acquire_fence(std::size_t thread) {
  begin(thread);
  ThreadState& t = threads_[thread];
  join(t.clock, t.pending_acquire);
  t.hash = mix(t.hash, 3);
}

void Memory::release_fence(std::size_t thread) {
  begin(thread);
  ThreadState& t = threads_[thread];
  t.fence = t.clock;
  t.fenced = true;
  t.hash = mix(t.hash, 4);
}

std::optional<std::string> Memory::read_cell(std::size_t thread, std::size_t cell, std::uint64_t& value) {
  PlainCell& c = cells_[cell];
  const ThreadState& t = threads_[thread];
  value = c.value;
  if (c.write_step > t.clock[c.writer] && c.writer != thread) {
    return "data race: reads " + c.name.str() + " while another thread writes it";
  }
  c.reads[thread] = t.step + 1;  // after the last atomic step, so that step's release does not cover it
  return std::nullopt;
}

std::optional<std::string> Memory::write_cell(std::size_t thread, std::size_t cell, std::uint64_t value) {
  PlainCell& c = cells_[cell];
  const ThreadState& t = threads_[thread];
  if (c.write_step > t.clock[c.writer] && c.writer != thread) {
    return "data race: two threads write " + c.name.str();
  }
  for (std::size_t u = 0; u < kMaxThreads; ++u) {
    if (u != thread && c.reads[u] > t.clock[u])
      return "data race: writes " + c.name.str() + " while another thread reads it";
  }
  c.value = value;
  c.writer = static_cast<std::uint8_t>(thread);
  c.write_step = t.step + 1;
  return std::nullopt;
}

void Memory::acquire_from(std::size_t thread, const Clock& clock, std::uint64_t from) {
  begin(thread);
  join(threads_[thread].clock, clock);
  threads_[thread].hash = mix(mix(threads_[thread].hash, 5), from);
}

void Memory::acquire_end_of(std::size_t thread, std::size_t ended) {
  Clock last = threads_[ended].clock;
  ++last[ended];  // its plain accesses after its last step, too
  acquire_from(thread, last, 200 + ended);
}

Clock Memory::release_to(std::size_t thread, std::uint64_t to) {
  begin(thread);
  threads_[thread].hash = mix(mix(threads_[thread].hash, 6), to);
  return threads_[thread].clock;
}

std::uint64_t Memory::hash() const {
  std::uint64_t h = 0;
  for (const ThreadState& t : threads_) h = mix(h, t.hash);
  for (std::size_t i = 0; i < used_locations_; ++i) {
    const Location& l = locations_[i];
    if (l.writers == 0) continue;  // nothing but read-modify-writes: the reads give the order
    for (const Store& s : l.stores) h = mix(h, identity(s));
  }
  return h;
}

}  // namespace cardan::checker
