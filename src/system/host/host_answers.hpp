// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <mutex>
#include <string>

#include "cardan/error.hpp"
#include "src/system/host/control_service.hpp"

namespace cardan {
class Runtime;
}

namespace cardan::host {

/// The answers of a process of components to ControlClient: components, set, log, restart, crash.
class HostAnswers {
 public:
  struct Restarted {
    std::string failure{};  ///< it did not start again, and its process ends
    double took_ms = 0;
    std::uint64_t restarts = 0;    ///< of the component within this process
    std::function<void()> sent{};  ///< as ControlService::Reply
  };
  /// Data and actions of the host alone.
  struct Parts {
    std::string process;                                                  ///< as the configuration names it
    std::function<std::uint64_t(const std::string& component)> restarts;  ///< within this process
    /// Restarts a component; throws Error, Unavailable if this did not start in time.
    std::function<Restarted(const std::string& component, std::chrono::nanoseconds within)> restart;
    /// Tells the launcher of a value that is to hold after restarts of the process: one line.
    std::function<void(const std::string& text)> keep;
  };
  /// `changing` is held while it looks at the runtime, and while its components are restarted.
  HostAnswers(Runtime& runtime, std::mutex& changing, Parts parts)
      : runtime_(runtime), changing_(changing), parts_(std::move(parts)) {}

  /// On the service's thread.
  [[nodiscard]] ControlService::Reply answer(const std::string& request, std::chrono::nanoseconds age);

 private:
  [[nodiscard]] std::string components();
  void crash(const std::string& component);
  void keep(const std::string& text);

  Runtime& runtime_;
  std::mutex& changing_;
  Parts parts_;
};

}  // namespace cardan::host
