// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace cardan::street {

/// The work of the computer's processors since it started, in seconds of all of them together (/proc/stat).
struct HostLoad {
  double all = 0;     ///< time there was
  double busy = 0;    ///< used by any program or the kernel
  double stolen = 0;  ///< taken by the host of a virtual machine

  /// Now; zeros where /proc/stat cannot be read.
  [[nodiscard]] static HostLoad now();
  /// From the text of /proc/stat, with `ticks` per second.
  [[nodiscard]] static HostLoad parse(std::string_view text, double ticks);
};

/// A clause for people when others than the demo, which used `own` seconds itself, kept the processors busy between
/// the two looks (more than 15 %) or the host took time away (more than 2 %): then latencies are theirs as much as the
/// transport's. Else "".
[[nodiscard]] std::string disturbance(const HostLoad& before, const HostLoad& after, double own);

}  // namespace cardan::street
