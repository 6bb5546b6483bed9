// SPDX-License-Identifier: Apache-2.0
// Starts what measures ROS 1 nodelets: a ROS master of its own, and the program that links ROS (program.cpp).
#include "bench/runtime/nodelet/nodelet.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <map>
#include <optional>
#include <system_error>

#include "bench/temporary_folder.hpp"
#include "bench/transport/clock.hpp"
#include "bench/transport/options.hpp"
#include "cardan/memory/error.hpp"
#include "cardan/memory/fd.hpp"
#include "cardan/runtime/launcher/child_process.hpp"

namespace cardan::bench {
namespace {

namespace fs = std::filesystem;
using launcher::ChildProcess;

constexpr const char* kProgram = "cardan-bench-nodelet";
constexpr const char* kToBuild = "apt-get install libnodeletlib-dev libroscpp-dev libstd-msgs-dev python3-rosmaster";
constexpr std::int64_t kSecond = 1'000'000'000;
constexpr std::int64_t kStartWithin = 20 * kSecond;  // of the master, and of the nodelets
constexpr std::size_t kMostWords = 4096;
constexpr std::size_t kMostResult = 16 << 20;  // what ChildProcess takes over

bool can_run(const fs::path& path) { return fs::is_regular_file(path) && ::access(path.c_str(), X_OK) == 0; }

/// In the build folder it stands beside the command, installed in libexec. Empty: nowhere.
fs::path find_program() {
  std::error_code ignored;
  const fs::path here = fs::read_symlink("/proc/self/exe", ignored).parent_path();
  for (const fs::path& path : {here / kProgram, here.parent_path() / "libexec" / "cardan" / kProgram})
    if (can_run(path)) return path;
  return {};
}

fs::path find_master() {
  const char* const path = std::getenv("PATH");
  for (const std::string& folder : split(std::string(path == nullptr ? "" : path) + ":/usr/bin", ':'))
    if (!folder.empty() && can_run(fs::path(folder) / "rosmaster")) return fs::path(folder) / "rosmaster";
  return {};
}

/// A process, and the last of what it said.
class Helper {
 public:
  explicit Helper(const launcher::ChildOptions& options) : child_(options) {}

  /// Waits until it has ended, `until`, or a signal that was for us.
  std::optional<launcher::Ending> wait(std::int64_t until) {
    for (;;) {
      auto ending = child_.ended();
      listen();
      const std::int64_t left = until - now_ns();
      if (ending || left <= 0) return ending;
      std::array<pollfd, 3> fds{{{child_.end_fd(), POLLIN, 0},
                                 {child_.output_fd(), POLLIN, 0},  // ROS says some of it there
                                 {child_.error_fd(), POLLIN, 0}}};
      if (::poll(fds.data(), fds.size(), static_cast<int>(left / 1'000'000 + 1)) < 0) return std::nullopt;
    }
  }
  /// Its last line, for an error.
  [[nodiscard]] std::string last_line() const {
    const std::size_t end = words_.find_last_not_of(" \n\r");
    if (end == std::string::npos) return "it said nothing";
    const std::size_t before = words_.find_last_of('\n', end);
    return words_.substr(before == std::string::npos ? 0 : before + 1, end - (before + 1) + 1);
  }
  [[nodiscard]] ChildProcess& child() noexcept { return child_; }

 private:
  void listen() {
    std::array<char, 1024> some{};
    const auto read_from = [&](int fd, auto&& close, bool keep) {
      for (;;) {
        if (fd < 0) return;
        const ssize_t n = ::read(fd, some.data(), some.size());
        if (n < 0) return;
        if (n == 0) return close();
        if (keep) words_.append(some.data(), static_cast<std::size_t>(n));
        if (words_.size() > kMostWords) words_.erase(0, words_.size() - kMostWords);
      }
    };
    read_from(child_.output_fd(), [&] { child_.close_output(); }, false);
    read_from(child_.error_fd(), [&] { child_.close_error(); }, true);
  }

  ChildProcess child_;
  std::string words_;
};

sockaddr_in loopback(int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  return address;
}

/// Free now: should another program get it first, the nodelets see that the master there is not ours.
int free_port() {
  const Fd fd{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  sockaddr_in address = loopback(0);
  socklen_t size = sizeof(address);
  if (!fd || ::bind(fd.get(), reinterpret_cast<sockaddr*>(&address), size) != 0 ||
      ::getsockname(fd.get(), reinterpret_cast<sockaddr*>(&address), &size) != 0)
    throw Error(ErrorCode::System, fmt::format("no port of 127.0.0.1 for a ROS master: {}", std::strerror(errno)),
                "a loopback interface must be up");
  return ntohs(address.sin_port);
}

bool answers(int port) {
  const Fd fd{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  const sockaddr_in address = loopback(port);
  return fd && ::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0;
}

/// False: stopped.
bool await_master(Helper& master, int port, bool (*stopped)()) {
  const std::int64_t until = now_ns() + kStartWithin;
  while (!answers(port)) {
    if (stopped()) return false;
    const auto ending = master.wait(now_ns() + 20'000'000);
    if (!ending && now_ns() < until) continue;
    throw Error(
        ErrorCode::Unavailable,
        fmt::format("the ROS master {}: {}", ending ? text(*ending) : "did not answer within 20 s", master.last_line()),
        "see whether `rosmaster --core` runs by itself");
  }
  return true;
}

RuntimeSamples evaluate(const std::string& result, const RuntimeCell& cell, const RuntimeBenchOptions& options) {
  RuntimeStamps stamps(cell, options);
  const char* from = result.data();
  const auto take = [&](std::vector<std::int64_t>& to) {
    std::memcpy(to.data(), from, to.size() * sizeof(std::int64_t));
    from += to.size() * sizeof(std::int64_t);
  };
  take(stamps.sent);
  take(stamps.back);
  for (auto& received : stamps.received) take(received);
  return stamps.evaluate(cell, options);
}

}  // namespace

std::string why_no_nodelets() {
  const auto sentence = [](const std::string& why, const std::string& remedy) {
    return fmt::format("nodelet (ROS 1) left out: {}; {}.", why, remedy);
  };
  const fs::path program = find_program();
  if (program.empty())
    return sentence("this build does not include it", fmt::format("to have it: {}, then build again", kToBuild));
  if (find_master().empty()) return sentence("there is no rosmaster", "to have it: apt-get install python3-rosmaster");
  try {
    Helper probe({.program = program, .arguments = {kProgram}});
    const auto ending = probe.wait(now_ns() + kStartWithin);
    if (ending && ending->exit_code == 127) return sentence(probe.last_line(), fmt::format("to have it: {}", kToBuild));
  } catch (const Error& e) {
    return sentence(e.cause(), e.remedy());
  }
  return {};
}

RuntimeSamples run_nodelet(const RuntimeCell& cell, RuntimePeer peer, const RuntimeBenchOptions& options,
                           bool (*stopped)()) {
  const std::size_t result_bytes = options.frames * (2 + cell.readers) * sizeof(std::int64_t);
  if (result_bytes > kMostResult)
    throw Error(ErrorCode::InvalidArgument, fmt::format("{} frames a run are too many for nodelets", options.frames),
                fmt::format("choose at most {}", kMostResult / sizeof(std::int64_t) / (2 + cell.readers)));
  const TemporaryFolder folder("cardan-bench-ros");
  const int port = free_port();
  const std::map<std::string, std::string> environment = {{"ROS_MASTER_URI", fmt::format("http://127.0.0.1:{}", port)},
                                                          {"ROS_IP", "127.0.0.1"},
                                                          {"ROS_HOSTNAME", "127.0.0.1"},  // would go before ROS_IP
                                                          {"ROS_HOME", folder.path()},
                                                          {"ROS_LOG_DIR", folder.path()}};
  Helper master({.program = find_master(),
                 .arguments = {"rosmaster", "--core", "-p", std::to_string(port)},
                 .environment = environment});
  if (!await_master(master, port, stopped)) return {};

  Helper nodelets({.program = find_program(),
                   .arguments = {kProgram, std::to_string(cell.bytes), std::to_string(cell.readers),
                                 cell.echo ? "1" : "0", std::to_string(options.frames),
                                 std::to_string(options.interval_ns), std::to_string(options.publisher_cpu),
                                 std::to_string(options.reader_cpu), std::string(variant_of(peer)),
                                 std::to_string(master.child().pid()), std::to_string(ChildProcess::kReportFd)},
                   .environment = environment});
  const std::int64_t until =
      now_ns() + 2 * kStartWithin + 2 * options.interval_ns * static_cast<std::int64_t>(options.frames);
  std::optional<launcher::Ending> ending;
  while (!ending && now_ns() < until) {
    if (stopped()) return {};
    ending = nodelets.wait(until);
  }
  const std::string result = nodelets.child().report();
  if (!ending || !ending->in_order() || result.size() != result_bytes)
    throw Error(
        ErrorCode::System,
        fmt::format("{} {}: {}", kProgram, ending ? text(*ending) : "did not end in time", nodelets.last_line()),
        "check that 127.0.0.1 can be reached, and start again");
  return evaluate(result, cell, options);
}

}  // namespace cardan::bench
