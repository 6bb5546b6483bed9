// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <future>
#include <memory>
#include <string>

#include "src/system/host/control_service.hpp"
#include "src/system/launcher/supervisor.hpp"
#include "src/system/plan/plan_parts.hpp"

namespace cardan::launcher {

/// Lets operators ask a supervisor what runs, stop or restart its processes (ControlClient::order()), and let it run
/// another plan (offer_plan(), apply_plan()), over the topics of control_message.hpp: those of the own user, as their
/// access rule says. An order is answered with a number at once, by which its outcome can be asked for, so that others
/// are answered meanwhile. It has to end before its supervisor; a separate thread.
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
  [[nodiscard]] std::string components_that_are_down(bool files);
  [[nodiscard]] std::string outcome(std::uint64_t number);
  [[nodiscard]] std::string offered(std::uint64_t offer);
  /// On its own thread: parameters first, because a component may refuse one; then the plan.
  [[nodiscard]] OrderAnswer carry_out(const std::shared_ptr<const PlanChange>& change);
  [[nodiscard]] std::string taken(const std::string& process, std::future<OrderAnswer> answer);

  Supervisor& supervisor_;
  std::string system_, domain_;
  plan::PartsOfAPlan parts_;
  std::uint64_t offer_ = 0;                     ///< of `change_`
  std::shared_ptr<const PlanChange> change_{};  ///< that was offered, and can be applied once
  std::deque<Pending> orders_;
  std::uint64_t last_order_ = 0;
  host::ControlService service_;
};

}  // namespace cardan::launcher
