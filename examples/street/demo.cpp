// SPDX-License-Identifier: Apache-2.0
#include "examples/street/demo.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <opencv2/imgcodecs.hpp>
#include <system_error>

#include "cardan/memory/error.hpp"
#include "examples/street/cardan_run.hpp"
#include "examples/street/drawing.hpp"
#include "examples/street/files.hpp"
#include "examples/street/socket_run.hpp"

namespace cardan::street {
namespace {

namespace fs = std::filesystem;

constexpr int kFailed = 1;
constexpr int kUsage = 2;

int complain(const std::string& cause, const std::string& remedy, int code) {
  fmt::print(stderr, "cardan demo: {}\n  what to do: {}\n", cause, remedy);
  return code;
}

bool is_number(const std::string& text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

// Two demos in one domain would read each other's topics. The name vanishes with the process that has it.
Fd only_one() {
  const auto variable = [](const char* name) {
    const char* value = std::getenv(name);
    return std::string(value != nullptr ? value : "");
  };
  const std::size_t domain = std::hash<std::string>{}(variable("CARDAN_RUN_DIR") + "\n" + variable("CARDAN_DOMAIN"));
  const std::string name = fmt::format("cardan-demo-{}-{:016x}", ::getuid(), domain);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path + 1, name.data(), name.size());
  Fd lock{::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  const auto bytes = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  if (lock && ::bind(lock.get(), reinterpret_cast<const sockaddr*>(&address), bytes) != 0 && errno == EADDRINUSE) {
    throw Error(ErrorCode::NameTaken, "another `cardan demo` of yours is running",
                "end it, or give this one a domain of its own: CARDAN_DOMAIN=second cardan demo");
  }
  return lock;
}

// A folder for pictures and for the Unix sockets of the comparison; removed at the end.
class Folder {
 public:
  Folder() {
    std::error_code failure;
    std::string name = (fs::temp_directory_path(failure) / "cardan-street-XXXXXX").string();
    if (failure || ::mkdtemp(name.data()) == nullptr) {
      throw Error(ErrorCode::Unavailable, "cannot make a folder: " + std::generic_category().message(errno),
                  "set TMPDIR to a writable folder");
    }
    path_ = name;
  }
  ~Folder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  [[nodiscard]] const std::string& path() const noexcept { return path_; }

 private:
  std::string path_;
};

bool write_file(const std::string& path, const std::string& text, std::string& why) {
  std::error_code failure;
  const fs::path parent = fs::path(path).parent_path();
  if (!parent.empty()) fs::create_directories(parent, failure);
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  errno = 0;
  out << text;
  out.flush();
  if (out) return true;
  why = failure ? failure.message() : std::generic_category().message(errno != 0 ? errno : EACCES);
  return false;
}

void save_picture(const CardanRun& run, const std::string& path) {
  const cv::Mat picture = side_by_side(cv::imread(run.people_picture()), cv::imread(run.obstacles_picture()));
  if (picture.empty()) return;
  std::vector<unsigned char> png;
  std::string why;
  if (!cv::imencode(".png", picture, png) || !write_file(path, {png.begin(), png.end()}, why)) {
    fmt::print(stderr, "cardan demo: cannot write {}: {}\n", path, why);
    return;
  }
  fmt::print("Picture with what was found: {}\n", path);
}

void hints(const Run& run, const DemoOptions& options) {
  const Figures figures = run.figures();
  if (figures.hops[kCloudHop].received == 0) {
    fmt::print("No scan came from the LiDAR.{}\n",
               is_number(options.lidar)
                   ? " Does the sensor send to this computer? Look with: tcpdump -ni any udp port " + options.lidar
                   : "");
  }
  if (figures.hops[kImageHop].received == 0) fmt::print("No picture came from the camera.\n");
}

// Measures with one setup; false: it failed, and the reason was shown.
bool go(Run& run, double seconds, std::vector<Measured>& measured, const DemoOptions& options) {
  const bool fine = run.go(seconds);
  if (!fine) fmt::print(stderr, "cardan demo: {}\n", run.failure());
  if (run.measured() == 0) return fine;
  measured.push_back({run.setup(), run.figures()});
  fmt::print("\n{}{}", table(run.setup(), run.figures(), run.inputs()), run.disturbed());
  hints(run, options);
  std::fflush(stdout);
  return fine;
}

int run_all(const DemoOptions& options) {
  const Fd lock = only_one();
  const Folder folder;
  catch_signals();
  View view(options.view && can_draw());
  const double seconds = options.seconds / (options.one_process ? 2 : 3);
  fmt::print("Runs what `cardan run examples/street/street.json{}` runs, and then the same over Unix sockets.\n",
             options.one_process ? " --one-process" : "");
  std::fflush(stdout);

  std::vector<Measured> measured;
  std::optional<Crash> crash;
  Inputs inputs;
  bool fine = true;
  for (const Setup setup : {Setup::FiveProcesses, Setup::OneProcess, Setup::UnixSockets}) {
    if (setup == Setup::FiveProcesses && options.one_process) continue;
    if (!fine || signals_caught() > 0) break;
    if (setup == Setup::UnixSockets) {
      SocketRun run(options, folder.path(), view);
      fine = go(run, seconds, measured, options);
      continue;
    }
    DemoOptions of_run = options;
    const bool first = measured.empty();
    if (!first) of_run.crash.clear();
    CardanRun run(of_run, setup, folder.path(), view);
    fine = go(run, seconds, measured, options);
    inputs = run.inputs();
    if (run.crash()) {
      crash = run.crash();
      fmt::print("{}", text(*crash));
    }
    if (first && !measured.empty() && !options.picture.empty()) save_picture(run, options.picture);
  }
  if (measured.empty()) return fine && signals_caught() > 0 ? 0 : kFailed;
  if (measured.size() > 1) fmt::print("\n{}", comparison(measured, inputs));
  if (signals_caught() > 0) fmt::print("Ended by a signal: the figures are of the time up to then.\n");
  if (!options.json.empty()) {
    std::string why;
    if (!write_file(options.json, json(measured, inputs, crash), why)) {
      return complain("cannot write " + options.json + ": " + why,
                      "give --json a file in a folder that you can write to", kFailed);
    }
    fmt::print("Figures as JSON: {}\n", options.json);
  }
  return fine ? 0 : kFailed;
}

}  // namespace

int run_demo(const DemoOptions& given) {
  DemoOptions options = given;
  if (!(options.seconds >= 1) || options.seconds > 86400) {
    return complain(fmt::format("--seconds {} is out of range", options.seconds), "give 1 to 86400", kUsage);
  }
  if (!options.crash.empty() && !role_named(options.crash)) {
    return complain(fmt::format("--crash {}: there is no such component", options.crash),
                    fmt::format("it can be: {}", fmt::join(kRoleNames, ", ")), kUsage);
  }
  if (options.camera.empty()) {
    try {
      options.camera = street_video();
    } catch (const Error& error) {
      return complain(error.cause(), error.remedy(), kUsage);
    }
  }
  // What does not exist is a mistake on the command line; what exists and is of no use is found out by the drivers.
  std::error_code failure;
  if (options.camera.find("://") == std::string::npos && !is_number(options.camera) &&
      !fs::exists(options.camera, failure)) {
    return complain("--camera " + options.camera + ": there is no such file",
                    "give a video file, a V4L2 device number (0) or a URL", kUsage);
  }
  if (!options.lidar.empty() && !is_number(options.lidar) && !fs::exists(options.lidar, failure)) {
    return complain("--lidar " + options.lidar + ": there is no such file or folder",
                    "give a pcap file of a Velodyne, a folder of KITTI .bin scans, or a UDP port; leave it out for the "
                    "simulated street",
                    kUsage);
  }
  if (!options.json.empty()) {
    // Better now than after half a minute.
    std::string why;
    if (!write_file(options.json, "", why)) {
      return complain("cannot write " + options.json + ": " + why,
                      "give --json a file in a folder that you can write to", kUsage);
    }
  }
  try {
    return run_all(options);
  } catch (const Error& error) {
    return complain(error.cause(), error.remedy(), kFailed);
  }
}

}  // namespace cardan::street
