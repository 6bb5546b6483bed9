// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <future>
#include <string>
#include <vector>

#include "cardan/system/host/control_service.hpp"
#include "cardan/system/launcher/supervisor.hpp"

namespace cardan::launcher {

/// Lets operators ask a supervisor what runs, and stop or restart its processes (ControlClient::order()), over the
/// topics of control_message.hpp: those of the own user, as their access rule says. An order is answered with a number
/// at once, by which its outcome can be asked for, so that others are answered meanwhile. It has to end before its
/// supervisor; a thread of its own.
class LauncherControl {
 public:
  /// Throws Error as ControlService. Set-up.
  LauncherControl(Supervisor& supervisor, const std::string& domain);

 private:
  static constexpr std::size_t kOutcomes = 64;  ///< that can be asked for; of more the oldest are forgotten
  struct Pending {
    std::uint64_t number = 0;
    std::string process{};
    std::future<OrderAnswer> answer{};
  };
  [[nodiscard]] std::string answer(const std::string& request, std::chrono::nanoseconds age);
  [[nodiscard]] OrderAnswer look();
  [[nodiscard]] std::string processes();
  [[nodiscard]] std::string components_that_are_down();
  [[nodiscard]] std::string outcome(std::uint64_t number);

  Supervisor& supervisor_;
  std::string system_;
  std::vector<config::Process> processes_;  ///< of the file: a process that is down cannot say what it has
  std::deque<Pending> orders_;
  std::uint64_t last_order_ = 0;
  host::ControlService service_;
};

}  // namespace cardan::launcher
