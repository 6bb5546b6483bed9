// SPDX-License-Identifier: Apache-2.0
#include "apps/terminal/write_file.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <system_error>

#include "cardan/base/error.hpp"

namespace cardan::apps {

void write_file(const std::string& path, const std::string& text) {
  std::FILE* const file = std::fopen(path.c_str(), "we");
  bool whole = file != nullptr && std::fwrite(text.data(), 1, text.size(), file) == text.size();
  int error = errno;
  if (file != nullptr && std::fclose(file) != 0) {  // small texts are written only now
    if (whole) error = errno;
    whole = false;
  }
  if (!whole)
    throw Error(ErrorCode::System, fmt::format("cannot write {}: {}", path, std::generic_category().message(error)),
                "check the path, its rights, and whether the disk is full");
}

}  // namespace cardan::apps
