// SPDX-License-Identifier: Apache-2.0
// `cardan trace`: the work of all threads of a running system, as a file for a viewer of traces.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "apps/command.hpp"
#include "apps/component/components.hpp"
#include "apps/terminal/output.hpp"
#include "apps/trace/chrome_trace.hpp"
#include "apps/trace/hop_table.hpp"
#include "apps/verb.hpp"
#include "cardan/clock.hpp"
#include "cardan/error.hpp"
#include "cardan/stop.hpp"
#include "src/base/output_file.hpp"
#include "src/config/suggest.hpp"
#include "src/trace/hops.hpp"
#include "src/transport/trace_observer.hpp"

namespace cardan::apps {
namespace {

constexpr const char* kTraceExamples = R"(Examples:
  cardan trace --seconds 5 -o street.json             five seconds of the running system
  cardan trace -o street.json                         until Ctrl-C
  cardan trace --seconds 5 --chain brake              where the time of each frame went, hop by hop
  cardan trace --seconds 5 --from /camera/front --to /command --json
  cardan trace --on                                   in one terminal: only keep tracing on
  cardan trace --last 10 -o street.json               in another one: the ten seconds before this moment

Open the file at https://ui.perfetto.dev or in chrome://tracing. Each thread has a track with its sleeps and its
callbacks; arrows lead from a publication to the callbacks that it caused, or to a publication that rests on it.
A hop of --chain, or of --from and --to, leads from a publication to the next one that rests on it. If several ways lead
back to the first topic, the oldest publication there counts, and of one publication the way that arrived last.
A thread's ring keeps its last 8,191 events. --last writes those, so tracing must have been on before.
Processes of other users are left out: only they and root may trace them.
Exit codes: 0 written, 1 nothing was traced, no frame went the whole way, or no such chain, 2 wrong options, 3 written,
but events are missing.)";

constexpr auto kBetweenDrains = std::chrono::milliseconds{5};
constexpr auto kBetweenStops = std::chrono::milliseconds{50};
constexpr std::int64_t kBetweenLooks = 1'000'000'000;  ///< for new processes, threads and names; ns
constexpr double kMostSeconds = 1e9;
constexpr std::size_t kMostProblems = 1'000;
constexpr std::size_t kMostTraceEvents = 8U << 20;  ///< in memory: half a gigabyte

struct TraceOptions {
  std::string domain, file, chain, from, to;
  double seconds = 0, last = 0;
  bool json = false, frames = false, on = false;
};

void write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t n = ::write(fd, text.data(), text.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0)
      throw Error(ErrorCode::System, fmt::format("cannot write the trace: {}", std::strerror(errno)),
                  "write to another disk, or trace fewer seconds");
    text.remove_prefix(static_cast<std::size_t>(n));
  }
}

/// Traces until the time is over, Ctrl-C, or the memory for events is full, which sets `ended_early`.
std::vector<detail::TracedEvent> gather(detail::TraceObserver& observer, double seconds, bool& ended_early) {
  std::vector<detail::TracedEvent> events;
  const std::int64_t begin = steady_now();
  const std::int64_t until = seconds > 0 ? begin + static_cast<std::int64_t>(seconds * 1e9) : 0;
  detail::TraceRoom room{.all = kMostTraceEvents, .of_others = kMostTraceEvents / 4};
  std::int64_t drained = begin;
  for (std::int64_t now = begin, looked = begin; !stopping() && (until == 0 || now < until); now = steady_now()) {
    std::this_thread::sleep_for(kBetweenDrains);
    observer.drain(events, room);
    if (room.all == 0) break;
    if (now - looked < kBetweenLooks) continue;
    observer.refresh([&] {
      if (steady_now() - drained < std::chrono::nanoseconds(kBetweenDrains).count()) return;
      observer.drain(events, room);
      drained = steady_now();
    });
    looked = now;
  }
  observer.drain(events, room);
  ended_early = room.all == 0;
  if (ended_early)
    warn(fmt::format("the trace ends after {:.1f} s: {} events are all that it keeps in memory",
                     static_cast<double>(steady_now() - begin) / 1e9, events.size()));
  observer.refresh();  // names of what came last
  if (room.of_others == 0) warn("other users' processes wrote more events than a trace keeps of them");
  return events;
}

/// The events of the last seconds that the rings still have.
std::vector<detail::TracedEvent> gather_last(detail::TraceObserver& observer, double seconds) {
  const std::int64_t now = steady_now(), from = now - static_cast<std::int64_t>(seconds * 1e9);
  std::vector<detail::TracedEvent> events;
  detail::TraceRoom room{.all = kMostTraceEvents, .of_others = kMostTraceEvents / 4};
  observer.drain(events, room);
  observer.refresh();
  std::map<std::uint32_t, std::int64_t> shortest;  // of processes whose rings were full: begin of their shortest
  for (std::size_t i = 0, begin = 0; i < events.size(); ++i) {
    const detail::TracedEvent& e = events[i];
    if (e.process != events[begin].process || e.ring != events[begin].ring) begin = i;
    if (i - begin + 2 != layout::kTraceRingEvents) continue;
    std::int64_t& since = shortest[e.process];
    since = std::max(since, events[begin].what.time_ns);
  }
  for (const auto& [process, since] : shortest)
    if (since > from)
      warn(fmt::format("{} (pid {}): a thread wrote so much that its ring has its last {:.1f} s only",
                       observer.processes()[process].name, observer.processes()[process].pid,
                       static_cast<double>(now - since) / 1e9));
  std::erase_if(events, [from, now](const detail::TracedEvent& event) {
    return event.what.time_ns < from || event.what.time_ns > now;
  });
  return events;
}

/// Reports what could not be traced at all, once.
void show_problems(const detail::TraceObserver& observer, std::set<std::string>& shown) {
  for (const std::string& problem : observer.problems())
    if (shown.insert(problem).second) warn(problem);
  if (shown.size() > kMostProblems) shown.clear();
}

void show_others(const detail::TraceObserver& observer) {
  if (observer.of_others() != 0)
    warn(fmt::format("{} processes of other users are left out: only they and root may trace them",
                     observer.of_others()));
}

/// Keeps tracing on until Ctrl-C, for --last.
int keep_on(const TraceOptions& o) {
  stop_on_signals();
  detail::TraceObserver observer({.domain = o.domain});
  std::set<std::string> shown;
  show_problems(observer, shown);
  show_others(observer);
  warn(fmt::format("tracing is on in {}, and in processes that come; Ctrl-C ends it",
                   number_of(observer.processes().size(), "process", "es")));
  for (std::int64_t looked = steady_now(); !stopping(); std::this_thread::sleep_for(kBetweenStops)) {
    if (steady_now() - looked < kBetweenLooks) continue;
    observer.refresh();
    observer.forget_ended();
    show_problems(observer, shown);
    looked = steady_now();
  }
  return kOk;
}

/// Reports the gaps of the file. Returns whether events are missing that a trace has otherwise. Rings that were full
/// when it began have lost older ones; this is not a gap.
bool show_gaps(const detail::TraceObserver& observer, const ChromeTrace& written, bool with_past) {
  bool gaps = false;
  std::set<std::string> shown;
  show_problems(observer, shown);
  show_others(observer);
  for (const detail::TracedProcess& p : observer.processes()) {
    if (p.silent)
      warn(
          fmt::format("{} (pid {}) does not answer: its newest names are missing — it hangs, or its computer is very "
                      "busy",
                      p.name, p.pid));
    gaps = gaps || (p.overwritten != 0 && !with_past) || p.without_ring != 0 || p.malformed != 0;
    if (p.overwritten != 0 && !with_past)
      warn(fmt::format("{} (pid {}): {} events were overwritten before they could be read", p.name, p.pid,
                       p.overwritten));
    if (p.without_ring != 0)
      warn(fmt::format("{} (pid {}): {} events of threads for which no ring was left", p.name, p.pid, p.without_ring));
    if (p.malformed != 0) warn(fmt::format("{} (pid {}): {} events are not valid", p.name, p.pid, p.malformed));
  }
  if (written.without_publication != 0)
    warn(fmt::format("no arrow leads to {} of these events, because the publication was not traced",
                     written.without_publication));
  return gaps;
}

/// The topics of a chain of the running system. False: there is no such chain, which is reported.
bool find_topics(TraceOptions& o) {
  std::vector<std::string> known;
  for (const host::ComponentReport& component : components_there(o.domain).components)
    for (const host::ChainReport& chain : component.chains) {
      if (chain.chain == o.chain) {
        o.from = chain.from;
        o.to = chain.to;
        return true;
      }
      known.push_back(chain.chain);
    }
  warn(fmt::format("no chain of the running system is called '{}' — {}", o.chain,
                   config::suggestion(o.chain, known, "its configuration has no chains")));
  return false;
}

/// Prints where the time of each frame went. False: no frame went the whole way, which is reported.
bool show_hops(const std::vector<detail::TracedEvent>& events, const detail::TraceObserver& observer,
               const TraceOptions& o) {
  const trace::TraceWords words = trace::words_of(observer);
  const trace::TracedChain chain = trace::find_chain(events, words, o.from, o.to);
  const trace::RanCallbacks ran(events, words);
  const Meanwhile meanwhile = [&ran](const trace::HopTimes& hop, const std::string& by) {
    return ran.meanwhile(hop, by);
  };
  emit(o.json ? hops_json(chain, o.from, o.to, meanwhile, o.frames) : hop_tables(chain, o.from, o.to, meanwhile));
  if (!chain.ways.empty()) return true;
  std::set<std::string> published;
  for (const detail::TracedEvent& event : events)
    if (event.what.kind == layout::TraceKind::Publish) published.insert(words.topic(event.what.stream));
  for (const std::string& topic : {o.from, o.to})
    if (!published.contains(topic)) {
      const std::vector<std::string> known = observer.topics();
      const bool is_known = std::find(known.begin(), known.end(), topic) != known.end();
      warn(fmt::format("no publication on {} was traced{}{}", topic, is_known ? "" : " — ",
                       is_known ? "" : config::suggestion(topic, known, "cardan topic list shows the topics")));
      return false;
    }
  warn(fmt::format("no publication on {} rests on one on {} in this trace", o.to, o.from));
  return false;
}

int trace(const TraceOptions& asked) {
  TraceOptions o = asked;
  if (o.on) return keep_on(o);
  const bool hops = !o.chain.empty() || !o.from.empty();
  if (o.file.empty() && !hops) throw CLI::RequiredError("-o FILE, --chain NAME, --from TOPIC and --to TOPIC, or --on");
  if (o.json && !hops) throw CLI::RequiredError("--chain NAME, or --from TOPIC and --to TOPIC, for --json");
  if (!o.chain.empty() && !find_topics(o)) return kFailed;
  stop_on_signals();
  const bool is_new = !o.file.empty() && ::access(o.file.c_str(), F_OK) != 0;
  Fd file = o.file.empty() ? Fd() : open_output(o.file);  // before the work: it may be one that cannot be written
  detail::TraceObserver observer({.domain = o.domain}, o.last > 0);
  bool ended_early = false;
  std::vector<detail::TracedEvent> events =
      o.last > 0 ? gather_last(observer, o.last) : gather(observer, o.seconds, ended_early);
  std::erase_if(events, [&](const detail::TracedEvent& event) {  // the look for the chain
    return observer.processes()[event.process].pid == ::getpid();
  });
  trace::sort_by_time(events);
  ChromeTrace written;
  std::optional<Error> not_written;  // the table comes nevertheless
  if (is_new && events.empty()) ::unlink(o.file.c_str());
  if (file && !events.empty()) try {
      empty_output(file, o.file);
      written = write_chrome_trace(events, trace::words_of(observer),
                                   [&file](std::string_view text) { write_all(file.get(), text); });
    } catch (const Error& e) {
      not_written = e;
    }
  const int code = show_gaps(observer, written, o.last > 0) || ended_early ? kLoss : kOk;
  if (events.empty() && o.last > 0) {
    warn(
        fmt::format("no event of the last {} s — rings are filled only while tracing is on: leave cardan trace --on "
                    "running, and ask again later",
                    o.last));
    return kFailed;
  }
  if (events.empty()) {
    warn("no event was traced: nothing was published, or no process of this user runs");
    return kFailed;
  }
  if (!o.file.empty() && !not_written) {
    std::set<std::uint32_t> processes;
    for (const detail::TracedEvent& event : events) processes.insert(event.process);
    warn(fmt::format("{}: {} events and {} arrows of {}", o.file, written.events, written.arrows,
                     number_of(processes.size(), "process", "es")));
  }
  const bool found = o.from.empty() || show_hops(events, observer, o);
  if (not_written) throw *not_written;
  return found ? code : kFailed;
}

}  // namespace

static void add_trace_command(CLI::App& app) {
  auto* const command = app.add_subcommand("trace", "Write what all threads do to a file for a viewer of traces");
  command->footer(kTraceExamples);
  auto o = std::make_shared<TraceOptions>();
  auto* const output = command->add_option("-o,--output", o->file, "File in Chrome's JSON trace form");
  auto* const from = command->add_option("--from", o->from, "Print the hops of the frames that begin on this topic");
  auto* const to = command->add_option("--to", o->to, "And reach this one");
  from->needs(to);
  to->needs(from);
  auto* const chain = command->add_option("--chain", o->chain, "The same for a chain of the running system");
  chain->excludes(from)->excludes(to);
  auto* const json = command->add_flag("--json", o->json, "Print the hops as JSON");
  command->add_flag("--frames", o->frames, "With --json: also the times of each frame")->needs(json);
  auto* const seconds = command->add_option("--seconds", o->seconds, "Trace for this long (default: until Ctrl-C)");
  seconds->check(CLI::Range(1e-9, kMostSeconds));
  auto* const last =
      command->add_option("--last", o->last, "End at once, with the events of the last seconds that rings still have");
  last->check(CLI::Range(1e-9, kMostSeconds))->excludes(seconds);
  auto* const on = command->add_flag("--on", o->on, "Only keep tracing on until Ctrl-C, for --last");
  for (auto* const other : {output, from, to, chain, json, seconds, last}) on->excludes(other);
  add_domain_option(command, o->domain);
  look_with(command, trace, o);
}

const Command kTraceCommand{115, add_trace_command};

}  // namespace cardan::apps
