// SPDX-License-Identifier: Apache-2.0
#include "bench/record/peers/fio.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>

#include "bench/helper.hpp"
#include "bench/transport/clock.hpp"
#include "cardan/error.hpp"

namespace cardan::bench::recording {
namespace {

constexpr std::int64_t kFioLook = 200'000'000;

[[noreturn]] void fio_failed(const std::string& why) {
  throw Error(ErrorCode::System, "fio failed: " + why, "try its command by hand, or leave it out with --peers");
}

}  // namespace

std::string find_fio() { return find_program("fio"); }

std::vector<std::string> fio_arguments(const std::string& file, bool direct, std::uint64_t bytes, double seconds) {
  std::vector<std::string> words{"fio",
                                 "--name=limit",
                                 "--filename=" + file,
                                 "--rw=write",
                                 "--bs=1m",
                                 fmt::format("--size={}", bytes >> 20U << 20U),
                                 fmt::format("--runtime={:.0f}", std::max(1.0, seconds)),
                                 "--end_fsync=1"};
  if (direct)
    words.insert(words.end(), {"--ioengine=io_uring", "--direct=1", "--iodepth=16", "--fixedbufs", "--registerfiles",
                               "--fallocate=posix"});
  else
    words.insert(words.end(), {"--ioengine=psync", "--direct=0", "--fallocate=none"});
  return words;
}

FioResult parse_fio(const std::string& text) {
  try {
    const auto json = nlohmann::json::parse(text);
    const auto& job = json.at("jobs").at(0);
    if (const int error = job.at("error"); error != 0) fio_failed(fmt::format("error {}", error));
    const auto& write = job.at("write");
    const double ms = job.at("job_runtime");
    const std::uint64_t bytes = write.at("io_bytes");
    if (ms <= 0 || bytes == 0) fio_failed("it wrote nothing");
    return {static_cast<double>(bytes) / ms * 1e3, bytes, ms / 1e3, json.value("fio version", ""), {}};
  } catch (const nlohmann::json::exception& e) {
    fio_failed(e.what());
  }
}

FioResult run_fio(const std::string& file, bool direct, std::uint64_t bytes, double seconds, Stopped stopped) {
  std::vector<std::string> words = fio_arguments(file, direct, bytes, seconds);
  FioResult result;
  const std::string command = fmt::format("{}", fmt::join(words, " "));
  const std::string out = file + ".json";
  words.insert(words.end(), {"--output-format=json", "--output=" + out});
  Helper fio({.program = find_fio(), .arguments = words});
  std::optional<launcher::Ending> ending;
  while (!ending) {
    if (stopped()) return {};
    ending = fio.wait(now_ns() + kFioLook);
  }
  if (!ending->in_order()) fio_failed(fio.last_line());
  std::ifstream in(out);
  result = parse_fio({std::istreambuf_iterator<char>(in), {}});
  result.command = command;
  std::error_code ignored;
  std::filesystem::remove(out, ignored);
  return result;
}

}  // namespace cardan::bench::recording
