// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace cardan {

/// Options of a component's input.
struct InputOptions {
  /// Samples that may wait for the callback. If there are more, the oldest is dropped and counted. Each costs the
  /// publisher a slot. 0: the topic's depth.
  std::uint32_t depth = 0;
  /// Samples that the component keeps after its callback has returned (in a member, in another thread). Each costs the
  /// publisher a slot. A component that keeps more takes slots that others need.
  std::uint32_t keeps = 1;
  /// Allows this callback to run at the same time as the component's other callbacks (not as itself). Then the
  /// component must guard its own state.
  bool overlaps = false;
  /// Name in statistics and in the configuration's `callbacks`. Empty: the topic as the code names it.
  std::string name{};
};

}  // namespace cardan
