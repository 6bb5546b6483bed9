// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/fuzz.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "cardan/log.hpp"

namespace cardan::fuzz {

std::vector<Target>& targets() {
  static std::vector<Target> all;
  return all;
}

void fail(const std::string& what) {
  std::fprintf(stderr, "==FUZZ== %s\n", what.c_str());
  std::abort();
}

const std::string& folder() {
  static const struct Folder {
    std::string path;
    Folder() {
      const char* set = std::getenv("TMPDIR");
      path = std::string(set != nullptr && *set != '\0' ? set : "/tmp") + "/fuzz-XXXXXX";
      if (::mkdtemp(path.data()) == nullptr) fail("no temporary folder " + path);
    }
    ~Folder() {
      std::error_code ignored;
      std::filesystem::remove_all(path, ignored);
    }
  } made;
  return made.path;
}

std::string run_domain(const char* domain) {
  ::setenv("CARDAN_RUN_DIR", folder().c_str(), 1);
  ::setenv("CARDAN_DOMAIN", domain, 1);
  set_log([](LogLevel, const std::string&) {});
  const std::string path = folder() + "/" + domain;
  ::mkdir(path.c_str(), 0700);
  return path;
}

}  // namespace cardan::fuzz
