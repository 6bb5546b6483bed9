// SPDX-License-Identifier: Apache-2.0
// `cardan topic stats`: how topics run. Publishing is seen in the publishers' memory; latency and loss are what
// subscribers counted.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "apps/decode.hpp"
#include "apps/report_json.hpp"
#include "apps/run_place.hpp"
#include "apps/terminal/output.hpp"
#include "apps/terminal/rate_window.hpp"
#include "apps/topic/topic.hpp"
#include "cardan/clock.hpp"
#include "cardan/observer.hpp"
#include "cardan/stop.hpp"

namespace cardan::apps {
namespace {

using namespace std::chrono_literals;
using nlohmann::ordered_json;

using StreamKey = std::pair<std::string, std::uint32_t>;  ///< process and serial

/// A subscriber's counts within one measurement.
struct SubscriberFigures {
  SubscriberReport now;
  std::uint64_t received = 0, missed = 0, bad = 0;
  LatencyHistogram latency, age;
};

struct StatsRow {
  PublisherReport publisher;
  RateWindow::Figures rhythm;
  double bytes_per_s = 0;
  LatencyHistogram latency, age;  ///< of all subscribers
  std::vector<SubscriberFigures> subscribers;

  [[nodiscard]] std::uint64_t sum(std::uint64_t SubscriberFigures::* count) const {
    std::uint64_t total = 0;
    for (const auto& s : subscribers) total += s.*count;
    return total;
  }
};

class TopicStats {
 public:
  explicit TopicStats(const StatsOptions& o) : o_(o), seconds_(o.seconds > 0 ? o.seconds : o.once ? 2 : 1) {}

  int run() {
    look();
    if (!o_.all && before_.publishers.empty()) return no_such_topic(o_.domain, o_.topic);
    const bool live = !o_.once && !o_.json && stdout_is_terminal();
    if (live) emit("\x1b[2J");
    std::uint64_t lost = 0;
    do {
      const bool whole = sample();
      if (!whole && o_.once) warn("interrupted: the figures cover a shorter time");
      if (!whole && !o_.once) break;
      const std::vector<StatsRow> rows = measure();
      for (const StatsRow& row : rows) lost += row.sum(&SubscriberFigures::missed) + row.sum(&SubscriberFigures::bad);
      if (!(o_.json ? emit(json(rows)) : live ? emit(screen(rows)) : emit(table(rows)))) return kFailed;
      if (!o_.all && rows.empty()) {
        warn(fmt::format("the last publisher of '{}' has ended", o_.topic));
        return o_.once ? kFailed : lost != 0 ? kLoss : kOk;
      }
    } while (!o_.once && !stopping());
    return lost != 0 ? kLoss : kOk;
  }

 private:
  struct Watch {
    std::shared_ptr<const ObservedStream> stream;
    RateWindow rhythm;
    std::uint64_t bytes_before;
  };

  /// Asks the processes, and starts to watch new streams.
  void look() {
    before_ = std::exchange(now_, nothing_runs_yet()
                                      ? DomainReport{}
                                      : look_around({.domain = o_.domain, .timeout = 500ms}, o_.all ? "" : o_.topic));
    if (measured_at_ == 0) {
      before_ = now_;
      if (o_.all) warn_of_closed(now_, o_.domain);
    }
    for (const std::string& problem : now_.problems)
      if (std::find(warned_.begin(), warned_.end(), problem) == warned_.end()) warn(warned_.emplace_back(problem));
    std::map<std::string, std::vector<StreamKey>> topics;
    for (const PublisherReport& p : now_.publishers) topics[p.topic].emplace_back(p.process, p.serial);
    std::erase_if(observers_, [&](const auto& x) { return !topics.contains(x.first); });
    std::erase_if(watches_, [&](const auto& x) {
      return std::none_of(now_.publishers.begin(), now_.publishers.end(),
                          [&](const auto& p) { return key(p) == x.first; });
    });
    for (const auto& [topic, keys] : topics) {
      if (std::all_of(keys.begin(), keys.end(), [&](const auto& k) { return watches_.contains(k); })) continue;
      auto& observer = observers_[topic];
      if (!observer)
        observer = std::make_unique<Observer>(topic, ObserverOptions{.domain = o_.domain, .timeout = 500ms});
      else
        observer->refresh();
      for (const auto& stream : observer->streams())
        watches_.try_emplace(
            {stream->process(), stream->serial()},
            Watch{stream, RateWindow(static_cast<std::int64_t>(std::max(seconds_, 1.0) * 1e9)), stream->bytes()});
    }
    if (measured_at_ == 0) measured_at_ = steady_now();
  }

  /// Collects stamps for the length of a measurement; false: interrupted.
  bool sample() {
    const std::int64_t until = measured_at_ + static_cast<std::int64_t>(seconds_ * 1e9);
    const auto pause = 1ms + 2us * watches_.size();
    while (steady_now() < until) {
      collect();
      if (!sleep_for(pause)) return false;
    }
    return true;
  }
  void collect() {
    std::vector<ObservedStream::Stamp> stamps;
    for (auto& [k, w] : watches_) {
      if (w.stream->published() == w.rhythm.last_sequence()) continue;
      w.stream->stamps(stamps);
      w.rhythm.add(stamps);
    }
  }

  std::vector<StatsRow> measure() {
    look();  // takes a second if a process does not answer
    collect();
    const std::int64_t now = steady_now();
    const double seconds = static_cast<double>(now - measured_at_) / 1e9;
    measured_at_ = now;
    std::vector<StatsRow> rows;
    std::vector<StatsRow> own;  // come last: where a terminal has no room for all, Cardan's own topics go first
    for (const PublisherReport& p : now_.publishers) {
      StatsRow row;
      row.publisher = p;
      if (const auto it = watches_.find(key(p)); it != watches_.end()) {
        row.rhythm = it->second.rhythm.figures(now);
        const std::uint64_t bytes = it->second.stream->bytes();
        row.bytes_per_s = static_cast<double>(bytes - std::min(bytes, it->second.bytes_before)) / seconds;
        it->second.bytes_before = bytes;
      }
      const auto old = std::find_if(before_.publishers.begin(), before_.publishers.end(),
                                    [&](const auto& b) { return key(b) == key(p); });
      row.latency = old != before_.publishers.end() ? less(p.latency, old->latency) : p.latency;
      row.age = old != before_.publishers.end() ? less(p.age, old->age) : p.age;
      std::vector<SubscriberReport> earlier =
          old != before_.publishers.end() ? old->subscribers : std::vector<SubscriberReport>{};
      for (const SubscriberReport& s : p.subscribers) {
        SubscriberFigures f{
            .now = s, .received = s.received, .missed = s.missed, .bad = s.bad, .latency = s.latency, .age = s.age};
        const auto same = std::find_if(earlier.begin(), earlier.end(), [&](const auto& e) {
          return e.pid == s.pid && e.name == s.name && e.received <= s.received;
        });
        if (same != earlier.end()) {
          f.received -= same->received;
          f.missed -= std::min(f.missed, same->missed);
          f.bad -= std::min(f.bad, same->bad);
          f.latency = less(s.latency, same->latency);
          f.age = less(s.age, same->age);
          earlier.erase(same);  // a program may subscribe twice
        }
        row.subscribers.push_back(std::move(f));
      }
      (row.publisher.topic.starts_with("/cardan/") ? own : rows).push_back(std::move(row));
    }
    std::move(own.begin(), own.end(), std::back_inserter(rows));
    return rows;
  }

  static StreamKey key(const PublisherReport& p) { return {p.process, p.serial}; }

  std::string json(const std::vector<StatsRow>& rows) const {
    ordered_json list = ordered_json::array();
    const auto ms = [](double ns) { return ns < 0 ? ordered_json(nullptr) : ordered_json(ns / 1e6); };
    for (const StatsRow& r : rows) {
      ordered_json subscribers = ordered_json::array();
      for (const SubscriberFigures& s : r.subscribers)
        subscribers.push_back({{"program", s.now.name},
                               {"pid", s.now.pid},
                               {"received", s.received},
                               {"missed", s.missed},
                               {"bad", s.bad},
                               {"latency_us", latency_json(s.latency)},
                               {"age_us", age_json(s.now, s.age)},
                               {"received_total", s.now.received},
                               {"missed_total", s.now.missed},
                               {"bad_total", s.now.bad}});
      list.push_back({{"topic", r.publisher.topic},
                      {"type", r.publisher.type},
                      {"program", r.publisher.program},
                      {"pid", r.publisher.pid},
                      {"rate_hz", r.rhythm.rate_hz},
                      {"jitter_ms", ms(r.rhythm.jitter_ns)},
                      {"longest_gap_ms", ms(static_cast<double>(r.rhythm.longest_gap_ns))},
                      {"longest_gap_ever_ms", ms(static_cast<double>(r.publisher.longest_gap_ns))},
                      {"bytes_per_s", r.bytes_per_s},
                      {"published", r.publisher.published},
                      {"received", r.sum(&SubscriberFigures::received)},
                      {"missed", r.sum(&SubscriberFigures::missed)},
                      {"bad", r.sum(&SubscriberFigures::bad)},
                      {"latency_us", latency_json(r.latency)},
                      {"age_us", latency_json(r.age)},
                      {"subscribers", subscribers}});
    }
    return one_line({{"time_ns", wall_now()}, {"seconds", seconds_}, {"topics", list}}) + "\n";
  }

  /// As much as has `room`, where it is given.
  std::string table(const std::vector<StatsRow>& rows, const std::optional<Room>& room = {}) const {
    Table t({{"TOPIC"},
             {"FROM → TO"},
             {"RATE Hz", true},
             {"JITTER", true},
             {"GAP", true},
             {"BYTES/s", true},
             {"p50", true},
             {"p95", true},
             {"p99", true},
             {"AGE p99", true},
             {"RECEIVED", true},
             {"LOST", true}});
    t.trouble({"LOST"});
    t.keep({"TOPIC", "RATE Hz", "p99", "AGE p99", "FROM → TO", "RECEIVED", "BYTES/s", "p50", "GAP", "JITTER"});
    t.carry_down(1);
    const auto add = [&t](std::string first, std::string who, std::vector<std::string> middle,
                          const LatencyHistogram& latency, const LatencyHistogram& age, std::uint64_t received,
                          std::uint64_t lost) {
      std::vector<std::string> cells{std::move(first), std::move(who)};
      cells.insert(cells.end(), middle.begin(), middle.end());
      for (const double percent : {50.0, 95.0, 99.0})
        cells.push_back(time_text(static_cast<double>(latency_percentile(latency, percent))));
      cells.push_back(time_text(static_cast<double>(latency_percentile(age, 99))));
      cells.push_back(std::to_string(received));
      cells.push_back(lost == 0
                          ? "0"
                          : fmt::format("{} ({:.1f} %)", lost,
                                        100.0 * static_cast<double>(lost) / static_cast<double>(received + lost)));
      t.row(std::move(cells));
    };
    for (const StatsRow& r : rows) {
      add(printable(r.publisher.topic), fmt::format("{} ({})", printable(r.publisher.program), r.publisher.pid),
          {count_text(r.rhythm.rate_hz), time_text(r.rhythm.jitter_ns),
           time_text(static_cast<double>(r.rhythm.longest_gap_ns)), bytes_text(r.bytes_per_s)},
          r.latency, r.age, r.sum(&SubscriberFigures::received),
          r.sum(&SubscriberFigures::missed) + r.sum(&SubscriberFigures::bad));
      // Every process reads Cardan's own topics, so with --all their sum is enough.
      if (o_.all && (r.subscribers.size() < 2 || r.publisher.topic.starts_with("/cardan/"))) continue;
      for (const SubscriberFigures& s : r.subscribers)
        add("", fmt::format("→ {} ({})", printable(s.now.name), s.now.pid), {"", "", "", ""}, s.latency, s.age,
            s.received, s.missed + s.bad);
    }
    if (rows.empty()) return now_.closed.empty() ? "no topics\n" : "no topics that are open to this user\n";
    return room ? text_of(t.lines(*room)) : t.text();
  }

  std::string screen(const std::vector<StatsRow>& rows) const {
    std::set<std::string> topics;
    for (const StatsRow& row : rows) topics.insert(row.publisher.topic);
    return full_screen(fmt::format("cardan topic stats, {}, {}, last {:g} s — Ctrl-C ends",
                                   number_of(topics.size(), "topic"), number_of(rows.size(), "publisher"), seconds_),
                       [&](Room room) { return table(rows, room); });
  }

  const StatsOptions& o_;
  double seconds_;
  std::int64_t measured_at_ = 0;
  DomainReport before_, now_;
  std::map<std::string, std::unique_ptr<Observer>> observers_;
  std::map<StreamKey, Watch> watches_;
  std::vector<std::string> warned_;
};

}  // namespace

int topic_stats(const StatsOptions& o) {
  stop_on_signals();
  return TopicStats(o).run();
}

}  // namespace cardan::apps
