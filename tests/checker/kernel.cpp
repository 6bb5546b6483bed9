// SPDX-License-Identifier: Apache-2.0
#include "tests/checker/env.hpp"

namespace cardan::checker {

// The order of a futex's operations is the order in which they get the kernel's lock. As with loads, whose turn it is
// is not a choice: an operation goes now, or waits for another operation (or a store to the word) and goes after that
// one.

bool Futex::wait(const Word<std::uint32_t>& word, std::uint32_t expected) {
  Execution& e = Execution::current();
  const std::size_t self = e.running();
  e.turn();
  e.begin_step();
  Memory::Look look;
  look.floor = &lock_;
  for (;;) {
    look.may_wait = !e.interleaves() && e.others_may_write(word.id());
    const std::optional<Access> a = e.memory().load(self, word.id(), std::memory_order_relaxed, look, e);
    if (a) {
      pass(self);
      if (e.tracing()) {
        e.note(std::string("FUTEX_WAIT ") + (a->value == expected ? "sleeps on " : "would sleep on ") + show(expected) +
                   ", finds ",
               &*a);
      }
      if (a->value != expected) return false;
      sleeping_[self] = true;
      const auto woken = [this, self] { return !sleeping_[self]; };
      e.wait_until(woken, "wakes up");
      return true;
    }
    const std::uint32_t passes = passes_;
    const std::uint32_t arrivals = e.memory().location(word.id()).arrivals;
    const auto changed = [&] { return passes_ != passes || e.memory().location(word.id()).arrivals != arrivals; };
    e.wait_in_vain_until(changed);
    look.since = arrivals;
    look.waited = passes_ == passes;  // after another operation an old value is news, too
  }
}

void Futex::wake() {
  Execution& e = Execution::current();
  const std::size_t self = e.running();
  e.turn();
  e.begin_step();
  while (!e.interleaves() && e.others_may_run() && e.choose(2) == 1) {
    const auto changed = [this, passes = passes_] { return passes_ != passes; };
    e.wait_in_vain_until(changed);
  }
  join(lock_, e.release(102));
  pass(self);
  e.note("FUTEX_WAKE");
  sleeping_.fill(false);
}

void Futex::pass(std::size_t self) {
  Memory& memory = Execution::current().memory();
  ++passes_;
  order_ = mix(mix(order_, self), memory.step(self));
  memory.note(self, order_);
}

/// Whose turn it is: as in Futex::wake().
void Descriptor::enter() {
  Execution& e = Execution::current();
  e.turn();
  e.begin_step();
  while (!e.interleaves() && e.others_may_run() && e.choose(2) == 1) {
    const auto changed = [this, passes = passes_] { return passes_ != passes; };
    e.wait_in_vain_until(changed);
  }
  e.acquire(lock_, 107);
  join(lock_, e.release(108));
  const std::size_t self = e.running();
  ++passes_;
  order_ = mix(mix(order_, self), e.memory().step(self));
  e.memory().note(self, order_);
}

void Descriptor::send() {
  enter();
  readable_ = true;
  Execution::current().note("sends a token");
}

void Descriptor::drain() {
  enter();
  readable_ = false;
  Execution::current().note("empties the descriptor");
}

void Descriptor::poll() {
  enter();
  Execution& e = Execution::current();
  if (readable_) return;
  const std::size_t self = e.running();
  sleeping_[self] = true;
  const auto rung = [this] { return readable_; };
  e.wait_until(rung, "poll comes back");
  sleeping_[self] = false;
}

void ExpeditedBarrier::strikes(std::size_t thread) {
  victim_ = thread;
  Execution::current().set_interrupt(thread, interrupt_);
}

void ExpeditedBarrier::may_strike() {
  Execution& e = Execution::current();
  if (passed_ || e.choose(2) == 0) return;
  const auto issued = [this] { return issued_; };
  e.wait_in_vain_until(issued);
  passed_ = true;
  e.acquire(before_, 103);
  passing_ = e.release(104);
  e.note("expedited barrier strikes");
}

void ExpeditedBarrier::issue() {
  Execution& e = Execution::current();
  before_ = e.release(105);
  issued_ = true;
  const auto over = [this, &e] { return passed_ || e.is_dead(victim_) || e.is_finished(victim_); };
  e.wait_until(over, "expedited barrier over");
  if (passed_) {
    e.acquire(passing_, 106);
  } else {
    e.memory().acquire_end_of(e.running(), victim_);
  }
}

}  // namespace cardan::checker
