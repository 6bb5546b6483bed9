// SPDX-License-Identifier: Apache-2.0
// "Oops! It's Too Late. Your Autonomous Driving System Needs a Faster Middleware": its seven findings, on this run.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "bench/results/statements.hpp"
#include "bench/results/statistics.hpp"
#include "bench/results/words.hpp"

namespace cardan::bench {
namespace {

constexpr double kMega = 1024 * 1024;
constexpr double kMostOfIt = 0.5;
constexpr double kBigGain = 0.8;       // of the time before
constexpr double kLittle = 0.2;        // a change by less has little effect
constexpr double kIapSchedule = 0.35;  // share of scheduling in the paper's fastest methods

Finding not_measured(std::string missing) { return {Judgement::NotMeasured, std::move(missing)}; }
Finding judged(bool holds, std::string figures) {
  return {holds ? Judgement::Holds : Judgement::DoesNotHold, std::move(figures)};
}

Evidence::Wanted transport(std::string peer, std::string setup, double bytes = 0) {
  return {"transport", std::move(peer), std::move(setup), "1p1s", "transport", bytes};
}

// The time that peers that copy need beyond one that does not, of their time, for the greatest message.
Finding copies_cost_most(const Evidence& e) {
  std::vector<double> sizes = e.sizes(transport("cardan", "block"));
  if (sizes.empty() || sizes.back() < kMega / 2)
    return not_measured("no message of half a MiB or more by cardan block");
  const double bytes = sizes.back();
  const double in_place = *e.p50(transport("cardan", "block", bytes));
  std::string text;
  bool all = true;
  bool any = false;
  for (const auto& [peer, setup] : {std::pair{"sim", "block"},
                                    {"uds", "block"},
                                    {"tcp", "block"},
                                    {"cyclone", "block"},
                                    {"fastdds-shm", "block"},
                                    {"zeromq", "block"}}) {
    const auto copied = e.p50(transport(peer, setup, bytes));
    if (!copied || *copied <= 0) continue;
    const double share = 1 - in_place / *copied;
    text += fmt::format("{}{} {} µs ({:.0f} % of it)", any ? ", " : "", peer, three_digits(*copied), 100 * share);
    all = all && share >= kMostOfIt;
    any = true;
  }
  if (!any) return not_measured("no peer that copies");
  return judged(all, fmt::format("{}: cardan block, without a copy, {} µs; with copies {}", name_of_size(bytes),
                                 three_digits(in_place), text));
}

// Peers that differ by a setting of quality of service only: NAME is best effort, NAME-reliable is not.
Finding qos_matters_little(const Evidence& e) {
  constexpr std::string_view kEnding = "-reliable";
  std::string text;
  bool little = true;
  for (const Measurement* reliable : e.all({.quantity = "transport"})) {
    if (!reliable->peer.ends_with(kEnding)) continue;
    const std::string peer = reliable->peer.substr(0, reliable->peer.size() - kEnding.size());
    for (const Measurement* effort :
         e.all({reliable->part, peer, reliable->setup, reliable->cell, reliable->quantity, reliable->bytes})) {
      const double p50 = median(effort->pooled());
      if (effort->rate_hz != reliable->rate_hz || p50 <= 0) continue;
      const double ratio = median(reliable->pooled()) / p50;
      little = little && std::fabs(ratio - 1) <= kLittle;
      text += fmt::format("{}{} {}: × {:.2f} (lost {} with best effort, {} reliable)", text.empty() ? "" : ", ", peer,
                          name_of_size(reliable->bytes), ratio, effort->lost.value_or(0), reliable->lost.value_or(0));
    }
  }
  if (text.empty()) return not_measured("no peer with two settings of reliability");
  return judged(little, text);
}

Finding scenario_specific_gain(const Evidence& e) {
  std::string text;
  double best = 1e9;
  for (const double bytes : e.sizes(transport("cardan", "block")))
    for (const char* setup : {"prewake", "anticipate"}) {
      const auto block = e.p50(transport("cardan", "block", bytes));
      const auto other = e.p50(transport("cardan", setup, bytes));
      if (!block || !other || *block <= 0) continue;
      best = std::min(best, *other / *block);
      text += fmt::format("{}{} {} × {:.2f}", text.empty() ? "" : ", ", name_of_size(bytes), setup, *other / *block);
    }
  if (text.empty()) return not_measured("cardan with `prewake` or `anticipate` beside `block`");
  return judged(best <= kBigGain, "a reader of a periodic stream that is woken early, p50 of `block`'s: " + text);
}

Finding fusion_shapes_latency(const Evidence& e) {
  double least = 0;
  double most = 0;
  std::string text;
  for (const Measurement* m : e.all({.cell = "fusion", .quantity = "transport"})) {
    const double p50 = median(m->pooled());
    least = text.empty() ? p50 : std::min(least, p50);
    most = std::max(most, p50);
    text += fmt::format("{}{} {} µs", text.empty() ? "" : ", ", name_of_contender(*m), three_digits(p50));
  }
  if (text.empty() || least <= 0) return not_measured("no fusion of several topics");
  return judged(most / least >= 1 + kLittle, text);
}

// Cells "1p1s cv load=4x50": threads and their share of the CPU. Their number alone, at one share, must not matter.
std::string threads_at_equal_load(const Evidence& e, bool& little) {
  std::map<std::string, std::map<std::string, double>> by_share;  // p50 by the number of threads
  for (const Measurement* m :
       e.all({.part = "transport", .peer = "cardan", .setup = "block", .quantity = "transport"})) {
    const auto at = m->cell.find(" load=");
    const auto x = m->cell.find('x', at);
    if (at == std::string::npos || x == std::string::npos || m->cell.find('+') != std::string::npos) continue;
    const std::string threads = m->cell.substr(at + 6, x - at - 6);
    by_share[fmt::format("{} {} at {:g} Hz beside {} % load", m->cell.substr(0, at), name_of_size(m->bytes), m->rate_hz,
                         m->cell.substr(x + 1))][threads] = median(m->pooled());
  }
  std::string text;
  for (const auto& [share, p50s] : by_share) {
    if (p50s.size() < 2) continue;
    const auto [least, most] =
        std::minmax_element(p50s.begin(), p50s.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
    little = little && least->second > 0 && most->second / least->second <= 1 + kLittle;
    text += fmt::format("{}{}:", text.empty() ? "" : ", ", share);
    for (const auto& [threads, p50] : p50s) text += fmt::format(" {} µs with {} threads", three_digits(p50), threads);
  }
  return text;
}

// A wake-up is what a reader that sleeps needs beyond one that spins, of bare shared memory.
Finding scheduling_matters_little(const Evidence& e) {
  std::string text;
  bool little = true;
  for (const double bytes : e.sizes(transport("raw", "spin"))) {
    const auto spin = e.p50(transport("raw", "spin", bytes));
    const auto block = e.p50(transport("raw", "block", bytes));
    const auto cardan = e.p50(transport("cardan", "block", bytes));
    if (!spin || !block || !cardan || *cardan <= 0) continue;
    const double share = (*block - *spin) / *cardan;
    little = little && share <= kIapSchedule;
    text += fmt::format("{}{}: {} of {} µs ({:.0f} %)", text.empty() ? "" : ", ", name_of_size(bytes),
                        three_digits(*block - *spin), three_digits(*cardan), 100 * share);
  }
  if (text.empty()) return not_measured("raw with `spin` and `block` beside cardan `block`");
  text = "waking the reader, of cardan block's transport: " + text;
  const std::string threads = threads_at_equal_load(e, little);
  return judged(little, threads.empty() ? text : text + "; " + threads);
}

Finding faster_platform_more_bottleneck(const Evidence& e) {
  if (e.hosts() < 2) return not_measured("it takes the results of two computers, and of an application's processing");
  return not_measured("no application's processing time beside its transport");
}

Finding rate_must_match(const Evidence& e) {
  std::string text;
  bool any_worse = false;
  for (const Measurement* slow : e.all({.quantity = "transport"}))
    for (const Measurement* fast :
         e.all({slow->part, slow->peer, slow->setup, slow->cell, slow->quantity, slow->bytes})) {
      if (fast->rate_hz < 2 * slow->rate_hz || slow->rate_hz <= 0) continue;
      const double slow_p50 = median(slow->pooled());
      const double fast_p50 = median(fast->pooled());
      const auto share = [](const Measurement& m) {
        return m.due && m.lost && *m.due > 0 ? static_cast<double>(*m.lost) / static_cast<double>(*m.due) : 0.0;
      };
      any_worse =
          any_worse || (slow_p50 > 0 && fast_p50 >= (1 + kLittle) * slow_p50) || share(*fast) > share(*slow) + 0.01;
      text += fmt::format("{}{} {} at {:g} → {:g} Hz: p50 {} → {} µs, lost {:.1f} → {:.1f} %", text.empty() ? "" : "; ",
                          name_of_contender(*slow), name_of_size(slow->bytes), slow->rate_hz, fast->rate_hz,
                          three_digits(slow_p50), three_digits(fast_p50), 100 * share(*slow), 100 * share(*fast));
    }
  if (text.empty()) return not_measured("no cell at two rates");
  return judged(any_worse, text);
}

}  // namespace

void add_oops_findings(std::vector<Statement>& all) {
  const auto add = [&](const char* text, const char* rule, Finding (*judge)(const Evidence&)) {
    all.push_back({"Oops!", text, rule, judge});
  };
  add("Finding 1: copying and (de)serializing data are the major sources of communication overhead.",
      "Of the transport p50 of each peer that copies, at the greatest size, at least half is what cardan, which does "
      "not copy, does not need.",
      copies_cost_most);
  add("Finding 2: QoS settings may cost, but have little effect on local latency.",
      "Reliable and best effort differ by at most 20 % in p50, for each peer that has both.", qos_matters_little);
  add("Finding 3: optimizing for the characteristics of a scenario brings significant benefits.",
      "A way of waiting for periodic streams takes at most 0.8 of the transport p50 of the general one.",
      scenario_specific_gain);
  add("Finding 4: the strategy of fusion, and rate and order of its channels, shape its latency.",
      "The p50 of ways to fuse differ by at least 20 %.", fusion_shapes_latency);
  add("Finding 5: the overhead of scheduling has no significant impact on latency.",
      "Waking a sleeping reader takes at most 35 % of cardan block's transport p50, at each size; and the number of "
      "threads of another program that use an equal share of the CPU changes that p50 by at most 20 %.",
      scheduling_matters_little);
  add("Finding 6: the faster the platform, the more likely communication is the bottleneck.",
      "On the faster of two computers transport is a greater share of the time of processing.",
      faster_platform_more_bottleneck);
  add("Finding 7: a publishing rate that does not match the processing time costs.",
      "At twice the rate or more, p50 grows by 20 %, or a further 1 % is lost.", rate_must_match);
}

}  // namespace cardan::bench
