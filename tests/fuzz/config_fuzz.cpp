// SPDX-License-Identifier: Apache-2.0
// A configuration file that says anything. Must hold: problems with a place in the text, and a picture of what is
// left.
#include "src/config/check.hpp"
#include "src/config/graph.hpp"
#include "tests/fuzz/fuzz.hpp"

namespace cardan::fuzz::config_target {
namespace {

using namespace config;

void look(const std::vector<Problem>& problems) {
  for (const Problem& p : problems) require(!p.cause.empty(), "a problem without words");
}

constexpr std::string_view kIncluded =
    R"({"variables": {"v": 1}, "processes": {"i": {"components": {"c": {"library": "l", "class": "C"}}}}, "topics": {"/t": {"depth": 2}}})";

void run(std::string_view input) {
  std::vector<Problem> problems;
  // Files that it includes: the same again, or one that is well.
  const ReadOptions options{.read = [&](const std::string& path, std::size_t) {
    return path.ends_with("self.json") ? std::string(input) : std::string(kIncluded);
  }};
  const Configuration c = parse_configuration(input, "fuzz.json", problems, options);
  look(problems);
  Declarations declared;
  for (const Process& process : c.processes) {
    for (const Component& component : process.components) {
      for (const auto& [in_code, on_bus] : component.topics) {
        declared.endpoints.push_back({component.name, in_code, "T", 1, on_bus.size() % 2 == 0, {}});
        declared.endpoints.push_back({component.name, on_bus, "T", on_bus.size() % 3, true, {}});
      }
      for (const auto& [name, value] : component.parameters)
        declared.parameters.push_back({component.name, name, value, {}, {}, {}});
    }
  }
  const Graph graph = make_graph(c, declared);
  require(!mermaid(graph).empty() && !dot(graph).empty(), "no picture");
  if (problems.empty()) look(check(c, declared, {.cpus = 4, .memory_bytes = 1 << 30}));
}

std::vector<std::string> seeds() {
  return {
      R"({"name": "street", "domain": "d", "realtime": true, "needs": {"cpus": 2, "memory": "1 GiB", "realtime": true}, // one
  "processes": [{"name": "sensors", "environment": {"A": "b"}, "memory_mib": 64,
     "restart": {"when": "always", "limit": 3, "window_s": 10, "backoff_ms": 5},
     "groups": [{"name": "fast", "workers": 2, "cpus": [0, 1], "affinity": "one_to_one", "policy": "fifo", "priority": 10}],
     "components": [{"name": "camera", "library": "street", "class": "Camera", "group": "fast", "priority": 3,
        "parameters": {"rate": 10.5, "name": "x", "on": true, "n": -3}, "topics": {"/image": "/street/image"}, "watchdog_ms": 100,
        "cycle": {"callback": "tick", "weight": 2}, "callbacks": [{"name": "/image", "priority": 1}]},
       {"name": "detector", "library": "street", "class": "Detector", "thread": {"policy": "deadline", "runtime_us": 10, "period_us": 100}}]}],
  "topics": {"/street/image": {"depth": 2, "reliable": true, "deadline_ms": 50, "private": false, "writers": 1, "max_bytes": 1000, "waiting": "prewake"}},
  "transitions": [{"from": ["running"], "when": {"down": ["sensors"], "for_ms": 10}, "to": "safe_stop"}]})",
      R"({"processes": [{"name": "p", "components": [{"name": "c", "library": "l", "class": "C"}]}]})",
      R"({"variables": {"on": true, "n": 2, "t": "x${n}"}, "include": [
  {"file": "${t}.json", "namespace": "a", "variables": {"v": 3}, "topics": {"/t": "/u"}, "when": "!on"},
  {"file": "good.json", "namespace": "b", "when": "n == 2"}, {"file": "self.json", "namespace": "s"}],
  "processes": {"p": {"when": "on", "components": {"c": {"library": "l", "class": "C", "instances": {"l": {"n": 1}, "r": {}},
    "parameters": {"d": "/dev/${instance}${n}$${"}}}}},
  "transforms": [{"parent": "base_link", "child": "${namespace}lidar", "xyz": [1.5, 0, "${n}"], "rpy": [0, 0.01, 3], "when": "on"},
    {"parent": "${t}", "child": "base_link", "quaternion": [0, 0, 0.6, 0.8]}],
  "states": {"transitions": [{"when": {"down": ["p", "a.i"]}, "to": "degraded"}]}})",
      R"({"processes": [] /* none */, "é": "\ud83d\ude00\n", "x": [1e400, -0.5, null, {}]})",
  };
}

}  // namespace
CARDAN_FUZZ_TARGET(config, run, seeds)
}  // namespace cardan::fuzz::config_target
