// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace cardan {

struct InputOptions {
  /// Samples that wait for the callback; of more, the oldest is dropped and counted. Each costs the publisher a slot.
  /// 0: the topic's depth.
  std::uint32_t depth = 0;
  /// Samples that the component keeps when its callback is over (in a member, in another thread). Each costs the
  /// publisher a slot; who keeps more takes the slots that others need.
  std::uint32_t keeps = 1;
  /// May run beside the component's other callbacks (never beside itself): its state is then the component's to guard.
  bool overlaps = false;
  /// Name in statistics and the configuration's `callbacks`; empty: the topic as the code names it.
  std::string name{};
};

}  // namespace cardan
