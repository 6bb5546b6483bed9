// SPDX-License-Identifier: Apache-2.0
#include "apps/trace/hops.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

namespace cardan::apps {
namespace {

using detail::TracedEvent;
using layout::TraceKind;

constexpr std::size_t kMostHops = 64;

using SampleId = std::pair<std::uint64_t, std::uint64_t>;  ///< stream and sequence
using ThreadId = std::tuple<std::uint32_t, std::uint32_t, std::uint8_t>;
/// Process, stream, sequence, and name of the callback in whose queue it arrived; 0: taken.
using ArrivalId = std::tuple<std::uint32_t, std::uint64_t, std::uint64_t, std::uint64_t>;

struct TracedPublication {
  std::int64_t time_ns = 0;
  std::uint32_t process = 0;
  SampleId cause{};            ///< stream 0: it rests on nothing
  std::int64_t begun_ns = 0;   ///< of the callback that published; 0: outside of callbacks
  std::uint64_t callback = 0;  ///< its name
  bool whole = true;           ///< false: of a callback whose begin was not traced
};

class HopFinder {
 public:
  HopFinder(const std::vector<TracedEvent>& events, const TraceWords& words) : words_(words) {
    for (const TracedEvent& event : events) note(event);
  }

  TracedChain find(const std::string& from, const std::string& to) {
    TracedChain chain;
    for (const auto& [sample, publication] : publications_) {
      if (topic(sample.first) != to) continue;
      TracedWay way;
      TracedFrame frame{.sequence = sample.second, .time_ns = publication.time_ns};
      switch (walk(sample, publication, from, way, frame)) {
        case End::Reached:
          add(chain, std::move(way), std::move(frame));
          break;
        case End::RestsOnNothing:
          ++chain.from_others;
          break;
        case End::NotTraced:
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
  enum class End : std::uint8_t { Reached, RestsOnNothing, NotTraced };
  struct Running {
    std::int64_t begun_ns = 0;
    std::uint64_t callback = 0;
    TracedPublication* last = nullptr;  ///< of this thread
    std::uint64_t last_sequence = 0;
    std::vector<TracedPublication*> outside{};  ///< of callbacks, unless one ends that did not begin
  };

  void note(const TracedEvent& event) {
    const layout::TraceEvent& e = event.what;
    Running& here = threads_[{event.process, event.ring, e.owner}];
    if (event.after_gap) here = {};
    switch (e.kind) {
      case TraceKind::Begin:
        here = {.begun_ns = e.time_ns, .callback = e.argument};
        return;
      case TraceKind::End:
        for (TracedPublication* const publication : here.outside) publication->whole = false;
        here = {};
        return;
      case TraceKind::Publish: {
        const auto [it, made] = publications_.try_emplace({e.stream, e.sequence});
        if (made)
          it->second = {
              .time_ns = e.time_ns, .process = event.process, .begun_ns = here.begun_ns, .callback = here.callback};
        if (here.begun_ns == 0) here.outside.push_back(&it->second);
        here.last = &it->second;
        here.last_sequence = e.sequence;
        return;
      }
      case TraceKind::Rests:
        if (here.last != nullptr && here.last_sequence == e.argument) here.last->cause = {e.stream, e.sequence};
        return;
      case TraceKind::Queue:
        arrivals_.try_emplace({event.process, e.stream, e.sequence, e.argument}, e.time_ns);
        return;
      case TraceKind::Take:
        arrivals_.try_emplace({event.process, e.stream, e.sequence, 0}, e.time_ns);
        return;
      case TraceKind::Woken:
      case TraceKind::Drop:
      case TraceKind::Loss:
        return;
    }
  }

  /// From the last topic back to the first one.
  End walk(SampleId sample, TracedPublication publication, const std::string& from, TracedWay& way,
           TracedFrame& frame) {
    for (std::size_t hops = 0; hops < kMostHops; ++hops) {
      if (topic(sample.first) == from) {
        frame.first_sequence = sample.second;
        frame.first_ns = publication.time_ns;
        std::reverse(way.hops.begin(), way.hops.end());
        std::reverse(frame.hops.begin(), frame.hops.end());
        return End::Reached;
      }
      if (publication.cause.first == 0) return End::RestsOnNothing;
      if (!publication.whole) return End::NotTraced;
      const auto before = publications_.find(publication.cause);
      if (before == publications_.end()) return End::NotTraced;
      const auto arrived = arrival(publication);
      if (!arrived) return End::NotTraced;
      frame.hops.push_back(times(before->second.time_ns, *arrived, publication));
      frame.hops.back().sequence = sample.second;
      way.hops.push_back({.by = publisher(publication), .to = topic(sample.first)});
      sample = before->first;
      publication = before->second;
    }
    return End::NotTraced;
  }
  /// The time when its cause arrived: in the queue of the callback that published, else in one of its component, which
  /// read it with latest.get(), else the first one. A process can have several queues of a topic.
  std::optional<std::int64_t> arrival(const TracedPublication& publication) {
    const auto [stream, sequence] = publication.cause;
    std::optional<std::int64_t> first, of_component;
    for (auto it = arrivals_.lower_bound({publication.process, stream, sequence, 0}); it != arrivals_.end(); ++it) {
      const auto& [process, of_stream, of_sequence, callback] = it->first;
      if (process != publication.process || of_stream != stream || of_sequence != sequence) break;
      if (callback == publication.callback) return it->second;
      if (!first || it->second < *first) first = it->second;
      if (is_of_component(process, callback, publication.callback)) of_component = it->second;
    }
    return of_component ? of_component : first;
  }
  /// Times that overlap, because two threads' stamps do, count for the first of the two.
  static HopTimes times(std::int64_t caused, std::int64_t arrived, const TracedPublication& publication) {
    const std::int64_t end = std::max(caused, publication.time_ns);
    const std::int64_t here = std::clamp(arrived, caused, end);
    const std::int64_t begun = publication.begun_ns == 0 ? here : std::clamp(publication.begun_ns, here, end);
    return {.transport = here - caused, .waiting = begun - here, .running = end - begun};
  }
  static void add(TracedChain& chain, TracedWay way, TracedFrame frame) {
    auto known = std::find_if(chain.ways.begin(), chain.ways.end(),
                              [&](const TracedWay& other) { return other.hops == way.hops; });
    if (known == chain.ways.end()) known = chain.ways.insert(known, std::move(way));
    known->frames.push_back(std::move(frame));
  }
  std::string publisher(const TracedPublication& publication) {
    std::string& name = publishers_[{publication.process, publication.callback}];
    if (!name.empty()) return name;
    if (publication.callback != 0) name = words_.callback(publication.process, publication.callback);
    if (name.empty()) name = words_.process(publication.process).name;
    if (name.empty()) name = "?";
    return name;
  }
  /// Whether two callbacks are of the same component.
  bool is_of_component(std::uint32_t process, std::uint64_t a, std::uint64_t b) {
    return a != 0 && b != 0 && !component(process, a).empty() && component(process, a) == component(process, b);
  }
  /// "detector" of "detector: /camera".
  const std::string& component(std::uint32_t process, std::uint64_t callback) {
    const auto [it, made] = components_.try_emplace({process, callback});
    if (made) {
      it->second = words_.callback(process, callback);
      it->second.erase(std::min(it->second.find(": "), it->second.size()));
    }
    return it->second;
  }
  const std::string& topic(std::uint64_t stream) {
    const auto [it, made] = topics_.try_emplace(stream);
    if (made) it->second = words_.topic(stream);
    return it->second;
  }

  const TraceWords& words_;
  std::map<SampleId, TracedPublication> publications_;
  std::map<ArrivalId, std::int64_t> arrivals_;
  std::map<ThreadId, Running> threads_;
  std::map<std::uint64_t, std::string> topics_;
  std::map<std::pair<std::uint32_t, std::uint64_t>, std::string> publishers_, components_;
};

}  // namespace

TracedChain find_chain(const std::vector<TracedEvent>& events, const TraceWords& words, const std::string& from,
                       const std::string& to) {
  return HopFinder(events, words).find(from, to);
}

std::int64_t percentile_of(std::vector<std::int64_t> values, double percent) {
  if (values.empty()) return 0;
  const auto at =
      values.begin() + std::lround(std::clamp(percent, 0.0, 100.0) / 100 * static_cast<double>(values.size() - 1));
  std::nth_element(values.begin(), at, values.end());
  return *at;
}

}  // namespace cardan::apps
