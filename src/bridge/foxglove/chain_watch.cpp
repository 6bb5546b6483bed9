// SPDX-License-Identifier: Apache-2.0
#include "src/bridge/foxglove/chain_watch.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "cardan/clock.hpp"
#include "src/base/text_of_json.hpp"
#include "src/bridge/wall_ahead.hpp"
#include "src/trace/hops.hpp"

namespace cardan::bridge::foxglove {
namespace {

using nlohmann::json;

constexpr std::size_t kMostEvents = 200'000;            ///< that are kept: 12 MB, and as many milliseconds of work
constexpr std::size_t kMostOfOthers = kMostEvents / 4;  ///< of those, of other users' processes
constexpr std::int64_t kKept = 10'000'000'000;          ///< ns; what is older than this is on no way
constexpr std::int64_t kSent = 3'000'000'000;           ///< ns: the page asks each second, and may be late
constexpr std::size_t kMostWays = 8;                    ///< of a chain
constexpr std::size_t kMostFrames = 100;                ///< of a way
constexpr std::ptrdiff_t kMostEnded = 16;
constexpr std::size_t kMostReasons = 16;

double us(std::int64_t ns) { return static_cast<double>(ns) / 1000; }

/// Frames since `since`, by the steady clock. `ahead`: the wall clock's.
json way_json(const trace::TracedWay& way, std::int64_t since, std::int64_t ahead) {
  json hops = json::array(), frames = json::array();
  for (const trace::TracedWay::Hop& hop : way.hops) hops.push_back({{"by", hop.by}, {"to", hop.to}});
  const std::size_t skipped = way.frames.size() - std::min(way.frames.size(), kMostFrames);
  for (std::size_t i = skipped; i < way.frames.size(); ++i) {
    const trace::TracedFrame& frame = way.frames[i];
    if (frame.time_ns < since) continue;
    // By their topics, sequences and times the page finds the messages on the way: one more than there are hops.
    json times = json::array(), sequences = json::array({frame.first_sequence});
    json published = json::array({(frame.first_ns + ahead) / 1'000});
    for (std::size_t h = 0; h < frame.hops.size(); ++h) {
      const trace::HopTimes& hop = frame.hops[h];
      times.push_back({us(hop.transport), us(hop.waiting), us(hop.running)});
      sequences.push_back(hop.sequence);
      const std::int64_t at = h + 1 < frame.hops.size() ? frame.hops[h + 1].caused_ns : frame.time_ns;
      published.push_back((at + ahead) / 1'000);
    }
    frames.push_back({{"sequence", frame.sequence},
                      {"wall_ms", (frame.time_ns + ahead) / 1'000'000},
                      {"hops_us", std::move(times)},
                      {"sequences", std::move(sequences)},
                      {"published_us", std::move(published)}});
  }
  return {{"hops", std::move(hops)}, {"frames", std::move(frames)}};
}

}  // namespace

std::string ChainWatch::json(const host::DomainComponents& components) {
  // The areas of processes that have ended stay mapped until the observer goes.
  if (observer_ && std::ranges::count_if(observer_->processes(), &detail::TracedProcess::ended) > kMostEnded) stop();
  if (!observer_) observer_ = std::make_unique<detail::TraceObserver>(ObserverOptions{.domain = domain_});
  drain();
  observer_->refresh([this] { drain(); });
  forget();
  trace::sort_by_time(events_);
  std::vector<const host::ChainReport*> reports;
  std::vector<trace::ChainTopics> topics;
  for (const host::ComponentReport& component : components.components)
    for (const host::ChainReport& chain : component.chains) {
      reports.push_back(&chain);
      topics.push_back({.from = chain.from, .to = chain.to});
    }
  const std::vector<trace::TracedChain> found = trace::find_chains(events_, trace::words_of(*observer_), topics);
  const std::int64_t now = steady_now(), ahead = wall_ahead();
  nlohmann::json chains = nlohmann::json::array(), problems = nlohmann::json::array();
  for (std::size_t i = 0; i < found.size(); ++i) {
    nlohmann::json ways = nlohmann::json::array();
    std::uint64_t more = found[i].more_ways;
    for (const trace::TracedWay& way : found[i].ways)
      if (ways.size() < kMostWays)
        ways.push_back(way_json(way, now - kSent, ahead));
      else
        more += way.frames.size();
    chains.push_back({{"name", reports[i]->chain},
                      {"from", reports[i]->from},
                      {"to", reports[i]->to},
                      {"budget_us", us(reports[i]->budget_ns)},
                      {"publications", reports[i]->publications},
                      {"late", reports[i]->late},
                      {"from_others", found[i].from_others},
                      {"incomplete", found[i].incomplete},
                      {"more_ways", more},
                      {"disputed", found[i].disputed},
                      {"ways", std::move(ways)}});
  }
  std::uint64_t overwritten = 0;
  for (const detail::TracedProcess& process : observer_->processes()) overwritten += process.overwritten;
  for (const std::string& problem : observer_->problems())
    if (problems.size() < kMostReasons) problems.push_back(problem);
  const nlohmann::json all{{"wall_ms", wall_now() / 1'000'000},
                           {"chains", std::move(chains)},
                           {"overwritten", overwritten},
                           {"of_others", observer_->of_others()},
                           {"problems", std::move(problems)}};
  return text_of_json(all);
}

void ChainWatch::drain() {
  if (!observer_) return;
  observer_->drain(events_, room_);
  if (room_.all == 0) forget();
}

void ChainWatch::forget() {
  const std::int64_t since = steady_now() - kKept;
  std::erase_if(events_, [since](const detail::TracedEvent& event) { return event.what.time_ns < since; });
  if (events_.size() > kMostEvents) {
    trace::sort_by_time(events_);
    events_.erase(events_.begin(), events_.end() - static_cast<std::ptrdiff_t>(kMostEvents));
  }
  const auto of_others = std::ranges::count_if(
      events_, [this](const detail::TracedEvent& event) { return observer_->processes()[event.process].foreign; });
  room_ = {.all = 2 * kMostEvents - events_.size(),
           .of_others = kMostOfOthers - std::min(kMostOfOthers, static_cast<std::size_t>(of_others))};
}

void ChainWatch::stop() noexcept {
  observer_.reset();
  events_ = {};
  room_ = {.all = 0, .of_others = 0};
}

}  // namespace cardan::bridge::foxglove
