// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "tests/checker/env.hpp"

namespace cardan::checker {

using Value = std::uint64_t;

struct Registers {
  Value r[4] = {};
  Value final_x = 0, final_y = 0;
};

/// Up to four threads over three words and one plain cell.
struct Program {
  Word<Value> x{{"x"}}, y{{"y"}}, z{{"z"}};
  Cell data{{"data"}};
  Value* r = nullptr;
};
using Body = void (*)(Program&);

enum class Expected : std::uint8_t {
  Allowed,
  Forbidden,
  Race,        ///< a race on the plain cell must be reported
  NotCovered,  ///< allowed by the standard, but not found: only with a cycle of program order and reads-from
};

struct Litmus {
  const char* name;
  std::vector<Body> threads;
  bool (*outcome)(const Registers&);
  Expected expected;
};

const std::vector<Litmus>& litmus_suite();

}  // namespace cardan::checker
