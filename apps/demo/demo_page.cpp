// SPDX-License-Identifier: Apache-2.0
#include "apps/demo/demo_page.hpp"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <utility>
#include <vector>

#include "cardan/clock.hpp"
#include "cardan/error.hpp"
#include "src/system/launcher/child_process.hpp"
#include "src/system/launcher/own_program.hpp"

namespace cardan::apps {
namespace {

constexpr std::int64_t kStart = 5'000'000'000;  // ns, until it says its address
constexpr std::int64_t kEnd = 5'000'000'000;    // ns, from SIGINT to SIGKILL
constexpr std::size_t kMostWords = 4096;

int milliseconds_until(std::int64_t end) {
  return static_cast<int>(std::max<std::int64_t>(0, (end - steady_now()) / 1'000'000));
}

/// "http://127.0.0.1:8765" out of what it says.
std::string address_in(const std::string& words) {
  const std::size_t from = words.find("http://");
  if (from == std::string::npos) return {};
  const std::size_t to = words.find(',', from);
  return to == std::string::npos ? std::string() : words.substr(from, to - from);
}

}  // namespace

DemoPage::DemoPage() {
  const std::string program = launcher::own_program("cardan-bridge-foxglove");
  if (program.empty()) {
    trouble_ = "this build has no page: install libboost-dev and build again (scripts/setup.sh)";
    return;
  }
  try {
    if (!start(program, "")) static_cast<void>(start(program, "0"));
  } catch (const Error& e) {
    trouble_ = e.what();
  }
}

bool DemoPage::start(const std::string& program, const std::string& port) {
  std::vector<std::string> arguments{"cardan view", "--address", "127.0.0.1"};
  if (!port.empty()) arguments.insert(arguments.end(), {"--port", port});
  process_ = std::make_unique<launcher::ChildProcess>(
      launcher::ChildOptions{.program = program, .arguments = std::move(arguments)});
  std::string words;
  const std::int64_t end = steady_now() + kStart;
  while (steady_now() < end && words.size() < kMostWords) {
    pollfd ready{.fd = process_->error_fd(), .events = POLLIN, .revents = 0};
    if (::poll(&ready, 1, milliseconds_until(end)) <= 0 && errno != EINTR) break;
    std::array<char, 512> some{};
    const ssize_t got = ::read(process_->error_fd(), some.data(), some.size());
    if (got == 0) break;  // it has ended
    if (got > 0) words.append(some.data(), static_cast<std::size_t>(got));
    if (address_ = address_in(words); !address_.empty()) {
      trouble_.clear();
      return true;
    }
  }
  process_.reset();
  trouble_ = words.empty() ? "the page did not start in time" : words.substr(0, words.find('\n'));
  return false;
}

DemoPage::~DemoPage() {
  if (!process_) return;
  process_->signal(SIGINT);
  pollfd ended{.fd = process_->end_fd(), .events = POLLIN, .revents = 0};
  const std::int64_t end = steady_now() + kEnd;
  while (::poll(&ended, 1, milliseconds_until(end)) < 0 && errno == EINTR && steady_now() < end) {
  }
  static_cast<void>(process_->ended());  // what still runs is killed by the destructor
}

}  // namespace cardan::apps
