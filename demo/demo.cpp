// SPDX-License-Identifier: Apache-2.0
#include "demo/demo.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "cardan/base/error.hpp"
#include "cardan/base/output_file.hpp"
#include "cardan/system/launcher/system_lock.hpp"
#include "demo/detector/picture_detector.hpp"
#include "demo/files.hpp"
#include "demo/processes/cardan_run.hpp"
#include "demo/processes/priorities.hpp"
#include "demo/report/columns.hpp"
#include "demo/report/drawing.hpp"
#include "demo/report/say.hpp"
#include "demo/sensors/camera_source.hpp"
#include "demo/sensors/lidar_source.hpp"
#include "demo/sockets/socket_run.hpp"

namespace cardan::street {
namespace {

namespace fs = std::filesystem;

constexpr int kFailed = 1;
constexpr int kUsage = 2;

int complain(const std::string& cause, const std::string& remedy, int code) {
  fmt::print(stderr, "cardan: {}{}{}\n", cause, remedy.empty() ? "" : " — ", remedy);
  return code;
}

// A folder for pictures and for the Unix sockets of the comparison; removed at the end.
class Folder {
 public:
  Folder() {
    const char* const wanted = std::getenv("TMPDIR");
    const fs::path parent = wanted != nullptr && *wanted != '\0' ? wanted : "/tmp";
    std::string name = (parent / "cardan-street-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr)
      throw Error(
          ErrorCode::Unavailable,
          fmt::format("cannot make a folder in {}: {}", parent.string(), std::generic_category().message(errno)),
          "set TMPDIR to a writable folder");
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
  try {
    write_output(path, text);
    return true;
  } catch (const Error& e) {
    why = failure ? fmt::format("cannot write {}: {}", path, failure.message()) : e.cause();
    return false;
  }
}

void save_picture(const CardanRun& run, const std::string& path) {
  const std::string png = side_by_side(run.camera_picture(), run.obstacles_picture());
  if (png.empty()) return;
  std::string why;
  if (!write_file(path, png, why)) {
    fmt::print(stderr, "cardan: {}\n", why);
    return;
  }
  say("Picture of the detections: {}\n", path);
}

void hints(const Run& run) {
  const Figures figures = run.figures();
  if (figures.hops[kCloudHop].received == 0) {
    say("The LiDAR delivered no scan.\n");
  }
  if (figures.hops[kImageHop].received == 0) say("The camera delivered no picture.\n");
}

// Measures with one setup; false: it failed, and the reason was shown.
bool go(Run& run, double seconds, std::vector<Measured>& measured) {
  const bool fine = run.go(seconds);
  if (!fine) fmt::print(stderr, "cardan: {}\n", run.failure());
  if (run.measured() == 0) return fine;
  if (measured.empty()) say("\nCamera: {}\nLiDAR:  {}\n", run.inputs().camera, run.inputs().lidar);
  measured.push_back({run.setup(), run.figures()});
  say("\n{}{}", table(run.setup(), run.figures(), run.inputs(), output_width()), run.disturbed());
  if (fine) hints(run);
  std::fflush(stdout);
  return fine;
}

int run_all(const DemoOptions& options, const std::function<void()>& on_start) {
  const config::Configuration configuration = street_plan().configuration;
  // Two streets in one domain, also one of `cardan run`, would read each other's topics.
  const launcher::SystemLock lock(configuration.name, configuration.domain);
  on_start();
  const Folder folder;
  catch_signals();
  View view(options.view && can_draw());
  std::vector<Setup> setups = {Setup::FiveProcesses, Setup::WithoutPriorities, Setup::OneProcess, Setup::UnixSockets};
  if (options.one_process) setups.erase(setups.begin(), setups.begin() + 2);
  const double seconds = options.seconds / static_cast<double>(setups.size());
  say("Runs the same as `cardan run demo/street.json{}`, and then the same over Unix sockets.\n",
      options.one_process ? " --one-process" : "");
  if (options.camera == kDrawn)
    say("The camera shows a drawn street{}.\n",
        kHasOpenCv ? "; give a video with --camera FILE"
                   : ". This build lacks OpenCV, so it draws no picture of the detections");
  say("{}", priorities_text(ask_for_priorities(configuration)));
  std::fflush(stdout);

  std::vector<Measured> measured;
  std::optional<Crash> crash;
  Inputs inputs;
  bool fine = true;
  for (const Setup setup : setups) {
    if (!fine || signals_caught() > 0) break;
    if (setup == Setup::UnixSockets) {
      SocketRun run(options, folder.path(), view);
      fine = go(run, seconds, measured);
      continue;
    }
    DemoOptions of_run = options;
    const bool first = measured.empty();
    if (!first) of_run.crash.clear();
    CardanRun run(of_run, setup, folder.path(), view);
    fine = go(run, seconds, measured);
    inputs = run.inputs();
    if (run.crash()) {
      crash = run.crash();
      say("{}", text(*crash));
    }
    if (first && !measured.empty() && !options.picture.empty()) save_picture(run, options.picture);
  }
  if (measured.empty()) return fine && signals_caught() > 0 ? 0 : kFailed;
  if (measured.size() > 1) say("\n{}", comparison(measured, inputs, output_width()));
  if (signals_caught() > 0) say("Ended by a signal: the figures cover the time until then.\n");
  if (!options.json.empty()) {
    std::string why;
    if (!write_file(options.json, json(measured, inputs, crash), why)) {
      return complain(why, "give --json a file in a folder that you can write to", kFailed);
    }
    say("Figures as JSON: {}\n", options.json);
  }
  return fine ? 0 : kFailed;
}

/// Opens what is a file or a folder, before anything is started: a process that fails would be tried again for seconds.
/// What does not exist is a mistake on the command line (2), what is of no use fails (1).
int look_at_inputs(const DemoOptions& options) {
  std::error_code ignored;
  const auto missing = [&](const std::string& file) {
    return !is_folder_of_frames(file) && !fs::exists(file, ignored);
  };
  const bool number = options.camera.find_first_not_of("0123456789") == std::string::npos;
  const bool device =
      fs::is_character_file(options.camera, ignored) || (number && !fs::exists(options.camera, ignored));
  const bool here = options.camera.find("://") == std::string::npos && !device && options.camera != kDrawn;
  if (here && missing(options.camera)) {
    return complain("--camera " + options.camera + ": no such file",
                    "give a video file, a folder of pictures, a V4L2 device number (0) or a URL", kUsage);
  }
  if (!options.lidar.empty() && !is_udp_port(options.lidar) && missing(options.lidar)) {
    return complain("--lidar " + options.lidar + ": no such file or folder",
                    "give a pcap file of a Velodyne, a folder of KITTI scans, or a UDP port; leave it out for the "
                    "simulated street",
                    kUsage);
  }
  if (!options.detector.empty() && !fs::exists(options.detector, ignored)) {
    return complain("--detector " + options.detector + ": no such file",
                    "give an ONNX file (FastestDet or YOLO), or leave --detector out for the usual one", kUsage);
  }
  try {
    set_detector_threads(1);  // none that would stay in this process
    if (here) static_cast<void>(open_video(options.camera, {.folder = options.lidar}));
    if (device && number && !fs::exists("/dev/video" + options.camera, ignored))
      throw Error(ErrorCode::Unavailable, "there is no /dev/video" + options.camera,
                  "list the cameras: ls /dev/video*; or give a video file");
    if (!options.lidar.empty()) static_cast<void>(open_lidar(options.lidar, {.folder = options.camera}));
    if (!options.detector.empty()) static_cast<void>(open_detector(options.detector));
    set_detector_threads(-1);
  } catch (const Error& error) {
    return complain(error.cause(), error.remedy(), kFailed);
  }
  return 0;
}

}  // namespace

int run_demo(const DemoOptions& given, const std::function<void()>& on_start) {
  DemoOptions options = given;
  if (!(options.seconds >= 1) || options.seconds > 86400) {
    return complain(fmt::format("--seconds {} is out of range", options.seconds), "give 1 to 86400", kUsage);
  }
  if (!options.crash.empty() && !role_named(options.crash)) {
    return complain(fmt::format("--crash {}: no such component", options.crash),
                    fmt::format("use one of: {}", fmt::join(kRoleNames, ", ")), kUsage);
  }
  if (options.camera.empty()) options.camera = usual_camera();
  if (!kHasOpenCv) options.picture.clear();
  if (const int code = look_at_inputs(options); code != 0) return code;
  if (!options.json.empty()) {
    // Better now than after half a minute.
    std::string why;
    if (!write_file(options.json, "", why)) {
      return complain(why, "give --json a file in a folder that you can write to", kUsage);
    }
  }
  try {
    return run_all(options, on_start);
  } catch (const Error& error) {
    return complain(error.cause(), error.remedy(), kFailed);
  }
}

}  // namespace cardan::street
