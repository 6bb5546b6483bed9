// SPDX-License-Identifier: Apache-2.0
#include "src/trace/hops.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <ranges>
#include <tuple>
#include <utility>

#include "src/trace/stream_owners.hpp"

namespace cardan::trace {
namespace {

using detail::TracedEvent;
using layout::TraceKind;

constexpr std::size_t kMostHops = 64;
constexpr std::size_t kMostGrounds = 64;    ///< of one publication
constexpr std::size_t kMostArrivals = 64;   ///< of one sample in one process, which has a few queues of a topic
constexpr std::size_t kMostWays = 64;       ///< of one chain
constexpr std::ptrdiff_t kMostRan = 65536;  ///< callbacks for one answer of RanCallbacks

using SampleId = std::pair<std::uint64_t, std::uint64_t>;  ///< stream and sequence
using ThreadId = std::tuple<std::uint32_t, std::uint32_t, std::uint8_t>;
using ArrivedId = std::tuple<std::uint32_t, std::uint64_t, std::uint64_t>;  ///< process, stream, sequence

struct Arrival {
  std::uint64_t callback = 0;  ///< name of the callback in whose queue it arrived; 0: taken
  std::int64_t time_ns = 0;
  std::optional<std::uint32_t> component{};  ///< of the callback, once it was looked up
};

struct TracedPublication {
  std::int64_t time_ns = 0;
  std::uint32_t process = 0;
  std::vector<SampleId> grounds{};  ///< the samples on which it rests
  std::int64_t begun_ns = 0;        ///< of the callback that published; 0: outside of callbacks
  std::uint64_t callback = 0;       ///< its name
  std::uint32_t cpu = 0;
  bool whole = true;  ///< false: of a callback whose begin was not traced
};

class HopFinder {
 public:
  HopFinder(const std::vector<TracedEvent>& events, const TraceWords& words) : words_(words), owners_(events, words) {
    for (const TracedEvent& event : events) note(event);
  }

  TracedChain find(const std::string& from, const std::string& to) {
    TracedChain chain{.ways = {}, .disputed = disputed_};
    ends_.clear();
    ways_.clear();
    for (const auto& [sample, publication] : publications_) {
      if (topic(sample.first) != to) continue;
      switch (end_of(sample, from, 0).kind) {
        case End::Kind::Reached:
          add_frame(chain, sample, from);
          break;
        case End::Kind::RestsOnOthers:
          ++chain.from_others;
          break;
        case End::Kind::NotTraced:
          ++chain.incomplete;
          break;
      }
    }
    for (TracedWay& way : chain.ways)
      std::sort(way.frames.begin(), way.frames.end(),
                [](const TracedFrame& a, const TracedFrame& b) { return a.time_ns < b.time_ns; });
    std::sort(chain.ways.begin(), chain.ways.end(), [](const TracedWay& a, const TracedWay& b) {
      return a.frames.size() != b.frames.size() ? a.frames.size() > b.frames.size()
                                                : a.frames.front().time_ns < b.frames.front().time_ns;
    });
    return chain;
  }

 private:
  /// Where the grounds of a publication lead.
  struct End {
    enum class Kind : std::uint8_t { RestsOnOthers, NotTraced, Reached };
    Kind kind = Kind::NotTraced;
    std::int64_t begin_ns = 0;  ///< of the publication on the first topic
    std::size_t hops = 0;       ///< from there
    SampleId next{};            ///< the ground that leads there
    std::int64_t arrived_ns = 0;
    [[nodiscard]] bool counts_before(const End& other) const noexcept {
      return begin_ns != other.begin_ns ? begin_ns < other.begin_ns : arrived_ns > other.arrived_ns;
    }
  };
  struct Running {
    std::int64_t begun_ns = 0;
    std::uint64_t callback = 0;
    std::uint32_t cpu = 0;
    TracedPublication* last = nullptr;  ///< of this thread
    std::uint64_t last_sequence = 0;
    std::vector<TracedPublication*> outside{};               ///< of callbacks, unless one ends that did not begin
    std::vector<SampleId> read{};                            ///< in this callback
    std::map<std::uint64_t, std::vector<SampleId>> named{};  ///< by loans; by the stream that they will be published on
  };

  void note(const TracedEvent& event) {
    const layout::TraceEvent& e = event.what;
    Running& here = threads_[{event.process, event.ring, e.owner}];
    if (event.after_gap) here = {};
    switch (e.kind) {
      case TraceKind::Begin:
        here = {.begun_ns = e.time_ns, .callback = e.argument, .cpu = e.cpu};
        return;
      case TraceKind::End:
        for (TracedPublication* const publication : here.outside) publication->whole = false;
        here = {};
        return;
      case TraceKind::Publish:
        publish(event, here);
        return;
      case TraceKind::Rests:
        if (here.last != nullptr && here.last_sequence == e.argument) add_ground(here.last->grounds, e);
        return;
      case TraceKind::Read:
        add_ground(e.argument == 0 ? here.read : here.named[e.argument], e);
        return;
      case TraceKind::Queue:
        arrive(event, e.argument);
        return;
      case TraceKind::Take:
        arrive(event, 0);
        return;
      case TraceKind::Woken:
      case TraceKind::Drop:
      case TraceKind::Loss:
        return;
    }
  }

  void publish(const TracedEvent& event, Running& here) {
    const layout::TraceEvent& e = event.what;
    if (!owners_.is_owners(event)) {
      ++disputed_;
      here.last = nullptr;
      return;
    }
    const auto [it, made] = publications_.try_emplace({e.stream, e.sequence});
    if (made)
      it->second = {.time_ns = e.time_ns,
                    .process = event.process,
                    .grounds = here.read,
                    .begun_ns = here.begun_ns,
                    .callback = here.callback,
                    .cpu = here.cpu};
    if (const auto named = here.named.find(e.stream); named != here.named.end()) {
      it->second.grounds.insert(it->second.grounds.end(), named->second.begin(), named->second.end());
      here.named.erase(named);
    }
    if (here.begun_ns == 0) here.outside.push_back(&it->second);
    here.last = &it->second;
    here.last_sequence = e.sequence;
  }
  /// Of each callback the first arrival. They are few, whatever a process writes: each ground looks at all of them.
  void arrive(const TracedEvent& event, std::uint64_t callback) {
    const layout::TraceEvent& e = event.what;
    std::vector<Arrival>& all = arrivals_[{event.process, e.stream, e.sequence}];
    const auto at = std::ranges::lower_bound(all, callback, {}, &Arrival::callback);
    if ((at != all.end() && at->callback == callback) || all.size() >= kMostArrivals) return;
    all.insert(at, {.callback = callback, .time_ns = e.time_ns});
  }
  static void add_ground(std::vector<SampleId>& grounds, const layout::TraceEvent& e) {
    if (grounds.size() < kMostGrounds) grounds.emplace_back(e.stream, e.sequence);
  }

  /// Of several grounds that lead to the first topic, the oldest publication there counts; if they lead to the same
  /// one, the ground that arrived last: the others waited for it.
  End end_of(SampleId sample, const std::string& from, std::size_t depth) {
    const auto publication = publications_.find(sample);
    if (publication == publications_.end() || depth > kMostHops) return {};
    const TracedPublication& p = publication->second;
    if (topic(sample.first) == from) return {.kind = End::Kind::Reached, .begin_ns = p.time_ns};
    const auto [known, first] = ends_.try_emplace(sample);  // not traced, for a circle that comes here again
    if (!first) return known->second;
    End best{.kind = End::Kind::RestsOnOthers};
    for (const SampleId& ground : p.grounds) {
      const std::optional<std::int64_t> arrived = p.whole ? arrival(p, ground) : std::nullopt;
      End end = arrived ? end_of(ground, from, depth + 1) : End{};
      if (++end.hops > kMostHops) end = {};
      end.next = ground;
      end.arrived_ns = arrived.value_or(0);
      if (end.kind > best.kind || (end.kind == best.kind && end.counts_before(best))) best = end;
    }
    return ends_[sample] = best;
  }
  void add_frame(TracedChain& chain, SampleId sample, const std::string& from) {
    TracedWay way;
    TracedFrame frame{.sequence = sample.second, .time_ns = publications_[sample].time_ns, .hops = {}};
    while (topic(sample.first) != from) {
      const TracedPublication& p = publications_[sample];
      const SampleId before = ends_[sample].next;
      frame.hops.push_back(times(publications_[before].time_ns, arrival(p, before).value_or(0), p));
      frame.hops.back().sequence = sample.second;
      way.hops.push_back({.by = publisher(p), .to = topic(sample.first)});
      sample = before;
    }
    frame.first_sequence = sample.second;
    frame.first_ns = publications_[sample].time_ns;
    std::reverse(way.hops.begin(), way.hops.end());
    std::reverse(frame.hops.begin(), frame.hops.end());
    auto known = ways_.find(way.hops);
    if (known == ways_.end()) {
      if (chain.ways.size() >= kMostWays) {
        ++chain.more_ways;
        return;
      }
      known = ways_.emplace(way.hops, chain.ways.size()).first;
      chain.ways.push_back(std::move(way));
    }
    chain.ways[known->second].frames.push_back(std::move(frame));
  }
  /// The time when a ground arrived: in the queue of the callback that published, else in one of its component, which
  /// read it with latest.get(), else the first one. A process can have several queues of a topic.
  std::optional<std::int64_t> arrival(const TracedPublication& publication, const SampleId& ground) {
    const auto arrived = arrivals_.find({publication.process, ground.first, ground.second});
    if (arrived == arrivals_.end()) return std::nullopt;
    const std::uint32_t own = component(publication.process, publication.callback);
    std::optional<std::int64_t> first, of_component;
    for (Arrival& one : arrived->second) {
      if (one.callback == publication.callback) return one.time_ns;
      if (!first || one.time_ns < *first) first = one.time_ns;
      if (own == 0) continue;
      if (!one.component) one.component = component(publication.process, one.callback);
      if (*one.component == own) of_component = one.time_ns;
    }
    return of_component ? of_component : first;
  }
  /// Times that overlap, because two threads' stamps do, count for the first of the two.
  static HopTimes times(std::int64_t caused, std::int64_t arrived, const TracedPublication& publication) {
    const std::int64_t end = std::max(caused, publication.time_ns);
    const std::int64_t here = std::clamp(arrived, caused, end);
    const std::int64_t begun = publication.begun_ns == 0 ? here : std::clamp(publication.begun_ns, here, end);
    return {.transport = here - caused,
            .waiting = begun - here,
            .running = end - begun,
            .caused_ns = caused,
            .cpu = publication.cpu};
  }
  std::string publisher(const TracedPublication& publication) {
    std::string& name = publishers_[{publication.process, publication.callback}];
    if (!name.empty()) return name;
    if (publication.callback != 0) name = words_.callback(publication.process, publication.callback);
    if (name.empty()) name = words_.process(publication.process).name;
    if (name.empty()) name = "?";
    return name;
  }
  /// A number for "detector" of "detector: /camera", the same for all callbacks of a component. 0: of none.
  std::uint32_t component(std::uint32_t process, std::uint64_t callback) {
    if (callback == 0) return 0;
    const auto [it, made] = components_.try_emplace({process, callback}, 0);
    if (!made) return it->second;
    std::string name = words_.callback(process, callback);
    name.erase(std::min(name.find(": "), name.size()));
    if (!name.empty())
      it->second =
          component_numbers_.try_emplace(name, static_cast<std::uint32_t>(component_numbers_.size() + 1)).first->second;
    return it->second;
  }
  const std::string& topic(std::uint64_t stream) {
    const auto [it, made] = topics_.try_emplace(stream);
    if (made) it->second = words_.topic(stream);
    return it->second;
  }

  const TraceWords& words_;
  const StreamOwners owners_;
  std::uint64_t disputed_ = 0;
  std::map<SampleId, TracedPublication> publications_;
  std::map<SampleId, End> ends_;                             ///< of the search under way
  std::map<std::vector<TracedWay::Hop>, std::size_t> ways_;  ///< of the search under way: the index in its chain
  std::map<ArrivedId, std::vector<Arrival>> arrivals_;       ///< by the number of the callback
  std::map<ThreadId, Running> threads_;
  std::map<std::uint64_t, std::string> topics_;
  std::map<std::pair<std::uint32_t, std::uint64_t>, std::string> publishers_;
  std::map<std::pair<std::uint32_t, std::uint64_t>, std::uint32_t> components_;
  std::map<std::string, std::uint32_t> component_numbers_;
};

}  // namespace

std::vector<TracedChain> find_chains(const std::vector<TracedEvent>& events, const TraceWords& words,
                                     const std::vector<ChainTopics>& chains) {
  HopFinder finder(events, words);
  std::vector<TracedChain> found;
  for (const ChainTopics& chain : chains) found.push_back(finder.find(chain.from, chain.to));
  return found;
}

TracedChain find_chain(const std::vector<TracedEvent>& events, const TraceWords& words, const std::string& from,
                       const std::string& to) {
  return std::move(find_chains(events, words, {{.from = from, .to = to}}).front());
}

RanCallbacks::RanCallbacks(const std::vector<TracedEvent>& events, const TraceWords& words) : words_(words) {
  std::map<ThreadId, Ran> running;
  for (const TracedEvent& event : events) {
    const layout::TraceEvent& e = event.what;
    if (!event.after_gap && e.kind != TraceKind::Begin && e.kind != TraceKind::End) continue;
    const ThreadId thread{event.process, event.ring, e.owner};
    const auto begun = running.find(thread);
    if (begun != running.end() && e.kind == TraceKind::End && !event.after_gap) {
      begun->second.ended_ns = e.time_ns;
      ran_.push_back(begun->second);
    }
    // After a gap the end of the callback may be lost, and with it the time for which it ran.
    if (begun != running.end()) running.erase(begun);
    if (e.kind == TraceKind::Begin)
      running[thread] = {.cpu = e.cpu, .thread = thread, .begun_ns = e.time_ns, .callback = e.argument};
  }
  for (const auto& [thread, begun] : running) ran_.push_back(begun);
  std::ranges::sort(ran_, {}, [](const Ran& r) { return std::tie(r.cpu, r.thread, r.begun_ns, r.ended_ns); });
}

std::vector<RanCallback> RanCallbacks::on(std::uint32_t cpu, std::int64_t from, std::int64_t to,
                                          const std::string& but) const {
  // A thread runs one callback after the other: both ends of the part that counts are found by binary search.
  using Part = std::ranges::subrange<std::vector<Ran>::const_iterator>;
  std::vector<Part> parts;
  auto rest = std::ranges::equal_range(ran_, cpu, {}, &Ran::cpu);
  while (!rest.empty()) {
    const auto end = std::ranges::upper_bound(rest, rest.front().thread, {}, &Ran::thread);
    const Part thread(rest.begin(), end);
    const auto first = std::ranges::upper_bound(thread, from, {}, &Ran::ended_ns);
    const auto last = std::ranges::lower_bound(first, end, to, {}, &Ran::begun_ns);
    if (first != last) parts.emplace_back(first, last);
    rest = Part(end, rest.end());
  }
  // The threads with the fewest first, so that one with very many hides no other one.
  std::ranges::sort(parts, {}, [](const Part& part) { return part.size(); });
  std::map<std::pair<std::uint32_t, std::uint64_t>, std::int64_t> sums;
  std::ptrdiff_t left = kMostRan;
  for (const Part& part : parts) {
    for (const Ran& ran : part) {
      if (left-- <= 0) break;
      const std::int64_t ns = std::min(ran.ended_ns, to) - std::max(ran.begun_ns, from);
      if (ns > 0) sums[{std::get<0>(ran.thread), ran.callback}] += ns;
    }
    if (left <= 0) break;
  }
  std::map<std::string, std::int64_t> times;
  for (const auto& [callback, ns] : sums) times[words_.callback(callback.first, callback.second)] += ns;
  times.erase(but);
  std::vector<RanCallback> all;
  for (const auto& [name, ns] : times) all.push_back({.name = name, .ns = ns});
  std::sort(all.begin(), all.end(), [](const RanCallback& a, const RanCallback& b) { return a.ns > b.ns; });
  return all;
}

std::vector<RanCallback> RanCallbacks::meanwhile(const HopTimes& hop, const std::string& by) const {
  if (hop.cpu == 0) return {};
  const std::int64_t arrived = hop.caused_ns + hop.transport, begun = arrived + hop.waiting;
  return hop.waiting >= hop.running ? on(hop.cpu, arrived, begun, {}) : on(hop.cpu, begun, begun + hop.running, by);
}

std::int64_t percentile_of(std::vector<std::int64_t> values, double percent) {
  if (values.empty()) return 0;
  const auto at =
      values.begin() + std::lround(std::clamp(percent, 0.0, 100.0) / 100 * static_cast<double>(values.size() - 1));
  std::nth_element(values.begin(), at, values.end());
  return *at;
}

}  // namespace cardan::trace
