// SPDX-License-Identifier: Apache-2.0
#include "demo/processes/priorities.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <thread>

namespace cardan::street {

std::string priorities_text(const RealtimeReport& asked) {
  constexpr const char* kUrgent = "LiDAR, obstacles and decision run before";
  constexpr const char* kBehind = "the detector after the others";
  if (asked.grants.empty()) return "Priorities: none.\n";
  const RealtimeGrant& first = asked.grants.front();
  const RealtimeGrant& last = asked.grants.back();
  if (first.granted)
    return fmt::format("Priorities: {} all ordinary threads ({}), {}.\n", kUrgent, first.what, kBehind);
  std::string text = last.granted ? fmt::format("Priorities: {} others ({}), {}.\n", kUrgent, last.what, kBehind)
                                  : fmt::format("Priorities: only {}.\n", kBehind);
  for (const RealtimeGrant& grant : asked.grants)
    if (!grant.granted) text += fmt::format("  {} is not permitted: {} — {}\n", grant.what, grant.cause, grant.remedy);
  return text + "  `cardan doctor` says what else this computer lacks.\n";
}

RealtimeReport ask_for_priorities(const config::Configuration& configuration) {
  RealtimeOptions most;
  for (const config::Process& process : configuration.processes)
    for (const config::Group& group : process.groups) {
      if (group.policy.value_or(config::Policy::Other) == config::Policy::Fifo)
        most.priority = std::max(most.priority, group.priority.value_or(0));
      most.nice = std::min(most.nice, group.nice.value_or(0));
    }
  RealtimeReport report;
  std::thread([&] { report = realtime(most); }).join();
  return report;
}

}  // namespace cardan::street
