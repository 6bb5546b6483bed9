// SPDX-License-Identifier: Apache-2.0
#include "apps/component/component_fusions.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <utility>

#include "apps/report_json.hpp"
#include "apps/terminal/losses.hpp"

namespace cardan::apps {
namespace {

using host::CallbackReport;
using host::FusionInputReport;
using host::FusionReport;
using nlohmann::ordered_json;

struct Counter {
  const char* name;
  std::uint64_t FusionInputReport::* count;
};
/// All but `waiting`, which does not count events.
constexpr std::array kCounters{Counter{"offered", &FusionInputReport::offered},
                               Counter{"used", &FusionInputReport::used},
                               Counter{"unfired", &FusionInputReport::unfired},
                               Counter{"replaced", &FusionInputReport::replaced},
                               Counter{"overtaken", &FusionInputReport::overtaken},
                               Counter{"pushed_out", &FusionInputReport::pushed_out},
                               Counter{"late", &FusionInputReport::late},
                               Counter{"cleared", &FusionInputReport::cleared},
                               Counter{"never_arrived", &FusionInputReport::never_arrived},
                               Counter{"too_old", &FusionInputReport::too_old},
                               Counter{"absent", &FusionInputReport::absent},
                               Counter{"unstamped", &FusionInputReport::unstamped}};

}  // namespace

CallbackReport less(CallbackReport now, const CallbackReport& before) {
  if (before.calls > now.calls) return now;
  now.transport = apps::less(now.transport, before.transport);
  now.waiting = apps::less(now.waiting, before.waiting);
  now.running = apps::less(now.running, before.running);
  now.age = apps::less(now.age, before.age);
  for (auto count :
       {&CallbackReport::calls, &CallbackReport::queue_full, &CallbackReport::kept, &CallbackReport::missed,
        &CallbackReport::failures, &CallbackReport::overruns, &CallbackReport::skipped, &CallbackReport::unanswered,
        &CallbackReport::late, &CallbackReport::unknown_ages})
    now.*count -= std::min(now.*count, before.*count);
  return now;
}

FusionReport less(FusionReport now, const FusionReport& before) {
  if (before.fired > now.fired || before.inputs.size() != now.inputs.size()) return now;
  now.fired -= before.fired;
  for (std::size_t i = 0; i < now.inputs.size(); ++i)
    for (const Counter& c : kCounters)
      now.inputs[i].*c.count -= std::min(now.inputs[i].*c.count, before.inputs[i].*c.count);
  return now;
}

ordered_json fusion_json(const FusionReport& figures, const FusionReport& totals, double seconds) {
  ordered_json inputs = ordered_json::array();
  for (const FusionInputReport& in : figures.inputs) {
    ordered_json one{{"input", in.name}, {"topic", in.topic}};
    for (const Counter& c : kCounters) one[c.name] = in.*c.count;
    one["waiting"] = in.waiting;
    inputs.push_back(std::move(one));
  }
  return {{"fusion", figures.name},
          {"policy", figures.policy},
          {"time", figures.time},
          {"rate_hz", static_cast<double>(figures.fired) / seconds},
          {"fired", figures.fired},
          {"fired_total", totals.fired},
          {"silent", figures.silent ? ordered_json(figures.why) : ordered_json(nullptr)},
          {"inputs", inputs}};
}

bool is_of_a_fusion(const host::ComponentReport& component, const CallbackReport& callback) {
  return std::any_of(component.fusions.begin(), component.fusions.end(), [&](const FusionReport& fusion) {
    return std::any_of(fusion.inputs.begin(), fusion.inputs.end(),
                       [&](const FusionInputReport& in) { return in.name == callback.name; });
  });
}

std::uint64_t calls_of(const host::ComponentReport& component) {
  std::uint64_t calls = 0;
  for (const CallbackReport& callback : component.callbacks)
    if (!is_of_a_fusion(component, callback)) calls += callback.calls;
  for (const FusionReport& fusion : component.fusions) calls += fusion.fired;
  return calls;
}

std::string percentiles_text(const LatencyHistogram& histogram, bool narrow) {
  const auto at = [&](double p) { return time_text(static_cast<double>(latency_percentile(histogram, p))); };
  return histogram.empty() ? "-" : narrow ? at(99) : at(50) + " / " + at(99);
}

std::vector<std::string> callback_cells(const CallbackReport& x, double seconds, bool narrow) {
  const auto percentiles = [&](const LatencyHistogram& h) { return percentiles_text(h, narrow); };
  const bool input = x.kind != CallbackReport::Kind::Timer;
  std::uint64_t samples = x.calls;
  if (x.kind == CallbackReport::Kind::Latest) {
    samples = 0;
    for (const auto& [bucket, count] : x.transport) samples += count;
  }
  std::string longest = time_text(static_cast<double>(x.longest_running));
  if (x.calls == 0 && x.running_since != 0) longest = "runs for " + time_text(static_cast<double>(x.running_since));
  return {count_text(static_cast<double>(samples) / seconds),
          percentiles(x.transport),
          percentiles(x.waiting),
          percentiles(x.running),
          std::move(longest),
          percentiles(x.age),
          input ? fmt::format("{}/{}", x.queued, x.capacity) : "-",
          dropped_text(x),
          std::to_string(x.missed),
          std::to_string(x.failures),
          std::to_string(x.late)};
}

void add_fusion_rows(Table& table, const FusionReport& figures, const host::ComponentReport& of, double seconds,
                     bool narrow, std::string& component) {
  enum Cell : std::size_t { kRate, kQueue = 6, kDropped };  // of callback_cells()
  const CallbackReport none;
  table.row({std::exchange(component, ""),
             narrow ? fmt::format("{} ({})", printable(figures.name), figures.policy)
                    : fmt::format("{} ({} by {})", printable(figures.name), figures.policy, figures.time),
             count_text(static_cast<double>(figures.fired) / seconds), "", "", "", figures.silent ? "no set" : "", "",
             "", "", "", "", ""});
  for (const FusionInputReport& in : figures.inputs) {
    const auto callback = std::find_if(of.callbacks.begin(), of.callbacks.end(),
                                       [&](const CallbackReport& c) { return c.name == in.name; });
    const CallbackReport& own = callback != of.callbacks.end() ? *callback : none;
    std::uint64_t lost = own.queue_full;
    std::vector<std::string> why;
    for (const auto& [what, count] : {std::pair{"unfired", in.unfired},
                                      {"replaced", in.replaced},
                                      {"overtaken", in.overtaken},
                                      {"pushed out", in.pushed_out},
                                      {"late", in.late},
                                      {"cleared", in.cleared},
                                      {"kept", own.kept}}) {
      lost += count;
      if (count != 0) why.push_back(fmt::format("{} {}", count, what));
    }
    for (const auto& [what, count] : {std::pair{"unstamped", in.unstamped}, {"skipped", own.skipped}})
      if (count != 0) why.push_back(fmt::format("{} {}", count, what));
    std::vector<std::string> cells = callback_cells(own, seconds, narrow);
    cells[kRate] = count_text(static_cast<double>(in.offered) / seconds);
    if (in.waiting != 0) cells[kQueue] += fmt::format(" +{}", in.waiting);
    cells[kDropped] = why.empty() ? std::to_string(lost) : fmt::format("{} ({})", lost, fmt::join(why, ", "));
    cells.insert(cells.begin(), {"", "  " + printable(in.name)});
    table.row(std::move(cells));
  }
}

std::string silent_fusions(const std::vector<host::ComponentReport>& components) {
  std::string out;
  for (const host::ComponentReport& c : components)
    for (const FusionReport& f : c.fusions)
      if (f.silent)
        out += fmt::format("{}: fusion '{}' gets samples but makes no set: {}\n", printable(c.name), printable(f.name),
                           printable(f.why));
  return out;
}

}  // namespace cardan::apps
