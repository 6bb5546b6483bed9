// SPDX-License-Identifier: Apache-2.0
#include "bench/record/peers/fio.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "cardan/error.hpp"

namespace cardan::bench::recording {
namespace {

TEST(Fio, ArgumentsSayWhatIsMeasured) {
  const auto has = [](const std::vector<std::string>& words, const char* word) {
    return std::find(words.begin(), words.end(), word) != words.end();
  };
  const auto direct = fio_arguments("/x/f", true, (2ULL << 30U) + 5, 30);
  for (const char* word : {"--filename=/x/f", "--ioengine=io_uring", "--direct=1", "--rw=write", "--fallocate=posix",
                           "--end_fsync=1", "--size=2147483648", "--runtime=30"})
    EXPECT_TRUE(has(direct, word)) << word;
  const auto buffered = fio_arguments("/x/f", false, 1 << 30, 30);
  for (const char* word : {"--ioengine=psync", "--direct=0", "--fallocate=none", "--end_fsync=1"})
    EXPECT_TRUE(has(buffered, word)) << word;
}

TEST(Fio, ResultsAreRead) {
  const FioResult result = parse_fio(
      R"({"fio version": "fio-3", "jobs": [{"error": 0, "job_runtime": 500, "write": {"io_bytes": 1000000000, "bw_bytes": 1}}]})");
  EXPECT_DOUBLE_EQ(result.bytes_per_second, 2e9);
  EXPECT_EQ(result.version, "fio-3");
  EXPECT_EQ(result.bytes, 1'000'000'000U);
  EXPECT_DOUBLE_EQ(result.seconds, 0.5);
}

TEST(Fio, AnInvalidResultIsAnError) {
  for (const char* text : {"", "fio: no space", R"({"jobs": []})",
                           R"({"jobs": [{"error": 28, "job_runtime": 5, "write": {"io_bytes": 1}}]})",
                           R"({"jobs": [{"error": 0, "job_runtime": 0, "write": {"io_bytes": 0}}]})"})
    EXPECT_THROW(static_cast<void>(parse_fio(text)), Error) << text;
}

}  // namespace
}  // namespace cardan::bench::recording
