// SPDX-License-Identifier: Apache-2.0
#include "apps/configuration_file.hpp"

#include <cstdio>

#include <fmt/format.h>

#include <cerrno>
#include <system_error>

#include "apps/output.hpp"
#include "cardan/memory/error.hpp"

namespace cardan::apps {

void show(const std::vector<config::Problem>& problems, const std::string& file) {
  for (const config::Problem& problem : problems) fmt::print(stderr, "{}\n", printable(config::text(problem, file)));
}

void write_file(const std::string& path, const std::string& text) {
  std::FILE* const file = std::fopen(path.c_str(), "we");
  const bool whole = file != nullptr && std::fwrite(text.data(), 1, text.size(), file) == text.size();
  const int error = errno;
  if (file == nullptr || std::fclose(file) != 0 || !whole)
    throw Error(ErrorCode::System, fmt::format("cannot write {}: {}", path, std::generic_category().message(error)),
                "check the path, its rights, and whether the disk is full");
}

}  // namespace cardan::apps
