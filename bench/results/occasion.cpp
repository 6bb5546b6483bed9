// SPDX-License-Identifier: Apache-2.0
#include "bench/results/occasion.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <numeric>

#include "bench/results/exit_code.hpp"
#include "bench/results/words.hpp"

namespace cardan::bench {
namespace {

volatile std::sig_atomic_t stop_asked = 0;

}  // namespace

std::string head_of(const Occasion& o) {
  return fmt::format("{} · {} CPUs · governor {} · {} · steal {:.1f} %\n", o.host.cpu, o.host.cpus, o.host.governor,
                     o.host.kernel, o.steal_percent);
}

std::string tail_of(const Occasion& o) {
  std::string out;
  for (const std::string& sentence : o.left_out) out += sentence + "\n";
  for (const std::string& words : o.failures) out += "failed: " + words + "\n";
  return out;
}

nlohmann::ordered_json to_json(const Occasion& o) {
  return {{"host",
           {{"cardan", o.host.cardan},
            {"compiler", o.host.compiler},
            {"kernel", o.host.kernel},
            {"cpu", o.host.cpu},
            {"cpus", o.host.cpus},
            {"governor", o.host.governor},
            {"hypervisor", o.host.hypervisor},
            {"memory_gib", rounded(o.host.memory_gib)},
            {"steal_percent", rounded(o.steal_percent)}}},
          {"interrupted", o.interrupted},
          {"left_out", o.left_out},
          {"failures", o.failures}};
}

int finish(const Occasion& o, std::string_view table, const std::string& path, const nlohmann::ordered_json& json,
           std::string_view loss) {
  fmt::print("{}", table);
  if (!path.empty()) write_json(path, json);
  if (o.interrupted) fmt::print(stderr, "interrupted: what is above is what was measured until then\n");
  if (o.interrupted || !o.failures.empty()) return kFailed;
  if (loss.empty()) return kOk;
  fmt::print(stderr, "{}\n", loss);
  return kWithLoss;
}

void catch_stop() {
  stop_asked = 0;
  struct sigaction action{};
  action.sa_handler = [](int) { stop_asked = 1; };
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) ::sigaction(signal, &action, nullptr);
}

bool is_stopped() { return stop_asked != 0; }

std::vector<std::size_t> order_of(std::size_t count, std::uint32_t round) {
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  if (count > 0) std::rotate(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(round % count), order.end());
  return order;
}

}  // namespace cardan::bench
