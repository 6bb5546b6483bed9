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
#include <vector>

#include "cardan/base/error.hpp"

namespace cardan::street {
namespace {

using namespace std::chrono_literals;

constexpr std::chrono::seconds kPatience{30};  // a camera behind a URL takes its time
constexpr int kAskAgain = 50;                      // ms, until `stopping` is asked again
constexpr std::size_t kLongestHead = 4096;
constexpr std::size_t kMostSaid = 4096;
constexpr int kLongestSide = 16384;  // pixels
constexpr int kRoom = 1 << 20;       // bytes in the pipe; else a picture takes a hundred wake-ups

/// The lines of a text that are not empty.
std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    if (end > at) lines.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

}  // namespace

PythonCamera::PythonCamera(const std::string& interpreter, const std::string& argument)
    : argument_(argument),
      // env looks it up in PATH as execvp() does.
      child_({.program = "/usr/bin/env", .arguments = {"env", interpreter, "-m", "cardan.opencv", argument}}) {
  (void)::fcntl(child_.output_fd(), F_SETPIPE_SZ, kRoom);
  const auto said = nlohmann::json::parse(head(), nullptr, false);
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

std::string PythonCamera::head() {
  const auto end = std::chrono::steady_clock::now() + kPatience;
  std::string line;
  while (line.size() < kLongestHead) {
    std::array<char, 1> next{};  // what follows is a picture's
    if (!readable(kAskAgain) || take(next) == 0) {
      if (std::chrono::steady_clock::now() > end)
        throw Error(ErrorCode::Unavailable,
                    fmt::format("{}: no picture came within {} s", argument_, kPatience.count()),
                    "check the camera with ffprobe");
      continue;
    }
    if (next[0] == '\n') return line;
    line += next[0];
  }
  return {};
}

bool PythonCamera::readable(int milliseconds) const {
  pollfd pipe{.fd = child_.output_fd(), .events = POLLIN, .revents = 0};
  return ::poll(&pipe, 1, milliseconds) > 0;
}

std::size_t PythonCamera::take(std::span<char> into) {
  const ssize_t got = ::read(child_.output_fd(), into.data(), into.size());
  if (got > 0) return static_cast<std::size_t>(got);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return 0;
  ended();
}

void PythonCamera::ended() {
  std::array<char, kMostSaid> text{};
  const ssize_t got = ::read(child_.error_fd(), text.data(), text.size());
  const auto lines = lines_of(std::string(text.data(), got > 0 ? static_cast<std::size_t>(got) : 0));
  // A cause and a remedy (opencv.py), or what the interpreter itself said, which ends with the cause.
  if (lines.size() == 2) throw Error(ErrorCode::Unavailable, "--camera " + lines[0], lines[1]);
  throw Error(
      ErrorCode::Unavailable,
      fmt::format("the camera {} ended: {}", argument_, lines.empty() ? "it said nothing" : lines.back()),
      "install OpenCV for Python (pip install \"cardan[opencv]\"), or use a build with OpenCV (`make demo` in Cardan's "
      "sources, or the Debian package cardan-opencv)");
}

bool PythonCamera::wait(const std::function<bool()>& stopping) {
  if (stopping() || (file_ && !pace_.wait(period_, stopping))) return false;
  while (!readable(kAskAgain))
    if (stopping()) return false;
  return !stopping();
}

void PythonCamera::read(std::span<std::uint8_t> into) {
  const auto changed = [&] {
    return Error(ErrorCode::Unavailable, "the pictures of " + argument_ + " have stopped",
                 "check its cable or network, and start again");
  };
  if (into.size() != static_cast<std::size_t>(width_) * static_cast<std::size_t>(height_) * 3) throw changed();
  const auto bytes = std::span(reinterpret_cast<char*>(into.data()), into.size());
  for (std::size_t had = 0; had < bytes.size();) {
    if (!readable(static_cast<int>(std::chrono::milliseconds(kPatience).count()))) throw changed();
    had += take(bytes.subspan(had));
  }
}

}  // namespace cardan::street
