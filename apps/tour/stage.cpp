// SPDX-License-Identifier: Apache-2.0
#include "apps/tour/stage.hpp"

#include <fmt/format.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include "apps/view/output.hpp"
#include "cardan/base/error.hpp"
#include "cardan/transport/publisher.hpp"
#include "cardan/transport/stop.hpp"
#include "cardan/transport/timer.hpp"
#include "cardan/transport/wait_any.hpp"

namespace cardan::apps {

Stage::Stage() {
  const char* const temporary = std::getenv("TMPDIR");
  std::string folder =
      fmt::format("{}/cardan-tour.XXXXXX", temporary != nullptr && *temporary != '\0' ? temporary : "/tmp");
  if (::mkdtemp(folder.data()) == nullptr)
    throw Error(ErrorCode::Unavailable, fmt::format("cannot make {}: {}", folder, std::strerror(errno)),
                "set TMPDIR to a folder that you may write to");
  folder_ = folder;
  ::setenv("CARDAN_RUN_DIR", path("run").c_str(), 1);
  ::unsetenv("CARDAN_DOMAIN");
}

Stage::~Stage() {
  end_camera(SIGTERM);
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

pid_t Stage::start(const std::vector<std::string>& words) {
  std::vector<std::string> copy{"cardan"};
  copy.insert(copy.end(), words.begin(), words.end());
  std::vector<char*> pointers;
  for (std::string& word : copy) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  pid_t process = -1;
  const int error = ::posix_spawn(&process, "/proc/self/exe", nullptr, nullptr, pointers.data(), environ);
  if (error != 0)
    throw Error(ErrorCode::Unavailable, fmt::format("cannot start cardan {}: {}", words.front(), std::strerror(error)),
                "check the limits of processes and memory: cardan doctor");
  return process;
}

int Stage::finish(pid_t process) noexcept {
  int status = 0;
  while (::waitpid(process, &status, 0) < 0)
    if (errno != EINTR) return kFailed;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int Stage::run(const std::vector<std::string>& words) { return finish(start(words)); }

void Stage::start_camera() {
  end_camera(SIGTERM);
  camera_ = start({"tour", "--camera"});
}

void Stage::end_camera(int signal) noexcept {
  const pid_t camera = std::exchange(camera_, -1);
  if (camera <= 0) return;
  ::kill(camera, signal);
  (void)finish(camera);
}

int run_tour_camera() {
  using namespace std::chrono_literals;
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);  // also when the tour is killed
  ::signal(SIGINT, SIG_IGN);           // Ctrl-C is for the tour, which then ends us
  stop_on_signals();
  Publisher freshest{kTourCamera};
  Publisher queue{kTourQueue};
  const auto fill = [](Publisher<Image>& out, std::uint8_t brightness) {
    auto frame = out.loan();
    if (!frame) return;
    for (std::uint8_t& pixel : frame->resize(480, 640, "mono8")) pixel = brightness;
    out.publish(std::move(frame));
  };
  Timer timer{33ms};
  for (std::uint8_t n = 0; wait_any(timer) == 0; ++n) {
    timer.expired();
    fill(freshest, n);
    fill(queue, n);
  }
  return kOk;
}

}  // namespace cardan::apps
