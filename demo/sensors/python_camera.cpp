// SPDX-License-Identifier: Apache-2.0
#include "demo/sensors/python_camera.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>

#include "cardan/error.hpp"
#include "src/system/launcher/python_program.hpp"

namespace cardan::street {
namespace {

constexpr std::chrono::seconds kPatience{30};  // a camera at a URL takes its time
constexpr int kAskAgain = 50;                  // ms
constexpr std::size_t kLongestAnswer = 4096;
constexpr std::size_t kMostPrinted = 4096;
constexpr int kLongestSide = 16384;  // pixels
constexpr int kRoom = 1 << 20;       // bytes in the pipe; else a picture takes a hundred wake-ups

std::optional<Error> error_in(const nlohmann::json& said) {
  if (!said.is_object() || !said.contains("cause") || !said["cause"].is_string()) return {};
  const auto remedy = said.find("remedy");
  return Error(ErrorCode::Unavailable, "--camera: " + said["cause"].get<std::string>(),
               remedy != said.end() && remedy->is_string() ? remedy->get<std::string>() : std::string());
}

launcher::ChildOptions child_options(const std::string& interpreter, const std::string& argument) {
  const std::string file = launcher::interpreter_file(interpreter);
  if (file.empty())
    throw Error(ErrorCode::Unavailable, "--camera: there is no interpreter " + interpreter + " in PATH",
                "install it, or name one: CARDAN_PYTHON=/path/to/python3");
  std::vector<std::string> words = launcher::python_program(file, "cardan.opencv", false);
  words.push_back(argument);
  return {.program = file,
          .arguments = std::move(words),
          .environment = {{"PYTHONPATH", launcher::python_path()}, {"PYTHONSAFEPATH", "1"}}};
}

}  // namespace

PythonCamera::PythonCamera(const std::string& interpreter, const std::string& argument)
    : interpreter_(interpreter), argument_(argument), child_(child_options(interpreter, argument)) {
  (void)::fcntl(child_.output_fd(), F_SETPIPE_SZ, kRoom);
  const auto said = nlohmann::json::parse(line(), nullptr, false);
  if (auto error = error_in(said)) throw std::move(*error);
  double rate = 0;
  try {
    name_ = said.at("name").get<std::string>() + " (OpenCV for Python)";
    width_ = said.at("width").get<int>();
    height_ = said.at("height").get<int>();
    rate = said.at("rate").get<double>();
    file_ = !said.at("live").get<bool>();
  } catch (const nlohmann::json::exception&) {
    width_ = 0;
  }
  if (width_ < 1 || width_ > kLongestSide || height_ < 1 || height_ > kLongestSide || !(rate >= 0.1 && rate <= 1000))
    throw Error(ErrorCode::Unavailable, interpreter + " -m cardan.opencv gives no camera that the demo can read",
                "install the package cardan of this version for that interpreter");
  period_ = std::chrono::nanoseconds{std::llround(1e9 / rate)};
}

std::string PythonCamera::line() {
  const auto end = std::chrono::steady_clock::now() + kPatience;
  std::string text;
  while (text.size() < kLongestAnswer) {
    std::array<char, 1> next{};  // what follows is a picture's
    if (!readable(kAskAgain) || take(next) == 0) {
      if (std::chrono::steady_clock::now() > end)
        throw Error(ErrorCode::Unavailable,
                    fmt::format("{}: no picture came within {} s", argument_, kPatience.count()),
                    "check the camera with ffprobe");
      continue;
    }
    if (next[0] == '\n') return text;
    text += next[0];
  }
  return {};
}

bool PythonCamera::readable(int milliseconds) {
  std::array<pollfd, 2> pipes{{{.fd = child_.output_fd(), .events = POLLIN, .revents = 0},
                               {.fd = child_.error_fd(), .events = POLLIN, .revents = 0}}};
  if (::poll(pipes.data(), pipes.size(), milliseconds) <= 0) return false;
  if (pipes[1].revents != 0) take_print();
  return pipes[0].revents != 0;
}

void PythonCamera::take_print() {
  std::array<char, kMostPrinted> some{};
  const ssize_t got = ::read(child_.error_fd(), some.data(), some.size());
  if (got == 0) return child_.close_error();
  if (got < 0) return;
  printed_.append(some.data(), static_cast<std::size_t>(got));
  if (printed_.size() > kMostPrinted) printed_.erase(0, printed_.size() - kMostPrinted);
}

std::size_t PythonCamera::take(std::span<char> into) {
  const ssize_t got = ::read(child_.output_fd(), into.data(), into.size());
  if (got > 0) return static_cast<std::size_t>(got);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return 0;
  ended();
}

void PythonCamera::fill(std::span<char> into) {
  auto end = std::chrono::steady_clock::now() + kPatience;
  for (std::size_t had = 0; had < into.size();) {
    const std::size_t got = readable(kAskAgain) ? take(into.subspan(had)) : 0;
    had += got;
    if (got > 0)
      end = std::chrono::steady_clock::now() + kPatience;
    else if (std::chrono::steady_clock::now() > end)
      throw Error(ErrorCode::Unavailable, "the pictures of " + argument_ + " have stopped",
                  "check its cable or network, and start again");
  }
}

void PythonCamera::ended() {
  pollfd over{.fd = child_.end_fd(), .events = POLLIN, .revents = 0};
  (void)::poll(&over, 1, 1000);  // it has closed its output: its end is near
  take_print();
  const auto ending = child_.ended();
  // The interpreter's own trouble ends with its cause: "No module named 'cardan'".
  while (!printed_.empty() && printed_.back() == '\n') printed_.pop_back();
  const std::string last = printed_.substr(printed_.rfind('\n') + 1);
  const std::string how = ending ? launcher::text(*ending) : "closed its output";
  const std::string remedy = ending ? launcher::remedy(*ending) : "";
  throw Error(ErrorCode::Unavailable,
              fmt::format("--camera {}: {} -m cardan.opencv {}{}{}", argument_, interpreter_, how,
                          last.empty() ? "" : ": ", last),
              !remedy.empty() ? remedy
                              : "install the packages cardan and opencv-python-headless for that interpreter, or use "
                                "a build with OpenCV (`make demo` in Cardan's sources, or the Debian package "
                                "cardan-opencv)");
}

bool PythonCamera::wait(const std::function<bool()>& stopping) {
  if (stopping() || (file_ && !pace_.wait(period_, stopping))) return false;
  const auto end = std::chrono::steady_clock::now() + kPatience;
  while (!readable(kAskAgain)) {
    if (stopping()) return false;
    if (file_ && std::chrono::steady_clock::now() > end)
      throw Error(ErrorCode::Unavailable, "the pictures of " + argument_ + " have stopped",
                  "check the file with ffprobe");
  }
  return !stopping();
}

void PythonCamera::read(std::span<std::uint8_t> into) {
  std::array<char, 1> kind{};
  const bool fits = into.size() == static_cast<std::size_t>(width_) * static_cast<std::size_t>(height_) * 3;
  if (fits) fill(kind);
  if (kind[0] == 'E')
    if (auto error = error_in(nlohmann::json::parse(line(), nullptr, false))) throw std::move(*error);
  if (kind[0] != 'P')
    throw Error(ErrorCode::Unavailable, interpreter_ + " -m cardan.opencv sends no pictures of the first one's size",
                "install the package cardan of this version for that interpreter");
  fill(std::span(reinterpret_cast<char*>(into.data()), into.size()));
}

}  // namespace cardan::street
