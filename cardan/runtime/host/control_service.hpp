// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "cardan/runtime/host/component_report.hpp"
#include "cardan/runtime/runtime.hpp"
#include "cardan/transport/subscriber.hpp"

namespace cardan::host {

struct ControlMessage;

/// Answers what ControlClient asks about the components of this process, over the topics of control_message.hpp: a
/// thread that sleeps until somebody asks.
class ControlService {
 public:
  /// What a report says beside what the runtime knows.
  struct Identity {
    std::string process;                                                       ///< as the configuration names it
    std::function<std::uint64_t(const std::string& component)> restarts = {};  ///< within this process
  };
  /// `changing` is held while it looks at the runtime, and by who restarts components of it. Throws Error as Publisher
  /// and Subscriber. Set-up.
  ControlService(Runtime& runtime, std::mutex& changing, Identity identity);
  ControlService(const ControlService&) = delete;
  ControlService& operator=(const ControlService&) = delete;
  /// Ends the thread; waits for a change of a parameter that is under way, at most 2 s.
  ~ControlService();

 private:
  struct Endpoints;
  void serve() noexcept;
  [[nodiscard]] std::string answer(const std::string& request);
  void send(const ControlMessage& request, const std::string& text);

  Runtime& runtime_;
  std::mutex& changing_;
  Identity identity_;
  std::unique_ptr<Endpoints> endpoints_;
  std::thread thread_;
};

}  // namespace cardan::host
