// SPDX-License-Identifier: Apache-2.0
#include "apps/run_place.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "cardan/base/error.hpp"
#include "cardan/base/printable.hpp"

namespace cardan::apps {

void refuse_missing_run_directory() {
  namespace fs = std::filesystem;
  const char* const set = std::getenv("CARDAN_RUN_DIR");
  if (set == nullptr || *set == '\0') return;
  std::error_code error;
  if (fs::symlink_status(set, error).type() != fs::file_type::not_found) return;
  throw Error(ErrorCode::Unavailable,
              fmt::format("the run directory {}, which CARDAN_RUN_DIR names, does not exist", detail::printable(set)),
              "nothing runs there; check the variable (the first program that publishes makes the directory)");
}

}  // namespace cardan::apps
