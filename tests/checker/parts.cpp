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
}

protocol::PublisherRing<Env> PublisherArea::writer() {
  return {&latest, ring, sequence, sizeof(sequence[0]), depth, slots};
}
protocol::ReaderRing<Env> PublisherArea::reader() const {
  return {&latest, ring, sequence, sizeof(sequence[0]), depth, slots};
}

void SubscriberArea::init(int index) {
  hold[0].init({"hold", index});
  cursor.init({"cursor", index});
  waiting.init({"waiting", index});
  mapping.init({"mapping of subscriber", index});
}

void SubscriberArea::owned_by(std::size_t thread) {
  hold[0].owned_by(thread);
  cursor.owned_by(thread);
  waiting.owned_by(thread);
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
  Env::store<Site::A2>(end, index + 1);
  Env::store<Site::A1>(entry[index], index + 1);
}

void Table::detach(std::uint32_t index, ExpeditedBarrier* barrier) {
  Env::store<Site::A1>(entry[index], std::uint32_t{0});
  if (barrier != nullptr) barrier->issue();
  const std::uint64_t then = Env::load<Site::E3>(epoch);
  if (then % 2 != 0) {
    Execution::current().load_when(epoch.id(), order_now(Site::E3), name_of(Site::E3),
                                   [then](std::uint64_t now) { return now != then; });
  }
  areas[index]->mapping.write(0);
}

class Publisher::Inside {
 public:
  explicit Inside(Publisher& p) : p_(p) {
    if (!p_.options_.epochs) return;
    if (p_.options_.barrier) {
      Env::store<Site::E4>(p_.table_.epoch, ++p_.epoch_);
    } else {
      p_.epoch_ = Env::add<Site::E1>(p_.table_.epoch, std::uint64_t{1}) + 1;
    }
  }
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;
  ~Inside() {
    if (p_.options_.epochs) Env::store<Site::E2>(p_.table_.epoch, ++p_.epoch_);
  }

 private:
  Publisher& p_;
};

Publisher::Publisher(PublisherArea& area, Table& table, Options options)
    : area_(area), table_(table), options_(options) {}

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
  {
    const Inside inside(*this);
    if (free_count_ == 0) reclaim();
    if (free_count_ != 0) slot = static_cast<int>(free_[--free_count_]);
  }
  if (slot < 0) return -1;
  state_[static_cast<std::size_t>(slot)] = State::Loaned;
  area_.payload[slot].fill(sequence_ + 1);
  return slot;
}

void Publisher::publish(int slot) {
  const auto s = static_cast<std::uint32_t>(slot);
  const Inside inside(*this);
  const std::uint64_t n = sequence_ + 1;
  if (options_.reliable_looks != 0) wait_for_reliable(n);
  sequence_ = n;
  protocol::publish<Env>(area_.writer(), {n, s});
  if (options_.wakes) wake();
  published_as_[s] = n;
  state_[s] = State::Published;
}

void Publisher::prewake() {
  const Inside inside(*this);
  Env::store<Site::L1>(area_.filling, static_cast<std::uint32_t>(sequence_ + 1));
  ring();
}

void Publisher::abandon(int slot) {
  Env::store<Site::L1>(area_.filling, std::uint32_t{0});
  state_[static_cast<std::size_t>(slot)] = State::Returned;
}

void Publisher::ring() {
  protocol::advance_bell<Env>(area_.bell, phase_);
  area_.futex.wake();
}

/// Before and after each access to the subscriber's area: it must still be mapped.
void Publisher::touch(std::uint32_t index) const {
  if (table_.areas[index]->mapping.read() != 1) fail("the publisher looks at an area that is unmapped");
}

/// One bell for all, rung at most once a publication.
void Publisher::wake() {
  bool rung = false;
  const std::uint32_t end = Env::load<Site::D4>(table_.end);
  for (std::uint32_t i = 0; i < end; ++i) {
    const std::uint32_t entry = Env::load<Site::D2>(table_.entry[i]);
    if (entry == 0) continue;
    touch(i);
    const bool waits = protocol::somebody_waits<Env>(table_.areas[i]->waiting);
    touch(i);
    if (!waits || rung) continue;
    rung = true;
    ring();
  }
}

void Publisher::reclaim() {
  bool any_aside = false;
  for (std::uint32_t s = 0; s < area_.slots; ++s) {
    if (state_[s] == State::Returned) {
      state_[s] = State::Free;
      free_[free_count_++] = s;
    } else if (state_[s] == State::Published && sequence_ - published_as_[s] >= area_.depth) {
      protocol::mark_dead<Env>(area_.writer(), s);
      state_[s] = State::Aside;
      any_aside = true;
    } else if (state_[s] == State::Aside) {
      any_aside = true;
    }
  }
  if (!any_aside) return;
  protocol::before_refill<Env>();
  std::uint64_t held = 0;
  const std::uint32_t end = Env::load<Site::D4>(table_.end);
  for (std::uint32_t i = 0; i < end; ++i) {
    const std::uint32_t entry = Env::load<Site::D2>(table_.entry[i]);
    if (entry == 0) continue;
    touch(i);
    held |= protocol::holds_of<Env>(table_.areas[i]->hold, 0);
    touch(i);
  }
  for (std::uint32_t s = 0; s < area_.slots; ++s) {
    if (state_[s] != State::Aside || (held & (protocol::one_hold(s) * 0xff)) != 0) continue;
    state_[s] = State::Free;
    free_[free_count_++] = s;
  }
}

void Publisher::wait_for_reliable(std::uint64_t n) {
  if (n <= area_.depth) return;
  const std::uint32_t end = Env::load<Site::D4>(table_.end);
  for (std::uint32_t i = 0; i < end; ++i) {
    if (Env::load<Site::D2>(table_.entry[i]) == 0) continue;
    bool arrived = false;
    for (std::uint32_t look = 0; look < options_.reliable_looks && !arrived; ++look) {
      arrived = Env::load<Site::Q1>(table_.areas[i]->cursor) >= n - area_.depth;
    }
    if (!arrived) demoted_ = true;
  }
}

Reader::Held Reader::take() {
  const protocol::Taken taken = protocol::take<Env>(publisher_.reader(), own_.hold, own_.cursor, depth_);
  if (taken.outcome == protocol::Outcome::Corrupt) fail("an honest publisher is called corrupt");
  if (taken.outcome != protocol::Outcome::Taken) return {};
  if (log_.count < log_.sequence.size()) {
    log_.sequence[log_.count] = taken.entry.sequence;
    log_.missed[log_.count++] = taken.missed;
  }
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
    if (prewakes && Env::load<Site::B5>(publisher_.filling) != 0) {
      protocol::something_new<Env>(publisher_.latest, own_.cursor);  // the spin, bounded: one look
    }
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
  if (area.hold[0].final_value() != 0) fail("a hold is left when every sample is dropped");
}

}  // namespace cardan::checker
