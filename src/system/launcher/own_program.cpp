// SPDX-License-Identifier: Apache-2.0
#include "src/system/launcher/own_program.hpp"

#include <unistd.h>

#include <filesystem>
#include <system_error>

#include "src/base/program_folder.hpp"

namespace cardan::launcher {

std::string own_program(const std::string& name) {
  namespace fs = std::filesystem;
  std::error_code ignored;
  const fs::path here = program_folder();
  for (const fs::path& path :
       {here / name, here.parent_path() / "libexec" / "cardan" / name, here.parent_path().parent_path() / "bin" / name})
    if (fs::is_regular_file(path, ignored) && ::access(path.c_str(), X_OK) == 0) return path.string();
  return {};
}

}  // namespace cardan::launcher
