// SPDX-License-Identifier: Apache-2.0
#include "bench/helper.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <system_error>

#include "bench/transport/clock.hpp"
#include "bench/transport/options.hpp"

namespace cardan::bench {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostWords = 4096;

bool can_run(const fs::path& path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored) && ::access(path.c_str(), X_OK) == 0;
}

}  // namespace

std::optional<launcher::Ending> Helper::wait(std::int64_t until, bool or_word) {
  const std::size_t heard = ready_bytes_;
  for (;;) {
    auto ending = child_.ended();
    listen();
    const std::int64_t left = until - now_ns();
    if (ending || left <= 0 || (or_word && ready_bytes_ > heard)) return ending;
    std::array<pollfd, 4> fds{{{child_.end_fd(), POLLIN, 0},
                               {child_.output_fd(), POLLIN, 0},
                               {child_.error_fd(), POLLIN, 0},
                               {child_.ready_fd(), POLLIN, 0}}};
    if (::poll(fds.data(), fds.size(), static_cast<int>(left / 1'000'000 + 1)) < 0) return std::nullopt;
  }
}

std::string Helper::last_line() const {
  const std::size_t end = words_.find_last_not_of(" \n\r");
  if (end == std::string::npos) return "it said nothing";
  const std::size_t before = words_.find_last_of('\n', end);
  return words_.substr(before == std::string::npos ? 0 : before + 1, end - (before + 1) + 1);
}

void Helper::listen() {
  std::array<char, 1024> some{};
  const auto read_from = [&](int fd, auto&& close, auto&& take) {
    for (;;) {
      if (fd < 0) return;
      const ssize_t n = ::read(fd, some.data(), some.size());
      if (n < 0) return;
      if (n == 0) return close();
      take(static_cast<std::size_t>(n));
    }
  };
  const auto keep = [&](std::size_t n) {
    words_.append(some.data(), n);
    if (words_.size() > kMostWords) words_.erase(0, words_.size() - kMostWords);
  };
  read_from(child_.ready_fd(), [&] { child_.close_ready(); }, [&](std::size_t n) { ready_bytes_ += n; });
  read_from(child_.output_fd(), [&] { child_.close_output(); }, [](std::size_t) {});
  read_from(child_.error_fd(), [&] { child_.close_error(); }, keep);
}

std::string find_program(const std::string& name, const std::vector<std::string>& more) {
  const char* const path = std::getenv("PATH");
  std::vector<std::string> folders = split(path == nullptr ? "" : path, ':');
  folders.emplace_back("/usr/bin");
  folders.insert(folders.end(), more.begin(), more.end());
  for (const std::string& folder : folders)
    if (!folder.empty() && can_run(fs::path(folder) / name)) return (fs::path(folder) / name).string();
  return {};
}

double private_memory_mib(int pid) {
  std::ifstream status(fmt::format("/proc/{}/status", pid));
  for (std::string word; status >> word;)
    if (double kib = 0; word == "RssAnon:" && status >> kib) return kib / 1024;
  return 0;
}

}  // namespace cardan::bench
