// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "cardan/error.hpp"
#include "tests/support/child.hpp"
#include "tests/support/frames.hpp"
#include "tests/support/run_directory.hpp"

namespace cardan::test {

inline constexpr std::size_t kTrapWords = 50'000;
inline constexpr Topic<Small> kSmall{"/small", {.depth = 2}};
inline constexpr Topic<Big> kBig{"/big", {.max_bytes = kTrapWords * 8}};

class Traps : public OwnRunDirectory {
 protected:
  [[nodiscard]] std::string folder() const { return run_directory() + "/" + domain_; }
};

/// For roles: runs `f` and prints what it threw: `error CODE what`, or `fine`.
template <class F>
int report(F f) {
  try {
    f();
    say("fine");
  } catch (const Error& e) {
    say("error " + std::to_string(static_cast<int>(e.code())) + " " + e.what());
  }
  return 0;
}
inline std::string error_line(ErrorCode code) { return "error " + std::to_string(static_cast<int>(code)); }

}  // namespace cardan::test
