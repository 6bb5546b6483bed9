// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <system_error>

namespace cardan {

/// The folder of this process's program. Empty: unknown. Any thread; reads a link.
[[nodiscard]] inline std::filesystem::path program_folder() {
  std::error_code failed;
  return std::filesystem::read_symlink("/proc/self/exe", failed).parent_path();
}

}  // namespace cardan
