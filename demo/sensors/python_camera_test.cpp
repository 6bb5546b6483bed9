// SPDX-License-Identifier: Apache-2.0
#include "demo/sensors/python_camera.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <numeric>
#include <vector>

#include "cardan/error.hpp"

namespace cardan::street {
namespace {

const std::function<bool()> kGoOn = [] { return false; };

/// In place of an interpreter: a script, which gets -c, the program and the camera.
class PythonCameraTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::temp_directory_path() / ("cardan-pipe-" + std::to_string(::getpid()));
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::string interpreter(const std::string& script) {
    const auto file = folder_ / "python3";
    std::ofstream(file) << "#!/bin/sh\n" << script << '\n';
    std::filesystem::permissions(file, std::filesystem::perms::owner_all);
    return file.string();
  }
  std::string refusal(const std::string& script) {
    try {
      const PythonCamera camera(interpreter(script), "drive.mp4");
    } catch (const Error& error) {
      return error.what();
    }
    return "none";
  }
  std::filesystem::path folder_;
};

TEST_F(PythonCameraTest, ReadsTheHeadAndThePictures) {
  PythonCamera camera(interpreter(R"(printf '{"name":"%s, 2 x 1","width":2,"height":1,"rate":500,"live":false}\n' $3
head -c 200000 /dev/zero >&2
printf 'PabcdefPABCDEF'; exec sleep 100)"),
                      "drive.mp4");
  EXPECT_NE(camera.describe().find("drive.mp4, 2 x 1"), std::string::npos) << camera.describe();
  EXPECT_EQ(camera.width(), 2);
  EXPECT_EQ(camera.height(), 1);
  std::string pixels(6, ' ');
  const auto into = std::span(reinterpret_cast<std::uint8_t*>(pixels.data()), pixels.size());
  for (const char* picture : {"abcdef", "ABCDEF"}) {
    ASSERT_TRUE(camera.wait(kGoOn));
    camera.read(into);
    EXPECT_EQ(pixels, picture);
  }
  EXPECT_FALSE(camera.wait([] { return true; }));
  int asked = 0;
  EXPECT_FALSE(camera.wait([&] { return ++asked > 3; })) << "nothing more comes, and it still ends";
  EXPECT_THROW(camera.read(into.first(3)), Error);
}

TEST_F(PythonCameraTest, APictureThatIsCutOffIsAnError) {
  PythonCamera camera(
      interpreter(
          R"(echo '{"name":"a","width":2,"height":1,"rate":500,"live":true}'; printf Pabc; echo gone >&2; exit 5)"),
      "0");
  std::vector<std::uint8_t> pixels(6);
  ASSERT_TRUE(camera.wait(kGoOn));
  try {
    camera.read(pixels);
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("ended with exit code 5: gone"), std::string::npos) << error.what();
  }
}

TEST_F(PythonCameraTest, SaysWhatTheProcessSaid) {
  EXPECT_NE(refusal(R"(echo "[mov] moov atom not found" >&2
echo '{"cause":"drive.mp4 is not a video","remedy":"give another"}')")
                .find("--camera: drive.mp4 is not a video — give another"),
            std::string::npos);
  EXPECT_NE(refusal("printf 'Traceback\\nNo module named cardan\\n' >&2; exit 1")
                .find("ended with exit code 1: No module named cardan — install the packages"),
            std::string::npos);
  EXPECT_NE(refusal("kill -SEGV $$").find("died by signal 11"), std::string::npos);
}

TEST_F(PythonCameraTest, ACameraThatEndsSaysWhy) {
  PythonCamera camera(interpreter(R"(echo '{"name":"a","width":2,"height":1,"rate":500,"live":true}'
printf Pabcdef; echo 'E{"cause":"a delivers no more pictures","remedy":"check its cable"}')"),
                      "0");
  std::vector<std::uint8_t> pixels(6);
  ASSERT_TRUE(camera.wait(kGoOn));
  camera.read(pixels);
  ASSERT_TRUE(camera.wait(kGoOn));
  try {
    camera.read(pixels);
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("a delivers no more pictures — check its cable"), std::string::npos)
        << error.what();
  }
}

TEST_F(PythonCameraTest, AnInvalidHeadIsRefused) {
  for (const char* head : {"", "words", "{}", "[1]", R"({"name":"a","width":0,"height":1,"rate":5,"live":true})",
                           R"({"name":"a","width":2,"height":99999999,"rate":5,"live":true})",
                           R"({"name":"a","width":2,"height":1,"rate":0,"live":true})",
                           R"({"name":3,"width":2,"height":1,"rate":5,"live":true})"})
    EXPECT_NE(refusal("echo '" + std::string(head) + "'; exec sleep 100").find("gives no camera"), std::string::npos)
        << head;
  EXPECT_NE(refusal("exec cat /dev/zero").find("gives no camera"), std::string::npos) << "a line without an end";
}

TEST_F(PythonCameraTest, AMissingInterpreterIsReported) {
  try {
    const PythonCamera camera("/nowhere/python3", "drive.mp4");
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("/nowhere/python3"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace cardan::street
