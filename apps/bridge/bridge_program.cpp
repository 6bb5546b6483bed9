// SPDX-License-Identifier: Apache-2.0
#include "apps/bridge/bridge_program.hpp"

#include <fmt/format.h>
#include <sched.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <map>
#include <new>
#include <nlohmann/json.hpp>
#include <thread>
#include <utility>

#include "apps/configuration_file.hpp"
#include "apps/decode.hpp"
#include "apps/launcher_pipe.hpp"
#include "apps/program.hpp"
#include "apps/terminal/output.hpp"
#include "cardan/clock.hpp"
#include "cardan/error.hpp"
#include "cardan/stop.hpp"
#include "src/bridge/bridge_statistics.hpp"
#include "src/bridge/rules_shape.hpp"

namespace cardan::apps {
namespace {

using namespace std::chrono_literals;
using nlohmann::ordered_json;

constexpr auto kTurn = 100ms;
constexpr auto kWhenMemoryRunsOut = 10ms;
constexpr std::int64_t kSecond = 1'000'000'000;

Error wrong(const std::string& cause, const std::string& remedy) { return {ErrorCode::InvalidArgument, cause, remedy}; }

Access access_named(const std::string& name) {
  const auto at = std::find(bridge::kAccesses.begin(), bridge::kAccesses.end(), name);
  return static_cast<Access>(at - bridge::kAccesses.begin());
}

void refuse_misfits(const char* option, const std::vector<std::string>& patterns) {
  for (const std::string& pattern : patterns)
    if (!bridge::can_fit(pattern))
      throw wrong(fmt::format("'{} {}' fits no topic, because names start with '/'", option, pattern),
                  fmt::format("write {} /{}", option, pattern));
}

void rename(std::vector<bridge::TopicRule>& rules, const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0 || text[0] != '/' || text.substr(equals + 1, 1) != "/")
    throw wrong("'--rename " + text + "' is not FROM=TO", "write --rename /camera/front=/front");
  const std::string from = text.substr(0, equals);
  const bridge::TopicRule* const like = bridge::rule_for(rules, from, {});
  bridge::TopicRule rule = like == nullptr ? bridge::TopicRule{} : *like;
  rule.topics = {from};
  rule.name_space.clear();
  rule.rename = text.substr(equals + 1);
  rules.insert(rules.begin(), std::move(rule));
}

ordered_json topic_json(const bridge::TopicReport& t) {
  ordered_json j{{"topic", t.topic},
                 {"beyond", t.beyond},
                 {"type", t.type},
                 {"direction", t.in ? "in" : "out"},
                 {"receivers", t.receivers},
                 {"carried", t.counts.carried},
                 {"bytes", t.counts.bytes},
                 {"copied_bytes", t.counts.copied},
                 {"thinned", t.counts.thinned},
                 {"lost", t.counts.lost},
                 {"refused", t.counts.refused}};
  if (!t.note.empty()) j["note"] = t.note;
  return j;
}

ordered_json report_json(const bridge::Bridge& bridge, const std::vector<bridge::TopicReport>& topics) {
  ordered_json list = ordered_json::array();
  for (const auto& t : topics) list.push_back(topic_json(t));
  return {{"time_ns", wall_now()}, {"bridge", bridge.title()}, {"topics", list}, {"notes", bridge.notes()}};
}

/// A bridge is not urgent. With SCHED_BATCH, a bridge that wakes for a message or a packet does not preempt the thread
/// that publishes. Threads and programs that are started later inherit this.
void use_batch_scheduling() {
  const sched_param none{};
  if (::sched_getscheduler(0) == SCHED_OTHER) (void)::sched_setscheduler(0, SCHED_BATCH, &none);
}

/// The table, with rates since the one before.
class View {
 public:
  std::vector<std::string> lines(const bridge::Bridge& bridge, const std::vector<bridge::TopicReport>& topics,
                                 Room room, double seconds) {
    Table table({{"TOPIC"},
                 {"", false},
                 {"BEYOND"},
                 {"RECEIVERS", true},
                 {"RATE", true},
                 {"PER SECOND", true},
                 {"CARRIED", true},
                 {"THINNED", true},
                 {"LOST", true},
                 {"REFUSED", true}});
    table.keep({"TOPIC", "RATE", "LOST"});
    table.trouble({"LOST", "REFUSED"});
    for (const auto& t : topics) {
      const bridge::TopicCounts& before = before_[{t.topic, t.in}];
      table.row(
          {t.topic, t.in ? "in" : "out", t.beyond, std::to_string(t.receivers),
           count_text(static_cast<double>(t.counts.carried - before.carried) / seconds),
           bytes_text(static_cast<double>(t.counts.bytes - before.bytes) / seconds), std::to_string(t.counts.carried),
           std::to_string(t.counts.thinned), std::to_string(t.counts.lost), std::to_string(t.counts.refused)},
          !t.note.empty());
      before_[{t.topic, t.in}] = t.counts;
    }
    std::vector<std::string> lines{printable(bridge.title())};
    std::vector<std::string> below;
    for (const auto& t : topics)
      if (!t.note.empty()) below.push_back(printable(t.topic + ": " + t.note));
    for (const std::string& note : bridge.notes()) below.push_back(printable(note));
    constexpr std::size_t kMostNotes = 6;
    if (below.size() > kMostNotes) below.resize(kMostNotes);
    const std::size_t used = lines.size() + below.size() + 1;
    const Room left{room.columns, room.rows > used + 2 ? room.rows - used : 2};
    if (topics.empty())
      lines.emplace_back("no topics yet");
    else
      for (std::string& line : table.lines(left)) lines.push_back(std::move(line));
    for (const std::string& line : below) lines.push_back(cut(line, room.columns));
    return lines;
  }

 private:
  std::map<std::pair<std::string, bool>, bridge::TopicCounts> before_;
};

}  // namespace

void add_bridge_options(CLI::App& app, BridgeOptions& o) {
  app.add_option("file", o.file, "Rules as JSON (docs/bridges.md); options override it");
  app.add_option("--topic", o.topics, "Send only these topics; patterns such as /camera/*");
  app.add_option("--exclude", o.exclude, "Do not send these");
  app.add_option("--type", o.types, "Send only topics of these types; patterns such as sensor_msgs/msg/*");
  app.add_option("--in", o.in, "Let these topics in (default: none)");
  app.add_option("--rename", o.rename, "FROM=TO: send topic FROM under the name TO");
  app.add_option("--namespace", o.name_space, "Put before the names on the other side, as /vehicle1");
  app.add_option("--rate", o.max_hz, "At most this many messages a second of each topic")->check(CLI::PositiveNumber);
  app.add_flag("--owner", o.owner,
               "Send also topics of access 'owner' that no option names in full (foxglove: to other users' clients)");
  auto* const reliable = app.add_flag("--reliable", o.reliable, "Send each message again until it has arrived");
  app.add_flag("--best-effort", o.best_effort, "Send each message once")->excludes(reliable);
  app.add_option("--domain", o.domain, "Cardan's domain (default: $CARDAN_DOMAIN, else \"default\")");
  app.add_option("--network", o.network, "Name of the other side, for the loop guard");
  app.add_option("--access", o.access,
                 "The users whose topics are sent, and those that may read what comes in (default: owner)")
      ->check(CLI::IsMember({"owner", "group", "everyone", "policy"}));
  app.add_option("--seconds", o.seconds, "End after this time")->check(CLI::PositiveNumber);
  app.add_flag("--json", o.json, "One JSON object a second, one per line");
  app.add_flag("-q,--quiet", o.quiet, "Print nothing but errors");
  app.add_option("--ready-fd", o.ready_fd)->group("");  // of `cardan run`
}

bridge::Rules rules_of(const BridgeOptions& o) {
  refuse_misfits("--topic", o.topics);
  refuse_misfits("--exclude", o.exclude);
  refuse_misfits("--in", o.in);
  bridge::Rules rules;
  if (!o.file.empty()) {
    std::vector<config::Problem> problems;
    bridge::read_rules(o.file, rules, problems);
    show(problems, o.file);
    if (config::has_errors(problems)) throw CLI::RuntimeError(kUsage);
  }
  if (!o.domain.empty()) rules.domain = o.domain;
  if (!o.network.empty()) rules.network = o.network;
  if (!o.access.empty()) rules.access = access_named(o.access);
  if (!o.topics.empty() || !o.types.empty()) {
    bridge::TopicRule rule;
    if (!o.topics.empty()) rule.topics = o.topics;
    rule.types = o.types;
    rules.out = {rule};
    rules.out_is_given = true;
  }
  if (!rules.out_is_given) rules.out = {bridge::TopicRule{}};
  if (!o.in.empty()) rules.in.insert(rules.in.begin(), bridge::TopicRule{.topics = o.in});
  for (bridge::TopicRule& rule : rules.out) {
    rule.exclude.insert(rule.exclude.end(), o.exclude.begin(), o.exclude.end());
    if (o.max_hz > 0) rule.max_hz = o.max_hz;
    if (o.reliable || o.best_effort) rule.reliable = o.reliable;
    if (o.owner) rule.owner = true;
    if (!o.name_space.empty() && rule.rename.empty()) rule.name_space = o.name_space;
  }
  if (!o.name_space.empty() && (o.name_space.front() != '/' || o.name_space.back() == '/'))
    throw wrong("'--namespace " + o.name_space + "' is not a namespace", "write it as /vehicle1");
  for (const std::string& text : o.rename) rename(rules.out, text);
  return rules;
}

int run_bridge(const BridgeOptions& o, const bridge::Rules& rules, const std::string& network, bridge::Bridge& bridge) {
  stop_on_signals();
  stop_on_hang_up();
  bridge::StatisticsPublisher statistics(rules.domain, rules.access, network);
  const bool live = !o.json && !o.quiet && stdout_is_terminal();
  if (!o.json && !o.quiet && !live) warn(bridge.title());
  if (const std::string readers = bridge.readers(); !o.quiet && !readers.empty()) warn(readers);
  tell_launcher(o.ready_fd, "ready");
  View view;
  LiveBlock block;
  const std::int64_t end = o.seconds > 0 ? steady_now() + static_cast<std::int64_t>(o.seconds * 1e9) : 0;
  std::int64_t shown = steady_now();
  const auto turn_and_show = [&] {
    bridge.turn(kTurn);
    const std::int64_t now = steady_now();
    if (now - shown < kSecond) return true;
    const auto topics = bridge.topics();
    statistics.publish(topics);
    const Room room = terminal_size();
    bool open = true;
    if (o.json)
      open = emit(one_line(report_json(bridge, topics)) + "\n");
    else if (live)
      open = emit(block.draw("", view.lines(bridge, topics, room, static_cast<double>(now - shown) / 1e9), room));
    shown = now;
    return open;
  };
  for (bool open = true; open && !stopping() && (end == 0 || steady_now() < end);) {
    try {
      open = turn_and_show();
    } catch (const std::bad_alloc&) {  // a bridge takes care of what its peers cause; this was for a report
      std::this_thread::sleep_for(kWhenMemoryRunsOut);
    }
  }
  bridge.finish();
  const auto topics = bridge.topics();
  if (o.json)
    (void)emit(one_line(report_json(bridge, topics)) + "\n");
  else if (!o.quiet)
    (void)emit(text_of(View().lines(bridge, topics, {.columns = 160, .rows = topics.size() + 20}, 1e9)));
  const bool lost = std::any_of(topics.begin(), topics.end(), [](const bridge::TopicReport& t) {
    return t.counts.lost != 0 || t.counts.refused != 0;
  });
  return (lost || !bridge.is_whole()) && o.ready_fd < 0 ? kLoss : kOk;
}

int bridge_main(const BridgeProgram& program, int argc, char** argv) {
  CLI::App app{program.description};
  const std::string called = argv[0];  // as `cardan view` or `cardan bridge foxglove` names it
  app.name(called.starts_with("cardan ") ? called : "cardan bridge " + program.name);
  app.footer(program.examples + R"(

Exit codes: 0 done, 1 failed, 2 wrong options or rules, 3 done, but something was lost or refused (see LOST, REFUSED).)");
  BridgeOptions options;
  add_bridge_options(app, options);
  program.add(app);
  app.callback([&] {
    use_batch_scheduling();
    bridge::Rules rules;
    std::unique_ptr<bridge::Bridge> bridge;
    try {
      if (program.prepare) program.prepare(options);
      rules = rules_of(options);
      bridge = program.make(rules);
    } catch (const CLI::RuntimeError&) {
      tell_launcher(options.ready_fd, "refused its rules are wrong");
      throw;
    } catch (const Error& e) {
      tell_launcher(options.ready_fd, e);
      throw;
    }
    if (const int code = run_bridge(options, rules, program.network(rules), *bridge); code != 0)
      throw CLI::RuntimeError(code);
  });
  return run_program(app, std::vector<std::string>(argv + 1, argv + argc));
}

}  // namespace cardan::apps
