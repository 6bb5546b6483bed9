// SPDX-License-Identifier: Apache-2.0
#include "src/bridge/dds/message_finder.hpp"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>

#include "cardan/error.hpp"
#include "src/record/metadata.hpp"

namespace cardan::bridge::dds {
namespace {

class MessageFiles : public testing::Test {
 protected:
  MessageFiles() {
    char name[] = "/tmp/cardan-msg-XXXXXX";
    folder_ = ::mkdtemp(name);
  }
  ~MessageFiles() override { std::filesystem::remove_all(folder_); }
  void write(const std::string& package, const std::string& type, const std::string& text) const {
    const std::filesystem::path path = folder_ + "/" + package + "/msg";
    std::filesystem::create_directories(path);
    std::ofstream(path / (type + ".msg")) << text;
  }
  void write_service(const std::string& type, const std::string& text) const {
    const std::filesystem::path path = folder_ + "/my/srv";
    std::filesystem::create_directories(path);
    std::ofstream(path / (type + ".srv")) << text;
  }
  [[nodiscard]] std::string refusal(const std::string& type) const {
    try {
      (void)MessageFinder({folder_}).find(type);
    } catch (const Error& e) {
      return e.what();
    }
    return {};
  }
  std::string folder_;
};

TEST_F(MessageFiles, NestedTypesAreCollected) {
  write("my", "Car",
        "# a car\nstd_msgs/Header header\nWheel[4] wheels # front first\nother/Part[<=3] parts\nint32 A=1\n");
  write("my", "Wheel", "float32 speed\nstring<=10 name \"left\"");
  write("other", "Part", "builtin_interfaces/Time at\nuint8[] data\n");
  const AnyType car = MessageFinder({"/nowhere", folder_}).find("my/msg/Car");
  EXPECT_EQ(car.message_type().name, "my/msg/Car");
  EXPECT_EQ(car.layout().fields.size(), 3U);
  EXPECT_EQ(record::ros_type_hash("my/msg/Car", car.message_type().schema).size(), 71U);
}

TEST_F(MessageFiles, CardansOwnAndCommonTypesNeedNoFile) {
  const MessageFinder finder({});
  EXPECT_EQ(record::ros_type_hash("sensor_msgs/msg/Image", finder.find("sensor_msgs/msg/Image").message_type().schema),
            "RIHS01_d31d41a9a4c4bc8eae9be757b0beed306564f7526c88ea6a4588fb9582527d47");
  EXPECT_EQ(record::ros_type_hash("std_msgs/msg/String", finder.find("std_msgs/msg/String").message_type().schema),
            "RIHS01_df668c740482bbd48fb39d76a70dfd4bd59db1288021743503259e948f6b1a18");
}

TEST_F(MessageFiles, AServiceHasTwoTypes) {
  write("my", "Part", "uint8[] data\n");
  write_service("Fit", "# asks\nPart part\nint32 A=1\n--- # and answers\nbool fits\nstd_msgs/Header header\n");
  const MessageFinder::Service fit = MessageFinder({folder_}).find_service("my/srv/Fit");
  EXPECT_EQ(fit.question.message_type().name, "my/srv/Fit_Request");
  EXPECT_EQ(fit.question.layout().fields.size(), 1U);
  EXPECT_EQ(fit.answer.message_type().name, "my/srv/Fit_Response");
  EXPECT_EQ(fit.answer.layout().fields.size(), 2U);
}

TEST_F(MessageFiles, AServiceWithoutAFileOrOfAnotherFormIsRefused) {
  write_service("One", "int32 a\n");
  write_service("Three", "int32 a\n---\nint32 b\n---\nint32 c\n");
  const MessageFinder finder({folder_});
  for (const char* const type :
       {"my/srv/None", "my/srv/One", "my/srv/Three", "my/msg/One", "my/srv/../One", "../my/srv/One", "One"})
    EXPECT_THROW((void)finder.find_service(type), Error) << type;
}

TEST_F(MessageFiles, MissingAndHostileFilesAreReported) {
  write("my", "Car", "Wheel wheel\n");
  EXPECT_NE(refusal("my/msg/Car").find("my/msg/Wheel.msg is not there"), std::string::npos);
  EXPECT_NE(refusal("../../etc/msg/passwd").find("not the name of a message"), std::string::npos);
  EXPECT_NE(refusal("my/msg/../Car").find("not the name of a message"), std::string::npos);
  write("my", "Up", "../../etc/passwd x\n");
  EXPECT_NE(refusal("my/msg/Up").find("not the name of a message"), std::string::npos);
  write("my", "Loop", "Loop inner\n");
  EXPECT_FALSE(refusal("my/msg/Loop").empty());
  write("my", "Large", std::string(2U << 20U, ' '));
  EXPECT_NE(refusal("my/msg/Large").find("too large"), std::string::npos);
}

}  // namespace
}  // namespace cardan::bridge::dds
