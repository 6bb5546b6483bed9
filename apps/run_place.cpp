// SPDX-License-Identifier: Apache-2.0
#include "apps/run_place.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>
#include <utility>

#include "apps/terminal/output.hpp"
#include "cardan/error.hpp"
#include "src/base/printable.hpp"

namespace cardan::apps {
namespace {

/// "": it exists, or no variable names one.
std::string missing_run_directory() {
  namespace fs = std::filesystem;
  const std::string set = named_run_directory();
  if (set.empty()) return {};
  std::error_code error;
  if (fs::symlink_status(set, error).type() != fs::file_type::not_found) return {};
  return fmt::format("the run directory {}, which CARDAN_RUN_DIR names, does not exist", detail::printable(set));
}

constexpr const char* kRemedy = "check the variable (the first program that publishes makes the directory)";

}  // namespace

std::string named_run_directory() {
  const char* const set = std::getenv("CARDAN_RUN_DIR");
  return set == nullptr ? "" : set;
}

void refuse_missing_run_directory() {
  if (const std::string missing = missing_run_directory(); !missing.empty())
    throw Error(ErrorCode::Unavailable, missing, std::string("nothing runs there; ") + kRemedy);
}

std::string why_nothing_runs() {
  const std::string missing = missing_run_directory();
  return missing.empty() ? missing : fmt::format("nothing runs yet: {} — {}", missing, kRemedy);
}

bool nothing_runs_yet() {
  static bool told = false;
  const std::string why = why_nothing_runs();
  if (!why.empty() && !std::exchange(told, true)) warn(why);
  return !why.empty();
}

}  // namespace cardan::apps
