// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "src/bridge/counts.hpp"

namespace cardan::bridge {

/// One kind of bridge at work. The program calls it on one thread.
class Bridge {
 public:
  Bridge() = default;
  Bridge(const Bridge&) = delete;
  Bridge& operator=(const Bridge&) = delete;
  virtual ~Bridge() = default;

  /// Carries what there is, and waits for more, at most `timeout` or until a stop is requested. Throws Error when it
  /// cannot continue.
  virtual void turn(std::chrono::nanoseconds timeout) = 0;
  /// Called once, before the last topics().
  virtual void finish() {}
  /// After finish(): whether what it read was undamaged.
  [[nodiscard]] virtual bool is_whole() const { return true; }
  [[nodiscard]] virtual std::vector<TopicReport> topics() const = 0;
  /// One line: its network and the peers on it, as "DDS domain 0, 3 participants".
  [[nodiscard]] virtual std::string title() const = 0;
  /// The others that read what leaves, in a sentence that is printed at the start. Empty: nobody but this user.
  [[nodiscard]] virtual std::string readers() const { return {}; }
  /// Notes for the user, each in a sentence.
  [[nodiscard]] virtual std::vector<std::string> notes() const = 0;
};

}  // namespace cardan::bridge
