// SPDX-License-Identifier: Apache-2.0
// A valid configuration with every kind of key, and what the tests of its errors share.
#pragma once

#include <gtest/gtest.h>

#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "cardan/configuration.hpp"

namespace cardan::config {

/// The shortest process.
inline const std::string kOneComponent = R"("components": {"c": {"library": "l.so", "class": "C"}})";

/// Line 1 is the one with the brace.
inline constexpr std::string_view kStreet = R"({
  "$schema": "cardan.schema.json",
  "name": "street",  // a comment
  "domain": "default",
  "realtime": false,
  "processes": {
    "sensors": {
      "components": {
        "camera": {"library": "libstreet.so", "class": "Camera", "topics": {"/image": "/street/image"}},
        "lidar": {"library": "libstreet.so", "class": "Lidar", "group": "slow", "priority": 3}
      },
      "groups": {"slow": {"workers": 2, "cpus": [0, 1], "affinity": "one_to_one", "policy": "fifo", "priority": 10}},
      "memory_mib": 128
    },
    "perception": {
      "components": {
        "detector": {
          "library": "libstreet.so",
          "class": "Detector",
          "parameters": {"threshold": 0.5, "people": 8, "model": "small", "night": false},
          "topics": {"/image": "/street/image", "/people": "/street/people"},
          "thread": {"cpus": [1], "policy": "fifo", "priority": 50},
          "watchdog_ms": 500,
          "on_exception": "restart", "cycle": {"callback": "/image", "weight": 2.5},
          "callbacks": {"/image": {"priority": 7, "watchdog_ms": 100.5}}
        },
        "decision": {
          "library": "libstreet.so", "class": "Decision",
          "thread": {"policy": "deadline", "runtime_us": 500, "period_us": 10000}
        }
      },
      "environment": {"OMP_NUM_THREADS": "1"},
      "restart": {"when": "always", "limit": 3, "window_s": 30, "backoff_ms": 10, "backoff_max_ms": 1000}
    }
  },
  "topics": {
    "/street/image": {"depth": 1, "reliable": false, "deadline_ms": 33.3, "private": false, "writers": 1},
    "/street/people": {"depth": 4, "waiting": "prewake", "spin_us": 500}
  },
  "needs": {"cpus": 2, "memory_mib": 256, "realtime": false},
  "states": {
    "transitions": [
      {"from": "running", "when": {"down": "perception", "for_ms": 300}, "to": "degraded"},
      {"from": "degraded", "when": {"up": ["perception", "sensors"]}, "to": "running"},
      {"when": {"silent": "/street/people", "for_ms": 500}, "to": "safe_stop"},
      {"from": ["running", "degraded"], "when": {"given_up": "perception"}, "to": "safe_stop"},
      {"from": "safe_stop", "when": {"publishing": "/street/people", "for_ms": 1000}, "to": "running"}
    ]
  }
}
)";

/// The file with its only `from` replaced.
inline std::string edited(std::string_view from, std::string_view to, std::string_view file = kStreet) {
  std::string text(file);
  const std::size_t at = text.find(from);
  if (at == std::string::npos || text.find(from, at + 1) != std::string::npos) {
    ADD_FAILURE() << "'" << from << "' stands not once in the file";
    return text;
  }
  return text.replace(at, from.size(), to);
}

inline std::vector<Problem> problems_of(std::string_view text) {
  std::vector<Problem> problems;
  (void)parse_configuration(text, "street.json", problems);
  return problems;
}

inline std::string shown(const std::vector<Problem>& problems) {
  std::string all;
  for (const Problem& problem : problems) all += text(problem, "street.json") + "   [" + problem.pointer + "]\n";
  return all;
}

/// One mistake in the file above, and the one problem that it must be.
struct Mistake {
  const char* name;
  std::string_view from;
  std::string_view to;
  int line;
  const char* pointer;
  const char* cause;   ///< a part of it
  const char* remedy;  ///< a part of it
  Severity severity = Severity::Error;
};

inline void PrintTo(const Mistake& mistake, std::ostream* out) { *out << mistake.name; }

/// Exactly the one problem, and its column within the line.
inline void expect_the_one(const std::vector<Problem>& problems, const std::string& file, const Mistake& mistake) {
  SCOPED_TRACE(shown(problems));
  ASSERT_EQ(problems.size(), 1U);
  const Problem& p = problems.front();
  EXPECT_EQ(p.line, mistake.line);
  EXPECT_EQ(p.pointer, mistake.pointer);
  EXPECT_EQ(p.severity, mistake.severity);
  EXPECT_NE(p.cause.find(mistake.cause), std::string::npos) << "the cause lacks: " << mistake.cause;
  EXPECT_NE(p.remedy.find(mistake.remedy), std::string::npos) << "the remedy lacks: " << mistake.remedy;
  std::size_t begin = 0;
  for (int line = 1; line < p.line; ++line) begin = file.find('\n', begin) + 1;
  EXPECT_GE(p.column, 1);
  EXPECT_LE(static_cast<std::size_t>(p.column), std::min(file.find('\n', begin), file.size()) - begin + 1);
}

}  // namespace cardan::config
