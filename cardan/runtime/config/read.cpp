// SPDX-License-Identifier: Apache-2.0
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <system_error>

#include "cardan/memory/error.hpp"
#include "cardan/runtime/config/configuration.hpp"

namespace cardan::config {

Configuration read_configuration(const std::string& file, std::vector<Problem>& problems) {
  const auto cannot = [&](const std::string& why) {
    return Error(ErrorCode::InvalidArgument, "cannot read " + file + ": " + why, "check the path");
  };
  std::error_code ignored;
  if (std::filesystem::is_directory(file, ignored)) throw cannot("it is a folder");
  std::ifstream in(file);
  if (!in) throw cannot(std::generic_category().message(errno));
  std::ostringstream text;
  text << in.rdbuf();
  if (in.bad()) throw cannot(std::generic_category().message(errno));
  return parse_configuration(text.str(), file, problems);
}

}  // namespace cardan::config
