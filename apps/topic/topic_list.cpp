// SPDX-License-Identifier: Apache-2.0
// `cardan topic list`, and the message about topics that are not there.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "apps/component/others.hpp"
#include "apps/decode.hpp"
#include "apps/report_json.hpp"
#include "apps/run_place.hpp"
#include "apps/terminal/output.hpp"
#include "apps/topic/topic.hpp"
#include "cardan/clock.hpp"
#include "cardan/observer.hpp"
#include "src/transport/discovery/closed_topics.hpp"

namespace cardan::apps {
namespace {

using nlohmann::ordered_json;

std::size_t distance(const std::string& a, const std::string& b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t change = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = std::exchange(row[j], std::min({row[j] + 1, row[j - 1] + 1, change}));
    }
  }
  return row.back();
}

}  // namespace

std::string delivery(const PublisherReport& p) {
  return fmt::format("{}, {}", p.depth == 1 ? "freshest only" : fmt::format("last {}", p.depth),
                     p.reliable ? "reliable" : "best effort");
}

void warn_of(const DomainReport& report, const std::string& domain) {
  for (const std::string& problem : report.problems) warn(problem);
  warn_of_closed(report, domain);
}

void warn_of_closed(const DomainReport& report, const std::string& domain) {
  if (report.closed.empty()) return;
  const std::vector<uid_t> users = users_behind(report, domain);
  warn(fmt::format("not open to this user: {} — {} publish{} them; set the topics' access, or {}",
                   fmt::join(report.closed, ", "), names_of(users), users.size() > 1 ? "" : "es", as_user(users)));
}

int no_such_topic(const std::string& domain, const std::string& topic) {
  const DomainReport all = look_around({.domain = domain});
  std::string nearest;
  std::size_t best = std::max<std::size_t>(topic.size() / 3, 2) + 1;
  for (const PublisherReport& p : all.publishers) {
    const std::size_t far = distance(topic, p.topic);
    if (far < best || p.topic == "/" + topic) {
      best = p.topic == "/" + topic ? 0 : far;
      nearest = p.topic;
    }
  }
  if (std::find(all.closed.begin(), all.closed.end(), topic) != all.closed.end()) {
    warn(fmt::format("'{}' is published, but its access rule does not admit this user — set the topic's access, or {}",
                     topic, as_user(users_behind(all, domain))));
    return kFailed;
  }
  for (const std::string& problem : all.problems) warn(problem);
  warn_of_closed(all, domain);
  warn(fmt::format("nobody publishes '{}' in {} — {}", topic, all.run_directory,
                   !nearest.empty() ? fmt::format("did you mean {}?", nearest)
                   : all.publishers.empty()
                       ? why_none({}, "check CARDAN_RUN_DIR and the domain.")
                       : "`cardan topic list` shows the topics; check CARDAN_RUN_DIR and the domain"));
  return kFailed;
}

int topic_list(const ListOptions& o) {
  DomainReport report;
  if (nothing_runs_yet())
    report.run_directory = printable(named_run_directory());
  else
    report = look_around({.domain = o.domain});
  warn_of(report, o.domain);
  std::map<std::string, std::vector<const PublisherReport*>> topics;
  for (const PublisherReport& p : report.publishers) topics[p.topic].push_back(&p);
  const auto readers = [](const std::vector<const PublisherReport*>& publishers) {
    // A subscriber is attached to each publisher of the topic: the largest number is that of the topic.
    std::size_t most = 0;
    for (const PublisherReport* p : publishers) most = std::max<std::size_t>(most, p->subscribers.size() + p->left_out);
    return most;
  };
  if (o.names) {
    std::string all;
    for (const auto& [name, publishers] : topics) all += printable(name) + "\n";
    return emit(all) ? kOk : kFailed;
  }
  if (o.json) {
    ordered_json list = ordered_json::array();
    for (const auto& [name, publishers] : topics) {
      ordered_json of = ordered_json::array();
      for (const PublisherReport* p : publishers) of.push_back(publisher_json(*p));
      list.push_back({{"topic", name},
                      {"type", publishers.front()->type},
                      {"subscribers", readers(publishers)},
                      {"publishers", of}});
    }
    return emit(one_line({{"run_directory", report.run_directory},
                          {"topics", list},
                          {"closed", report.closed},
                          {"problems", report.problems}}) +
                "\n")
               ? kOk
               : kFailed;
  }
  if (topics.empty())
    return emit(report.closed.empty()
                    ? fmt::format("no topics in {} — {}\n", report.run_directory,
                                  why_none({}, "check CARDAN_RUN_DIR and the domain."))
                    : fmt::format("no topics in {} that are open to this user\n", report.run_directory))
               ? kOk
               : kFailed;
  Table table(o.verbose ? std::vector<Table::Column>{{"TOPIC"},
                                                     {"TYPE"},
                                                     {"PROGRAM"},
                                                     {"PID", true},
                                                     {"DELIVERY"},
                                                     {"PUBLISHED", true},
                                                     {"LAST", true},
                                                     {"SUBSCRIBERS"}}
                        : std::vector<Table::Column>{{"TOPIC"}, {"TYPE"}, {"PUBLISHERS", true}, {"SUBSCRIBERS", true}});
  for (const auto& [name, publishers] : topics) {
    std::set<std::string> types;
    for (const PublisherReport* p : publishers) types.insert(p->type);
    if (!o.verbose) {
      table.row({printable(name), printable(fmt::format("{}", fmt::join(types, ", "))),
                 std::to_string(publishers.size()), std::to_string(readers(publishers))});
      continue;
    }
    for (const PublisherReport* p : publishers) {
      std::string who;
      for (const SubscriberReport& s : p->subscribers)
        who += fmt::format("{}{} ({})", who.empty() ? "" : ", ", printable(s.name), s.pid);
      if (p->left_out != 0) who += fmt::format(" and {} more", p->left_out);
      const std::string last =
          p->published == 0 ? "-" : time_text(static_cast<double>(steady_now() - p->heartbeat_ns)) + " ago";
      table.row({printable(name), printable(p->type), printable(p->program), std::to_string(p->pid), delivery(*p),
                 std::to_string(p->published), last, who.empty() ? "-" : who});
    }
  }
  return emit(table.shown()) ? kOk : kFailed;
}

}  // namespace cardan::apps
