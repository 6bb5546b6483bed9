// SPDX-License-Identifier: Apache-2.0
// Starts what measures ROS 1 nodelets: a separate ROS master, and the program that links ROS (program.cpp).
#include "bench/runtime/nodelet/nodelet.hpp"

#include <fmt/format.h>

#include <cstring>
#include <optional>
#include <string>

#include "bench/helper.hpp"
#include "bench/ros_master.hpp"
#include "bench/transport/clock.hpp"
#include "cardan/error.hpp"
#include "src/system/launcher/child_process.hpp"
#include "src/system/launcher/own_program.hpp"

namespace cardan::bench {
namespace {

using launcher::ChildProcess;

constexpr const char* kProgram = "cardan-bench-nodelet";
constexpr const char* kToBuild = "apt-get install libnodeletlib-dev libroscpp-dev libstd-msgs-dev python3-rosmaster";
constexpr std::int64_t kSecond = 1'000'000'000;
constexpr std::int64_t kStartWithin = 20 * kSecond;  // of the master, and of the nodelets
constexpr std::size_t kMostResult = 16 << 20;        // what ChildProcess takes over

RuntimeSamples evaluate(const std::string& result, const RuntimeCell& cell, const RuntimeBenchOptions& options) {
  RuntimeStamps stamps(cell, options);
  const char* from = result.data();
  const auto take = [&](std::vector<std::int64_t>& to) {
    std::memcpy(to.data(), from, to.size() * sizeof(std::int64_t));
    from += to.size() * sizeof(std::int64_t);
  };
  take(stamps.sent);
  take(stamps.back);
  for (auto& received : stamps.received) take(received);
  return stamps.evaluate(cell, options);
}

}  // namespace

std::string why_no_nodelets() {
  const auto sentence = [](const std::string& why, const std::string& remedy) {
    return fmt::format("nodelet (ROS 1) left out: {}; {}.", why, remedy);
  };
  const std::string program = launcher::own_program(kProgram);
  if (program.empty())
    return sentence("this build does not include it", fmt::format("to have it: {}, then build again", kToBuild));
  if (find_ros_master().empty())
    return sentence("there is no rosmaster", "to have it: apt-get install python3-rosmaster");
  try {
    Helper probe({.program = program, .arguments = {kProgram}});
    const auto ending = probe.wait(now_ns() + kStartWithin);
    if (ending && ending->exit_code == 127) return sentence(probe.last_line(), fmt::format("to have it: {}", kToBuild));
  } catch (const Error& e) {
    return sentence(e.cause(), e.remedy());
  }
  return {};
}

RuntimeSamples run_nodelet(const RuntimeCell& cell, RuntimePeer peer, const RuntimeBenchOptions& options,
                           bool (*stopped)()) {
  const std::size_t result_bytes = options.frames * (2 + cell.readers) * sizeof(std::int64_t);
  if (result_bytes > kMostResult)
    throw Error(ErrorCode::InvalidArgument, fmt::format("{} frames a run are too many for nodelets", options.frames),
                fmt::format("choose at most {}", kMostResult / sizeof(std::int64_t) / (2 + cell.readers)));
  const RosMaster master(stopped);
  if (!master.answers()) return {};

  Helper nodelets({.program = launcher::own_program(kProgram),
                   .arguments = {kProgram, std::to_string(cell.bytes), std::to_string(cell.readers),
                                 cell.echo ? "1" : "0", std::to_string(options.frames),
                                 std::to_string(options.interval_ns), std::to_string(options.publisher_cpu),
                                 std::to_string(options.reader_cpu), std::string(variant_of(peer)),
                                 std::to_string(master.pid()), std::to_string(ChildProcess::kReportFd)},
                   .environment = master.environment()});
  const std::int64_t until =
      now_ns() + 2 * kStartWithin + 2 * options.interval_ns * static_cast<std::int64_t>(options.frames);
  std::optional<launcher::Ending> ending;
  while (!ending && now_ns() < until) {
    if (stopped()) return {};
    ending = nodelets.wait(until);
  }
  const std::string result = nodelets.child().report();
  if (!ending || !ending->in_order() || result.size() != result_bytes)
    throw Error(
        ErrorCode::System,
        fmt::format("{} {}: {}", kProgram, ending ? text(*ending) : "did not end in time", nodelets.last_line()),
        "check that 127.0.0.1 can be reached, and start again");
  return evaluate(result, cell, options);
}

}  // namespace cardan::bench
