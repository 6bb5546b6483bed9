// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "demo/files.hpp"
#include "demo/processes/processes.hpp"
#include "demo/run.hpp"

namespace cardan::street {

/// The comparison: five processes over Unix sockets. This program starts itself again with a hidden option.
class SocketRun : public Run {
 public:
  /// `folder`: for the sockets.
  SocketRun(const DemoOptions& options, std::string folder, View& view)
      : Run(options, Setup::UnixSockets, view), folder_(std::move(folder)) {}

 private:
  void run() override;
  void supervise();
  [[nodiscard]] std::vector<Used> used() override;
  void start(Role role);
  void take(std::size_t index, const Note& note);

  std::string folder_;
  config::Configuration configuration_ = street_plan().configuration;
  Processes processes_;
  std::vector<Role> started_;
};

}  // namespace cardan::street
