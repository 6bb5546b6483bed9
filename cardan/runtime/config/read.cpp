// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string>
#include <system_error>

#include <fmt/format.h>

#include "cardan/memory/error.hpp"
#include "cardan/memory/fd.hpp"
#include "cardan/runtime/config/configuration.hpp"

namespace cardan::config {
namespace {

Error cannot(const std::string& file, const std::string& why) {
  return {ErrorCode::InvalidArgument, "cannot read " + file + ": " + why, "check the path"};
}

/// At most `most` bytes and one more, by which the caller sees that there are more.
std::string read(const std::string& file, std::size_t most, bool regular) {
  const auto failed = [&] { return cannot(file, std::generic_category().message(errno)); };
  // Not blocking: opening a pipe that nobody writes must not wait for ever.
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

Configuration read_configuration(const std::string& file, std::vector<Problem>& problems, const ReadOptions& options) {
  const std::string text = read(file, kMaxTextBytes, false);
  if (text.size() > kMaxTextBytes)
    throw cannot(file, fmt::format("it has more than {} MiB, which no configuration needs", kMaxTextBytes >> 20U));
  return parse_configuration(text, file, problems, options);
}

}  // namespace cardan::config
