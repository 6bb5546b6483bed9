// SPDX-License-Identifier: Apache-2.0
#include "apps/top/figures.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <set>

#include "apps/component/component_chains.hpp"
#include "apps/component/component_fusions.hpp"
#include "apps/report_json.hpp"
#include "apps/run_place.hpp"
#include "apps/terminal/losses.hpp"
#include "cardan/clock.hpp"
#include "cardan/error.hpp"
#include "src/transport/endpoint/publisher_contract.hpp"
#include "src/transport/service/found_service.hpp"

namespace cardan::apps::top {
namespace {

using namespace std::chrono_literals;

std::uint64_t less(std::uint64_t now, std::uint64_t before) { return now - std::min(now, before); }

void add(LatencyHistogram& into, const LatencyHistogram& more) {
  if (into.empty()) {
    into = more;
    return;
  }
  std::map<std::uint32_t, std::uint64_t> counts(into.begin(), into.end());
  for (const auto& [bucket, count] : more) counts[bucket] += count;
  into.assign(counts.begin(), counts.end());
}

/// By the middles of the buckets; 0 of an empty one.
double mean_ns(const LatencyHistogram& histogram) {
  double sum = 0;
  std::uint64_t all = 0;
  for (const auto& [bucket, count] : histogram) {
    sum += static_cast<double>(count) * static_cast<double>(latency_percentile({{bucket, 1}}, 50));
    all += count;
  }
  return all == 0 ? 0 : sum / static_cast<double>(all);
}

/// This process asks the components and so has its own endpoints. The view leaves them out.
bool is_own(const PublisherReport& publisher) {
  return publisher.pid == ::getpid() && publisher.topic.starts_with("/cardan/");
}

std::uint64_t lost_in(const host::CallbackReport& callback) {
  return callback.kind == host::CallbackReport::Kind::Timer ? callback.overruns : lost_of(callback);
}

/// The increase since the report that had `before`; all of it, if the callback was not there.
host::CallbackReport since(const host::CallbackReport& now, const std::vector<host::CallbackReport>& before) {
  const auto same = std::find_if(before.begin(), before.end(), [&](const auto& one) { return one.name == now.name; });
  return same == before.end() ? now : apps::less(now, *same);
}

}  // namespace

Writer Collector::measure(const PublisherReport& now, double seconds) const {
  Writer writer{.now = now, .latency = now.latency, .age = now.age, .readers = {}};
  const auto old = publishers_.find({now.process, now.serial});
  std::vector<SubscriberReport> earlier;
  if (old != publishers_.end()) {
    writer.latency = apps::less(now.latency, old->second.latency);
    writer.age = apps::less(now.age, old->second.age);
    writer.rate_hz = static_cast<double>(less(now.published, old->second.published)) / seconds;
    writer.bytes_per_s = static_cast<double>(less(now.bytes, old->second.bytes)) / seconds;
    earlier = old->second.subscribers;
  }
  for (const SubscriberReport& s : now.subscribers) {
    if (s.pid == ::getpid()) continue;
    Reader reader{.now = s, .latency = s.latency, .age = s.age};
    const auto same = std::find_if(earlier.begin(), earlier.end(), [&](const SubscriberReport& e) {
      return e.pid == s.pid && e.name == s.name && e.received <= s.received;
    });
    if (same != earlier.end()) {
      reader.received = s.received - same->received;
      reader.lost = less(s.missed, same->missed) + less(s.bad, same->bad);
      reader.latency = apps::less(s.latency, same->latency);
      reader.age = apps::less(s.age, same->age);
      earlier.erase(same);  // a program may subscribe twice
    } else if (old != publishers_.end()) {
      reader.received = s.received;
      reader.lost = s.missed + s.bad;
    }
    writer.readers.push_back(std::move(reader));
  }
  return writer;
}

void Collector::add_service(Figures& into, const PublisherReport& card) {
  const ServiceReport& now = card.service;
  const auto failed = [](const ServiceReport& r) { return r.declined + r.expired; };
  const auto old = publishers_.find({card.process, card.serial});
  const bool is_first = looked_ns_ == 0;
  const ServiceReport before = old != publishers_.end() ? old->second.service : is_first ? now : ServiceReport{};
  const ServiceReport& first = first_of_services_.try_emplace({card.process, card.serial}, before).first->second;
  ServiceFigures figures{.name = detail::service_of(card.topic), .server = card, .counts = now};
  figures.counts.taken = less(now.taken, before.taken);
  figures.counts.answered = less(now.answered, before.answered);
  figures.counts.declined = less(now.declined, before.declined);
  figures.counts.expired = less(now.expired, before.expired);
  figures.counts.answer = apps::less(now.answer, before.answer);
  figures.rate_hz = static_cast<double>(figures.counts.answered) / std::max(into.seconds, 1e-3);
  figures.failed = failed(figures.counts);
  figures.failed_all = less(failed(now), failed(first));
  std::erase_if(figures.server.subscribers, [](const SubscriberReport& s) { return s.pid == ::getpid(); });
  into.services.push_back(std::move(figures));
}

void Collector::add_topics(Figures& into) {
  const DomainReport report = look_around({.domain = domain_, .timeout = 500ms}, std::string(detail::kEverything));
  const std::int64_t now = steady_now();
  into.seconds = looked_ns_ == 0 ? 0 : static_cast<double>(now - looked_ns_) / 1e9;
  into.problems = report.problems;
  for (const std::string& name : report.closed)
    if (!detail::is_of_service(name)) into.closed.push_back(name);
  std::map<std::string, TopicFigures> topics;
  for (const PublisherReport& p : report.publishers) {
    if (is_own(p)) continue;
    if (detail::is_of_service(p.topic)) {
      add_service(into, p);
      continue;
    }
    TopicFigures& topic = topics[p.topic];
    if (topic.type.find(p.type) == std::string::npos) topic.type += (topic.type.empty() ? "" : ", ") + p.type;
    Writer writer = measure(p, std::max(into.seconds, 1e-3));
    topic.rate_hz += writer.rate_hz;
    topic.bytes_per_s += writer.bytes_per_s;
    topic.readers += writer.readers.size() + p.left_out;
    for (const Reader& reader : writer.readers) topic.lost += reader.lost;
    add(topic.latency, writer.latency);
    add(topic.age, writer.age);
    topic.writers.push_back(std::move(writer));
  }
  std::map<std::string, std::uint64_t> lost;
  for (auto& [name, topic] : topics) {
    const auto before = lost_of_topics_.find(name);
    topic.lost_all = topic.lost + (before == lost_of_topics_.end() ? 0 : before->second);
    lost[name] = topic.lost_all;
    into.lost += topic.lost;
    topic.name = name;
    into.topics.push_back(std::move(topic));
  }
  lost_of_topics_ = std::move(lost);
  publishers_.clear();
  for (const PublisherReport& p : report.publishers) publishers_[{p.process, p.serial}] = p;
  std::erase_if(first_of_services_, [&](const auto& one) { return !publishers_.contains(one.first); });
  std::ranges::sort(into.services, {}, &ServiceFigures::name);
  looked_ns_ = now;
}

void Collector::add_chains(Figures& into, const host::ComponentReport& now, const host::ComponentReport* before,
                           double seconds) {
  std::vector<host::ChainReport> chains = now.chains;
  if (before != nullptr) subtract(chains, before->chains);
  for (host::ChainReport& chain : chains) {
    std::uint64_t& late = late_[{now.name, chain.chain}];
    if (seconds > 0) late += chain.late;
    const double rate = seconds > 0 ? static_cast<double>(chain.publications) / seconds : 0;
    into.chains.push_back({.component = now.name,
                           .process = now.process,
                           .pid = now.pid,
                           .counts = std::move(chain),
                           .rate_hz = rate,
                           .late_all = late});
  }
}

void Collector::add_callbacks(Figures& into) {
  host::DomainComponents there;
  try {
    if (!client_)
      client_ = std::make_unique<host::ControlClient>(host::ControlOptions{.domain = domain_, .timeout = 300ms});
    there = client_->components();
    launchers_ = client_->launchers();
  } catch (const Error& e) {
    into.problems.emplace_back(e.what());
    return;
  }
  into.problems.insert(into.problems.end(), there.problems.begin(), there.problems.end());
  const std::int64_t now = steady_now();
  const double seconds = asked_ns_ == 0 ? 0 : static_cast<double>(now - asked_ns_) / 1e9;
  std::map<CallbackKey, std::pair<std::uint64_t, std::uint64_t>> lost;
  for (const host::ComponentReport& c : there.components) {
    const auto old = std::find_if(components_.begin(), components_.end(), [&](const host::ComponentReport& b) {
      return b.name == c.name && b.host == c.host && b.restarts == c.restarts;
    });
    for (const host::CallbackReport& x : c.callbacks) {
      CallbackFigures figures{.component = c.name, .process = c.process, .pid = c.pid, .counts = x};
      if (old != components_.end()) figures.counts = since(x, old->callbacks);
      const auto before = lost_of_callbacks_.find({c.name, x.name});
      auto& all = lost[{c.name, x.name}];
      if (before != lost_of_callbacks_.end()) all = before->second;
      if (seconds > 0) {
        figures.rate_hz = static_cast<double>(figures.counts.calls) / seconds;
        if (!figures.counts.running.empty())
          figures.busy_percent = mean_ns(figures.counts.running) * figures.rate_hz / 1e7;
        all.first += lost_in(figures.counts);
        all.second += figures.counts.failures;
        into.lost += lost_of(figures.counts);
      }
      figures.lost_all = all.first;
      figures.failed_all = all.second;
      into.callbacks.push_back(std::move(figures));
    }
    add_chains(into, c, old != components_.end() ? &*old : nullptr, seconds);
  }
  lost_of_callbacks_ = std::move(lost);
  std::erase_if(late_, [&](const auto& one) {  // of those that are gone, nothing is kept
    return std::none_of(into.chains.begin(), into.chains.end(),
                        [&](const ChainFigures& c) { return CallbackKey{c.component, c.counts.chain} == one.first; });
  });
  components_ = std::move(there.components);
  asked_ns_ = now;
}

void Collector::add_processes(Figures& into) {
  std::map<int, ProcessFigures> running;
  for (const TopicFigures& topic : into.topics)
    for (const Writer& writer : topic.writers) {
      ProcessFigures& process = running[writer.now.pid];
      process.name = process.program = writer.now.program;
      ++process.publishes;
      process.out_hz += writer.rate_hz;
      process.out_bytes_per_s += writer.bytes_per_s;
    }
  for (const TopicFigures& topic : into.topics)
    for (const Writer& writer : topic.writers)
      for (const Reader& reader : writer.readers) {
        ProcessFigures& process = running[reader.now.pid];
        if (process.name.empty()) process.name = process.program = reader.now.name;
        ++process.subscribes;
      }
  for (const host::ComponentReport& component : components_) {
    ProcessFigures& process = running[component.pid];
    process.name = component.process;
    process.components.push_back(component.name);
  }
  for (const host::LauncherReport& launcher : launchers_.launchers)
    for (const host::LauncherReport::Process& p : launcher.processes) {
      ProcessFigures& process = p.pid != 0 ? running[p.pid] : into.processes.emplace_back();
      process.name = p.name;
      process.state = p.state;
      process.restarts = p.restarts;
    }
  std::map<int, Used> used;
  for (auto& [pid, process] : running) {
    process.pid = pid;
    if (used.size() == kMostProcesses) {
      ++into.left_out;
    } else if (const auto usage = launcher::usage_of(pid)) {
      const std::int64_t now = steady_now();
      if (const auto before = used_.find(pid);
          before != used_.end() && usage->cpu_seconds >= before->second.usage.cpu_seconds)
        process.cpu_percent = 1e11 * (usage->cpu_seconds - before->second.usage.cpu_seconds) /
                              static_cast<double>(std::max<std::int64_t>(now - before->second.at_ns, 1));
      process.memory_bytes = usage->memory_bytes;
      used[pid] = {*usage, now};
    }
    into.processes.push_back(std::move(process));
  }
  used_ = std::move(used);
}

void keep_silent(Figures& into, const std::vector<ProcessFigures>& before, bool (*is_there)(int pid)) {
  const auto is_named = [&](int pid) {
    const std::string words = fmt::format("(pid {})", pid);
    return std::any_of(into.problems.begin(), into.problems.end(),
                       [&](const std::string& problem) { return problem.find(words) != std::string::npos; });
  };
  const auto is_listed = [&](int pid) {
    return std::any_of(into.processes.begin(), into.processes.end(),
                       [&](const ProcessFigures& process) { return process.pid == pid; });
  };
  if (into.problems.empty()) return;
  for (const ProcessFigures& process : before) {
    if (process.pid == 0 || is_listed(process.pid) || !is_named(process.pid) || !is_there(process.pid)) continue;
    ProcessFigures& kept = into.processes.emplace_back();
    kept.name = process.name;
    kept.program = process.program;
    kept.pid = process.pid;
    kept.restarts = process.restarts;
    kept.memory_bytes = process.memory_bytes;
  }
  for (ProcessFigures& process : into.processes)
    if (process.pid != 0 && is_named(process.pid)) process.state = "no answer";
}

Figures Collector::look() {
  Figures figures;
  if (const std::string why = why_nothing_runs(); !why.empty()) {
    const std::int64_t now = steady_now();
    figures.seconds = looked_ns_ == 0 ? 0 : static_cast<double>(now - looked_ns_) / 1e9;
    figures.time_ns = wall_now();
    figures.problems.push_back(why);
    looked_ns_ = now;
    return figures;
  }
  add_topics(figures);
  add_callbacks(figures);
  add_processes(figures);
  keep_silent(figures, processes_, [](int pid) { return launcher::usage_of(pid).has_value(); });
  processes_ = figures.processes;
  figures.time_ns = wall_now();
  return figures;
}

}  // namespace cardan::apps::top
