// SPDX-License-Identifier: Apache-2.0
#include "tests/checker/parts.hpp"

#include <algorithm>

namespace cardan::checker {

void Payload::fill(std::uint64_t n) {
  for (int i = 0; i < 2; ++i) {
    if (atomic) {
      store(words[i], n, std::memory_order_relaxed, "fill");
    } else {
      plain[i].write(n);
    }
  }
}

void Payload::expect(std::uint64_t n, std::uint32_t slot) const {
  for (int i = 0; i < 2; ++i) {
    const std::uint64_t found = atomic ? Env::load<Site::O2>(words[i]) : plain[i].read();
    if (found != n) {
      fail("torn: slot " + std::to_string(slot) + " is held as publication " + std::to_string(n) + ", but holds " +
           std::to_string(found));
    }
  }
}

void PublisherArea::init(std::uint32_t ring_depth, std::uint32_t slot_count, bool atomic_payload) {
  depth = ring_depth;
  slots = slot_count;
  latest.init({"latest"});
  for (std::uint32_t i = 0; i < depth; ++i) ring[i].init({"ring", static_cast<int>(i)});
  for (std::uint32_t s = 0; s < slots; ++s) {
    sequence[s].init({"sequence", static_cast<int>(s)});
    payload[s].atomic = atomic_payload;
    for (int i = 0; i < 2; ++i) {
      const Name name{i == 0 ? "payload word 0 of slot" : "payload word 1 of slot", static_cast<int>(s)};
      if (atomic_payload) {
        payload[s].words[i].init(name);
      } else {
        payload[s].plain[i].init(name);
      }
    }
  }
  bell.init({"bell"});
  filling.init({"filling"});
  backpressure.init({"backpressure"});
}

protocol::PublisherRing<Env> PublisherArea::writer() {
  return {&latest, ring, sequence, sizeof(sequence[0]), depth, slots};
}
protocol::ReaderRing<Env> PublisherArea::reader() const {
  return {&latest, ring, sequence, sizeof(sequence[0]), depth, slots};
}

void SubscriberArea::init(int index) {
  for (std::uint32_t w = 0; w < kHoldWords; ++w)
    hold[w].init({index == 0 ? "hold of subscriber 0" : "hold of subscriber 1", static_cast<int>(w)});
  cursor.init({"cursor", index});
  waiting.init({"waiting", index});
  armed.init({"armed", index});
  progress.init({"progress", index});
  mapping.init({"mapping of subscriber", index});
}

void SubscriberArea::owned_by(std::size_t thread) {
  for (auto& word : hold) word.owned_by(thread);
  cursor.owned_by(thread);
  waiting.owned_by(thread);
  armed.owned_by(thread);
  progress.owned_by(thread);
}

void Table::init() {
  for (std::uint32_t i = 0; i < kMaxReaders; ++i) entry[i].init({"table", static_cast<int>(i)});
  end.init({"table end"});
  epoch.init({"epoch"});
}

void Table::preset(std::uint32_t index, SubscriberArea& area) {
  areas[index] = &area;
  entry[index].init({"table", static_cast<int>(index)}, index + 1);
  end.init({"table end"}, index + 1);
  area.mapping.init({"mapping of subscriber", static_cast<int>(index)}, 1);
}

void Table::attach(std::uint32_t index, SubscriberArea& area) {
  areas[index] = &area;
  area.mapping.write(1);
  enter(index, index + 1);
}

void Table::detach(std::uint32_t index, ExpeditedBarrier* barrier) {
  const std::uint64_t then = clear(index, [barrier] {
    if (barrier != nullptr) barrier->issue();
  });
  if (then % 2 != 0) {  // waits as has_passed() would say
    Execution::current().load_when(epoch.id(), order_now(Site::E3), name_of(Site::E3),
                                   [then](std::uint64_t now) { return now != then; });
  }
  areas[index]->mapping.write(0);
}

void States::init(std::uint32_t slots) {
  for (std::uint32_t s = 0; s < slots; ++s)
    words_[s].init({"state", static_cast<int>(s)}, protocol::SlotState::Returned);
}

void States::owned_by(std::uint32_t slots, std::size_t thread) {
  for (std::uint32_t s = 0; s < slots; ++s) words_[s].owned_by(thread);
}

/// As PublisherCore's, plus: a page that is looked at must be mapped, before and after.
struct Publisher::Peers {
  Publisher& p;

  template <class F>
  void look(std::uint32_t, std::uint32_t handle, F&& f) const {
    const std::uint32_t i = handle - 1;
    p.touch(i);
    f(*p.table_.areas[i]);
    p.touch(i);
  }
  std::uint32_t announced(std::uint32_t handle) const {
    return p.options_.fault == Fault::JudgesOtherReads ? kMaxSlots : p.table_.areas[handle - 1]->announced;
  }
  bool kept(std::uint32_t) const { return false; }
  bool cut_off(std::uint32_t handle) const {
    p.cut_off_[handle - 1] = true;
    return p.options_.fault != Fault::KeepsLiars;
  }
  void waits(std::uint32_t) const {  // one bell for all, rung at most once a publication
    if (p.rung_ || !p.options_.wakes) return;
    p.rung_ = true;
    p.ring();
  }
  void looked(std::uint32_t handle, const SubscriberArea& page) const {
    if (!p.options_.descriptors || !protocol::wants_token<Env>(page.armed, p.tokens_[handle - 1])) return;
    p.table_.areas[handle - 1]->descriptor.send();
  }
};

Publisher::Publisher(PublisherArea& area, Table& table, Options options)
    : area_(area), table_(table), options_(options) {}

void Publisher::prepare() {
  pool_.make(area_.slots);
  pool_.states.init(area_.slots);
}

void Publisher::owned_by(std::size_t thread) {
  pool_.states.owned_by(area_.slots, thread);
  table_.epoch.owned_by(thread);
}

template <class F>
void Publisher::inside(F&& f) {
  if (!options_.epochs) return f();
  const protocol::Inside<Env> inside(table_.epoch, epoch_, options_.barrier);
  f();
}

bool Publisher::publish_one() {
  const int slot = loan();
  if (slot < 0) {
    if (!options_.may_starve) fail("the publisher finds no free slot");
    return false;
  }
  publish(slot);
  return true;
}

int Publisher::loan() {
  int slot = -1;
  inside([&] {
    if (pool_.free_count == 0) pool_.reclaim(area_.writer(), table_, area_.slots, sequence_, Peers{*this});
    if (pool_.free_count == 0 && options_.fault == Fault::JudgesLivingSlots) judge_living_slots();
    if (pool_.free_count == 0 && options_.fault == Fault::JudgesOtherReads) judge_other_reads();
    slot = pool_.loan(false);
  });
  if (slot >= 0) area_.payload[slot].fill(sequence_ + 1);
  return slot;
}

std::uint32_t Publisher::counted(std::uint32_t handle, bool of_dead_slots) const {
  std::uint32_t count = 0;
  for (std::uint32_t s = 0; s < area_.slots; ++s) {
    if (of_dead_slots && pool_.states.load(s) != protocol::SlotState::Aside) continue;
    const std::uint64_t word = protocol::holds_of<Env>(table_.areas[handle - 1]->hold, protocol::hold_word<Env>(s));
    if ((word & protocol::one_hold<Env>(s) * 0xff) != 0) ++count;
  }
  return count;
}

/// The former production code: it took honest readers that moved on for liars.
void Publisher::judge_living_slots() {
  table_.for_each([&](std::uint32_t i, std::uint32_t handle) {
    if (counted(handle, false) > table_.areas[handle - 1]->announced) cut_off_[i] = true;
  });
}

/// The production code after that: a liar that took its counts back in between went free, and no slot was.
void Publisher::judge_other_reads() {
  bool some = false;
  table_.for_each([&](std::uint32_t i, std::uint32_t handle) {
    if (counted(handle, true) <= table_.areas[handle - 1]->announced) return;
    some = cut_off_[i] = true;
    table_.expel(i);
  });
  if (some) pool_.reclaim(area_.writer(), table_, area_.slots, sequence_, Peers{*this});
}

void Publisher::publish(int slot) {
  const auto s = static_cast<std::uint32_t>(slot);
  inside([&] {
    const std::uint64_t n = sequence_ + 1;
    if (options_.reliable_looks != 0 || options_.reliable_sleeps) wait_for_reliable(n);
    sequence_ = n;
    protocol::publish<Env>(area_.writer(), {n, s});
    rung_ = false;
    if (options_.wakes || options_.descriptors) protocol::wake<Env>(table_, Peers{*this});
    pool_.published(s, n);
  });
}

void Publisher::prewake() {
  inside([&] {
    Env::store<Site::L1>(area_.filling, static_cast<std::uint32_t>(sequence_ + 1));
    ring();
  });
}

void Publisher::abandon(int slot) {
  Env::store<Site::L1>(area_.filling, std::uint32_t{0});
  pool_.states.give_back(static_cast<std::uint32_t>(slot));
}

void Publisher::ring() {
  if (options_.fault == Fault::WakesBeforeBell) {
    area_.futex.wake();
    return protocol::ring<Env>(area_.bell, phase_, [] {});
  }
  protocol::ring<Env>(area_.bell, phase_, [&] { area_.futex.wake(); });
}

void Publisher::touch(std::uint32_t index) const {
  if (table_.areas[index]->mapping.read() != 1) fail("the publisher looks at an area that is unmapped");
}

void Publisher::wait_for_reliable(std::uint64_t n) {
  if (n <= area_.depth) return;
  table_.for_each([&](std::uint32_t, std::uint32_t handle) {
    SubscriberArea& reader = *table_.areas[handle - 1];
    bool arrived = false;
    std::uint32_t progress = 0;
    const std::uint32_t rounds = options_.reliable_sleeps ? 1'000 : options_.reliable_looks;
    for (std::uint32_t round = 0; round < rounds && !arrived; ++round) {
      arrived =
          protocol::has_arrived<Env>(area_.backpressure, reader.progress, reader.cursor, n - area_.depth, progress);
      if (!arrived && options_.reliable_sleeps) reader.progress_futex.wait(reader.progress, progress);
    }
    if (!arrived) demoted_ = true;
  });
}

Reader::Held Reader::take() {
  const protocol::Taken taken = protocol::take<Env>(publisher_.reader(), own_.hold, own_.cursor, depth_);
  if (taken.outcome == protocol::Outcome::Corrupt) fail("an honest publisher is called corrupt");
  if (taken.outcome != protocol::Outcome::Taken) return {};
  if (log_.count < log_.sequence.size()) {
    log_.sequence[log_.count] = taken.entry.sequence;
    log_.missed[log_.count++] = taken.missed;
  }
  if (tells_progress_ && protocol::somebody_waits_for<Env>(own_.progress, publisher_.backpressure))
    own_.progress_futex.wake();
  return {true, taken.entry.sequence, taken.entry.slot};
}

bool Reader::take_one() {
  const Held held = take();
  if (!held.taken) return false;
  look(held);
  drop(held);
  return true;
}

void Reader::wait_until(std::uint64_t last, bool prewakes) {
  std::uint64_t newest = 0;
  while (newest < last) {
    const Held held = take();
    if (held.taken) {
      look(held);
      drop(held);
      newest = held.sequence;
      continue;
    }
    const std::uint32_t phase = protocol::read_bell<Env>(publisher_.bell);
    protocol::announce_wait<Env>(own_.waiting);
    if (!protocol::something_new<Env>(publisher_.latest, own_.cursor)) publisher_.futex.wait(publisher_.bell, phase);
    protocol::end_wait<Env>(own_.waiting);
    if (prewakes && protocol::is_filling<Env>(publisher_.filling)) {
      protocol::something_new<Env>(publisher_.latest, own_.cursor);  // the spin, bounded: one look
    }
  }
}

void Reader::poll_until(std::uint64_t last) {
  std::uint64_t newest = 0;
  while (newest < last) {
    const Held held = take();
    if (held.taken) {
      look(held);
      drop(held);
      newest = held.sequence;
      continue;
    }
    own_.descriptor.drain();
    protocol::arm<Env>(own_.armed);
    if (!protocol::something_new<Env>(publisher_.latest, own_.cursor)) own_.descriptor.poll();
  }
}

void expect_exact_count(const SubscriberArea& area, std::initializer_list<const Reader*> threads) {
  std::array<std::uint64_t, 16> all{};
  std::size_t count = 0;
  std::uint64_t missed = 0;
  for (const Reader* reader : threads) {
    for (std::size_t i = 0; i < reader->log().count; ++i) {
      all[count++] = reader->log().sequence[i];
      missed += reader->log().missed[i];
      if (i != 0 && reader->log().sequence[i] <= reader->log().sequence[i - 1])
        fail("a thread takes publications out of order");
    }
  }
  std::sort(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(count));
  if (std::adjacent_find(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(count)) !=
      all.begin() + static_cast<std::ptrdiff_t>(count)) {
    fail("one publication is taken twice by one subscriber");
  }
  if (count + missed != area.cursor.final_value()) {
    fail("lost count wrong: " + std::to_string(count) + " taken and " + std::to_string(missed) +
         " missed up to publication " + std::to_string(area.cursor.final_value()));
  }
}

void expect_nothing_held(const SubscriberArea& area) {
  for (const auto& word : area.hold)
    if (word.final_value() != 0) fail("a hold is left when every sample is dropped");
}

}  // namespace cardan::checker
