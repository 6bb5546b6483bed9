// SPDX-License-Identifier: Apache-2.0
#include "src/record/metadata.hpp"

#include <gtest/gtest.h>

#include <string>

#include "cardan/messages.hpp"

namespace cardan::record {
namespace {

template <class T>
std::string hash_of() {
  return ros_type_hash(std::string(message_traits<T>::type_name()), std::string(message_traits<T>::schema()));
}

// The hashes of ROS 2 Jazzy for these types.
TEST(RosTypeHash, OfCardansMessagesIsRos2s) {
  EXPECT_EQ(hash_of<Image>(), "RIHS01_d31d41a9a4c4bc8eae9be757b0beed306564f7526c88ea6a4588fb9582527d47");
  EXPECT_EQ(hash_of<Imu>(), "RIHS01_7d9a00ff131080897a5ec7e26e315954b8eae3353c3f995c55faf71574000b5b");
  EXPECT_EQ(hash_of<PointCloud>(), "RIHS01_9198cabf7da3796ae6fe19c4cb3bdd3525492988c70522628af5daa124bae2b5");
  EXPECT_EQ(hash_of<Odometry>(), "RIHS01_3cc97dc7fb7502f8714462c526d369e35b603cfc34d946e3f2eda2766dfec6e0");
}

TEST(RosTypeHash, OfWhatOthersWrite) {
  EXPECT_EQ(ros_type_hash("std_msgs/msg/String", "string data\n"),
            "RIHS01_df668c740482bbd48fb39d76a70dfd4bd59db1288021743503259e948f6b1a18");
  EXPECT_EQ(ros_type_hash("std_msgs/msg/Empty", "# nothing\n"),
            "RIHS01_20b625256f32d5dbc0d04fee44f43c41e51c70d3502f84b4a08e7a9c26a96312");
  const std::string line(80, '=');
  EXPECT_EQ(
      ros_type_hash("diagnostic_msgs/msg/DiagnosticStatus",
                    "byte OK=0\nbyte level\nstring name\nstring message\nstring hardware_id\nKeyValue[] values\n" +
                        line + "\nMSG: diagnostic_msgs/KeyValue\nstring key\nstring value\n"),
      "RIHS01_b0e3e692ea2d54a8af2f4ef1930e81556a2db55216b771f8a7d2724ed47bf0e4");
  EXPECT_EQ(ros_type_hash("rcl_interfaces/msg/ParameterDescriptor",
                          "string name\nuint8 type\nstring description\nstring additional_constraints\nbool read_only\n"
                          "bool dynamic_typing\nFloatingPointRange[<=1] floating_point_range\n"
                          "IntegerRange[<=1] integer_range\n" +
                              line +
                              "\nMSG: rcl_interfaces/FloatingPointRange\nfloat64 from_value\nfloat64 to_value\n"
                              "float64 step\n" +
                              line +
                              "\nMSG: rcl_interfaces/IntegerRange\nint64 from_value\nint64 to_value\n"
                              "uint64 step\n"),
            "RIHS01_52175dbfda6c51153101d33d2a9da05743f66f02d5ab2ca9ec4709b46b73d704");
}

TEST(RosTypeHash, NonsenseHasNone) {
  EXPECT_EQ(ros_type_hash("std_msgs/msg/String", "string"), "");
  EXPECT_EQ(ros_type_hash("std_msgs/msg/String", "what data\n"), "");
  EXPECT_EQ(ros_type_hash("std_msgs/msg/String", "string \"data\n"), "");
  EXPECT_EQ(ros_type_hash("String", "string data\n"), "");
  EXPECT_EQ(ros_type_hash("a_msgs/msg/A", "string<=x data\n"), "");
}

}  // namespace
}  // namespace cardan::record
