// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "cardan_rclcpp/cardan_rclcpp.hpp"
#include "rclcpp/rclcpp.hpp"
#if __has_include("rclcpp/experimental/executors/events_executor/events_executor.hpp")
#include "rclcpp/experimental/executors/events_executor/events_executor.hpp"
#define CARDAN_TEST_EVENTS_EXECUTOR
#endif
#if __has_include("rclcpp/executors/events_cbg_executor.hpp")
#include "rclcpp/executors/events_cbg_executor.hpp"
#define CARDAN_TEST_EVENTS_CBG_EXECUTOR
#endif

namespace cardan::ros::test {

/// A run directory of the test's own, which goes with it.
class RunDirectory : public testing::Environment {
 public:
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "cardan_rclcpp_XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    path_ = name;
    ::setenv("CARDAN_RUN_DIR", name.c_str(), 1);
    rclcpp::init(0, nullptr);
  }
  void TearDown() override {
    if (rclcpp::ok()) rclcpp::shutdown();
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

 private:
  std::filesystem::path path_;
};

inline const std::vector<std::string>& executors() {
  static const std::vector<std::string> names{
      "single",     "multi",
#if !RCLCPP_VERSION_GTE(29, 0, 0)
      "static",
#endif
#ifdef CARDAN_TEST_EVENTS_EXECUTOR
      "events",
#endif
#ifdef CARDAN_TEST_EVENTS_CBG_EXECUTOR
      "events_cbg",
#endif
  };
  return names;
}

inline std::unique_ptr<rclcpp::Executor> make_executor(const std::string& kind) {
  if (kind == "single") return std::make_unique<rclcpp::executors::SingleThreadedExecutor>();
  if (kind == "multi") return std::make_unique<rclcpp::executors::MultiThreadedExecutor>(rclcpp::ExecutorOptions(), 4);
#if !RCLCPP_VERSION_GTE(29, 0, 0)  // deprecated there
  if (kind == "static") return std::make_unique<rclcpp::executors::StaticSingleThreadedExecutor>();
#endif
#ifdef CARDAN_TEST_EVENTS_EXECUTOR
  if (kind == "events") return std::make_unique<rclcpp::experimental::executors::EventsExecutor>();
#endif
#ifdef CARDAN_TEST_EVENTS_CBG_EXECUTOR
  if (kind == "events_cbg") return std::make_unique<rclcpp::executors::EventsCBGExecutor>();
#endif
  throw std::invalid_argument(kind);
}

/// Waits for up to 20 s, which only a fault takes.
inline bool eventually(const std::function<bool()>& condition) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return true;
}

/// An executor that spins on its own thread until it goes.
class Spinning {
 public:
  explicit Spinning(const std::string& kind, const std::shared_ptr<rclcpp::Node>& node)
      : executor_(make_executor(kind)) {
    executor_->add_node(node);
    thread_ = std::thread([this] { executor_->spin(); });
    // A cancel before spin() has begun would be lost.
    eventually([this] { return executor_->is_spinning(); });
  }
  Spinning(const Spinning&) = delete;
  Spinning& operator=(const Spinning&) = delete;
  ~Spinning() {
    executor_->cancel();
    thread_.join();
  }
  rclcpp::Executor& operator*() { return *executor_; }

 private:
  std::unique_ptr<rclcpp::Executor> executor_;
  std::thread thread_;
};

}  // namespace cardan::ros::test

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  testing::AddGlobalTestEnvironment(new cardan::ros::test::RunDirectory);
  return RUN_ALL_TESTS();
}
