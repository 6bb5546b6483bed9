// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <fstream>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cardan/cardan.hpp"
#include "tests/runtime/test_components.hpp"
#include "tests/support/child.hpp"
#include "tests/support/run_directory.hpp"

namespace cardan::test {

/// How a command ended, and all it said on both outputs.
struct Outcome {
  int code = 0;
  std::string text;
};

inline bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

#ifdef CARDAN_COMMAND
inline constexpr bool kHasCommand = true;
#else
inline constexpr bool kHasCommand = false;
#endif

/// Tests of hosts: writes configurations of one process "p", and starts the command `cardan` on them. The role
/// `cardan`, in host_support.cpp, runs the command with its arguments; descriptor 9 is its output too. In a build
/// without the command it knows only `host`.
class Hosts : public OwnRunDirectory {
 protected:
  /// The text of a component: `{"library": …, "class": class_name, <more>}`.
  static std::string component(const std::string& class_name, const std::string& more = "");
  /// Writes a file with these members of "components", and further members of the process.
  std::string file(const std::string& components, const std::string& more = "");
  /// A host of process "p" that is ready.
  Child host(const std::string& file);
  static Outcome run(const Args& words);
  /// The rest of what a child says, after its end.
  static std::string rest(Child& child);
};

}  // namespace cardan::test
