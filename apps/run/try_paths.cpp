// SPDX-License-Identifier: Apache-2.0
#include "apps/run/try_paths.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>
#include <vector>

#include "cardan/detail/fd.hpp"
#include "cardan/error.hpp"
#include "src/base/output_file.hpp"

namespace cardan::apps {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void cannot(const std::string& what, const std::string& path, int error, const std::string& option) {
  throw Error(
      ErrorCode::InvalidArgument,
      fmt::format("{} {}: {} cannot be written: {}", option, path, what, std::generic_category().message(error)),
      fmt::format("give another one with {}, or make this one writable", option));
}

/// 0: a new file of this name can be made; it is not there afterwards.
int try_new(const std::string& path) {
  const Fd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!file) return errno;
  ::unlink(path.c_str());
  return 0;
}

}  // namespace

void try_file(const std::string& path, const std::string& option) {
  refuse_output_of_others(path);  // now, not at the end, when the report would be lost
  struct stat st{};
  int error = 0;
  if (::stat(path.c_str(), &st) != 0) {
    error = errno == ENOENT ? try_new(path) : errno;
  } else if (S_ISDIR(st.st_mode)) {
    error = EISDIR;
  } else if (!S_ISREG(st.st_mode)) {
    error = ::access(path.c_str(), W_OK) == 0 ? 0 : errno;  // to open a pipe would wait for its reader
  } else if (const Fd file(::open(path.c_str(), O_WRONLY | O_CLOEXEC)); !file) {
    error = errno;
  }
  if (error != 0) cannot("the file", path, error, option);
}

void try_folder(const std::string& path, const std::string& option) {
  refuse_output_of_others(path);
  std::vector<fs::path> missing;
  std::error_code error;
  for (fs::path at = fs::absolute(path, error); !error && !fs::exists(at, error) && at.has_relative_path();
       at = at.parent_path())
    missing.push_back(at);
  error.clear();
  fs::create_directories(path, error);
  const int failed = error ? error.value() : try_new(fmt::format("{}/.cardan-try-{}", path, ::getpid()));
  for (const fs::path& made : missing) ::rmdir(made.c_str());
  if (failed != 0) cannot("the folder", path, failed, option);
}

}  // namespace cardan::apps
