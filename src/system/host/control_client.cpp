// SPDX-License-Identifier: Apache-2.0
#include "src/system/host/control_client.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <thread>

#include "cardan/clock.hpp"
#include "cardan/error.hpp"
#include "cardan/publisher.hpp"
#include "cardan/stop.hpp"
#include "cardan/subscriber.hpp"
#include "src/base/random.hpp"
#include "src/base/text_of_json.hpp"
#include "src/system/host/control_message.hpp"
#include "src/system/plan/plan_parts.hpp"
#include "src/transport/discovery/closed_topics.hpp"

namespace cardan::host {

using nlohmann::json;
using namespace std::chrono_literals;

namespace {

constexpr const char* kInterrupted = "interrupted before all processes had answered";
constexpr std::uint32_t kMostParts = 4096;  ///< of an answer: 64 MiB

std::string text_of(const json& request) { return text_of_json(request); }

std::int64_t ms_of(std::chrono::nanoseconds time) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(time).count();
}

LauncherReport::Process process_from(const json& p) {
  return {p.at("name"), p.at("state"), p.at("pid"), p.at("restarts")};
}

std::string who_is(const ComponentReport& c) {
  return fmt::format("process {} (pid {}) with component '{}'", c.process, c.pid, c.name);
}

}  // namespace

struct ControlClient::Link {
  explicit Link(const std::string& domain)
      : answers(kAnswers, {.domain = domain, .holds = 4}), requests(kControl, {.domain = domain}) {
    asker = detail::random64();
  }
  Subscriber<ControlMessage> answers;
  Publisher<ControlMessage> requests;
  std::uint64_t asker;
  std::uint32_t number = 0;
};

ControlClient::ControlClient(ControlOptions options)
    : options_(std::move(options)), link_(std::make_unique<Link>(options_.domain)) {}
ControlClient::~ControlClient() = default;

std::vector<ControlClient::Answer> ControlClient::ask(const std::string& request, const std::vector<std::string>& hosts,
                                                      const std::string& only, std::chrono::nanoseconds timeout) {
  const std::int64_t begun = steady_now();
  const std::int64_t until = begun + timeout.count();
  // A process that publishes answers but does not listen must not use up the time of the others.
  const std::int64_t gather_until = begun + std::min<std::int64_t>(timeout.count(), options_.timeout.count()) / 2;
  Link& link = *link_;
  // A host that attaches later gets the request too, as long as this object is there.
  while (link.requests.subscribers() < hosts.size() && steady_now() < gather_until) std::this_thread::sleep_for(1ms);
  Loan<ControlMessage> loan = link.requests.loan();
  if (!loan || request.size() > kControlText)
    throw Error(ErrorCode::InvalidArgument, "the request is too long", "use a shorter value");
  loan->asker = link.asker;
  loan->number = ++link.number;
  loan->host = only;
  loan->text = request;
  link.requests.publish(std::move(loan));

  struct Parts {
    std::uint32_t there = 0;
    std::string text;
  };
  std::map<std::string, Parts> arrived;
  std::vector<Answer> answers;
  const std::size_t wanted = only.empty() ? hosts.size() : 1;
  while (answers.size() < wanted) {
    const std::int64_t left = until - steady_now();
    const Sample<ControlMessage> sample = link.answers.wait(std::chrono::nanoseconds(std::max<std::int64_t>(0, left)));
    if (!sample && (left <= 0 || link.answers.reason() == Reason::Stopped)) break;
    if (!sample || sample->asker != link.asker || sample->number != link.number) continue;
    if (sample->parts > kMostParts || (!only.empty() && sample->host.view() != only)) continue;
    Parts& parts = arrived[std::string(sample->host.view())];
    if (sample->part != parts.there) continue;  // one before was lost: no answer
    parts.text += sample->text.view();
    if (++parts.there == sample->parts) answers.push_back({std::string(sample->host.view()), std::move(parts.text)});
  }
  return answers;
}

template <class All, class Take>
void ControlClient::ask_all(const std::string& request, All& all, Take take) {
  const DomainReport look = look_around({.domain = options_.domain, .timeout = options_.timeout}, kAnswers.name);
  std::vector<std::string>& problems = all.problems = look.problems;
  all.others = users_behind(look, options_.domain);
  std::vector<std::string> hosts;
  for (const PublisherReport& p : look.publishers)  // another user's would never get the request
    if (p.is_owners && std::find(hosts.begin(), hosts.end(), p.process) == hosts.end()) hosts.push_back(p.process);
  if (hosts.empty()) return;
  const std::vector<Answer> answers = ask(request, hosts, "", options_.timeout);
  for (const PublisherReport& p : look.publishers) {
    const auto who = std::find(hosts.begin(), hosts.end(), p.process);
    if (who == hosts.end()) continue;  // a second publisher of the same process
    hosts.erase(who);
    const auto answer =
        std::find_if(answers.begin(), answers.end(), [&](const Answer& a) { return a.host == p.process; });
    if (answer == answers.end() && stopping()) {  // the wait was cut short
      if (problems.empty() || problems.back() != kInterrupted) problems.emplace_back(kInterrupted);
      continue;
    }
    if (answer == answers.end()) {
      problems.push_back(fmt::format(
          "process {} (pid {}) does not answer — it may be stopped (SIGSTOP), or busy with a restart; try again",
          p.program, p.pid));
      continue;
    }
    try {
      take(json::parse(answer->text), Place{p.process, p.program, p.pid});
    } catch (const json::exception& e) {
      problems.push_back(
          fmt::format("the answer of process {} (pid {}) cannot be read: {}", p.program, p.pid, e.what()));
    } catch (const Error& e) {
      problems.push_back(fmt::format("process {} (pid {}): {}", p.program, p.pid, e.what()));
    }
  }
}

std::string ControlClient::ask_one(const std::string& host, const std::string& who, const std::string& request,
                                   std::chrono::nanoseconds within, const char* unanswered) {
  const std::vector<Answer> answers = ask(request, {host}, host, options_.timeout + within);
  if (answers.empty())
    throw Error(ErrorCode::Unavailable, fmt::format("{} does not answer; {}", who, unanswered),
                "cardan component list shows what runs");
  const json answer = json::parse(answers.front().text, nullptr, false);
  if (answer.is_object() && !answer.contains("error")) return answers.front().text;
  const auto is_text = [&](const char* key) { return answer.contains(key) && answer[key].is_string(); };
  if (!answer.is_object() || !is_text("cause") || !is_text("remedy") || !answer["error"].is_number_integer())
    throw Error(ErrorCode::Incompatible, "the answer cannot be read", "use the same version of Cardan on both sides");
  throw Error(static_cast<ErrorCode>(answer["error"].get<int>()), answer["cause"], answer["remedy"]);
}

DomainComponents ControlClient::components(bool files) {
  DomainComponents all;
  ask_all(text_of({{"do", "components"}, {"files", files}}), all, [&](const json& answer, const Place& place) {
    if (answer.is_object() && answer.contains("launcher")) {
      if (answer.contains("changed")) {
        ChangedFiles changed{.system = answer["launcher"], .file = answer.at("file"), .changed = {}};
        for (const json& f : answer["changed"]) changed.changed.push_back({f.at("path"), f.at("what")});
        if (!changed.changed.empty()) all.changed.push_back(std::move(changed));
      }
      if (!answer.contains("down")) return;
      const LauncherReport launcher{
          .system = answer["launcher"], .host = place.host, .pid = place.pid, .processes = {}};
      for (const json& c : answer["down"])
        all.down.push_back(
            {c.at("component"), c.at("class"), c.at("library"), process_from(c.at("process")), launcher});
      return;
    }
    for (ComponentReport& c : components_from_json(answer.at("components").dump())) {
      c.pid = place.pid;  // as it is called here
      all.components.push_back(std::move(c));
    }
    ++all.hosts;
  });
  return all;
}

void ControlClient::set_parameter(const ComponentReport& component, const std::string& parameter,
                                  const config::Value& value, bool keep) {
  json request{{"do", "set"},
               {"component", component.name},
               {"parameter", parameter},
               {"keep", keep},
               {"within_ms", ms_of(options_.change)}};
  std::visit([&](const auto& v) { request["value"] = v; }, value);
  ask_one(component.host, who_is(component), text_of(request), options_.change);
}

ControlClient::Restarted ControlClient::restart_component(const ComponentReport& component) {
  const json request{{"do", "restart"}, {"component", component.name}, {"within_ms", 10'000}};
  const json answer = json::parse(ask_one(component.host, who_is(component), text_of(request), 11s), nullptr, false);
  Restarted restarted;
  if (answer.contains("took_ms") && answer["took_ms"].is_number()) restarted.took_ms = answer["took_ms"];
  if (answer.contains("restarts") && answer["restarts"].is_number_unsigned()) restarted.restarts = answer["restarts"];
  return restarted;
}

void ControlClient::set_log_level(const ComponentReport& component, LogLevel level) {
  const json request{{"do", "log"},
                     {"component", component.name},
                     {"level", static_cast<int>(level)},
                     {"within_ms", ms_of(options_.timeout)}};
  ask_one(component.host, who_is(component), text_of(request), options_.timeout);
}

void ControlClient::crash(const ComponentReport& component) {
  const json request{{"do", "crash"}, {"component", component.name}, {"within_ms", ms_of(options_.timeout)}};
  ask_one(component.host, who_is(component), text_of(request), options_.timeout);
}

DomainLaunchers ControlClient::launchers() {
  DomainLaunchers all;
  ask_all(R"({"do":"processes"})", all, [&](const json& answer, const Place& place) {
    if (!answer.is_object() || !answer.contains("launcher")) return;
    LauncherReport report{.system = answer.at("launcher"), .host = place.host, .pid = place.pid, .processes = {}};
    for (const json& p : answer.at("processes")) report.processes.push_back(process_from(p));
    all.launchers.push_back(std::move(report));
  });
  return all;
}

namespace {

std::string who_is(const LauncherReport& launcher) {
  return fmt::format("cardan run (pid {}) of system '{}'", launcher.pid, launcher.system);
}

}  // namespace

ControlClient::Ordered ControlClient::outcome_of(const LauncherReport& launcher, const std::string& taken,
                                                 std::int64_t until, const std::string& unanswered,
                                                 const std::string& late) {
  json answer = json::parse(taken, nullptr, false);
  if (!answer.contains("order") || !answer["order"].is_number_unsigned())
    throw Error(ErrorCode::Incompatible, "the answer cannot be read", "use the same version of Cardan on both sides");
  const std::string outcome = text_of({{"do", "outcome"}, {"order", answer["order"]}});
  do {
    answer = json::parse(ask_one(launcher.host, who_is(launcher), outcome, 0s, unanswered.c_str()), nullptr, false);
    const auto is = [&](const char* key) { return answer.contains(key) && answer[key] == true; };
    if (is("done"))
      return {.pid = answer.contains("pid") && answer["pid"].is_number_integer() ? answer["pid"].get<int>() : 0,
              .killed = is("killed")};
    std::this_thread::sleep_for(20ms);
  } while (steady_now() < until && !stopping());
  throw Error(ErrorCode::Unavailable, late, "the log of cardan run shows when it has");
}

ControlClient::Ordered ControlClient::order(const LauncherReport& launcher, const std::string& process, bool start,
                                            std::chrono::nanoseconds within) {
  // The launcher begins with it while we wait for its word, or not at all; what follows may take until `within`.
  const json request{
      {"do", start ? "restart process" : "stop process"}, {"process", process}, {"within_ms", ms_of(options_.timeout)}};
  const std::int64_t until = steady_now() + within.count();
  return outcome_of(launcher, ask_one(launcher.host, who_is(launcher), text_of(request), options_.timeout), until,
                    fmt::format("it accepted the order to {} '{}', but did not report the result",
                                start ? "restart" : "stop", process),
                    fmt::format("process '{}' was asked to end{}, but has not done so yet", process,
                                start ? " and to start again" : ""));
}

ControlClient::Offered ControlClient::offer_plan(const LauncherReport& launcher, const plan::Plan& plan) {
  const std::vector<std::string> parts = plan::parts_of(plan::encode(plan));
  Offered offered{.offer = link_->asker ^ static_cast<std::uint64_t>(steady_now()), .difference = {}};
  std::string answer;
  for (std::size_t i = 0; i < parts.size(); ++i)
    answer = ask_one(launcher.host, who_is(launcher),
                     text_of({{"do", "offer plan"},
                              {"offer", offered.offer},
                              {"part", i},
                              {"parts", parts.size()},
                              {"digits", parts[i]}}),
                     0s, "nothing is changed");
  try {
    offered.difference = plan::difference_from_json(json::parse(answer).at("difference").dump());
  } catch (const std::exception&) {
    throw Error(ErrorCode::Incompatible, "the answer cannot be read", "use the same version of Cardan on both sides");
  }
  return offered;
}

ControlClient::Ordered ControlClient::apply_plan(const LauncherReport& launcher, std::uint64_t offer,
                                                 std::chrono::nanoseconds within) {
  const json request{{"do", "apply plan"}, {"offer", offer}, {"within_ms", ms_of(options_.timeout)}};
  const std::int64_t until = steady_now() + within.count();
  return outcome_of(launcher, ask_one(launcher.host, who_is(launcher), text_of(request), options_.timeout), until,
                    "it accepted the plan, but did not report the result",
                    "not all processes have ended and started as the plan says yet");
}

}  // namespace cardan::host
