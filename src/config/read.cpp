// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include <fmt/format.h>

#include "cardan/configuration.hpp"
#include "cardan/detail/fd.hpp"
#include "cardan/error.hpp"
#include "src/config/suggest.hpp"

namespace cardan::config {
namespace {

Error cannot(const std::string& file, const std::string& why, const std::string& remedy = "check the path") {
  return {ErrorCode::InvalidArgument, "cannot read " + file + ": " + why, remedy};
}

/// The remedy for a file that cannot be opened.
std::string remedy_for(const std::string& file, int error) {
  namespace fs = std::filesystem;
  constexpr int kMostEntries = 2000;  // do not wait for a folder of a million files
  if (error == EACCES) return "check the permissions of the file and of its folders (ls -l)";
  if (error != ENOENT) return "check the path";
  const fs::path path(file);
  std::vector<std::string> names;
  std::error_code ignored;
  fs::directory_iterator at(path.has_parent_path() ? path.parent_path() : fs::path("."), ignored);
  for (int i = 0; i < kMostEntries && !ignored && at != fs::directory_iterator(); at.increment(ignored), ++i)
    if (at->path().extension() == ".json") names.push_back(at->path().filename().string());
  const std::string near = nearest(path.filename().string(), names);
  return near.empty() ? "check the path" : fmt::format("did you mean '{}'?", (path.parent_path() / near).string());
}

/// At most `most` bytes and one more, by which the caller sees that there are more.
std::string read(const std::string& file, std::size_t most, bool regular) {
  const auto failed = [&] {
    const int error = errno;
    return cannot(file, std::generic_category().message(error), remedy_for(file, error));
  };
  // Not blocking: opening a pipe without a writer must not block forever.
  const Fd fd{::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | (regular ? O_NONBLOCK : 0))};
  if (!fd) throw failed();
  struct stat what{};
  if (::fstat(fd.get(), &what) != 0) throw failed();
  if (S_ISDIR(what.st_mode)) throw cannot(file, "it is a folder");
  if (regular && !S_ISREG(what.st_mode)) throw cannot(file, "it is not a regular file");
  std::string text;
  while (text.size() <= most) {
    const std::size_t had = text.size();
    text.resize(std::min(had + (std::size_t{64} << 10U), most + 1));
    const ssize_t got = ::read(fd.get(), text.data() + had, text.size() - had);
    text.resize(had + static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw failed();
    if (got == 0) break;
  }
  return text;
}

}  // namespace

std::string read_text(const std::string& file, std::size_t most) { return read(file, most, true); }

std::string read_configuration_text(const std::string& file) {
  std::string text = read(file, kMaxTextBytes, false);
  if (text.size() > kMaxTextBytes)
    throw cannot(file,
                 fmt::format("it has more than {} MiB, which is too large for a configuration", kMaxTextBytes >> 20U),
                 "check that the path is the configuration");
  return text;
}

Configuration read_configuration(const std::string& file, std::vector<Problem>& problems, const ReadOptions& options) {
  return parse_configuration(read_configuration_text(file), file, problems, options);
}

}  // namespace cardan::config
