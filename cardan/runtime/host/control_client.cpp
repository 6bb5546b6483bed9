// SPDX-License-Identifier: Apache-2.0
#include "cardan/runtime/host/control_client.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <thread>

#include "cardan/memory/error.hpp"
#include "cardan/runtime/host/control_message.hpp"
#include "cardan/transport/publisher.hpp"
#include "cardan/transport/subscriber.hpp"

namespace cardan::host {

using nlohmann::json;

struct ControlClient::Link {
  explicit Link(const std::string& domain)
      : answers(kAnswers, {.domain = domain, .holds = 4}), requests(kControl, {.domain = domain}) {
    std::random_device random;
    asker = static_cast<std::uint64_t>(random()) << 32U | random();
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
  const std::int64_t until = steady_now() + timeout.count();
  Link& link = *link_;
  // A host that attaches later gets the request too, as long as this object is there.
  while (link.requests.subscribers() < hosts.size() && steady_now() < until)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
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
    Parts& parts = arrived[std::string(sample->host.view())];
    if (sample->part != parts.there) continue;  // one before was lost: no answer
    parts.text += sample->text.view();
    if (++parts.there == sample->parts) answers.push_back({std::string(sample->host.view()), std::move(parts.text)});
  }
  return answers;
}

DomainComponents ControlClient::components() {
  DomainComponents all;
  const DomainReport look = look_around({.domain = options_.domain, .timeout = options_.timeout}, kAnswers.name);
  all.problems = look.problems;
  std::vector<std::string> hosts;
  for (const PublisherReport& p : look.publishers) hosts.push_back(p.process);
  if (hosts.empty()) return all;
  const std::vector<Answer> answers = ask(R"({"do":"components"})", hosts, "", options_.timeout);
  for (const PublisherReport& p : look.publishers) {
    const auto answer =
        std::find_if(answers.begin(), answers.end(), [&](const Answer& a) { return a.host == p.process; });
    if (answer == answers.end()) {
      all.problems.push_back(
          fmt::format("process {} (pid {}) does not answer — is it stopped (SIGSTOP), or busy with a "
                      "restart? Ask again",
                      p.program, p.pid));
      continue;
    }
    ++all.hosts;
    try {
      for (ComponentReport& c : components_from_json(json::parse(answer->text).at("components").dump())) {
        c.pid = p.pid;  // as it is called here
        all.components.push_back(std::move(c));
      }
    } catch (const json::exception& e) {
      all.problems.push_back(
          fmt::format("process {} (pid {}) answers what cannot be read: {}", p.program, p.pid, e.what()));
    } catch (const Error& e) {
      all.problems.push_back(fmt::format("process {} (pid {}): {}", p.program, p.pid, e.what()));
    }
  }
  return all;
}

void ControlClient::set_parameter(const ComponentReport& component, const std::string& parameter,
                                  const config::Value& value) {
  json request{{"do", "set"}, {"component", component.name}, {"parameter", parameter}};
  std::visit([&](const auto& v) { request["value"] = v; }, value);
  const std::vector<Answer> answers = ask(request.dump(-1, ' ', false, json::error_handler_t::replace),
                                          {component.host}, component.host, options_.timeout + std::chrono::seconds{2});
  if (answers.empty())
    throw Error(ErrorCode::Unavailable,
                fmt::format("process {} (pid {}) with component '{}' does not answer", component.process, component.pid,
                            component.name),
                "cardan component list shows what runs");
  const json answer = json::parse(answers.front().text, nullptr, false);
  if (answer.is_object() && !answer.contains("error")) return;
  const auto is_text = [&](const char* key) { return answer.contains(key) && answer[key].is_string(); };
  if (!answer.is_object() || !is_text("cause") || !is_text("remedy") || !answer["error"].is_number_integer())
    throw Error(ErrorCode::Incompatible, "the answer cannot be read", "use the same version of Cardan on both sides");
  throw Error(static_cast<ErrorCode>(answer["error"].get<int>()), answer["cause"], answer["remedy"]);
}

}  // namespace cardan::host
