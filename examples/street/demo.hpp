// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "examples/street/roles.hpp"

namespace cardan::street {

struct DemoOptions {
  std::string camera;                    ///< file, V4L2 device or URL; empty: the pedestrian street video
  std::string lidar;                     ///< pcap, KITTI folder or UDP port; empty: the simulated street
  double seconds = 30;                   ///< of measuring, shared equally by the two transports
  std::string json;                      ///< file for the figures; empty: none
  std::string picture = "out/demo.png";  ///< empty: none
  bool view = true;                      ///< draw over the last view on a terminal
};

/// Runs the street over Cardan and then over Unix sockets, shows and reports. Exit codes: 0 done (also when Ctrl-C cut
/// it short), 1 failed, 2 something that was named does not exist.
int run_demo(const DemoOptions& options);

}  // namespace cardan::street
