// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>

namespace cardan::test {

/// One run directory for a test program, made at its first use and removed at exit; each test has its own domain
/// in it, so that none sees another's topics.
inline const std::string& run_directory() {
  static const struct Folder {
    std::string path;
    Folder() {
      char name[] = "/tmp/cardan-test-XXXXXX";
      path = ::mkdtemp(name);
      ::setenv("CARDAN_RUN_DIR", path.c_str(), 1);
    }
    ~Folder() {
      std::error_code ignored;
      std::filesystem::remove_all(path, ignored);
    }
  } folder;
  return folder.path;
}

/// Base of tests with endpoints.
class OwnRunDirectory : public testing::Test {
 protected:
  OwnRunDirectory() {
    run_directory();
    static int number = 0;
    domain_ = "t" + std::to_string(::getpid()) + "-" + std::to_string(++number);
    ::setenv("CARDAN_DOMAIN", domain_.c_str(), 1);
    // As an administrator does: one that a user's process makes is this user's alone.
    const std::string folder = run_directory() + "/" + domain_;
    ::mkdir(folder.c_str(), 0700);
    ::chmod(folder.c_str(), 01777);
  }
  std::string domain_;
};

}  // namespace cardan::test
