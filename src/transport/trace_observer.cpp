// SPDX-License-Identifier: Apache-2.0
#include "src/transport/trace_observer.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstring>
#include <new>
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

Error not_a_trace(const std::string& what) {
  return {ErrorCode::Incompatible, "its trace area is not laid out as Cardan's: " + what,
          "it is another version, or not an honest Cardan process"};
}

}  // namespace

struct TraceObserver::Source {
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
      room_(layout::kTraceRingEvents) {
  find();
}
TraceObserver::~TraceObserver() = default;

void TraceObserver::refresh() {
  refuse_forked_child();
  for (const auto& source : sources_)
    if (!processes_[source->process].ended) ask(*source);
  find();
}

void TraceObserver::find() {
  const bool root = ::geteuid() == 0;
  std::chrono::nanoseconds others_time = 2 * options_.timeout;
  for (const std::string& process : links_->directory().processes()) {
    if (asked_.contains(process)) continue;
    int error = 0;
    const auto owner = links_->directory().owner_of(process, error);
    if (!owner) continue;
    const bool foreign = is_foreign(*owner);
    if (foreign && (!root || *owner == socket::kUnmapped)) {
      of_others_.insert(process);
      continue;
    }
    if (foreign && (others_time.count() <= 0 || asked_.size() > kMostTracedOfOthers)) continue;
    asked_.insert(process);
    const std::int64_t began = steady_now();
    auto source = std::make_unique<Source>();
    source->link = std::make_unique<ObserverLink>(links_->directory(), process,
                                                  foreign ? std::min(options_.timeout, others_time) : options_.timeout);
    source->process = static_cast<std::uint32_t>(processes_.size());
    if (source->link->failure() == ObserverLink::Failure::None) {
      processes_.push_back({.name = source->link->name(), .pid = source->link->pid()});
      ask(*source);
      if (source->events != 0)
        sources_.push_back(std::move(source));
      else
        processes_.pop_back();
    } else if (source->link->failure() != ObserverLink::Failure::Stale) {
      problems_.push_back(source->link->why());
    }
    if (foreign) others_time -= std::chrono::nanoseconds(steady_now() - began);
  }
}

void TraceObserver::ask(Source& source) {
  const bool first = source.events == 0;
  for (int part = 0; part < kMostNameParts; ++part) {
    Fd area;
    const auto answer = source.link->trace(source.next_name, area);
    processes_[source.process].silent =
        !answer && source.events != 0 && source.link->failure() == ObserverLink::Failure::Late;
    if (processes_[source.process].silent) break;
    if (!answer) {
      processes_[source.process].ended = true;
      if (first || source.link->failure() != ObserverLink::Failure::Stale) problems_.push_back(source.link->why());
      return;
    }
    if (source.events == 0) try {
        if (!area) throw not_a_trace("it was not handed over");
        source.map(std::move(area), answer->bytes);
      } catch (const Error& e) {
        problems_.push_back(
            fmt::format("{} (pid {}) cannot be traced: {}", source.link->name(), source.link->pid(), e.cause()));
        return;
      }
    for (const handshake::TracedThread& thread : answer->threads)
      if (thread.ring < layout::kTraceRings && thread.owner <= UINT8_MAX)
        source.threads[{thread.ring, thread.owner}] = {.thread = thread.thread, .name = thread.name};
    for (const handshake::TracedName& name : answer->names) {
      if (++source.names > kMostTracedNames) break;
      if (name.stream)
        topics_.emplace(name.of, name.text);  // of two that claim a stream, the first
      else
        source.callbacks.emplace(name.of, name.text);
    }
    if (answer->next <= source.next_name || answer->names.empty() || source.names > kMostTracedNames) break;
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

std::size_t TraceObserver::drain(std::vector<TracedEvent>& into) {
  const std::size_t before = into.size();
  if (is_forked_child()) return 0;
  for (const auto& source : sources_) drain(*source, into);
  return into.size() - before;
}

void TraceObserver::drain(Source& source, std::vector<TracedEvent>& into) {
  TracedProcess& process = processes_[source.process];
  process.without_ring = source.header().without_ring.load(std::memory_order_relaxed);
  const std::int64_t shift = source.link->time_shift();
  for (std::uint32_t r = 0; r < source.rings; ++r) {
    if (source.corrupt[r]) continue;
    const auto drained = protocol::drain_events<Native, protocol::kTraceWords>(source.ring(r), source.next[r], room_);
    if (drained.corrupt) {
      source.corrupt[r] = true;
      ++process.malformed;
      continue;
    }
    source.next[r] = drained.next;
    process.overwritten += drained.overwritten;
    if (drained.overwritten != 0) source.gap[r] = true;
    for (std::size_t i = 0; i < drained.count; ++i) {
      TracedEvent event{.what = {}, .process = source.process, .ring = r};
      if (!layout::unpack(room_[i], event.what)) {
        ++process.malformed;
        source.gap[r] = true;
        continue;
      }
      event.after_gap = std::exchange(source.gap[r], false);
      event.what.time_ns += shift;
      if (event.what.kind == layout::TraceKind::Woken)
        event.what.argument += static_cast<std::uint64_t>(shift);  // modulo 2^64, as the sum above
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

std::string TraceObserver::callback_of(std::uint32_t process, std::uint64_t number) const {
  const auto& callbacks = sources_[process]->callbacks;
  const auto found = callbacks.find(number);
  return found == callbacks.end() ? std::string() : found->second;
}

}  // namespace cardan::detail
