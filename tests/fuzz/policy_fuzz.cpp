// SPDX-License-Identifier: Apache-2.0
// A policy file that says anything. Must hold: an answer, or an error that says so; and nobody gets in whom the file
// does not name.
#include <unistd.h>

#include <cstdlib>
#include <fstream>

#include "cardan/error.hpp"
#include "src/transport/discovery/access.hpp"
#include "tests/fuzz/fuzz.hpp"

namespace cardan::fuzz::policy_target {
namespace {

void run(std::string_view input) {
  static const std::string file = [] {
    run_domain("policy");
    ::unsetenv("CARDAN_POLICY");
    return folder() + "/policy.json";
  }();
  std::ofstream(file, std::ios::binary | std::ios::trunc).write(input.data(), std::ssize(input));
  const auto asks = [](const std::string& topic, const socket::Peer& peer) {
    try {
      return detail::refusal(Access::Policy, topic, peer, folder());
    } catch (const Error& e) {
      require(!e.cause().empty() && !e.remedy().empty(), "an error without words");
      return e.cause();
    }
  };
  // The number is in no input: only a name or a group could let it in, and it has none.
  const socket::Peer stranger{.pid = 1, .uid = 3141592653, .gid = 3141592654, .groups = {3141592655}};
  const socket::Peer unmapped{
      .pid = 1, .uid = socket::kUnmapped, .gid = socket::kUnmapped, .groups = {socket::kUnmapped}};
  const socket::Peer named{.pid = 1, .uid = 1001, .gid = 100, .groups = {44, 100}};
  const bool let_in = asks("/camera/front", stranger).empty();
  require(!let_in || input.find("31415926") != std::string_view::npos,
          "a user was admitted that the policy does not name");
  require(!asks("/camera/front", unmapped).empty(), "the unmapped user got in");
  (void)asks("/camera/front", named);
  (void)asks("/lidar/top", named);
}

std::vector<std::string> seeds() {
  return {
      R"({"topics": [{"topic": "/camera/*", "users": ["root", 1001], "groups": ["video"]}]})",
      R"({"topics": [{"topic": "/lidar/*", "groups": [100]}, {"topic": "*", "users": [65534]}]})",
      R"({"topics": []})",
      R"({"topics": [{"topic": "/[a-z]*/front", "users": ["nobody"], "groups": ["nogroup", 44]}]})",
  };
}

}  // namespace
CARDAN_FUZZ_TARGET(policy, run, seeds)
}  // namespace cardan::fuzz::policy_target
