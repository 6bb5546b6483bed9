// SPDX-License-Identifier: Apache-2.0
#include "apps/trace/chrome_trace.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "src/base/text_of_json.hpp"
#include "src/trace/stream_owners.hpp"

namespace cardan::apps {
namespace {

using detail::TracedEvent;
using layout::TraceKind;

constexpr std::size_t kChromePiece = 256 * 1024;    ///< bytes
constexpr int kWithoutPid = 1'000'000'000;          ///< numbers of processes without a pid of their own begin here
constexpr std::int64_t kWithoutId = 1'000'000'000;  ///< numbers of threads whose own is not known begin here

/// With quotation marks.
std::string in_quotes(const std::string& text) { return text_of_json(nlohmann::json(text)); }

struct SampleKey {
  std::uint64_t stream = 0, sequence = 0;
  bool operator==(const SampleKey&) const = default;
};
struct SampleHash {
  std::size_t operator()(const SampleKey& key) const noexcept {
    return static_cast<std::size_t>((key.stream ^ key.sequence * 0x9e3779b97f4a7c15U) * 0xff51afd7ed558ccdU);
  }
};
SampleKey sample_of(const TracedEvent& event) { return {event.what.stream, event.what.sequence}; }

/// The track of a thread.
struct Track {
  int pid;
  std::int64_t tid;
  std::uint32_t open = 0;  ///< callbacks that have begun
  SampleKey trigger{};     ///< of the last one
};

class ChromeWriter {
 public:
  ChromeWriter(const std::vector<TracedEvent>& events, const TraceWords& words,
               const std::function<void(std::string_view)>& write)
      : events_(events), words_(words), write_(write), owners_(events, words) {}

  ChromeTrace run() {
    if (!events_.empty()) begin_ns_ = earliest();
    for (std::size_t i = 0; i < events_.size(); ++i) note(events_[i], i);
    text_ = R"({"displayTimeUnit":"ns","traceEvents":[)";
    for (const TracedEvent& event : events_) put(event);
    text_ += "\n]}\n";
    write_(text_);
    return done_;
  }

 private:
  [[nodiscard]] std::int64_t earliest() const {
    std::int64_t first = events_.front().what.time_ns;
    for (const TracedEvent& event : events_)
      if (event.what.kind == TraceKind::Woken) first = std::min(first, began_sleep(event));
    return first;
  }
  static std::int64_t began_sleep(const TracedEvent& event) { return static_cast<std::int64_t>(event.what.argument); }

  void note(const TracedEvent& event, std::size_t i) {
    if (event.what.kind == TraceKind::Publish && owners_.is_owners(event)) publications_.emplace(sample_of(event), i);
    if (event.what.kind == TraceKind::Queue) queued_.insert({event.process, event.what.stream, event.what.sequence});
  }

  Track& track(const TracedEvent& event) {
    const auto key = std::tuple(event.process, event.ring, event.what.owner);
    if (const auto known = tracks_.find(key); known != tracks_.end()) return known->second;
    const TraceWords::Process process = words_.process(event.process);
    TraceWords::Thread thread = words_.thread(event);
    if (thread.id == 0) thread.id = kWithoutId + event.ring * std::int64_t{256} + event.what.owner;
    const auto [pid, made] = pids_.try_emplace(event.process, process.pid);
    if (made) {
      // A process of another pid namespace has none here, and a pid may be used again.
      if (process.pid == 0 || !taken_pids_.insert(process.pid).second)
        pid->second = kWithoutPid + static_cast<int>(event.process);
      line(R"({{"ph":"M","name":"process_name","pid":{},"args":{{"name":{}}}}})", pid->second, in_quotes(process.name));
    }
    if (!thread.name.empty())
      line(R"({{"ph":"M","name":"thread_name","pid":{},"tid":{},"args":{{"name":{}}}}})", pid->second, thread.id,
           in_quotes(thread.name));
    return tracks_.emplace(key, Track{pid->second, thread.id}).first->second;
  }
  const std::string& topic(std::uint64_t stream) {
    const auto [it, made] = topics_.try_emplace(stream);
    if (made) {
      it->second = words_.topic(stream);
      if (it->second.empty()) it->second = fmt::format("stream {:016x}", stream);
    }
    return it->second;
  }
  const std::string& callback(const TracedEvent& event) {
    const auto [it, made] = callbacks_.try_emplace({event.process, event.what.argument});
    if (made) {
      it->second = words_.callback(event.process, event.what.argument);
      if (it->second.empty()) it->second = fmt::format("callback {}", event.what.argument);
    }
    return it->second;
  }

  template <class... Args>
  void line(fmt::format_string<Args...> format, Args&&... args) {
    if (!std::exchange(first_, false)) text_ += ',';
    text_ += '\n';
    fmt::format_to(std::back_inserter(text_), format, std::forward<Args>(args)...);
    if (text_.size() < kChromePiece) return;
    write_(text_);
    text_.clear();
  }
  /// Microseconds since the first event.
  [[nodiscard]] std::string at(std::int64_t ns) const {
    const std::int64_t since = std::max<std::int64_t>(0, ns - begin_ns_);
    return fmt::format("{}.{:03}", since / 1000, since % 1000);
  }

  /// A point, as a slice of a nanosecond: arrows begin and end at slices only.
  void point(const TracedEvent& event, const char* word, const std::string& more = {}) {
    const Track& on = track(event);
    line(R"({{"ph":"X","name":{},"cat":"cardan","pid":{},"tid":{},"ts":{},"dur":0.001,"args":{{"sequence":{}{}}}}})",
         in_quotes(fmt::format("{} {}", word, topic(event.what.stream))), on.pid, on.tid, at(event.what.time_ns),
         event.what.sequence, more);
  }
  /// An arrow from its publication to this event.
  void arrow(const TracedEvent& event) {
    if (event.what.stream == 0) return;
    const auto found = publications_.find(sample_of(event));
    if (found == publications_.end() || events_[found->second].what.time_ns > event.what.time_ns) {
      ++done_.without_publication;
      return;
    }
    const TracedEvent& publication = events_[found->second];
    const Track from = track(publication);
    const Track to = track(event);
    const std::string name = in_quotes(topic(event.what.stream));
    ++done_.arrows;
    line(R"({{"ph":"s","id":{},"name":{},"cat":"flow","pid":{},"tid":{},"ts":{}}})", done_.arrows, name, from.pid,
         from.tid, at(publication.what.time_ns));
    line(R"({{"ph":"f","bp":"e","id":{},"name":{},"cat":"flow","pid":{},"tid":{},"ts":{}}})", done_.arrows, name,
         to.pid, to.tid, at(event.what.time_ns));
  }

  /// Their ends are not known.
  void end_callbacks(const TracedEvent& event) {
    Track& on = track(event);
    for (on.trigger = {}; on.open != 0; --on.open)
      line(R"({{"ph":"E","pid":{},"tid":{},"ts":{}}})", on.pid, on.tid, at(event.what.time_ns));
  }

  void put(const TracedEvent& event) {
    const layout::TraceEvent& e = event.what;
    ++done_.events;
    if (event.after_gap) end_callbacks(event);
    switch (e.kind) {
      case TraceKind::Publish:
        return point(event, "publish", fmt::format(R"(,"bytes":{})", e.argument));
      case TraceKind::Take:
        point(event, "take");
        // Of a component's input, the arrow leads to the callback.
        if (!queued_.contains({event.process, e.stream, e.sequence})) arrow(event);
        return;
      case TraceKind::Queue:
        return point(event, "queue", fmt::format(R"(,"callback":{})", in_quotes(callback(event))));
      case TraceKind::Drop:
        return point(event, "drop",
                     e.argument == 0 ? std::string() : fmt::format(R"(,"callback":{})", in_quotes(callback(event))));
      case TraceKind::Loss:
        return point(event, "loss", fmt::format(R"(,"samples":{})", e.argument));
      case TraceKind::Read:
        return;               // what rests on it follows
      case TraceKind::Rests:  // of a trigger, the arrow to the callback shows it; a read sample has caused no callback
        if (track(event).trigger != sample_of(event)) arrow(event);
        return;
      case TraceKind::Woken: {
        const Track& on = track(event);
        const std::int64_t slept = e.time_ns - began_sleep(event);
        return line(R"({{"ph":"X","name":"sleep","cat":"cardan","pid":{},"tid":{},"ts":{},"dur":{}.{:03}}})", on.pid,
                    on.tid, at(began_sleep(event)), slept / 1000, slept % 1000);
      }
      case TraceKind::Begin: {
        Track& on = track(event);
        ++on.open;
        on.trigger = sample_of(event);
        const std::string args = e.stream == 0 ? std::string()
                                               : fmt::format(R"(,"args":{{"topic":{},"sequence":{}}})",
                                                             in_quotes(topic(e.stream)), e.sequence);
        line(R"({{"ph":"B","name":{},"cat":"callback","pid":{},"tid":{},"ts":{}{}}})", in_quotes(callback(event)),
             on.pid, on.tid, at(e.time_ns), args);
        return arrow(event);
      }
      case TraceKind::End: {
        Track& on = track(event);
        on.trigger = {};
        if (on.open == 0) return;  // it began before the trace
        --on.open;
        return line(R"({{"ph":"E","pid":{},"tid":{},"ts":{}}})", on.pid, on.tid, at(e.time_ns));
      }
    }
  }

  const std::vector<TracedEvent>& events_;
  const TraceWords& words_;
  const std::function<void(std::string_view)>& write_;
  std::int64_t begin_ns_ = 0;
  std::string text_;
  bool first_ = true;
  ChromeTrace done_;
  std::unordered_map<SampleKey, std::size_t, SampleHash> publications_;
  std::set<std::tuple<std::uint32_t, std::uint64_t, std::uint64_t>> queued_;
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint8_t>, Track> tracks_;
  const trace::StreamOwners owners_;
  std::map<std::uint32_t, int> pids_;  ///< by process
  std::set<int> taken_pids_;
  std::map<std::uint64_t, std::string> topics_;
  std::map<std::pair<std::uint32_t, std::uint64_t>, std::string> callbacks_;
};

}  // namespace

ChromeTrace write_chrome_trace(const std::vector<TracedEvent>& events, const TraceWords& words,
                               const std::function<void(std::string_view)>& write) {
  return ChromeWriter(events, words, write).run();
}

}  // namespace cardan::apps
