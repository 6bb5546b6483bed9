// SPDX-License-Identifier: Apache-2.0
#include "cardan/runtime/fusion/fusion_core.hpp"

#include <algorithm>
#include <limits>
#include <string>

#include "cardan/base/error.hpp"

namespace cardan::detail {

namespace {

constexpr std::size_t kMaxQueue = 1024;

/// Exact for any two stamps, where a signed difference could overflow.
std::uint64_t ahead(std::int64_t later, std::int64_t earlier) noexcept {
  return static_cast<std::uint64_t>(later) - static_cast<std::uint64_t>(earlier);
}

std::int64_t add(std::int64_t time, std::uint64_t step) noexcept {
  constexpr std::int64_t kEnd = std::numeric_limits<std::int64_t>::max();
  return ahead(kEnd, time) < step ? kEnd : static_cast<std::int64_t>(static_cast<std::uint64_t>(time) + step);
}

[[noreturn]] void refuse(const std::string& cause, const std::string& remedy) {
  throw Error(ErrorCode::InvalidArgument, "fusion: " + cause, remedy);
}

std::uint64_t duration(std::chrono::nanoseconds value, const char* name) {
  if (value.count() < 0) refuse(std::string(name) + " is negative", "give a time of 0 or more");
  return static_cast<std::uint64_t>(value.count());
}

void check_input(std::size_t input, std::size_t inputs) {
  if (input >= inputs)
    refuse("options name input " + std::to_string(input) + ", but there are " + std::to_string(inputs) + " inputs",
           "inputs are counted from 0");
}

}  // namespace

FusionCore::FusionCore(const FusionPolicy& policy, std::size_t inputs, std::span<const FusionStamp> stamps)
    : count_(inputs) {
  if (inputs < 2 || inputs > kMaxFusionInputs)
    refuse(std::to_string(inputs) + " inputs", "a fusion joins 2 to " + std::to_string(kMaxFusionInputs));
  if (const auto* p = std::get_if<PrimaryOptions>(&policy)) {
    configure(*p);
  } else if (const auto* a = std::get_if<ApproximateOptions>(&policy)) {
    configure(*a);
  } else {
    const auto& e = std::get<ExactOptions>(policy);
    configure(ApproximateOptions{
        .tolerance = std::chrono::nanoseconds{0}, .queue = e.queue, .time = e.time, .clock_step = e.clock_step});
  }
  entries_ = std::make_unique<Entry[]>(count_ * capacity_);
  for (std::size_t i = 0; i < count_; ++i) {
    inputs_[i].entries = &entries_[i * capacity_];
    inputs_[i].capacity = capacity_;
    inputs_[i].stamp = i < stamps.size() ? stamps[i] : nullptr;
    if (time_ == FusionTime::HeaderStamp && inputs_[i].stamp == nullptr)
      refuse("it uses header.stamp, but the messages of input " + std::to_string(i) + " have none",
             "use FusionTime::Source or FusionTime::Publish, or specialize cardan::fusion_stamp for that type");
  }
}

std::int64_t FusionCore::time_of(Input& input, const SampleBlock& block) const noexcept {
  if (time_ == FusionTime::Publish) return block.publish_ns;
  const std::int64_t stamp = time_ == FusionTime::Source ? block.source_ns : input.stamp(block.message);
  if (stamp != 0) return stamp;
  input.count(Unstamped);
  return block.publish_ns;
}

void FusionCore::configure(const PrimaryOptions& options) {
  check_input(options.input, count_);
  if (options.inputs.named() > 0) check_input(options.inputs.named() - 1, count_);
  firing_ = options.input;
  time_ = options.time;
  for (std::size_t i = 0; i < count_; ++i) {
    const PrimaryInput& own = options.inputs[i];
    if (i == firing_ && (own.max_age || !own.required))
      refuse("input " + std::to_string(i) + " fires, but has a max_age or is not required",
             "set these on the other inputs only");
    inputs_[i].max_age = duration(own.max_age.value_or(options.max_age), "max_age");
    inputs_[i].required = own.required;
  }
}

void FusionCore::configure(const ApproximateOptions& options) {
  if (options.inputs.named() > 0) check_input(options.inputs.named() - 1, count_);
  if (options.queue < 1 || options.queue > kMaxQueue)
    refuse("a queue of " + std::to_string(options.queue), "give 1 to " + std::to_string(kMaxQueue));
  capacity_ = options.queue;
  time_ = options.time;
  tolerance_ = duration(options.tolerance, "tolerance");
  patience_ = duration(options.patience, "patience");
  clock_step_ = duration(options.clock_step, "clock_step");
  for (std::size_t i = 0; i < count_; ++i) inputs_[i].min_period = duration(options.inputs[i].min_period, "min_period");
}

FusionCore::~FusionCore() {
  for (std::size_t i = 0; i < count_; ++i)
    while (inputs_[i].size > 0) drop(inputs_[i].pop().block);
}

FusionCore::Entry FusionCore::Input::pop() noexcept {
  const Entry oldest = at(0);
  first = first + 1 < capacity ? first + 1 : 0;
  --size;
  has_left = true;
  left = oldest.time;
  return oldest;
}

void FusionCore::Input::insert(Entry entry) noexcept {
  std::size_t place = size++;
  for (; place > 0 && entry.time < at(place - 1).time; --place) at(place) = at(place - 1);
  at(place) = entry;
}

/// The oldest of the input leaves without having been part of a set, or after the sets that it was in.
void FusionCore::let_go(Input& input, Count fate) noexcept {
  if (!input.newest_used) input.count(fate);
  input.newest_used = false;
  drop(input.pop().block);
}

void FusionCore::offer(std::size_t input, SampleBlock* block) noexcept {
  if (block == nullptr) return;
  block->references.fetch_add(1, std::memory_order_relaxed);
  Input& in = inputs_[input];
  in.arrived = true;
  in.count(Offered);
  const Entry entry{block, time_of(in, *block)};
  in.offered_time.store(entry.time, std::memory_order_relaxed);
  if (firing_ != kNoFiring) {
    if (in.size > 0) let_go(in, Replaced);
    in.insert(entry);
  } else {
    queue(in, entry);
    let_overtaken_go();
  }
  note_waiting();
}

bool FusionCore::next(SampleBlock** set) noexcept {
  const bool fired = firing_ != kNoFiring ? fire(set) : match(set);
  if (fired) fired_.store(fired_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  note_waiting();
  return fired;
}

void FusionCore::clear() noexcept {
  for (std::size_t i = 0; i < count_; ++i) {
    Input& in = inputs_[i];
    while (in.size > 0) let_go(in, Cleared);
    in.has_newest = in.has_left = false;
  }
  note_waiting();
}

void FusionCore::note_waiting() noexcept {
  for (std::size_t i = 0; i < count_; ++i) {
    Input& in = inputs_[i];
    in.counts[Waiting].store(in.newest_used ? 0 : in.size, std::memory_order_relaxed);
  }
}

FusionStatistics FusionCore::statistics() const noexcept {
  FusionStatistics all;
  all.fired = fired_.load(std::memory_order_relaxed);
  for (std::size_t i = 0; i < count_; ++i) {
    const auto read = [&](Count what) { return inputs_[i].counts[what].load(std::memory_order_relaxed); };
    all.inputs[i] = {.offered = read(Offered),
                     .used = read(Used),
                     .unfired = read(Unfired),
                     .replaced = read(Replaced),
                     .overtaken = read(Overtaken),
                     .pushed_out = read(PushedOut),
                     .late = read(Late),
                     .cleared = read(Cleared),
                     .waiting = read(Waiting),
                     .unstamped = read(Unstamped),
                     .newest = inputs_[i].offered_time.load(std::memory_order_relaxed),
                     .never_arrived = read(NeverArrived),
                     .too_old = read(TooOld),
                     .absent = read(Absent)};
  }
  return all;
}

bool FusionCore::fits(const Input& input, const Entry& firing) const noexcept {
  if (input.max_age == 0) return true;
  const Entry& kept = input.at(0);
  if (firing.time >= kept.time) return ahead(firing.time, kept.time) <= input.max_age;
  const std::int64_t now = firing.block->publish_ns;
  const std::int64_t then = kept.block->publish_ns;
  return now <= then || ahead(now, then) <= input.max_age;
}

bool FusionCore::fire(SampleBlock** set) noexcept {
  Input& firing = inputs_[firing_];
  if (firing.size == 0) return false;
  for (std::size_t i = 0; i < count_; ++i) {
    Input& in = inputs_[i];
    set[i] = in.size > 0 && fits(in, firing.at(0)) ? in.at(0).block : nullptr;
    if (set[i] != nullptr || !in.required) continue;
    in.count(in.size > 0 ? TooOld : NeverArrived);
    let_go(firing, Unfired);
    return false;
  }
  for (std::size_t i = 0; i < count_; ++i) {
    Input& in = inputs_[i];
    if (set[i] == nullptr) {
      in.count(Absent);
      continue;
    }
    if (!in.newest_used) in.count(Used);
    if (i == firing_) {
      in.pop();  // its reference goes with the set
    } else {
      in.newest_used = true;
      set[i]->references.fetch_add(1, std::memory_order_relaxed);
    }
  }
  return true;
}

void FusionCore::queue(Input& input, Entry entry) noexcept {
  if (input.has_newest && entry.time < input.newest && ahead(input.newest, entry.time) > clock_step_) clear();
  if (!input.has_newest || entry.time > input.newest) input.newest = entry.time;
  input.has_newest = true;
  Count fate = Offered;
  if (input.has_left && entry.time < input.left) {
    fate = Late;
  } else if (input.size == input.capacity) {
    for (std::size_t i = 0; i < count_; ++i)
      if (!inputs_[i].arrived) inputs_[i].count(NeverArrived);
    if (entry.time < input.at(0).time)
      fate = PushedOut;  // it would be the oldest itself
    else
      let_go(input, PushedOut);
  }
  if (fate == Offered) {
    input.insert(entry);
  } else {
    input.count(fate);
    drop(entry.block);
  }
}

/// Step 1 of the algorithm that approximate() describes.
void FusionCore::let_overtaken_go() noexcept {
  for (bool again = true; again;) {
    again = false;
    std::int64_t latest = std::numeric_limits<std::int64_t>::min();
    for (std::size_t i = 0; i < count_; ++i) {
      const Input& in = inputs_[i];
      if (in.size > 0) latest = std::max(latest, in.at(0).time);
    }
    for (std::size_t i = 0; i < count_; ++i) {
      Input& in = inputs_[i];
      while (in.size > 0 && in.at(0).time < latest && ahead(latest, in.at(0).time) > tolerance_) {
        let_go(in, Overtaken);
        again = true;  // its next may be the latest now
      }
    }
  }
}

/// Its steps 2 and 3: the closest set's places in the queues; false: it is not certain yet. The heads are
/// a set when this is called.
bool FusionCore::choose(Places& places) const noexcept {
  Places at{};
  std::array<std::int64_t, kMaxFusionInputs> times{};
  for (std::size_t i = 0; i < count_; ++i) times[i] = inputs_[i].at(0).time;
  const auto end = times.begin() + static_cast<std::ptrdiff_t>(count_);
  const std::int64_t pivot = *std::max_element(times.begin(), end);
  std::int64_t latest = pivot;  // of the set on the way: what is exchanged becomes later only
  std::uint64_t closest = std::numeric_limits<std::uint64_t>::max();
  bool known = true;  // no sample of the set on the way is still to come
  for (;;) {
    const auto earliest = std::min_element(times.begin(), end);
    const std::uint64_t spread = ahead(latest, *earliest);
    if (spread < closest) {
      if (!known) return due(pivot);
      closest = spread;
      places = at;
    }
    if (*earliest >= pivot) return true;
    const auto i = static_cast<std::size_t>(earliest - times.begin());
    if (at[i] + 1 < inputs_[i].size) {
      *earliest = inputs_[i].at(++at[i]).time;
    } else {
      *earliest = std::max(pivot, add(*earliest, inputs_[i].min_period));
      known = false;
    }
    latest = std::max(latest, *earliest);
  }
}

/// Whether a set must not wait for a closer one any longer.
bool FusionCore::due(std::int64_t pivot) const noexcept {
  for (std::size_t i = 0; i < count_; ++i) {
    const Input& in = inputs_[i];
    if (in.size == in.capacity) return true;
    if (patience_ != 0 && in.newest > pivot && ahead(in.newest, pivot) >= patience_) return true;
  }
  return false;
}

bool FusionCore::match(SampleBlock** set) noexcept {
  Places places{};
  for (std::size_t i = 0; i < count_; ++i)
    if (inputs_[i].size == 0) return false;
  if (!choose(places)) return false;
  for (std::size_t i = 0; i < count_; ++i) {
    Input& in = inputs_[i];
    for (std::size_t passed = 0; passed < places[i]; ++passed) let_go(in, Overtaken);
    set[i] = in.pop().block;
    in.count(Used);
  }
  let_overtaken_go();
  return true;
}

}  // namespace cardan::detail
