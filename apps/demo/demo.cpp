// SPDX-License-Identifier: Apache-2.0
// `cardan demo`: a street video and a LiDAR through five components to brake or go.

#include <dlfcn.h>
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "apps/command.hpp"
#include "apps/demo/demo_page.hpp"
#include "apps/run/try_paths.hpp"
#include "apps/terminal/output.hpp"
#include "cardan/component.hpp"
#include "cardan/error.hpp"
#include "demo/entry.hpp"
#if defined(CARDAN_HAS_RECORD_COMMANDS)
#include "apps/bag/bag.hpp"
#include "apps/record/record_view.hpp"
#include "cardan/recorder.hpp"
#endif

namespace cardan::apps {
namespace {

constexpr const char* kExamples = R"(Examples:
  cardan demo                                        the pedestrian street video and a simulated LiDAR
  cardan demo --view                                 the same, and a page for a browser
  cardan demo --seconds 10 --no-view --json out.json
  cardan demo --crash detector                       how a crash is detected, survived and repaired, with the times
  cardan demo --camera drive.mp4 --lidar drive.pcap  your own recordings (Velodyne HDL-32E or VLP-16)
  cardan demo --camera 0 --lidar 2368                a live camera, and a Velodyne that sends to UDP port 2368
  cardan demo --camera DRIVE/image_02 --lidar DRIVE/velodyne_points    a drive of KITTI, both in step
  cardan demo --print-transforms DRIVE               the places of its sensors, for a configuration file
  cardan demo --camera drive.mp4 --detector yolov8n.onnx               a model that sees cars too (COCO's classes)

It runs demo/street.json, which you can also give to `cardan run`, check and graph. While it runs, watch it from another
terminal: cardan topic list, cardan component stats, cardan topic stats /street/camera/image

Exit codes: 0 done (also when Ctrl-C cut it short), 1 failed, 2 wrong options or no such file.)";

constexpr const char* kLastDemo = "out/demo.mcap";

struct Arguments {
  street::DemoOptions demo;
  bool no_view = false;
  bool page = false;
  bool force = false;
  bool reports_given = false;
  std::string record = kLastDemo;
  std::vector<float> own;
  std::string role;
  street::RoleOptions of_role;
};

/// A function of the street's library, which stays loaded; null: it is not there, and the reason was shown.
template <class Function>
Function* loaded(const char* name) {
  void* const library = ::dlopen(component_library_path(street::kLibrary, "/proc/self/exe").c_str(), RTLD_NOW);
  void* const function = library == nullptr ? nullptr : ::dlsym(library, name);
  if (function == nullptr)
    warn(fmt::format(
        "{} — the demo's library is not installed with this program: install the package cardan-opencv, or, in "
        "Cardan's sources, run `make demo`",
        ::dlerror()));
  return reinterpret_cast<Function*>(function);
}

#if defined(CARDAN_HAS_RECORD_COMMANDS)
/// Only the demo's own file is replaced without a question. Throws Error: another one is there.
void refuse_to_replace(const Arguments& a) {
  if (a.record.empty() || a.record == kLastDemo || a.force || !std::filesystem::exists(a.record)) return;
  throw Error(ErrorCode::InvalidArgument, fmt::format("{} exists", a.record),
              "give another name, or --force to replace it");
}

/// Records everything that the demo publishes, and shows the result. A recording that fails is reported, and leaves
/// the demo as it is.
class DemoRecording {
 public:
  /// It takes the place of the last demo's, so it begins when nothing can be refused any more.
  void begin(const std::string& path) {
    if (path.empty()) return;
    try {
      std::error_code ignored;
      const auto folder = std::filesystem::path(path).parent_path();
      if (!folder.empty()) std::filesystem::create_directories(folder, ignored);
      for (const char* end : {"", ".active"}) std::filesystem::remove(path + end, ignored);  // the last demo's
      recorder_ = std::make_unique<record::Recorder>(
          record::RecorderOptions{.path = path, .metadata = {{"configuration", {{"demo", "demo"}}}}});
    } catch (const Error& e) {
      warn(fmt::format("the demo is not recorded: {}", e.what()));
    }
  }
  /// Fails if the file is not good. (That samples were lost is seen in the table: not the demo's failure.)
  int finish() {
    if (recorder_ == nullptr) return kOk;
    recorder_->stop();
    const record::RecorderReport report = recorder_->report();
    // As wide as there is room, and all its rows.
    const std::vector<std::string> table =
        record_lines(report, {}, {.columns = terminal_size().columns, .rows = report.topics.size() + 100});
    (void)emit(fmt::format("\nRecorded meanwhile ({}):\n{}", report.mode, text_of(table)));
    for (const std::string& file : report.files) {
      (void)emit(fmt::format("\n$ cardan bag info {}\n", file));
      bag_info({.files = {file}});
      (void)emit(fmt::format("\n$ cardan bag verify {}\n", file));
      if (bag_verify({.files = {file}}) != kOk) return kFailed;
    }
    if (!report.failure.empty()) warn(fmt::format("the recording ended early: {}", report.failure));
    return kOk;
  }

 private:
  std::unique_ptr<record::Recorder> recorder_;
};
#endif

int run(Arguments& a) {
  if (!a.own.empty()) a.demo.own = {.front = a.own[0], .rear = a.own[1], .side = a.own[2]};
  if (a.role.empty()) {
    a.demo.view = !a.no_view;
    if (a.reports_given) try_folder(a.demo.reports, "--reports");  // not only after a crash
#if defined(CARDAN_HAS_RECORD_COMMANDS)
    refuse_to_replace(a);
#endif
    auto* const demo = loaded<decltype(cardan_street_demo)>("cardan_street_demo");
    if (demo == nullptr) return kFailed;
    std::unique_ptr<DemoPage> page;
    if (a.page) page = std::make_unique<DemoPage>();
    if (page && page->address().empty())
      warn(fmt::format("no page for a browser: {}", page->trouble()));
    else if (page)
      (void)emit(fmt::format("Look at it in a browser: {}\n", page->address()));
#if defined(CARDAN_HAS_RECORD_COMMANDS)
    DemoRecording recording;
    const int code = demo(a.demo, [&] { recording.begin(a.record); });
    return code != kOk ? code : recording.finish();
#else
    return demo(a.demo, [] {});
#endif
  }
  const auto role = street::role_named(a.role);
  if (!role) {
    warn(fmt::format("unknown role {}", a.role));
    return kUsage;
  }
  a.of_role.role = *role;
  a.of_role.camera = a.demo.camera;
  a.of_role.lidar = a.demo.lidar;
  a.of_role.detector = a.demo.detector;
  a.of_role.own = a.demo.own;
  auto* const run_role = loaded<decltype(cardan_street_role)>("cardan_street_role");
  return run_role == nullptr ? 1 : run_role(a.of_role);
}

}  // namespace

static void add_demo_command(CLI::App& app) {
  auto* const command = app.add_subcommand(
      "demo", "Run a street video and a LiDAR through five components, in five processes and in one");
  command->footer(kExamples);
  auto arguments = std::make_shared<Arguments>();
  auto& a = *arguments;
  command->add_option("--camera", a.demo.camera,
                      "Video file (looped), folder of pictures or its pattern (DIR/%010d.png), V4L2 device number, "
                      "URL, or \"drawn\" (default: the pedestrian street video, or a drawn street where that is not)");
  command->add_option("--lidar", a.demo.lidar,
                      "Velodyne pcap file, folder of KITTI scans, or UDP port (default: a simulated street). With "
                      "timestamps.txt, as in KITTI, the folders of both sensors keep step");
  command->add_option("--calibration", a.demo.calibration,
                      "Folder with KITTI's calib_*.txt: where the sensors are, so that the LiDAR's obstacles are drawn "
                      "into the camera's picture (default: of a drive, the files above its pictures)");
  command->add_option("--print-transforms", a.demo.print_transforms,
                      "Only print the calibration in this folder (or above it) as \"transforms\" of a configuration "
                      "file, for the image_0N of --camera (default: image_02)");
  command->add_option(
      "--detector", a.demo.detector,
      "ONNX file of a detector of COCO's classes: FastestDet, YOLOv5, YOLOv8, YOLO11 (default: OpenCV's "
      "HOG pedestrian detector; for the drawn street, what moves)");
  command
      ->add_option("--own-vehicle", a.own,
                   "Size of the vehicle below the LiDAR: how far it reaches ahead of the sensor, to the rear and to "
                   "each side, in "
                   "metres. Points there are dropped (default: 2,3.5,1.1)")
      ->expected(3)
      ->delimiter(',')
      ->check(CLI::Range(0.0F, 30.0F))
      ->type_name("AHEAD,BEHIND,SIDE");
  command
      ->add_option("--seconds", a.demo.seconds,
                   "Seconds to measure, in equal parts, in turns of 5 s: five processes, the same without priorities, "
                   "one process, Unix sockets")
      ->capture_default_str();
  command->add_flag("--one-process", a.demo.one_process, "Leave out the five processes");
  command->add_option("--crash", a.demo.crash,
                      "Make this component crash (SIGSEGV) after a third of its time, and show the recovery");
  const auto* const reports =
      command->add_option("--reports", a.demo.reports, "Folder for the reports of crashes")->capture_default_str();
  command->add_option("--json", a.demo.json, "Write the figures to this file");
  command->add_option("--picture", a.demo.picture, "Write a picture of the detections to this file; \"\": none")
      ->capture_default_str();
  command->add_option("--tables", a.demo.tables, "Write the tables of each setup to this file; \"\": none")
      ->capture_default_str();
#if defined(CARDAN_HAS_RECORD_COMMANDS)
  command->add_option("--record", a.record, "Record all topics into this file; \"\": no recording")
      ->capture_default_str();
  command->add_flag("--force", a.force, "Replace the file of --record if it exists (the default one always is)");
#endif
  command->add_flag("--no-view", a.no_view, "Plain lines instead of the live view");
  command->add_flag("--view", a.page, "Show it in a browser too, and print the page's address (as cardan view)");
  // How the demo starts its own processes.
  command->add_option("--role", a.role)->group("");
  command->add_option("--socket-folder", a.of_role.socket_folder)->group("");
  command->add_option("--image-width", a.of_role.image_width)->group("");
  command->add_option("--note-fd", a.of_role.note_fd)->group("");
  command->add_option("--origin", a.of_role.origin)->group("");
  command->add_option("--priority", a.of_role.priority)->group("");
  command->add_option("--nice", a.of_role.nice)->group("");
  command->callback([arguments, reports] {
    arguments->reports_given = reports->count() > 0;
    if (const int code = run(*arguments); code != 0) throw CLI::RuntimeError(code);
  });
}

const Command kDemoCommand{420, add_demo_command};

}  // namespace cardan::apps
