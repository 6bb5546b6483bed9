// SPDX-License-Identifier: Apache-2.0
// `cardan run FILE --from BAG`: the components of a configuration on what files hold, the same each time.
#include "src/replay/run_from.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <nlohmann/json.hpp>

#include "cardan/clock.hpp"
#include "cardan/error.hpp"
#include "cardan/messages/transforms.hpp"
#include "cardan/stop.hpp"
#include "src/base/output_file.hpp"
#include "src/base/text_of_json.hpp"
#include "src/record/player/simulate.hpp"
#include "src/replay/replay_crash.hpp"
#include "src/replay/replay_guard.hpp"
#include "src/terminal/output.hpp"
#include "src/terminal/progress.hpp"

namespace cardan::replay {
namespace {

using terminal::bytes_text;
using terminal::emit;
using terminal::kFailed;
using terminal::kLoss;
using terminal::kOk;
using terminal::printable;
using terminal::Progress;
using terminal::Table;
using terminal::warn;

using Json = nlohmann::ordered_json;
using record::SimulatedTopic;
using record::SimulateReport;

double ms(std::int64_t ns) { return static_cast<double>(ns) / 1e6; }
std::string age_text(std::int64_t ns) { return ns < 0 ? "-" : fmt::format("{:.1f}", ms(ns)); }

Json topics_json(const std::vector<SimulatedTopic>& topics) {
  Json all = Json::array();
  for (const SimulatedTopic& t : topics)
    all.push_back({{"topic", t.topic},
                   {"type", t.type},
                   {"messages", t.messages},
                   {"failed", t.failed},
                   {"failure", t.failure.empty() ? Json() : Json(t.failure)}});
  return all;
}

Json fusions_json(const std::vector<record::SimulatedFusion>& fusions) {
  Json all = Json::array();
  for (const record::SimulatedFusion& f : fusions)
    all.push_back({{"component", f.component},
                   {"fusion", f.fusion},
                   {"fired", f.fired},
                   {"silent", f.silent.empty() ? Json() : Json(f.silent)}});
  return all;
}

Json services_json(const std::vector<record::SimulatedService>& services) {
  Json all = Json::array();
  for (const record::SimulatedService& s : services)
    all.push_back({{"service", s.service},
                   {"asked", s.asked},
                   {"answered", s.answered},
                   {"recorded", s.recorded},
                   {"malformed", s.malformed}});
  return all;
}

Json chains_json(const std::vector<record::SimulatedChain>& chains) {
  Json all = Json::array();
  for (const record::SimulatedChain& c : chains)
    all.push_back(
        {{"name", c.chain},
         {"component", c.component},
         {"publications", c.in_time + c.late + c.unknown},
         {"late", c.late},
         {"unknown", c.unknown},
         {"age_ms", c.age_greatest < 0
                        ? Json()
                        : Json{{"p50", ms(c.age_p50)}, {"p99", ms(c.age_p99)}, {"greatest", ms(c.age_greatest)}}}});
  return all;
}

Json exceptions_json(const std::vector<record::SimulatedFailures>& failed) {
  Json all = Json::array();
  for (const record::SimulatedFailures& f : failed)
    all.push_back({{"component", f.component}, {"exceptions", f.exceptions}});
  return all;
}

Json inputs_json(const std::vector<record::EmptyInput>& inputs) {
  Json all = Json::array();
  for (const record::EmptyInput& i : inputs)
    all.push_back({{"component", i.component}, {"input", i.input}, {"topic", i.topic}});
  return all;
}

Json simulation_json(const config::Configuration& configuration, const RunFromOptions& o, const SimulateReport& r,
                     double took, int code) {
  Json left_out = Json::array();
  for (const record::LeftOut& l : r.left_out)
    left_out.push_back({{"file", l.file}, {"topic", l.topic}, {"type", l.type}, {"why", l.why}});
  return {{"system", configuration.name},
          {"from", o.files},
          {"output", o.output.empty() ? Json() : Json(o.output)},
          {"output_bytes", r.output_bytes},
          {"seconds", took},
          {"recorded_seconds", static_cast<double>(r.simulated_ns) / 1e9},
          {"gaps_skipped", r.gaps},
          {"skipped_seconds", static_cast<double>(r.skipped_ns) / 1e9},
          {"callbacks", r.callbacks},
          {"failures", r.failures},
          {"exceptions", exceptions_json(r.failed)},
          {"dropped", r.dropped},
          {"fed", topics_json(r.fed)},
          {"made", topics_json(r.made)},
          {"services", services_json(r.services)},
          {"fusions", fusions_json(r.fusions)},
          {"chains", chains_json(r.chains)},
          {"empty_inputs", inputs_json(r.empty_inputs)},
          {"recomputed", r.recomputed},
          {"left_out", left_out},
          {"problems", r.problems},
          {"unfinished", r.unfinished},
          {"hung", nullptr},
          {"exit_code", code}};
}

void write_json(const RunFromOptions& o, const Json& json) {
  if (!o.json.empty()) write_output(o.json, text_of_json(json, 2) + "\n");
}

std::string simulation_text(const config::Configuration& configuration, const RunFromOptions& o,
                            const SimulateReport& r, double took) {
  Table table({{"TOPIC"}, {"TYPE"}, {"FROM"}, {"MESSAGES", true}, {"FAILED", true}});
  const auto add = [&](const std::vector<SimulatedTopic>& topics, const char* from) {
    for (const SimulatedTopic& t : topics) {
      const bool placed = &topics == &r.made && t.topic == kStaticTransforms.name && !configuration.transforms.empty();
      table.row({printable(t.topic), printable(t.type), placed ? "configuration" : from, std::to_string(t.messages),
                 std::to_string(t.failed)});
    }
  };
  add(r.fed, "file");
  add(r.made, "components");
  std::string out = table.text();
  if (!r.chains.empty()) {
    Table chains({{"CHAIN"},
                  {"COMPONENT"},
                  {"PUBLICATIONS", true},
                  {"LATE", true},
                  {"AGE p50 ms", true},
                  {"p99", true},
                  {"GREATEST", true}});
    for (const record::SimulatedChain& c : r.chains)
      chains.row({printable(c.chain), printable(c.component), std::to_string(c.in_time + c.late + c.unknown),
                  std::to_string(c.late), age_text(c.age_p50), age_text(c.age_p99), age_text(c.age_greatest)});
    out += "\n" + chains.text();
  }
  if (!r.services.empty()) {
    Table services({{"SERVICE"}, {"QUESTIONS", true}, {"ANSWERED FROM THE FILE", true}, {"RECORDED ANSWERS", true}});
    for (const record::SimulatedService& s : r.services)
      services.row(
          {printable(s.service), std::to_string(s.asked), std::to_string(s.answered), std::to_string(s.recorded)});
    out += "\n" + services.text();
  }
  const double recorded = static_cast<double>(r.simulated_ns) / 1e9;
  out += fmt::format(
      "\n{:.3f} s of the recording in {:.3f} s; {} callbacks, {} exceptions, {} samples dropped by full queues\n",
      recorded, took, r.callbacks, r.failures, r.dropped);
  if (r.gaps > 0) out += gaps_text(r.gaps, r.skipped_ns) + "\n";
  if (!o.output.empty() && !r.stopped)
    out += fmt::format("{}: {}\n", printable(o.output), bytes_text(static_cast<double>(r.output_bytes)));
  return out;
}

/// Reports what is missing on standard error; true: something is.
bool report_simulation_loss(const SimulateReport& r) {
  bool lost = !r.left_out.empty() || !r.problems.empty() || r.failures > 0;
  for (const record::SimulatedFailures& f : r.failed)
    warn(fmt::format("{}: {} exception{} left its callbacks", f.component, f.exceptions, f.exceptions == 1 ? "" : "s"));
  for (const record::LeftOut& l : r.left_out)
    warn(fmt::format("{} is not given to the components: {}", l.topic, l.why));
  for (const std::string& what : r.unfinished) warn(fmt::format("not finished: {}", what));
  for (const std::string& problem : r.problems) warn(problem);
  if (!r.recomputed.empty())
    warn(fmt::format(
        "components publish {} themselves, so the recorded ones are not used; --without leaves such a component out",
        fmt::join(r.recomputed, ", ")));
  for (const auto* topics : {&r.fed, &r.made})
    for (const SimulatedTopic& t : *topics) {
      if (t.failed == 0) continue;
      lost = true;
      warn(fmt::format("{}: {} messages could not be {}: {}", t.topic, t.failed, topics == &r.fed ? "given" : "written",
                       t.failure));
    }
  for (const record::SimulatedService& s : r.services) {
    if (s.asked > s.answered)
      warn(fmt::format("{}: {} of {} questions got no answer: the recording has none for their content, or not in time",
                       s.service, s.asked - s.answered, s.asked));
    if (s.malformed > 0) warn(fmt::format("{}: {} recorded events are malformed", s.service, s.malformed));
    lost = lost || s.asked > s.answered || s.malformed > 0;
  }
  for (const record::SimulatedFusion& f : r.fusions) {
    if (f.silent.empty()) continue;
    // A topic that was not recorded is known; samples of all inputs that never come together are lost.
    lost = lost || f.every_input_had;
    warn(fmt::format("{}: fusion '{}' got samples but made no set: {}", f.component, f.fusion, f.silent));
  }
  return lost;
}

/// False: no message of the recording came to a component, which is reported.
bool tell_inputs(const SimulateReport& r) {
  for (const record::EmptyInput& i : r.empty_inputs)
    warn(fmt::format("{}: input '{}' got nothing{}", i.component, i.input,
                     i.topic == i.input ? "" : fmt::format(" of topic {}", i.topic)));
  if (std::any_of(r.fed.begin(), r.fed.end(), [](const SimulatedTopic& t) { return t.messages > 0; })) return true;
  warn(
      "no component got a message of the recording — cardan bag info shows its topics and their times, cardan graph "
      "which topics the components read");
  return false;
}

/// A component does not come back: ends this process without its orderly end, which would wait for that.
[[noreturn]] void give_up(const config::Configuration& configuration, const RunFromOptions& o, std::int64_t begun,
                          const host::Watchdog::Late& late, const std::string& what) {
  warn(fmt::format("{}: the run is given up{}", what,
                   o.output.empty() ? std::string() : fmt::format(", and {} was not written", o.output)));
  if (!o.output.empty()) std::remove((o.output + ".partial").c_str());
  try {
    write_json(o, {{"system", configuration.name},
                   {"from", o.files},
                   {"output", nullptr},
                   {"seconds", static_cast<double>(steady_now() - begun) / 1e9},
                   {"hung",
                    {{"component", late.component},
                     {"callback", late.callback},
                     {"seconds", static_cast<double>(late.running.count()) / 1e9}}},
                   {"exit_code", static_cast<int>(kFailed)}});
  } catch (const Error& e) {
    warn(e.what());
  }
  std::_Exit(kFailed);
}

std::chrono::nanoseconds nanoseconds(double seconds) {
  return std::chrono::nanoseconds(static_cast<std::int64_t>(std::clamp(seconds, 0.0, 4e9) * 1e9));
}

}  // namespace

std::string gaps_text(std::uint64_t gaps, std::int64_t nanoseconds) {
  return fmt::format("{} gap{} without a message, {:.1f} s in all, {} skipped (--max-gap)", gaps, gaps == 1 ? "" : "s",
                     static_cast<double>(nanoseconds) / 1e9, gaps == 1 ? "was" : "were");
}

int run_from(const config::Configuration& configuration, const RunFromOptions& o) {
  stop_on_signals();
  stop_on_hang_up();
  report_crashes_of_replay(configuration.name, o.reports, o.command);
  const std::int64_t begun = steady_now();
  auto progress = std::make_unique<Progress>();
  ReplayGuardOptions guarded{.grace = nanoseconds(o.grace),
                             .give_up = [&](const host::Watchdog::Late& late, const std::string& what) {
                               give_up(configuration, o, begun, late, what);
                             }};
  if (o.seconds) guarded.limit = nanoseconds(*o.seconds);
  auto guard = std::make_unique<ReplayGuard>(guarded);
  record::SimulateOptions options{.without = o.without,
                                  .start = nanoseconds(o.start.seconds),
                                  .start_at = o.start.at,
                                  .max_gap = nanoseconds(o.max_gap),
                                  .output = o.output,
                                  .replace = o.force,
                                  .on_begin = [&](const std::string& component) { guard->begins(component); },
                                  .on_runtime =
                                      [&](const Runtime* runtime) {
                                        crashes_are_of(runtime);
                                        guard->watch(runtime);
                                      },
                                  .progress =
                                      [&](double done) {
                                        progress->show(static_cast<std::uint64_t>(done * 1000), 1000);
                                        return !stopping();
                                      }};
  if (o.until) options.until_at = o.until->at;
  if (o.until && !o.until->at) options.until = nanoseconds(o.until->seconds);
  if (o.seconds && o.start.at)
    options.until_at = *o.start.at + static_cast<std::uint64_t>(nanoseconds(*o.seconds).count());
  else if (o.seconds)
    options.until = std::min(options.until, options.start + nanoseconds(*o.seconds));
  const SimulateReport report = record::simulate(configuration, o.files, options);
  guard.reset();
  const double took = static_cast<double>(steady_now() - begun) / 1e9;
  progress.reset();  // its line goes before others come
  bool lost = report_simulation_loss(report);
  if (!report.stopped && !tell_inputs(report)) lost = true;
  const int code = report.stopped ? kFailed : lost ? kLoss : kOk;
  if (!emit(simulation_text(configuration, o, report, took))) return kFailed;
  write_json(o, simulation_json(configuration, o, report, took, code));
  if (report.stopped) warn(o.output.empty() ? "stopped" : fmt::format("stopped; {} was not written", o.output));
  return code;
}

}  // namespace cardan::replay
