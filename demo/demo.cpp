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

#include "cardan/error.hpp"
#include "demo/detector/picture_detector.hpp"
#include "demo/files.hpp"
#include "demo/processes/cardan_run.hpp"
#include "demo/processes/priorities.hpp"
#include "demo/report/columns.hpp"
#include "demo/report/drawing.hpp"
#include "demo/report/say.hpp"
#include "demo/sensors/camera_source.hpp"
#include "demo/sensors/kitti_calibration.hpp"
#include "demo/sensors/lidar_source.hpp"
#include "demo/sockets/socket_run.hpp"
#include "demo/steps.hpp"
#include "src/base/output_file.hpp"
#include "src/system/launcher/system_lock.hpp"

namespace cardan::street {
namespace {

namespace fs = std::filesystem;

constexpr int kFailed = 1;
constexpr int kUsage = 2;
constexpr double kStartOfATurn = 2;  // seconds; more on a busy computer
constexpr double kTurn = 5;          // seconds that a setup measures at a time

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
  if (!run.inputs().lidar_simulated && run.calibration().empty())
    say("The LiDAR's obstacles are not in the camera's picture, because it is not known where they are: give a folder "
        "with KITTI's calibration files (--calibration).\n");
}

void hints(const Run& run) {
  const Figures figures = run.figures();
  if (figures.hops[kCloudHop].received == 0) {
    say("The LiDAR delivered no scan.\n");
  }
  if (figures.hops[kImageHop].received == 0) say("The camera delivered no picture.\n");
}

/// The measurements of all setups so far, each in its turns.
class Results {
 public:
  /// Takes what a run has measured.
  void add(const Run& run) {
    if (run.measured() == 0) return;
    if (turns_ == 0) {
      say("\nCamera: {}\nLiDAR:  {}\n", run.inputs().camera, run.inputs().lidar);
      inputs_ = run.inputs();
    }
    ++turns_;
    if (!run.disturbed().empty()) {
      disturbed_ = run.disturbed();
      ++disturbed_turns_;
    }
    const auto same = std::find_if(of_.begin(), of_.end(), [&](const Of& of) { return of.setup == run.setup(); });
    (same == of_.end() ? of_.emplace_back(Of{run.setup(), {}}) : *same).measurements.add(run.measurements());
  }
  [[nodiscard]] bool empty() const noexcept { return turns_ == 0; }
  [[nodiscard]] const Inputs& inputs() const noexcept { return inputs_; }
  [[nodiscard]] std::vector<Measured> measured() const {
    std::vector<Measured> all;
    for (const Of& of : of_) all.push_back({of.setup, of.measurements.figures()});
    return all;
  }
  /// The tables of each setup.
  [[nodiscard]] std::string tables() const {
    constexpr std::size_t kWide = 160;
    std::string all;
    for (const Measured& m : measured()) all += table(m.setup, m.figures, inputs_, kWide) + "\n";
    return all;
  }
  /// A sentence where other programs disturbed some turns, else "".
  [[nodiscard]] std::string disturbed() const {
    if (disturbed_turns_ == 0) return {};
    return fmt::format("Disturbed in {} of {} turns; the latencies include that. In the last one\n{}.\n",
                       disturbed_turns_, turns_, disturbed_);
  }

 private:
  struct Of {
    Setup setup;
    Measurements measurements;
  };
  std::vector<Of> of_;
  Inputs inputs_;
  std::string disturbed_;
  std::size_t turns_ = 0, disturbed_turns_ = 0;
};

// One turn of one setup; false: it failed, and the reason was shown.
bool go(Run& run, double seconds, Results& results) {
  const bool fine = run.go(seconds);
  if (!fine) fmt::print(stderr, "cardan: {}\n", run.failure());
  const bool first = results.empty();
  results.add(run);
  if (fine && first && run.measured() > 0) hints(run);
  std::fflush(stdout);
  return fine;
}

void save_tables(const Results& results, const std::string& path) {
  std::string why;
  if (!write_file(path, results.tables(), why))
    fmt::print(stderr, "cardan: {}\n", why);
  else
    say("Tables of each setup: {}\n", path);
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
  // The setups take turns, so that what changes meanwhile (other programs, the processor's clock) meets all of them.
  // The camera begins again in each turn: all see the same pictures.
  const double of_each = options.seconds / static_cast<double>(setups.size());
  const auto rounds = static_cast<std::size_t>(std::clamp(of_each / kTurn, 1.0, 20.0));
  const double seconds = of_each / static_cast<double>(rounds);
  say("Takes about {:.0f} s: {} set-up{}, in turns of {:.0f} s.\n",
      options.seconds + kStartOfATurn * static_cast<double>(rounds * setups.size()), setups.size(),
      setups.size() == 1 ? "" : "s", seconds);
  say("Runs the same as `cardan run demo/street.json{}`, and then the same over Unix sockets.\n",
      options.one_process ? " --one-process" : "");
  if (options.camera == kDrawn)
    say("The camera shows a drawn street{}.\n",
        kHasOpenCv ? "; give a video with --camera FILE"
                   : ". This build lacks OpenCV, so it draws no picture of the detections");
  say("{}", priorities_text(ask_for_priorities(configuration)));
  std::fflush(stdout);

  Results results;
  std::optional<Crash> crash;
  bool fine = true;
  for (std::size_t turn = 0; turn < rounds * setups.size() && fine && signals_caught() == 0; ++turn) {
    const std::size_t round = turn / setups.size();
    const Setup setup = setups[(turn + round) % setups.size()];  // another one is the first in each round
    if (setup == Setup::UnixSockets) {
      SocketRun run(options, folder.path(), view);
      fine = go(run, seconds, results);
      continue;
    }
    DemoOptions of_run = options;
    const bool first = results.empty();
    if (!first) {
      of_run.crash.clear();
      of_run.picture.clear();  // one is enough, and the detector then reads what it needs for its work alone
    }
    CardanRun run(of_run, setup, folder.path(), view);
    fine = go(run, seconds, results);
    if (run.crash()) {
      crash = run.crash();
      say("{}", text(*crash));
    }
    if (first && !results.empty() && !options.picture.empty()) save_picture(run, options.picture);
  }
  if (results.empty()) return fine && signals_caught() > 0 ? 0 : kFailed;
  const std::vector<Measured> measured = results.measured();
  const Inputs& inputs = results.inputs();
  say("\n{}{}", comparison(measured, inputs, output_width()), results.disturbed());
  if (!options.tables.empty()) save_tables(results, options.tables);
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
/// A file that does not exist is a mistake on the command line (2), a useless one fails (1).
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
    if (here) {
      const auto camera = open_video(options.camera, {.folder = options.lidar});
      static_cast<void>(projection_of(*camera, options.camera, options.calibration));
    } else if (!options.calibration.empty()) {
      static_cast<void>(read_kitti_calibration(options.calibration, kitti_camera_of(options.camera)));
    }
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

int no_calibration(const std::string& option) {
  return complain(option + ": no calib_velo_to_cam.txt in it, nor in the folders above it",
                  "give the folder with KITTI's calibration files, or a drive in it", kUsage);
}

/// The calibration of a KITTI drive is next to it. One that is given must be there: else the exit code, 0: all is well.
int look_for_calibration(DemoOptions& options) {
  const bool drive = is_folder_of_frames(options.camera) && is_folder_of_frames(options.lidar);
  const std::string given = options.calibration;
  if (given.empty() && !drive) return 0;
  options.calibration = find_kitti_calibration(given.empty() ? options.camera : given);
  if (given.empty() || !options.calibration.empty()) return 0;
  return no_calibration("--calibration " + given);
}

int print_transforms(const DemoOptions& options) {
  const std::string folder = find_kitti_calibration(options.print_transforms);
  if (folder.empty()) return no_calibration("--print-transforms " + options.print_transforms);
  try {
    // The camera is that of the pictures, or of the folder that was given.
    const std::string& pictures = options.camera.empty() ? options.print_transforms : options.camera;
    say("{}", transforms_text(transforms_of(read_kitti_calibration(folder, kitti_camera_of(pictures)))));
    return 0;
  } catch (const Error& error) {
    return complain(error.cause(), error.remedy(), kFailed);
  }
}

}  // namespace

int run_demo(const DemoOptions& given, const std::function<void()>& on_start) {
  DemoOptions options = given;
  if (!options.print_transforms.empty()) return print_transforms(options);
  if (!(options.seconds >= 1) || options.seconds > 86400) {
    return complain(fmt::format("--seconds {} is out of range", options.seconds), "give 1 to 86400", kUsage);
  }
  if (!options.crash.empty() && !role_named(options.crash)) {
    return complain(fmt::format("--crash {}: no such component", options.crash),
                    fmt::format("use one of: {}", fmt::join(kRoleNames, ", ")), kUsage);
  }
  if (options.camera.empty()) options.camera = usual_camera();
  if (!kHasOpenCv) options.picture.clear();
  if (const int code = look_for_calibration(options); code != 0) return code;
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
