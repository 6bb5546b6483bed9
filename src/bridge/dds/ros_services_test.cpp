// SPDX-License-Identifier: Apache-2.0
#include "src/bridge/dds/ros_services.hpp"

#include <gtest/gtest.h>

namespace cardan::bridge::dds {
namespace {

TEST(RosServices, TheirTypesHaveTheNamesOfRos2) {
  EXPECT_EQ(dds_service_type("pkg/srv/Map_Request", "pkg/srv/Map_Response"), "pkg::srv::dds_::Map");
  EXPECT_EQ(dds_service_type("pkg/msg/Map_Request", "pkg/msg/Map_Response"), "pkg::srv::dds_::Map");
  for (const auto& [question, answer] : {std::pair{"pkg/msg/Region", "pkg/msg/Map"},
                                         {"pkg/srv/Map_Request", "pkg/srv/Mop_Response"},
                                         {"pkg/srv/Map_Request", "other/srv/Map_Response"},
                                         {"pkg/srv/Map_Request", "pkg/srv/Map_Request"},
                                         {"pkg/srv/_Request", "pkg/srv/_Response"},
                                         {"_Request", "_Response"},
                                         {"", ""}})
    EXPECT_EQ(dds_service_type(question, answer), "") << question << " " << answer;
}

}  // namespace
}  // namespace cardan::bridge::dds
