// SPDX-License-Identifier: Apache-2.0
// A small file for the tests of the readers, and where to put it.
#pragma once

#include <stdlib.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include "cardan/mcap/reader.hpp"
#include "cardan/mcap/writer.hpp"

namespace cardan::mcap::test {

/// A message with its own bytes.
struct Sample {
  std::uint16_t channel = 0;
  std::uint32_t sequence = 0;
  std::uint64_t log_time = 0;
  Bytes data{};
  bool operator==(const Sample&) const = default;
};

inline Bytes bytes_of(const std::string& text) {
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

inline Sample sample_of(const Message& m) {
  return {m.channel_id, m.sequence, m.log_time, {m.data.begin(), m.data.end()}};
}

/// Two channels whose times cross, each message filled by what its number says.
inline std::vector<Sample> some_samples(std::size_t count, std::size_t most_bytes) {
  std::mt19937 random(7);
  std::vector<Sample> all;
  for (std::size_t i = 0; i < count; ++i) {
    Sample s{.channel = static_cast<std::uint16_t>(1 + i % 2),
             .sequence = static_cast<std::uint32_t>(i),
             .log_time = 1000 + 10 * i + (i % 3 == 0 ? 25 : 0)};
    s.data.resize(random() % (most_bytes + 1));
    for (std::size_t b = 0; b < s.data.size(); ++b) s.data[b] = static_cast<std::byte>(i * 31 + b / 7);
    all.push_back(std::move(s));
  }
  return all;
}

inline Bytes write_file(const std::vector<Sample>& samples, const WriterOptions& options) {
  Bytes file;
  Writer writer([&](View bytes) { file.insert(file.end(), bytes.begin(), bytes.end()); }, options);
  writer.add(Schema{.id = 1, .name = "pkg/Type", .encoding = "ros2msg", .data = bytes_of("int32 x")});
  writer.add(Channel{.id = 1, .schema_id = 1, .topic = "/one", .message_encoding = "cdr", .metadata = {{"a", "b"}}});
  writer.add(Channel{.id = 2, .schema_id = 0, .topic = "/two", .message_encoding = "json"});
  const Bytes note = bytes_of("calibration");
  writer.add(Attachment{.log_time = 5, .create_time = 4, .name = "c.txt", .media_type = "text/plain", .data = note});
  for (const Sample& s : samples)
    writer.write({.channel_id = s.channel,
                  .sequence = s.sequence,
                  .log_time = s.log_time,
                  .publish_time = s.log_time,
                  .data = View(s.data)});
  writer.add(Metadata{.name = "versions", .metadata = {{"cardan", "0"}}});
  writer.close();
  return file;
}

/// A file on the disk, for as long as this lives.
class FileOnDisk {
 public:
  explicit FileOnDisk(View bytes) {
    path_ = (std::filesystem::temp_directory_path() / "cardan-mcap-XXXXXX").string();
    const int fd = ::mkstemp(path_.data());
    if (fd >= 0) ::close(fd);
    put(bytes);
  }
  ~FileOnDisk() { std::filesystem::remove(path_); }
  FileOnDisk(const FileOnDisk&) = delete;
  FileOnDisk& operator=(const FileOnDisk&) = delete;

  void put(View bytes) const {
    std::ofstream(path_, std::ios::binary | std::ios::trunc)
        .write(reinterpret_cast<const char*>(bytes.data()), std::ssize(bytes));
  }
  [[nodiscard]] const std::string& path() const noexcept { return path_; }

 private:
  std::string path_;
};

inline std::vector<Sample> read_all(const Reader& reader, ReadOptions options = {}, std::size_t* problems = nullptr) {
  std::vector<Sample> all;
  Messages messages = reader.messages(std::move(options));
  while (const auto one = messages.next()) all.push_back(sample_of(one->message));
  if (problems != nullptr) *problems = messages.problems().size();
  return all;
}

/// Each way to write that the readers treat in another way.
inline std::vector<WriterOptions> ways_to_write() {
  std::vector<WriterOptions> all(6);
  all[0].chunk_bytes = 600;
  all[1] = {.chunk_bytes = 600, .compression = Compression::Lz4};
  all[2] = {.chunk_bytes = 600, .compression = Compression::Zstd};
  all[3].chunks = false;
  all[4] = {.chunk_bytes = 600, .message_index = false};
  all[5].chunk_bytes = 600;
  all[5].summary = {false, false, false, false, false, false, false, {}};
  return all;
}

}  // namespace cardan::mcap::test
