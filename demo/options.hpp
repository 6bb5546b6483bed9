// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "demo/decision/obstacles.hpp"

namespace cardan::street {

struct DemoOptions {
  std::string camera;                    ///< file, folder, V4L2 device, URL or "drawn"; empty: usual_camera()
  std::string lidar;                     ///< pcap, KITTI folder or UDP port; empty: the simulated street
  std::string detector;                  ///< ONNX file; empty: as open_detector(), for the drawn street what moves
  std::string calibration;               ///< folder with KITTI's calib_*.txt; empty: that of the drive, if there is one
  OwnVehicle own;                        ///< what the LiDAR is mounted on
  double seconds = 80;                   ///< of measuring, shared equally by the setups, which take turns
  bool one_process = false;              ///< not as five processes
  std::string crash;                     ///< the component that crashes after a third of its time; empty: none
  std::string json;                      ///< file for the figures; empty: none
  std::string picture = "out/demo.png";  ///< empty: none
  std::string tables = "out/demo.txt";   ///< file for the tables of each setup; empty: none
  std::string reports = "out";           ///< folder for the reports of crashes
  std::string print_transforms;          ///< folder: only print the transforms of its calibration; empty: no
  bool view = true;                      ///< draw over the last view on a terminal
};

}  // namespace cardan::street
