// SPDX-License-Identifier: Apache-2.0
#include "apps/run/component_watch.hpp"

#include <algorithm>
#include <chrono>
#include <exception>
#include <utility>

#include "apps/component/component_fusions.hpp"
#include "apps/terminal/losses.hpp"
#include "cardan/clock.hpp"
#include "src/system/host/control_client.hpp"

namespace cardan::apps {
namespace {

using namespace std::chrono_literals;

ComponentRow row_of(const host::ComponentReport& report) {
  ComponentRow row{.process = report.process, .component = report.name};
  const auto worst = [](std::int64_t& into, const LatencyHistogram& histogram) {
    into = std::max(into, latency_percentile(histogram, 99));
  };
  for (const host::CallbackReport& callback : report.callbacks) {
    worst(row.transport_ns, callback.transport);
    worst(row.waiting_ns, callback.waiting);
    worst(row.running_ns, callback.running);
    row.lost += lost_of(callback);
    row.failures += callback.failures;
    if (hangs(callback)) row.hangs_ns = std::max(row.hangs_ns, callback.running_since);
  }
  return row;
}

}  // namespace

ComponentWatch::ComponentWatch(std::string domain) : thread_([this, domain = std::move(domain)] { serve(domain); }) {}

ComponentWatch::~ComponentWatch() {
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  wake_.notify_all();
  thread_.join();
}

std::vector<ComponentRow> ComponentWatch::rows() {
  const std::lock_guard lock(mutex_);
  return rows_;
}

void ComponentWatch::serve(const std::string& domain) {
  struct Before {
    std::uint64_t calls = 0;
    std::int64_t at_ns = 0;
  };
  std::map<std::pair<std::string, int>, Before> before;  // by component and pid: a restart starts from zero
  std::unique_ptr<host::ControlClient> client;
  std::unique_lock lock(mutex_);
  while (!wake_.wait_for(lock, 1s, [this] { return ends_; })) {
    lock.unlock();
    std::vector<ComponentRow> rows;
    try {
      if (!client)
        client = std::make_unique<host::ControlClient>(host::ControlOptions{.domain = domain, .timeout = 300ms});
      const auto answer = client->components();
      const std::int64_t now = steady_now();
      for (const host::ComponentReport& report : answer.components) {
        rows.push_back(row_of(report));
        Before& last = before[{report.name, report.pid}];
        const std::uint64_t calls = calls_of(report);
        if (last.at_ns != 0 && calls >= last.calls)
          rows.back().calls_per_s =
              static_cast<double>(calls - last.calls) * 1e9 / static_cast<double>(now - last.at_ns);
        last = {calls, now};
      }
    } catch (const std::exception&) {
      rows.clear();  // nobody runs yet, or any more: the table has no rows of components then
    }
    lock.lock();
    rows_ = std::move(rows);
  }
}

}  // namespace cardan::apps
