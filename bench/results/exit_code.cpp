// SPDX-License-Identifier: Apache-2.0
#include "bench/results/exit_code.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <exception>

#include "cardan/error.hpp"

namespace cardan::bench {

int exit_code_of(std::string_view name, const std::function<int()>& run) {
  try {
    return run();
  } catch (const Error& e) {
    fmt::print(stderr, "cardan bench {}: {}\n", name, e.what());
    return e.code() == ErrorCode::InvalidArgument ? kUsage : kFailed;
  } catch (const std::exception& e) {
    fmt::print(stderr, "cardan bench {}: {}\n", name, e.what());
    return kFailed;
  }
}

}  // namespace cardan::bench
