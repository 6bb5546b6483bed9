// SPDX-License-Identifier: Apache-2.0
#include "tests/checker/execution.hpp"

#include <chrono>
#include <cstdlib>

namespace cardan::checker {
namespace {
Execution* the_current = nullptr;
}

Execution& Execution::current() { return *the_current; }

Result Execution::explore(const Factory& factory, const Limits& limits) {
  using Watch = std::chrono::steady_clock;
  const auto end = Watch::now() + std::chrono::duration<double>(limits.seconds);
  limits_ = limits;
  distinct_.clear();
  choices_.clear();
  tracing_ = false;
  all_steps_ = 0;
  random_ = limits.random_seed;
  every_interleaving_ = limits.every_interleaving;
  Result result;
  for (;;) {
    run_once(factory);
    ++result.runs;
    if (!cut_) ++result.executions;
    if (failed_) {
      result.failed = true;
      result.message = message_;
      for (std::size_t i = 0; i < position_; ++i) result.choices.push_back(choices_[i].picked);
      result.trace = replay(factory, result.choices).trace;
      break;
    }
    if (random_ != 0) {
      choices_.clear();
      if (result.runs == limits.runs) break;
    } else {
      while (!choices_.empty() && choices_.back().picked + 1 == choices_.back().count) choices_.pop_back();
      if (choices_.empty()) {
        result.complete = true;
        break;
      }
      ++choices_.back().picked;
      if (result.runs == limits.runs) break;
    }
    if ((result.runs & 1023) == 0 && Watch::now() > end) break;
  }
  result.steps = all_steps_;
  result.distinct = distinct_.size();
  return result;
}

Result Execution::replay(const Factory& factory, const std::vector<std::uint32_t>& choices) {
  const std::uint64_t steps = all_steps_;
  choices_.clear();
  for (const std::uint32_t c : choices) choices_.push_back({c, c + 1});
  tracing_ = true;
  random_ = 0;
  trace_.clear();
  run_once(factory);
  tracing_ = false;
  all_steps_ = steps;
  Result result;
  result.executions = 1;
  result.failed = failed_;
  result.message = message_;
  result.choices = choices;
  result.trace = trace_;
  return result;
}

void Execution::run_once(const Factory& factory) {
  the_current = this;
  memory_.clear();
  spawned_ = 0;
  running_ = kNobody;
  position_ = 0;
  steps_ = 0;
  died_ = failed_ = cut_ = false;
  message_.clear();
  const std::unique_ptr<Scenario> scenario = factory();
  for (std::size_t t = 0; t < spawned_ && !failed_; ++t) resume(t);
  while (!failed_) {
    std::array<std::size_t, kMaxThreads> enabled{};
    std::uint32_t count = 0;
    bool in_vain = false;
    for (std::size_t t = 0; t < spawned_; ++t) {
      const Thread& thread = threads_[t];
      if (thread.status != Status::Ready) continue;
      if (thread.ready == nullptr || (*thread.ready)()) {
        enabled[count++] = t;
      } else {
        in_vain = in_vain || thread.in_vain;
      }
    }
    if (count == 0) {
      cut_ = in_vain;
      break;
    }
    resume(enabled[every_interleaving_ ? choose(count) : 0]);
  }
  if (failed_ || cut_) return;
  if (limits_.count_distinct) distinct_.insert(memory_.hash());
  scenario->finish();
}

std::size_t Execution::spawn(const char* name, std::function<void()> body, bool mortal) {
  if (spawned_ == kMaxThreads) std::abort();
  Thread& t = threads_[spawned_];
  t.body = std::move(body);
  t.name = name;
  t.status = Status::Ready;
  t.mortal = mortal;
  t.ready = nullptr;
  t.interrupt = nullptr;
  t.in_vain = false;
  t.fiber.start(&Execution::thread_main, this);
  return spawned_++;
}

void Execution::thread_main(void* self) {
  auto& execution = *static_cast<Execution*>(self);
  execution.threads_[execution.running_].body();
  execution.threads_[execution.running_].status = Status::Finished;
  execution.memory_.note(execution.running_, 7);
  execution.stop_here();
}

void Execution::resume(std::size_t thread) {
  running_ = thread;
  threads_[thread].fiber.resume();
  running_ = kNobody;
}

void Execution::stop_here() {
  for (;;) threads_[running_].fiber.suspend();
}

std::uint32_t Execution::choose(std::uint32_t count) {
  if (count <= 1) return 0;
  if (position_ < choices_.size()) return choices_[position_++].picked;
  std::uint32_t picked = 0;
  if (random_ != 0) {
    random_ ^= random_ << 13;
    random_ ^= random_ >> 7;
    random_ ^= random_ << 17;
    picked = static_cast<std::uint32_t>((random_ >> 11) % count);
  }
  choices_.push_back({picked, count});
  ++position_;
  return picked;
}

void Execution::fail(std::string message) {
  if (!failed_) message_ = std::move(message);
  std::string().swap(message);
  failed_ = true;
  if (running_ == kNobody) return;
  note("FAILS: " + message_);
  stop_here();
}

void Execution::step() {
  ++all_steps_;
  if (++steps_ > limits_.steps) fail("no end after " + std::to_string(limits_.steps) + " steps: a livelock");
}

/// A process may die before each of its steps; one dies in a run.
void Execution::may_die() {
  Thread& t = threads_[running_];
  if (!t.mortal || died_ || choose(2) == 0) return;
  died_ = true;
  t.status = Status::Dead;
  memory_.note(running_, 8);
  note("dies here");
  stop_here();
}

void Execution::turn() { threads_[running_].fiber.suspend(); }

void Execution::begin_step() {
  if (threads_[running_].interrupt != nullptr) (*threads_[running_].interrupt)();
  may_die();
  step();
}

bool Execution::others_may_run() const {
  for (std::size_t t = 0; t < spawned_; ++t) {
    if (t != running_ && threads_[t].status == Status::Ready) return true;
  }
  return false;
}

bool Execution::others_may_write(std::size_t location) const {
  const int owner = memory_.location(location).owner;
  for (std::size_t t = 0; t < spawned_; ++t) {
    if (t == running_ || threads_[t].status != Status::Ready) continue;
    if (owner < 0 || owner == static_cast<int>(t)) return true;
  }
  return false;
}

void Execution::wait_in_vain_until(FunctionRef<bool()> ready) {
  Thread& t = threads_[running_];
  t.ready = &ready;
  t.in_vain = true;
  turn();
  t.ready = nullptr;
  t.in_vain = false;
}

void Execution::wait_for_store(std::size_t location, std::uint32_t since) {
  const auto arrived = [this, location, since] { return memory_.location(location).arrivals > since; };
  wait_in_vain_until(arrived);
}

std::uint64_t Execution::load(std::size_t location, std::memory_order order, const char* label) {
  const Access a = read_or_wait(
      location, {}, [&](const Memory::Look& look) { return memory_.load(running_, location, order, look, *this); });
  if (tracing_) note(std::string(label) + "  " + memory_.location(location).name.str() + " -> ", &a);
  return a.value;
}

void Execution::store(std::size_t location, std::uint64_t value, std::memory_order order, const char* label) {
  if (every_interleaving_) turn();
  begin_step();
  memory_.store(running_, location, value, order, label, *this);
  if (tracing_) note(std::string(label) + "  " + memory_.location(location).name.str() + " := " + show(value));
}

std::uint64_t Execution::add(std::size_t location, std::uint64_t delta, std::uint64_t mask, std::memory_order order,
                             const char* label) {
  const Access a = read_or_wait(location, {}, [&](const Memory::Look& look) {
    return memory_.add(running_, location, delta, mask, order, label, look, *this);
  });
  if (tracing_)
    note(std::string(label) + "  " + memory_.location(location).name.str() + " := " + show(a.written) + ", was ", &a);
  return a.value;
}

bool Execution::exchange_if(std::size_t location, std::uint64_t& expected, std::uint64_t desired,
                            std::memory_order order, const char* label) {
  const Access a = read_or_wait(location, {}, [&](const Memory::Look& look) {
    return memory_.exchange_if(running_, location, expected, desired, order, label, look, *this);
  });
  if (tracing_) {
    note(std::string(label) + "  " + memory_.location(location).name.str() +
             (a.success ? " := " + show(desired) + ", was " : " stays, is "),
         &a);
  }
  if (!a.success) expected = a.value;
  return a.success;
}

std::uint64_t Execution::load_when(std::size_t location, std::memory_order order, const char* label,
                                   FunctionRef<bool(std::uint64_t)> wanted) {
  const std::size_t self = running_;
  Memory::Look look;
  look.wanted = &wanted;
  // As long as no such value may be read the thread just blocks; that is an execution, not a wait in vain.
  const auto readable = [&] { return memory_.can_load(self, location, order, look); };
  const FunctionRef<bool()> ready = readable;
  threads_[self].ready = &ready;
  turn();
  threads_[self].ready = nullptr;
  const Access a = read_or_wait(location, look,
                                [&](const Memory::Look& l) { return memory_.load(self, location, order, l, *this); });
  if (tracing_) note(std::string(label) + "  " + memory_.location(location).name.str() + " -> ", &a);
  return a.value;
}

void Execution::acquire_fence() {
  step();
  memory_.acquire_fence(running_);
  note("acquire fence");
}

void Execution::release_fence() {
  step();
  memory_.release_fence(running_);
  note("release fence");
}

std::uint64_t Execution::read_cell(std::size_t cell) {
  std::uint64_t value = 0;
  auto race = memory_.read_cell(running_, cell, value);
  if (race) fail(std::move(*race));
  if (tracing_) note("reads " + memory_.cell_name(cell).str() + " -> " + show(value));
  return value;
}

void Execution::write_cell(std::size_t cell, std::uint64_t value) {
  auto race = memory_.write_cell(running_, cell, value);
  if (race) fail(std::move(*race));
  if (tracing_) note("writes " + memory_.cell_name(cell).str() + " := " + show(value));
}

std::uint32_t Execution::decide(const char* what, std::uint32_t count) {
  const std::uint32_t choice = choose(count);
  memory_.note(running_, choice + 16);
  if (tracing_) note(std::string(what) + " " + std::to_string(choice));
  return choice;
}

void Execution::wait_until(FunctionRef<bool()> ready, const char* what) {
  threads_[running_].ready = &ready;
  turn();
  threads_[running_].ready = nullptr;
  begin_step();
  note(what);
}

void Execution::wait_for_end(std::size_t thread) {
  const auto ended = [this, thread] { return threads_[thread].status != Status::Ready; };
  wait_until(ended, "sees the other side end");
  memory_.acquire_end_of(running_, thread);
}

void Execution::note(const std::string& text, const Access* access) {
  if (!tracing_) return;
  std::string line = running_ == kNobody ? "checks" : threads_[running_].name;
  line.resize(std::max<std::size_t>(line.size(), 12), ' ');
  line += std::to_string(running_ == kNobody ? 0 : memory_.step(running_));
  line.resize(std::max<std::size_t>(line.size(), 16), ' ');
  line += text;
  if (access != nullptr) {
    line += show(access->value);
    if (access->from_thread < 0) {
      line += "  (the initial value)";
    } else {
      line += "  (from " + std::string(access->from) + " of " +
              threads_[static_cast<std::size_t>(access->from_thread)].name + ", step " +
              std::to_string(access->from_step) + ")";
    }
  }
  trace_.push_back(line);
}

}  // namespace cardan::checker
