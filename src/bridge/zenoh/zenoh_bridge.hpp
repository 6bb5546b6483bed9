// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "src/bridge/bridge.hpp"
#include "src/bridge/rules.hpp"
#include "src/bridge/zenoh/child.hpp"

namespace cardan::bridge::zenoh {

/// Starts the program cardan-zenoh, which carries the topics, and passes its reports on.
/// Thread safety: one thread.
class ZenohBridge : public Bridge {
 public:
  /// `program`: path of cardan-zenoh. Throws Error (Unavailable): it cannot be started.
  ZenohBridge(const Rules& rules, const std::string& program);

  void turn(std::chrono::nanoseconds timeout) override;
  void finish() override;
  [[nodiscard]] std::vector<TopicReport> topics() const override { return topics_; }
  [[nodiscard]] std::string title() const override { return title_; }
  [[nodiscard]] std::vector<std::string> notes() const override { return notes_; }

 private:
  void read(const std::string& line);

  Child child_;
  std::vector<TopicReport> topics_;
  std::string title_ = "Zenoh: waits for a connection";
  std::vector<std::string> notes_;
};

}  // namespace cardan::bridge::zenoh
