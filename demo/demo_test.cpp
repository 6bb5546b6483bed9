// SPDX-License-Identifier: Apache-2.0
// The whole demo, and `cardan run` on its file, as a user starts them.
#include <dirent.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <opencv2/core.hpp>
#include <opencv2/imgcodecs.hpp>
#include <opencv2/imgproc.hpp>
#include <opencv2/videoio.hpp>
#include <sstream>
#include <string_view>
#include <thread>

#include "demo/detector/onnx_file_test.hpp"
#include "src/system/launcher/system_lock.hpp"

namespace cardan::street {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

class Demo : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = testing::TempDir() + "cardan-demo-XXXXXX";
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
    for (const char* sub : {"run", "tmp"}) fs::create_directory(folder_ / sub);
    video_ = (folder_ / "made.avi").string();
    cv::VideoWriter writer(video_, cv::VideoWriter::fourcc('M', 'J', 'P', 'G'), 20, {320, 240});
    ASSERT_TRUE(writer.isOpened());
    for (int i = 0; i < 8; ++i) writer.write(cv::Mat(240, 320, CV_8UC3, cv::Scalar(30 * i, 100, 0)));
  }
  void TearDown() override {
    for (const pid_t pid : started_) {  // a demo must not outlive a failed assertion
      ::kill(pid, SIGKILL);
      ::waitpid(pid, nullptr, 0);
    }
    fs::remove_all(folder_);
  }

  pid_t start(std::vector<std::string> arguments) {
    if (arguments.empty() || arguments[0] != "run") arguments.insert(arguments.begin(), "demo");
    arguments.insert(arguments.begin(), "cardan");
    const pid_t pid = ::fork();
    if (pid != 0) {
      started_.push_back(pid);
      return pid;
    }
    const std::string output = (folder_ / "output").string();
    const int fd = ::open(output.c_str(), O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0600);
    ::dup2(out_ < 0 ? fd : out_, STDOUT_FILENO);
    ::dup2(fd, STDERR_FILENO);
    ::setenv("CARDAN_RUN_DIR", (folder_ / "run").c_str(), 1);
    ::setenv("TMPDIR", (folder_ / temporary_).c_str(), 1);
    std::vector<char*> argv;
    for (std::string& a : arguments) argv.push_back(a.data());
    argv.push_back(nullptr);
    ::execv(std::getenv("CARDAN_TEST_COMMAND"), argv.data());
    ::_exit(127);
  }
  void read_output() {
    std::ostringstream text;
    text << std::ifstream(folder_ / "output").rdbuf();
    output_ = text.str();
  }
  bool wait_for_output(const std::string& words) {
    for (int i = 0; i < 2'000; ++i) {
      read_output();
      if (output_.find(words) != std::string::npos) return true;
      std::this_thread::sleep_for(50ms);
    }
    return false;
  }
  int end(pid_t pid) {
    int status = 0;
    ::waitpid(pid, &status, 0);
    std::erase(started_, pid);
    read_output();
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  }
  int run(std::vector<std::string> arguments) { return end(start(std::move(arguments))); }

  // The processes that `parent` has started, by name.
  static std::map<std::string, pid_t> children(pid_t parent) {
    std::map<std::string, pid_t> found;
    for (const auto& entry : fs::directory_iterator("/proc")) {
      const std::string pid = entry.path().filename();
      if (pid.find_first_not_of("0123456789") != std::string::npos) continue;
      std::ifstream stat(entry.path() / "stat");
      std::string line;
      std::getline(stat, line);
      const std::size_t bracket = line.rfind(')');
      if (bracket == std::string::npos || std::atoi(line.c_str() + bracket + 4) != parent) continue;
      std::ostringstream command;
      command << std::ifstream(entry.path() / "cmdline").rdbuf();
      const std::string text = command.str();
      for (const std::string& option : {std::string("--role="), std::string("--process\0", 10)}) {
        const std::size_t name = text.find(option);
        if (name == std::string::npos) continue;
        const std::size_t begin = name + option.size();
        found[text.substr(begin, text.find('\0', begin) - begin)] = std::stoi(pid);
      }
    }
    return found;
  }
  static std::map<std::string, pid_t> wait_for_children(pid_t parent) {
    for (int i = 0; i < 600; ++i) {
      auto found = children(parent);
      if (found.size() == 5) return found;
      std::this_thread::sleep_for(50ms);
    }
    return {};
  }
  // KITTI's calibration of a camera that is where the LiDAR is and looks ahead, for pictures of 320 x 240.
  void write_calibration(const fs::path& folder) const {
    std::ofstream(folder / "calib_velo_to_cam.txt") << "R: 0 -1 0 0 0 -1 1 0 0\nT: 0 0 0\n";
    std::ofstream(folder / "calib_cam_to_cam.txt") << "S_rect_02: 3.200000e+02 2.400000e+02\n"
                                                      "R_rect_00: 1 0 0 0 1 0 0 0 1\n"
                                                      "P_rect_02: 240 0 160 0 0 240 120 0 0 0 1 0\n";
  }
  // Names of topics, sockets and folders that are still there.
  std::string left_behind() const {
    std::string names;
    for (const char* sub : {"run", "tmp"}) {
      for (const auto& entry : fs::recursive_directory_iterator(folder_ / sub)) {
        const std::string name = entry.path().filename();
        if (!entry.is_directory() || name.find("street") != std::string::npos) names += name + " ";
      }
    }
    return names;
  }
  static bool all_gone(const std::map<std::string, pid_t>& processes) {
    for (int i = 0; i < 100; ++i) {
      bool alive = false;
      for (const auto& [role, pid] : processes) alive = alive || ::kill(pid, 0) == 0;
      if (!alive) return true;
      std::this_thread::sleep_for(50ms);
    }
    return false;
  }

  fs::path folder_;
  std::string video_, output_, temporary_ = "tmp";
  int out_ = -1;  ///< the demo's standard output; −1: `output_` has it
  std::vector<pid_t> started_;
};

TEST_F(Demo, MeasuresAllSetupsAndLeavesNothingBehind) {
  const std::string figures = (folder_ / "out.json").string();
  const std::string picture = (folder_ / "out/demo.png").string();
  ASSERT_EQ(run({"--camera", video_, "--seconds", "8", "--no-view", "--json", figures, "--picture", picture, "--tables",
                 (folder_ / "out/demo.txt").string()}),
            0)
      << output_;
  EXPECT_NE(output_.find("lidar (simulated) → obstacles"), std::string::npos) << output_;
  EXPECT_NE(output_.find("to the decision: carried"), std::string::npos) << output_;
  EXPECT_NE(output_.find("age of the picture at a decision"), std::string::npos) << output_;
  std::ostringstream tables;
  tables << std::ifstream(folder_ / "out/demo.txt").rdbuf();
  EXPECT_NE(tables.str().find("perception to decision"), std::string::npos) << tables.str();
  const std::string name = fs::path(video_).filename().string();
  EXPECT_NE(output_.find("Camera: " + name), std::string::npos) << output_;

  const auto parsed = nlohmann::json::parse(std::ifstream(figures));
  EXPECT_NE(parsed.at("inputs").at("camera").get<std::string>().find(name), std::string::npos) << parsed.at("inputs");
  EXPECT_NE(parsed.at("inputs").at("lidar").get<std::string>().find("simulated"), std::string::npos);
  for (const auto* run :
       {&parsed, &parsed.at("without_priorities"), &parsed.at("one_process"), &parsed.at("unix_socket")}) {
    ASSERT_EQ(run->at("hops").size(), 4U);
    for (const auto& hop : run->at("hops")) {
      EXPECT_GT(hop.at("received"), 0) << hop.dump();
      EXPECT_TRUE(hop.at("missed").is_number_unsigned());
      EXPECT_GT(hop.at("transport_us").at("min"), 0) << hop.dump();
      EXPECT_GE(hop.at("transport_us").at("max"), hop.at("transport_us").at("p50"));
    }
    EXPECT_GT(run->at("decisions"), 0);
    EXPECT_GT(run->at("decision_us").at("p50"), 0);
    EXPECT_EQ(run->at("ages_us").empty(), run == &parsed.at("unix_socket")) << run->at("ages_us");
  }
  EXPECT_GT(parsed.at("ages_us").at("lidar").at("p50"), 0) << parsed.at("ages_us");
  const cv::Mat drawn = cv::imread(picture);
  ASSERT_FALSE(drawn.empty());
  EXPECT_EQ(drawn.rows, 240);
  EXPECT_GT(drawn.cols, 320);
  EXPECT_EQ(left_behind(), "");
}

TEST_F(Demo, TheDrawnStreetIsCalledSoAndItsWalkersAreSeen) {
  const std::string figures = (folder_ / "out.json").string();
  ASSERT_EQ(run({"--camera", "drawn", "--one-process", "--seconds", "6", "--no-view", "--json", figures, "--picture",
                 "", "--record", (folder_ / "drawn.mcap").string()}),
            0)
      << output_;
  EXPECT_NE(output_.find("The camera shows a drawn street"), std::string::npos) << output_;
  EXPECT_NE(output_.find("(camera alone)"), std::string::npos) << output_;
  const auto parsed = nlohmann::json::parse(std::ifstream(figures));
  EXPECT_EQ(parsed.at("hops")[0].at("from"), "camera (drawn)");
}

TEST_F(Demo, AModelSeesInADriveWhatItWasTrainedFor) {
  // A drive as KITTI has it, of pictures with one bright square, which the model takes for a car.
  std::ofstream(folder_ / "model.onnx", std::ios::binary) << bright_cars().bytes();
  for (const char* sub : {"image_02", "image_02/data", "velodyne_points", "velodyne_points/data"})
    fs::create_directory(folder_ / sub);
  std::ofstream pictures(folder_ / "image_02/timestamps.txt");
  std::ofstream scans(folder_ / "velodyne_points/timestamps.txt");
  for (int i = 0; i < 4; ++i) {
    const std::string number = "000000000" + std::to_string(i);
    cv::Mat picture(240, 320, CV_8UC3, cv::Scalar::all(0));
    picture(cv::Rect(160, 60, 80, 60)).setTo(cv::Scalar::all(255));
    cv::imwrite((folder_ / ("image_02/data/" + number + ".png")).string(), picture);
    std::vector<float> points;
    for (float z = -1.6F; z < 0; z += 0.1F)  // something on the own bonnet, and something 6 m ahead
      for (float y = -0.3F; y < 0.3F; y += 0.05F)
        points.insert(points.end(), {2.5F, y, z, 0.5F, 6.0F, y - 1, z, 0.5F});  // there the square is in the picture
    for (float x = 4; x < 30; x += 0.5F)
      for (float y = -5; y < 5; y += 0.5F) points.insert(points.end(), {x, y, -1.7F, 0.1F});
    std::ofstream(folder_ / ("velodyne_points/data/" + number + ".bin"), std::ios::binary)
        .write(reinterpret_cast<const char*>(points.data()),
               static_cast<std::streamsize>(points.size() * sizeof(float)));
    pictures << "2011-09-26 13:02:25." << i << "64389445\n";
    scans << "2011-09-26 13:02:25." << i << "74389445\n";
  }
  pictures.close();
  scans.close();
  write_calibration(folder_);
  const std::string picture = (folder_ / "seen.png").string();
  ASSERT_EQ(run({"--camera", (folder_ / "image_02/data/%010d.png").string(), "--lidar",
                 (folder_ / "velodyne_points").string(), "--detector", (folder_ / "model.onnx").string(),
                 "--own-vehicle", "3,4,1", "--one-process", "--seconds", "16", "--no-view", "--picture", picture}),
            0)
      << output_;
  EXPECT_NE(output_.find("BRAKE car 6.0 m ahead in the path, seen by camera and LiDAR"), std::string::npos) << output_;
  const cv::Mat drawn = cv::imread(picture);
  ASSERT_FALSE(drawn.empty());
  const auto& edge = drawn.at<cv::Vec3b>(90, 160);  // the left edge of the box, orange on black and white
  EXPECT_GT(edge[2], 200);
  EXPECT_LT(edge[0], 100);
  // The LiDAR's obstacle, 6 m ahead and 0.7 to 1.3 m to the right, from the height of the camera down to the road.
  cv::Mat blue;
  cv::inRange(drawn.colRange(0, 320).rowRange(24, 240), cv::Scalar(200, 110, 0), cv::Scalar(255, 220, 120), blue);
  const cv::Rect around = cv::boundingRect(blue);
  EXPECT_NEAR(around.x, 160 + 0.7 * 40, 4);
  EXPECT_NEAR(around.y + 24, 120, 4);
  EXPECT_GT(around.br().y + 24, 120 + 1.2 * 40);
}

TEST_F(Demo, ACalibrationIsPrintedAsTransformsOfAConfiguration) {
  write_calibration(folder_);
  fs::create_directories(folder_ / "drive/image_02/data");
  ASSERT_EQ(run({"--print-transforms", (folder_ / "drive").string()}), 0) << output_;
  const auto transforms = nlohmann::json::parse(output_).at("transforms");
  ASSERT_EQ(transforms.size(), 1U) << output_;
  EXPECT_EQ(transforms[0].at("parent"), "lidar");
  EXPECT_EQ(transforms[0].at("child"), "camera");
  EXPECT_NEAR(transforms[0].at("rpy")[0].get<double>(), -1.5708, 1e-4) << output_;
  EXPECT_EQ(left_behind(), "");
}

TEST_F(Demo, ASilentUdpPortFailsAfterAStatedTime) {
  EXPECT_EQ(run({"--camera", video_, "--lidar", "24999", "--seconds", "100", "--no-view", "--picture", ""}), 1)
      << output_;
  EXPECT_NE(output_.find("no scan of a Velodyne arrived at UDP port 24999 within"), std::string::npos) << output_;
  EXPECT_NE(output_.find("tcpdump -ni any udp port 24999"), std::string::npos) << output_;
}

TEST_F(Demo, CtrlCEndsAllFiveInOrder) {
  const pid_t pid = start({"--camera", video_, "--seconds", "1000", "--no-view", "--picture", ""});
  const auto processes = wait_for_children(pid);
  ASSERT_EQ(processes.size(), 5U);
  std::this_thread::sleep_for(1s);
  ::kill(pid, SIGINT);
  EXPECT_EQ(end(pid), 0) << output_;
  EXPECT_TRUE(all_gone(processes));
  EXPECT_EQ(output_.find("was killed"), std::string::npos) << output_;
  EXPECT_EQ(left_behind(), "");
}

TEST_F(Demo, WithoutAReaderOfItsOutputItEndsInOrder) {
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  ::close(ends[0]);
  out_ = ends[1];
  const pid_t pid = start({"--camera", video_, "--seconds", "1000", "--no-view", "--picture", ""});
  ::close(ends[1]);
  EXPECT_EQ(end(pid), 1) << output_ << "as every command whose output cannot be written";
  EXPECT_EQ(left_behind(), "");
}

TEST_F(Demo, AFolderThatCannotBeMadeIsReportedWithItsCause) {
  temporary_ = "not there";
  EXPECT_EQ(run({"--camera", video_, "--seconds", "10", "--no-view", "--picture", ""}), 1) << output_;
  EXPECT_NE(output_.find("cannot make a folder in " + (folder_ / temporary_).string() + ": No such file or directory"),
            std::string::npos)
      << output_;
}

TEST_F(Demo, ThePageForABrowserEndsWithTheDemo) {
  if (!fs::exists(fs::path(std::getenv("CARDAN_TEST_COMMAND")).parent_path() / "cardan-bridge-foxglove"))
    GTEST_SKIP() << "built without Boost";
  const pid_t pid = start({"--view", "--camera", video_, "--seconds", "1000", "--no-view", "--picture", ""});
  ASSERT_EQ(wait_for_children(pid).size(), 5U);
  std::ostringstream text;
  text << std::ifstream(folder_ / "output").rdbuf();
  constexpr std::string_view kBefore = "Look at it in a browser: http://127.0.0.1:";
  const std::size_t at = text.str().find(kBefore);
  ASSERT_NE(at, std::string::npos) << text.str();
  const int port = std::atoi(text.str().c_str() + at + kBefore.size());
  const auto answers = [port] {
    const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(static_cast<std::uint16_t>(port));
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const bool good = ::connect(fd, reinterpret_cast<const sockaddr*>(&to), sizeof(to)) == 0;
    ::close(fd);
    return good;
  };
  EXPECT_TRUE(answers());
  ::kill(pid, SIGINT);
  EXPECT_EQ(end(pid), 0) << output_;
  EXPECT_FALSE(answers());
  EXPECT_EQ(left_behind(), "");
}

TEST_F(Demo, ADeathIsReportedWithItsSignalAndWhatToDo) {
  const pid_t pid = start({"--camera", video_, "--seconds", "1000", "--no-view", "--picture", ""});
  const auto processes = wait_for_children(pid);
  ASSERT_EQ(processes.size(), 5U);
  ::kill(processes.at("detector"), SIGKILL);
  EXPECT_EQ(end(pid), 1);
  EXPECT_NE(output_.find("detector (pid " + std::to_string(processes.at("detector")) + ") died by signal 9"),
            std::string::npos)
      << output_;
  EXPECT_NE(output_.find("memory"), std::string::npos) << output_;
  EXPECT_TRUE(all_gone(processes));
}

TEST_F(Demo, ACrashOnPurposeIsNoticedSurvivedAndRepaired) {
  const std::string figures = (folder_ / "out.json").string();
  ASSERT_EQ(run({"--camera", video_, "--seconds", "24", "--no-view", "--picture", "", "--crash", "detector", "--json",
                 figures, "--reports", (folder_ / "reports").string()}),
            0)
      << output_;
  const auto crash = nlohmann::json::parse(std::ifstream(figures)).at("crash");
  for (const char* key : {"noticed_ms", "degraded_ms", "running_again_ms", "recovered_ms"})
    EXPECT_TRUE(crash.at(key).is_number()) << key << " in " << crash.dump();
  EXPECT_EQ(crash.at("process"), "detector");
  std::ostringstream report;
  report << std::ifstream(crash.at("report").get<std::string>()).rdbuf();
  EXPECT_NE(report.str().find("SIGSEGV"), std::string::npos) << report.str();
  EXPECT_NE(report.str().find("stack:"), std::string::npos) << report.str();
  EXPECT_NE(output_.find("state: degraded"), std::string::npos) << output_;
}

TEST_F(Demo, RunTakesTheFileAsFiveProcessesAndAsOne) {
  const std::string file = std::getenv("CARDAN_TEST_STREET");
  const std::string summary = (folder_ / "run.json").string();
  const std::string video = "camera/video=\"" + video_ + "\"";
  ASSERT_EQ(run({"run", file, "--seconds", "2", "--set", video, "--json", summary}), 0) << output_;
  EXPECT_EQ(nlohmann::json::parse(std::ifstream(summary)).at("processes").size(), 5U);
  const pid_t pid = start({"run", file, "--set", video, "--json", summary, "--one-process", "--crash", "detector@1",
                           "--reports", (folder_ / "reports").string()});
  ASSERT_TRUE(wait_for_output("runs again")) << output_;
  ::kill(pid, SIGINT);
  ASSERT_EQ(end(pid), 0) << output_;
  const auto processes = nlohmann::json::parse(std::ifstream(summary)).at("processes");
  ASSERT_EQ(processes.size(), 1U);
  EXPECT_EQ(processes[0].at("restarts"), 1) << processes.dump();
  EXPECT_EQ(run({"run", file, "--crash", "nobody"}), 2) << output_;
  EXPECT_NE(output_.find("no such process or component"), std::string::npos) << output_;
}

TEST_F(Demo, TheChildrenEndWithTheirParent) {
  const pid_t pid = start({"--camera", video_, "--seconds", "1000", "--no-view", "--picture", ""});
  const auto processes = wait_for_children(pid);
  ASSERT_EQ(processes.size(), 5U);
  ::kill(pid, SIGKILL);
  EXPECT_EQ(end(pid), -SIGKILL);
  EXPECT_TRUE(all_gone(processes));
}

TEST_F(Demo, ASecondOneInTheSameDomainIsRefused) {
  const pid_t pid = start({"--camera", video_, "--seconds", "1000", "--no-view", "--picture", ""});
  ASSERT_EQ(wait_for_children(pid).size(), 5U);
  const pid_t second = start({"--camera", video_, "--no-view"});
  EXPECT_EQ(end(second), 1);
  EXPECT_NE(output_.find("system 'street' already runs in domain 'default', pid " + std::to_string(pid)),
            std::string::npos)
      << output_;
  ::kill(pid, SIGINT);
  EXPECT_EQ(end(pid), 0);
}

TEST_F(Demo, IsRefusedWhileItsSystemRuns) {
  ASSERT_EQ(::setenv("CARDAN_RUN_DIR", (folder_ / "run").c_str(), 1), 0);
  {
    const launcher::SystemLock run("street", "");  // as `cardan run` takes it
    EXPECT_EQ(end(start({"--camera", video_, "--no-view"})), 1);
    EXPECT_NE(output_.find("system 'street' already runs in domain 'default', pid " + std::to_string(::getpid())),
              std::string::npos)
        << output_;
  }
  ::unsetenv("CARDAN_RUN_DIR");
}

TEST_F(Demo, MistakesAreNamedWithARemedy) {
  const auto check = [&](std::vector<std::string> arguments, int code, const char* words, const char* remedy = " — ") {
    EXPECT_EQ(run(std::move(arguments)), code) << output_;
    EXPECT_NE(output_.find(words), std::string::npos) << output_;
    EXPECT_NE(output_.find(remedy), std::string::npos) << output_;
  };
  check({"--camera", "/nonexistent.mp4"}, 2, "no such file");
  check({"--camera", video_, "--lidar", "/nonexistent.pcap"}, 2, "no such file");
  check({"--camera", video_, "--seconds", "0"}, 2, "out of range");
  check({"--camera", video_, "--crash", "nobody"}, 2, "no such component");
  check({"--camera", video_, "--json", "/proc/nowhere/out.json"}, 2, "cannot write");
  EXPECT_TRUE(output_.starts_with("cardan: ")) << output_;
  EXPECT_EQ(std::count(output_.begin(), output_.end(), '\n'), 1) << "one line\n" << output_;
  check({"--camera", video_, "--reports", "/proc/nowhere"}, 2, "--reports");
  const std::string text = (folder_ / "text.mp4").string();
  std::ofstream(text) << "not a video";
  check({"--camera", text, "--no-view"}, 1, "not a video that OpenCV can decode", "ffprobe");
  EXPECT_EQ(output_.find("Runs the same as"), std::string::npos) << "before anything was started\n" << output_;
  check({"--camera", video_, "--detector", "/nonexistent.onnx"}, 2, "no such file", "FastestDet");
  check({"--camera", video_, "--detector", text}, 1, "not an ONNX model", "FastestDet");
  EXPECT_EQ(output_.find("Runs the same as"), std::string::npos) << "before anything was started\n" << output_;
  check({"--camera", video_, "--calibration", "/nonexistent"}, 2, "no calib_velo_to_cam.txt", "KITTI");
  check({"--print-transforms", "/nonexistent"}, 2, "no calib_velo_to_cam.txt", "KITTI");
  write_calibration(folder_);
  std::ofstream(folder_ / "calib_cam_to_cam.txt", std::ios::app) << "P_rect_03: 1 2 3\n";
  fs::create_directory(folder_ / "image_03");
  check({"--print-transforms", (folder_ / "image_03").string()}, 1, "'P_rect_03' has 3 numbers instead of 12", "KITTI");
  std::ofstream(folder_ / "calib_cam_to_cam.txt") << "S_rect_02: 1242 375\nR_rect_00: 1 0 0 0 1 0 0 0 1\n"
                                                     "P_rect_02: 240 0 160 0 0 240 120 0 0 0 1 0\n";
  check({"--camera", video_, "--calibration", folder_.string()}, 1, "is for pictures of 1242 x 375", "rectified");
  check({"--camera", folder_.string()}, 1, "no .png", "KITTI");
  check({"--camera", (folder_ / "%05d.png").string()}, 1, "no .png", "KITTI");
  check({"--camera", video_, "--lidar", folder_.string()}, 1, "no .bin", "KITTI");
  check({"--camera", video_, "--lidar", text, "--no-view"}, 1, "not a pcap file", "tcpdump");
  EXPECT_EQ(left_behind(), "");
}

TEST_F(Demo, AMistakeLeavesTheLastRecordingAsItIs) {
  const std::string last = (folder_ / "last.mcap").string();
  std::ofstream(last) << "the last demo's";
  EXPECT_EQ(run({"--camera", "/nonexistent.mp4", "--force", "--record", last}), 2) << output_;
  EXPECT_EQ(run({"--camera", video_, "--crash", "nobody", "--force", "--record", last}), 2) << output_;
  EXPECT_EQ(run({"--camera", video_, "--record", last}), 2) << output_;
  EXPECT_NE(output_.find(last + " exists — give another name, or --force"), std::string::npos) << output_;
  std::ifstream file(last);
  std::string text;
  std::getline(file, text);
  EXPECT_EQ(text, "the last demo's");
}

}  // namespace
}  // namespace cardan::street
