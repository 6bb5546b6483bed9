// SPDX-License-Identifier: Apache-2.0
#include "apps/tour/stage.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <thread>

#include "cardan/clock.hpp"
#include "cardan/error.hpp"
#include "cardan/stop.hpp"

namespace cardan::apps {
namespace {

constexpr std::int64_t kEndTime = 5'000'000'000;  // ns, from SIGTERM to SIGKILL
constexpr std::size_t kMostLine = 4096;           // bytes; longer lines are cut

/// The lines of a pipe.
class Lines {
 public:
  explicit Lines(int fd) : fd_(fd) {}

  /// Reads what is there. False: the pipe is closed.
  bool read(const std::function<void(std::string_view)>& line) {
    std::array<char, 4096> some{};
    ssize_t got = 0;
    while ((got = ::read(fd_, some.data(), some.size())) > 0)
      for (const char c : std::string_view(some.data(), static_cast<std::size_t>(got)))
        if (c == '\n') {
          line(std::exchange(begun_, {}));
        } else if (begun_.size() < kMostLine) {
          begun_ += c;
        }
    if (got < 0) return errno == EAGAIN || errno == EINTR;
    if (!begun_.empty()) line(std::exchange(begun_, {}));
    return false;
  }

 private:
  int fd_;
  std::string begun_;
};

}  // namespace

Stage::Stage() {
  const char* const temporary = std::getenv("TMPDIR");
  folder_ = fmt::format("{}/cardan-tour.XXXXXX", temporary != nullptr && *temporary != '\0' ? temporary : "/tmp");
  if (::mkdtemp(folder_.data()) == nullptr)
    throw Error(ErrorCode::Unavailable,
                fmt::format("cannot make the folder {}: {}", folder_, std::generic_category().message(errno)),
                "set TMPDIR to a folder in which you may write");
  ::setenv("CARDAN_RUN_DIR", path("run").c_str(), 1);
  ::unsetenv("CARDAN_DOMAIN");
}

Stage::~Stage() {
  // This takes some seconds at most, and the process ends after it: another Ctrl-C would only leave the folder.
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) std::signal(signal, SIG_IGN);
  end_camera();
  // Our own helper thread is still there. In the run directory it removes the names of a process that was killed, or
  // makes one: then the removal of the folder fails half way.
  constexpr int kMostAttempts = 100;
  for (int i = 0; i < kMostAttempts; ++i) {
    std::error_code failed;
    std::filesystem::remove_all(folder_, failed);
    if (!failed) return;
    std::this_thread::sleep_for(std::chrono::milliseconds{10});
  }
}

std::unique_ptr<launcher::ChildProcess> Stage::start(const std::vector<std::string>& words) {
  launcher::ChildOptions options{.program = "/proc/self/exe", .arguments = {"cardan"}};
  options.arguments.insert(options.arguments.end(), words.begin(), words.end());
  return std::make_unique<launcher::ChildProcess>(options);
}

int Stage::finish(launcher::ChildProcess& process, const std::function<void(std::string_view)>& line) {
  Lines output(process.output_fd());
  Lines errors(process.error_fd());
  std::array<pollfd, 2> pipes{{{process.output_fd(), POLLIN, 0}, {process.error_fd(), POLLIN, 0}}};
  while (!stopping()) {
    const bool was_there = !process.ended();  // before the last read
    (void)::poll(pipes.data(), pipes.size(), 100);
    if (pipes[0].fd >= 0 && !output.read(line)) pipes[0].fd = -1;
    if (pipes[1].fd >= 0 && !errors.read(line)) pipes[1].fd = -1;
    if (was_there) continue;
    const launcher::Ending ending = *process.ended();
    return ending.signal != 0 ? 128 + ending.signal : ending.exit_code;
  }
  throw TourInterrupted{};
}

void Stage::end(std::unique_ptr<launcher::ChildProcess> process) noexcept {
  if (!process) return;
  process->signal(SIGTERM);
  const std::int64_t until = steady_now() + kEndTime;
  pollfd ended{process->end_fd(), POLLIN, 0};
  while (!process->ended() && steady_now() < until) (void)::poll(&ended, 1, 100);
}

void Stage::start_camera() {
  end_camera();
  camera_ = start({"tour", "--camera"});
}

std::string Stage::camera_end() {
  const auto ending = camera_ ? camera_->ended() : std::nullopt;
  if (!ending) return "still runs";
  std::string words = launcher::text(*ending);
  (void)Lines(camera_->error_fd()).read([&](std::string_view line) { words += fmt::format("; it said: {}", line); });
  return words;
}

}  // namespace cardan::apps
