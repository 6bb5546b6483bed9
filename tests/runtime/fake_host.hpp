// SPDX-License-Identifier: Apache-2.0
// A small program in the place of `cardan host`, and what tests of the launcher share.
#pragma once

#include <gtest/gtest.h>

#include <future>
#include <map>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "src/system/launcher/launcher_control.hpp"
#include "src/system/launcher/supervisor.hpp"
#include "tests/support/run_directory.hpp"

namespace cardan::launcher {

struct Beat {
  std::int64_t number = 0;
};
inline constexpr Topic<Beat> kBeats{"/fake/beats", {.depth = 4}};

/// A process of the file that behaves as `what` says (fake_host.cpp).
inline config::Process fake(std::string name, std::string what, std::map<std::string, std::string> environment = {}) {
  environment["FAKE"] = std::move(what);
  config::Process process;
  process.name = std::move(name);
  process.environment = std::move(environment);
  process.restart.backoff = std::chrono::milliseconds{1};
  return process;
}

inline config::Configuration file_of(std::vector<config::Process> processes) {
  config::Configuration configuration;
  configuration.name = "test";
  configuration.domain.clear();  // the environment's
  configuration.processes = std::move(processes);
  return configuration;
}

/// A run of the launcher in this process, on the thread of the test, with all that it said.
class Launch {
 public:
  struct Line {
    std::string name, text;
    LogLine::Source source;
  };

  Launch(config::Configuration configuration, const std::string& folder)
      : configuration_(std::move(configuration)), folder_(folder) {
    options.host_command = {"/proc/self/exe", "--role", "fake_host"};
    options.reports = folder + "/out";
    for (config::Process& process : configuration_.processes) process.environment["FAKE_FOLDER"] = folder;
  }
  int run() {
    options.on_line = [this](const LogLine& line) {
      lines.push_back({std::string(line.name), std::string(line.text), line.source});
      if (on_line) on_line(lines.back());
    };
    options.on_state = [this](const StateMachine::Change& change) {
      if (change.to == stop_in && change.from != change.to) supervisor->stop();
    };
    supervisor = std::make_unique<Supervisor>(plan::Plan{.configuration = configuration_}, options);
    return supervisor->run();
  }
  /// A second request would kill what is still ending.
  void stop_once() {
    if (!std::exchange(stopped_, true)) supervisor->stop();
  }
  [[nodiscard]] bool said(const std::string& words) const {
    for (const Line& line : lines)
      if (line.text.find(words) != std::string::npos) return true;
    return false;
  }
  [[nodiscard]] std::string all() const {
    std::string text;
    for (const Line& line : lines) text += line.name + " | " + line.text + "\n";
    return text;
  }
  [[nodiscard]] std::vector<config::State> states() const {
    std::vector<config::State> all;
    for (const auto& change : supervisor->changes()) all.push_back(change.to);
    return all;
  }

  LauncherOptions options;
  std::optional<config::State> stop_in;  ///< asks for the end when the system gets there
  std::function<void(const Line&)> on_line;
  std::vector<Line> lines;
  std::unique_ptr<Supervisor> supervisor;

 private:
  config::Configuration configuration_;
  std::string folder_;
  bool stopped_ = false;
};

inline bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

/// A launcher with its control, on its own thread, until it is told to stop.
class Remote {
 public:
  Remote(config::Configuration configuration, const std::string& folder) : run_(std::move(configuration), folder) {
    run_.options.duration = std::chrono::seconds{240};
    run_.on_line = [this](const Launch::Line& line) {
      if (!control_) control_ = std::make_unique<LauncherControl>(*run_.supervisor, "");
      if (has(line.text, "→ running") && !std::exchange(told_, true)) runs_.set_value();
    };
    thread_ = std::thread([this] { code_ = run_.run(); });
    runs_.get_future().wait();
  }
  Remote(const Remote&) = delete;
  Remote& operator=(const Remote&) = delete;
  ~Remote() { (void)end(); }
  int end() {
    run_.supervisor->stop();
    if (thread_.joinable()) thread_.join();
    control_.reset();
    return code_;
  }
  [[nodiscard]] std::shared_ptr<const plan::Plan> plan() const { return run_.supervisor->plan(); }

 private:
  Launch run_;
  std::unique_ptr<LauncherControl> control_;
  std::promise<void> runs_;
  bool told_ = false;
  int code_ = -1;
  std::thread thread_;
};

/// Tests with their own folder, which is removed afterwards.
class LauncherTest : public cardan::test::OwnRunDirectory {
 protected:
  LauncherTest() {
    char name[] = "/tmp/cardan-launch-XXXXXX";
    folder_ = ::mkdtemp(name);
  }
  ~LauncherTest() override {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  std::string folder_;
};

}  // namespace cardan::launcher

CARDAN_MESSAGE(cardan::launcher::Beat, "test_msgs/msg/Beat", number);
