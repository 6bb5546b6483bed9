// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace cardan::bridge {

/// A service of this computer, as its server describes it. The definitions are ros2msg texts.
struct LocalService {
  std::uint32_t id = 0;  ///< a server that starts again gets another one
  std::string name{};
  std::string beyond{};    ///< its name on the other side
  std::string type{};      ///< "pkg/srv/Map" as in ROS 2; empty: its types are not named so
  bool is_owners = false;  ///< no peer of another user may ask it
  std::string question_type{}, question_definition{}, answer_type{}, answer_definition{};
};

}  // namespace cardan::bridge
