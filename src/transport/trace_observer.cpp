// SPDX-License-Identifier: Apache-2.0
#include "src/transport/trace_observer.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstring>
#include <new>
#include <ranges>
#include <span>
#include <utility>

#include "cardan/clock.hpp"
#include "cardan/detail/forked.hpp"
#include "cardan/error.hpp"
#include "src/base/area.hpp"
#include "src/transport/discovery/observer_link.hpp"
#include "src/transport/endpoint/backing.hpp"
#include "src/transport/endpoint/foreign.hpp"
#include "src/transport/endpoint/trace_names.hpp"

namespace cardan::detail {
namespace {

constexpr std::size_t kMostTracedOfOthers = 256;  ///< processes, if we are root
constexpr int kMostNameParts = 64;                ///< of one process's answer, at once
/// Names of one process: one for each that it can remember, and as many streams again that came later.
constexpr std::size_t kMostTracedNames = trace::kMostCallbackNames + 2 * trace::kMostStreams;

constexpr std::size_t kMostBytesOfOthers = std::size_t{16} << 20;  ///< of their names
constexpr std::size_t kMostNameOfOthers = 128;                     ///< bytes of a name; the rest is cut off
constexpr std::int64_t kNeverAgain = INT64_MAX;
constexpr std::int64_t kAgainAfter = 5'000'000'000;
/// Clocks of time namespaces are compared by two looks, and a stamp is older than its event.
constexpr std::int64_t kTimeSlack = 1'000'000'000;

Error not_a_trace(const std::string& what) {
  return {ErrorCode::Incompatible, "its trace area is not laid out as Cardan's: " + what,
          "it is another version, or not an honest Cardan process"};
}

}  // namespace

struct TraceObserver::Source {
  std::string identity;
  std::unique_ptr<ObserverLink> link;
  std::uint32_t process = 0;
  Mapping mapping;
  BoundFd fd;                ///< of another user's area
  std::uint32_t events = 0;  ///< of a ring
  std::uint32_t rings = 0;   ///< that may be read
  std::uint64_t next_name = 0;
  std::size_t names = 0;
  std::array<std::uint64_t, layout::kTraceRings> next{};
  std::array<bool, layout::kTraceRings> corrupt{};
  std::array<bool, layout::kTraceRings> gap{};                                  ///< before the next event
  std::map<std::pair<std::uint32_t, std::uint32_t>, TracedThreadName> threads;  ///< by ring and owner
  std::map<std::uint64_t, std::string> callbacks;

  [[nodiscard]] const layout::TraceHeader& header() const noexcept {
    return *reinterpret_cast<const layout::TraceHeader*>(mapping.data());
  }
  [[nodiscard]] protocol::TraceReaderRing<Native> ring(std::uint32_t r) const noexcept {
    const auto* const lines = reinterpret_cast<const layout::TraceLine*>(mapping.data() + layout::kTraceLinesOffset);
    const std::byte* const words = mapping.data() + layout::kTraceRingsOffset + r * layout::trace_ring_bytes(events);
    return {&lines[r].written, reinterpret_cast<const Atomic<std::uint64_t>*>(words), events};
  }
  [[nodiscard]] bool is_backed(std::size_t offset, std::size_t bytes) const {
    return !fd || all_backed_in_time(fd.get(), {{offset, bytes}}, link->peer().uid) == Backed::Yes;
  }
  /// Maps the area and checks its numbers. Throws Error (Incompatible, System).
  void map(Fd area, std::uint64_t bytes) {
    std::uint32_t of_ring = layout::kFewestTraceRingEvents;
    while (of_ring < layout::kMostTraceRingEvents && layout::trace_area_bytes(layout::kTraceRings, of_ring) < bytes)
      of_ring *= 2;
    if (layout::trace_area_bytes(layout::kTraceRings, of_ring) != bytes) throw not_a_trace("its size");
    mapping = map_read_only(area, bytes);
    if (is_foreign(link->peer().uid)) fd = BoundFd(std::move(area));
    if (!is_backed(0, layout::kTraceRingsOffset)) throw not_a_trace("no memory backs it");
    const layout::TraceHeader& h = header();
    if (h.magic != layout::kTraceMagic || h.version != layout::kTraceVersion) throw not_a_trace("its version");
    if (h.rings != layout::kTraceRings || h.ring_events != of_ring || h.area_bytes != bytes)
      throw not_a_trace("its rings");
    events = of_ring;
  }
  /// Its memory and its descriptors. `events` stays: it has been traced.
  void release() {
    mapping = {};
    fd = {};
    link.reset();
    rings = 0;
  }
  /// Rings that have got memory since the last look.
  void find_rings() {
    const std::uint32_t there = std::min(header().committed.load(std::memory_order_acquire), layout::kTraceRings);
    if (there <= rings) return;
    const std::size_t bytes = layout::trace_ring_bytes(events);
    if (is_backed(layout::kTraceRingsOffset + rings * bytes, (there - rings) * bytes)) rings = there;
  }
};

TraceObserver::TraceObserver(const ObserverOptions& options, bool with_past)
    : options_(options),
      with_past_(with_past),
      links_((refuse_forked_child(), ObserverLinks::of(options.domain))),
      began_ns_(steady_now()),
      room_(layout::kTraceRingEvents) {
  find();
}
TraceObserver::~TraceObserver() = default;

void TraceObserver::refresh(const std::function<void()>& between) {
  refuse_forked_child();
  // Other users' processes come last, and have a time limit together.
  const std::int64_t others_time = 2 * options_.timeout.count();
  std::int64_t asked = 0;
  for (const bool others : {false, true})
    for (const auto& source : sources_) {
      const TracedProcess& process = processes_[source->process];
      if (process.ended || process.foreign != others) continue;
      if (asked > others_time) break;
      const std::int64_t began = steady_now();
      ask(*source);
      if (others) asked += steady_now() - began;
      if (between) between();
    }
  find(between);
}

void TraceObserver::find(const std::function<void()>& between) {
  const bool root = ::geteuid() == 0;
  const auto of_others =
      std::ranges::count_if(processes_, [](const TracedProcess& p) { return p.foreign && !p.ended; });
  std::size_t room_for_others =
      kMostTracedOfOthers - std::min(kMostTracedOfOthers, static_cast<std::size_t>(of_others));
  std::chrono::nanoseconds others_time = 2 * options_.timeout;
  for (const std::string& process : links_->directory().processes()) {
    const std::int64_t began = steady_now();
    if (const auto asked = asked_.find(process); asked != asked_.end() && began < asked->second) continue;
    int error = 0;
    const auto owner = links_->directory().owner_of(process, error);
    if (!owner) continue;
    const bool foreign = is_foreign(*owner);
    if (foreign && (!root || *owner == socket::kUnmapped)) {
      of_others_.insert(process);
      continue;
    }
    if (foreign && (others_time.count() <= 0 || room_for_others == 0)) continue;
    asked_[process] = kNeverAgain;
    auto source = std::make_unique<Source>();
    source->identity = process;
    source->link = std::make_unique<ObserverLink>(links_->directory(), process,
                                                  foreign ? std::min(options_.timeout, others_time) : options_.timeout);
    source->process = static_cast<std::uint32_t>(processes_.size());
    using Failure = ObserverLink::Failure;
    if (source->link->failure() == Failure::None) {
      processes_.push_back({.name = source->link->name(), .pid = source->link->pid(), .foreign = foreign});
      ask(*source);
    } else if (source->link->failure() != Failure::Stale) {
      problems_[process] = source->link->why();
    }
    const Failure failure = source->link->failure();
    if (source->events != 0) {
      problems_.erase(process);
      if (foreign) --room_for_others;
      sources_.push_back(std::move(source));
    } else {
      processes_.resize(sources_.size());
      if (failure == Failure::Silent || failure == Failure::Late || failure == Failure::Unreachable)
        asked_[process] = steady_now() + kAgainAfter;  // it may be stopped, or have too much to do
    }
    if (foreign) others_time -= std::chrono::nanoseconds(steady_now() - began);
    if (between) between();
  }
}

std::vector<std::string> TraceObserver::problems() const {
  std::vector<std::string> all;
  for (const auto& [process, problem] : problems_) all.push_back(problem);
  return all;
}

bool TraceObserver::remember(Source& source, const handshake::TracedName& name) {
  const bool foreign = processes_[source.process].foreign;
  if (++source.names > kMostTracedNames) return false;
  const std::string text = foreign ? name.text.substr(0, kMostNameOfOthers) : name.text;
  if (foreign) {
    bytes_of_others_ += text.size() + sizeof name;
    if (bytes_of_others_ > kMostBytesOfOthers) return false;
  }
  if (!name.stream)
    source.callbacks.emplace(name.of, text);
  else if (foreign)
    topics_.emplace(name.of, text);  // of two that claim a stream, the first
  else
    topics_[name.of] = text;  // another user's claim does not count
  return true;
}

void TraceObserver::ask(Source& source) {
  const bool first = source.events == 0;
  const std::int64_t began = steady_now();
  bool room = true;
  for (int part = 0; room && part < kMostNameParts && steady_now() - began <= options_.timeout.count(); ++part) {
    Fd area;
    const auto answer = source.link->trace(source.next_name, area);
    processes_[source.process].silent =
        !answer && source.events != 0 && source.link->failure() == ObserverLink::Failure::Late;
    if (processes_[source.process].silent) break;
    if (!answer) {
      processes_[source.process].ended = true;
      if (first || source.link->failure() != ObserverLink::Failure::Stale)
        problems_[source.identity] = source.link->why();
      return;
    }
    if (source.events == 0) try {
        if (!area) throw not_a_trace("it was not handed over");
        source.map(std::move(area), answer->bytes);
      } catch (const Error& e) {
        problems_[source.identity] =
            fmt::format("{} (pid {}) cannot be traced: {}", source.link->name(), source.link->pid(), e.cause());
        return;
      }
    for (const handshake::TracedThread& thread : answer->threads)
      if (thread.ring < layout::kTraceRings && thread.owner <= UINT8_MAX)
        source.threads[{thread.ring, thread.owner}] = {.thread = thread.thread, .name = thread.name};
    for (const handshake::TracedName& name : answer->names) room = room && remember(source, name);
    if (answer->next <= source.next_name || answer->names.empty()) break;
    source.next_name = answer->next;
  }
  const std::uint32_t before = source.rings;
  source.find_rings();
  if (!first) return;
  for (std::uint32_t r = before; r < source.rings; ++r) {
    const std::uint64_t written = std::min(Native::load<Site::T5>(*source.ring(r).written), protocol::kMostTraceEvents);
    source.next[r] = with_past_ ? protocol::oldest_whole_event(written, source.events) : written;
  }
}

std::size_t TraceObserver::drain(std::vector<TracedEvent>& into, TraceRoom& room) {
  const std::size_t before = into.size();
  if (is_forked_child()) return 0;
  for (const bool others : {false, true})
    for (const auto& source : sources_) {
      if (processes_[source->process].foreign != others || source->rings == 0) continue;
      const std::size_t had = into.size();
      drain(*source, into, others ? std::min(room.all, room.of_others) : room.all);
      const std::size_t came = into.size() - had;
      room.all -= came;
      if (others) room.of_others -= came;
    }
  forget_ended();
  return into.size() - before;
}

void TraceObserver::forget_ended() {
  for (const auto& source : sources_)
    if (processes_[source->process].ended && source->link) source->release();
}

bool TraceObserver::plausible(const layout::TraceEvent& event, std::int64_t now) const noexcept {
  if (event.time_ns > now + kTimeSlack || event.time_ns <= 0) return false;
  if (!with_past_ && event.time_ns < began_ns_ - kTimeSlack) return false;
  return event.kind != layout::TraceKind::Woken || event.argument <= static_cast<std::uint64_t>(event.time_ns);
}

void TraceObserver::drain(Source& source, std::vector<TracedEvent>& into, std::size_t most) {
  TracedProcess& process = processes_[source.process];
  process.without_ring = source.header().without_ring.load(std::memory_order_relaxed);
  const auto shift = static_cast<std::uint64_t>(source.link->time_shift());
  const std::size_t end = most > SIZE_MAX - into.size() ? SIZE_MAX : into.size() + most;
  for (std::uint32_t r = 0; r < source.rings && into.size() < end; ++r) {
    if (source.corrupt[r]) continue;
    const auto room = std::span(room_).first(std::min(room_.size(), end - into.size()));
    const auto drained = protocol::drain_events<Native, protocol::kTraceWords>(source.ring(r), source.next[r], room);
    if (drained.corrupt) {
      source.corrupt[r] = true;
      ++process.malformed;
      continue;
    }
    source.next[r] = drained.next;
    process.overwritten += drained.overwritten;
    if (drained.overwritten != 0) source.gap[r] = true;
    const std::int64_t now = steady_now();
    for (std::size_t i = 0; i < drained.count; ++i) {
      TracedEvent event{.what = {}, .process = source.process, .ring = r};
      const bool valid = layout::unpack(room_[i], event.what);
      // Modulo 2^64: the process says how far its clock is ahead.
      event.what.time_ns = static_cast<std::int64_t>(static_cast<std::uint64_t>(event.what.time_ns) + shift);
      if (event.what.kind == layout::TraceKind::Woken) event.what.argument += shift;
      if (!valid || !plausible(event.what, now)) {
        ++process.malformed;
        source.gap[r] = true;
        continue;
      }
      event.after_gap = std::exchange(source.gap[r], false);
      into.push_back(event);
    }
  }
}

TracedThreadName TraceObserver::thread_of(const TracedEvent& event) const {
  const auto& threads = sources_[event.process]->threads;
  const auto found = threads.find({event.ring, event.what.owner});
  return found == threads.end() ? TracedThreadName{} : found->second;
}

std::string TraceObserver::topic_of(std::uint64_t stream) const {
  const auto found = topics_.find(stream);
  return found == topics_.end() ? std::string() : found->second;
}

std::vector<std::string> TraceObserver::topics() const {
  std::set<std::string> all;
  for (const auto& [stream, topic] : topics_) all.insert(topic);
  return {all.begin(), all.end()};
}

std::string TraceObserver::callback_of(std::uint32_t process, std::uint64_t number) const {
  const auto& callbacks = sources_[process]->callbacks;
  const auto found = callbacks.find(number);
  return found == callbacks.end() ? std::string() : found->second;
}

}  // namespace cardan::detail
