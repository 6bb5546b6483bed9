// SPDX-License-Identifier: Apache-2.0
// `cardan service list` and `info`.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>

#include "apps/component/others.hpp"
#include "apps/decode.hpp"
#include "apps/run_place.hpp"
#include "apps/service/service.hpp"
#include "apps/terminal/output.hpp"
#include "cardan/clock.hpp"
#include "cardan/observer_report.hpp"
#include "src/base/socket.hpp"
#include "src/config/suggest.hpp"
#include "src/transport/endpoint/publisher_contract.hpp"

namespace cardan::apps {
namespace {

using detail::service_of;
using nlohmann::ordered_json;

DomainReport cards(const std::string& domain) {
  DomainReport report = look_around({.domain = domain}, std::string(detail::kAllServices));
  for (std::string& name : report.closed) name = service_of(name);
  return report;
}

/// Time to read descriptions, for all together: any process can list many, and answer slowly.
class Patience {
 public:
  [[nodiscard]] bool is_over() const noexcept { return steady_now() >= until_; }
  static constexpr std::chrono::milliseconds kOfOne{500};

 private:
  std::int64_t until_ = steady_now() + 3'000'000'000;
};

/// Without types: the server has ended meanwhile, its card is malformed, or the time is over.
FoundService described(const std::string& domain, const PublisherReport& server, const Patience& patience) {
  if (patience.is_over()) return {.name = service_of(server.topic), .server = server};
  return detail::read_card(domain, server, Patience::kOfOne);
}

/// "map_server", "map_server of user 'robot' (1000)"
std::string server_text(const FoundService& s) {
  return printable(s.server.program) + (s.is_ours() ? std::string() : " of " + names_of({s.server.uid}));
}

void warn_of_problems(const DomainReport& report) {
  for (const std::string& problem : report.problems) warn(problem);
  if (!report.closed.empty())
    warn(fmt::format("not open to this user: {} — their access rules do not admit it", fmt::join(report.closed, ", ")));
}

ordered_json side_json(const FoundService::Side& side) {
  return {{"type", side.type}, {"layout", fmt::format("{:016x}", side.layout)}, {"max_bytes", side.max_bytes}};
}

ordered_json statistics_json(const ServiceReport& r) {
  const auto us = [](std::int64_t ns) { return ns < 0 ? ordered_json() : ordered_json(static_cast<double>(ns) / 1e3); };
  return {{"taken", r.taken},
          {"answered", r.answered},
          {"declined", r.declined},
          {"expired", r.expired},
          {"answer_us",
           {{"p50", us(latency_percentile(r.answer, 50))},
            {"p99", us(latency_percentile(r.answer, 99))},
            {"longest", us(r.answer.empty() ? -1 : r.longest_ns)}}}};
}

/// "12.3 µs", "-"
std::string answer_time(const ServiceReport& r, double percent) {
  return time_text(static_cast<double>(latency_percentile(r.answer, percent)));
}

ordered_json service_json(const FoundService& s) {
  ordered_json clients = ordered_json::array();
  for (const SubscriberReport& client : s.server.subscribers)
    clients.push_back({{"name", client.name}, {"pid", client.pid}, {"uid", client.uid}});
  return {{"service", s.name},
          {"server", s.server.program},
          {"pid", s.server.pid},
          {"uid", s.server.uid},
          {"question", side_json(s.question)},
          {"answer", side_json(s.answer)},
          {"pending", s.pending},
          {"statistics", statistics_json(s.server.service)},
          {"clients", clients},
          {"clients_left_out", s.server.left_out}};
}

std::vector<FoundService> all_services(const std::string& domain, const DomainReport& report) {
  const Patience patience;
  std::vector<FoundService> all;
  for (const PublisherReport& server : report.publishers) all.push_back(described(domain, server, patience));
  return all;
}

}  // namespace

std::optional<FoundService> find_service(const std::string& domain, const std::string& service, bool others) {
  const DomainReport report = cards(domain);
  const Patience patience;
  std::vector<std::string> known;
  std::optional<FoundService> foreign;
  for (const PublisherReport& server : report.publishers) {
    known.push_back(service_of(server.topic));
    if (known.back() != service) continue;
    FoundService found = described(domain, server, patience);
    if (!found.is_described()) continue;
    if (found.is_ours()) return found;
    foreign = std::move(found);
  }
  if (foreign && others) return foreign;
  warn_of_problems(report);
  if (foreign) {
    warn(fmt::format("'{}' is served by {} (pid {}) of {} only — --others asks it, or {}", service,
                     foreign->server.program, foreign->server.pid, names_of({foreign->server.uid}),
                     as_user({foreign->server.uid})));
    return std::nullopt;
  }
  const std::string near = config::nearest(service, known);
  const bool silent = std::find(known.begin(), known.end(), service) != known.end();
  warn(silent ? fmt::format("the server of '{}' does not describe it — it may be stopped: `cardan doctor` shows that",
                            service)
              : fmt::format("'{}' has no server in {} — {}", service, report.run_directory,
                            !near.empty() ? fmt::format("did you mean {}?", near)
                                          : "`cardan service list` shows the services; check CARDAN_RUN_DIR and the "
                                            "domain"));
  return std::nullopt;
}

int service_list(const ServiceListOptions& o) {
  DomainReport report;
  if (nothing_runs_yet())
    report.run_directory = printable(named_run_directory());
  else
    report = cards(o.domain);
  warn_of_problems(report);
  if (o.names) {
    std::string text;
    for (const PublisherReport& server : report.publishers) text += printable(service_of(server.topic)) + "\n";
    return emit(text) ? kOk : kFailed;
  }
  const std::vector<FoundService> services = all_services(o.domain, report);
  if (o.json) {
    ordered_json list = ordered_json::array();
    for (const FoundService& s : services) list.push_back(service_json(s));
    return emit(one_line({{"run_directory", report.run_directory},
                          {"services", list},
                          {"closed", report.closed},
                          {"problems", report.problems}}) +
                "\n")
               ? kOk
               : kFailed;
  }
  if (services.empty())
    return emit(fmt::format("no services in {} — check CARDAN_RUN_DIR and the domain\n", report.run_directory))
               ? kOk
               : kFailed;
  Table table({{"SERVICE"},
               {"QUESTION"},
               {"ANSWER"},
               {"SERVER"},
               {"PID", true},
               {"CLIENTS", true},
               {"ANSWERED", true},
               {"FAILED", true},
               {"p50", true},
               {"p99", true}});
  for (const FoundService& s : services) {
    const ServiceReport& r = s.server.service;
    table.row({printable(s.name), printable(s.question.type), printable(s.answer.type), server_text(s),
               std::to_string(s.server.pid), std::to_string(s.server.subscribers.size() + s.server.left_out),
               std::to_string(r.answered), std::to_string(r.declined + r.expired), answer_time(r, 50),
               answer_time(r, 99)});
  }
  return emit(table.shown()) ? kOk : kFailed;
}

int service_info(const ServiceInfoOptions& o) {
  const std::optional<FoundService> found = find_service(o.domain, o.service, o.others);
  if (!found) return kFailed;
  const FoundService& s = *found;
  if (o.json) {
    ordered_json all = service_json(s);
    if (o.schema) {
      all["question"]["schema"] = s.question.schema;
      all["answer"]["schema"] = s.answer.schema;
    }
    return emit(one_line(all) + "\n") ? kOk : kFailed;
  }
  std::string text = fmt::format("{}\n  server    {} (pid {})\n", printable(s.name), server_text(s), s.server.pid);
  text += fmt::format("  question  {}, at most {} bytes beyond its fixed part, {} of a client without an answer\n",
                      printable(s.question.type), s.question.max_bytes, s.pending);
  text += fmt::format("  answer    {}, at most {} bytes beyond its fixed part\n", printable(s.answer.type),
                      s.answer.max_bytes);
  const ServiceReport& r = s.server.service;
  text += fmt::format("  answered  {} of {} questions, {} declined; {} were overdue or cancelled before\n", r.answered,
                      r.taken, r.declined, r.expired);
  if (!r.answer.empty())
    text += fmt::format("  in        {} (p50), {} (p99), {} at most, from asked to answered\n", answer_time(r, 50),
                        answer_time(r, 99), time_text(static_cast<double>(r.longest_ns)));
  for (const SubscriberReport& client : s.server.subscribers)
    text += fmt::format("  client    {} (pid {})\n", printable(client.name), client.pid);
  if (s.server.left_out != 0) text += fmt::format("  and {} more clients\n", s.server.left_out);
  if (o.schema)
    text += fmt::format("\n{}\n---\n{}", printable_lines(s.question.schema), printable_lines(s.answer.schema));
  return emit(text) ? kOk : kFailed;
}

}  // namespace cardan::apps
