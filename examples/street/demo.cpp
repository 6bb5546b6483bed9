// SPDX-License-Identifier: Apache-2.0
#include "examples/street/demo.hpp"

#include <fmt/format.h>
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
#include "examples/street/drawing.hpp"
#include "examples/street/run.hpp"

namespace cardan::street {
namespace {

namespace fs = std::filesystem;

constexpr int kFailed = 1;
constexpr int kUsage = 2;

int complain(const std::string& cause, const std::string& remedy, int code) {
  fmt::print(stderr, "cardan demo: {}\n  what to do: {}\n", cause, remedy);
  return code;
}

// The street video of Debian's opencv-doc, where the set-up script puts it: build/data, next to the build of this
// program.
std::string default_video() {
  std::error_code failure;
  const fs::path program = fs::read_symlink("/proc/self/exe", failure);
  for (const fs::path& folder : {program.parent_path() / "../../data", fs::path("build/data")}) {
    const fs::path video = (folder / "vtest.avi").lexically_normal();
    if (fs::is_regular_file(video, failure)) return video.string();
  }
  return {};
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

// A folder for the Unix sockets of the comparison; removed at the end.
class SocketFolder {
 public:
  SocketFolder() {
    std::error_code failure;
    std::string name = (fs::temp_directory_path(failure) / "cardan-street-XXXXXX").string();
    if (failure || ::mkdtemp(name.data()) == nullptr) {
      throw Error(ErrorCode::Unavailable, "cannot make a folder for sockets: " + std::generic_category().message(errno),
                  "set TMPDIR to a writable folder");
    }
    path_ = name;
  }
  ~SocketFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  SocketFolder(const SocketFolder&) = delete;
  SocketFolder& operator=(const SocketFolder&) = delete;
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

void save_picture(Run& run, const std::string& path) {
  const auto decode = [](const Fd& file) {
    const auto bytes = contents(file);
    return bytes.empty() ? cv::Mat() : cv::imdecode(bytes, cv::IMREAD_COLOR);
  };
  const cv::Mat picture = side_by_side(decode(run.people_picture()), decode(run.obstacles_picture()));
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
  if (run.measured() < 1) return;
  if (figures.hops[kCloudHop].received == 0) {
    fmt::print("No scan came from the LiDAR.{}\n",
               is_number(options.lidar)
                   ? " Does the sensor send to this computer? Look with: tcpdump -ni any udp port " + options.lidar
                   : "");
  }
  if (figures.hops[kImageHop].received == 0) fmt::print("No picture came from the camera.\n");
}

int run_both(DemoOptions options) {
  const Fd lock = only_one();
  const SocketFolder folder;
  catch_signals();
  View view(options.view && can_draw());
  const auto interrupted = [] { return signals_caught() > 0; };

  Run first(options, Transport::Cardan, folder.path(), view);
  const bool first_fine = first.go(options.seconds / 2);
  if (!first_fine) fmt::print(stderr, "cardan demo: {}\n", first.failure());
  if (first.measured() == 0) return first_fine && interrupted() ? 0 : kFailed;

  fmt::print("\n{}{}", table(Transport::Cardan, first.figures(), first.inputs()), first.disturbed());
  hints(first, options);
  if (!options.picture.empty()) save_picture(first, options.picture);
  fmt::print("\n");
  std::fflush(stdout);

  std::optional<Figures> second_figures;
  bool second_fine = true;
  if (first_fine && !interrupted()) {
    Run second(options, Transport::UnixSocket, folder.path(), view);
    second_fine = second.go(options.seconds / 2);
    if (!second_fine) fmt::print(stderr, "cardan demo: {}\n", second.failure());
    if (second.measured() > 0) {
      second_figures = second.figures();
      fmt::print("\n{}{}\n{}", table(Transport::UnixSocket, *second_figures, second.inputs()), second.disturbed(),
                 comparison(first.figures(), *second_figures, second.inputs()));
    }
  }
  if (interrupted()) fmt::print("Ended by a signal: the figures are of the time up to then.\n");
  if (!options.json.empty()) {
    std::string why;
    if (!write_file(options.json, json(first.figures(), second_figures, first.inputs()), why)) {
      return complain("cannot write " + options.json + ": " + why,
                      "give --json a file in a folder that you can write to", kFailed);
    }
    fmt::print("Figures as JSON: {}\n", options.json);
  }
  return first_fine && second_fine ? 0 : kFailed;
}

}  // namespace

int run_demo(const DemoOptions& given) {
  DemoOptions options = given;
  if (!(options.seconds >= 1) || options.seconds > 86400) {
    return complain(fmt::format("--seconds {} is out of range", options.seconds), "give 1 to 86400", kUsage);
  }
  if (options.camera.empty()) {
    options.camera = default_video();
    if (options.camera.empty()) {
      return complain(
          "the street video is not there (build/data/vtest.avi)",
          "run `make demo` or scripts/setup.sh --for demo once, which fetch it; or give a video: --camera FILE",
          kUsage);
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
    return run_both(std::move(options));
  } catch (const Error& error) {
    return complain(error.cause(), error.remedy(), kFailed);
  }
}

}  // namespace cardan::street
