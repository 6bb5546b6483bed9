// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <string>
#include <string_view>
#include <vector>

#include "cardan/detail/fd.hpp"
#include "src/mcap/sample_file_test.hpp"
#include "tests/fuzz/fuzz.hpp"

namespace cardan::fuzz {

/// A file in memory, under a path by which it can be opened.
class MemoryFile {
 public:
  explicit MemoryFile(std::string_view bytes) : fd_(::memfd_create("fuzz", MFD_CLOEXEC)) {
    require(fd_ && ::write(fd_.get(), bytes.data(), bytes.size()) == std::ssize(bytes), "no file in memory");
  }
  [[nodiscard]] std::string path() const { return "/proc/self/fd/" + std::to_string(fd_.get()); }

 private:
  Fd fd_;
};

/// A small file in each way that readers treat in another way.
inline std::vector<std::string> some_recordings() {
  std::vector<std::string> all;
  for (const mcap::WriterOptions& options : mcap::test::ways_to_write()) {
    const mcap::Bytes file = mcap::test::write_file(mcap::test::some_samples(12, 90), options);
    all.emplace_back(reinterpret_cast<const char*>(file.data()), file.size());
  }
  return all;
}

}  // namespace cardan::fuzz
