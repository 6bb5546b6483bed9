// SPDX-License-Identifier: Apache-2.0
// mcap_pack DIR OUT none|lz4|zstd [ROUNDS]: a file of every message in DIR (what `interop_messages write DIR` left
// there), ROUNDS times each, with an attachment and metadata; for other people's readers.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "cardan/mcap/writer.hpp"

using namespace cardan::mcap;
namespace fs = std::filesystem;

namespace {

Bytes content_of(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

/// "sensor_msgs.msg.Image" → "sensor_msgs/msg/Image".
std::string type_of(const fs::path& path) {
  std::string name = path.stem().string();
  std::replace(name.begin(), name.end(), '.', '/');
  return name;
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc < 4) return std::fprintf(stderr, "usage: %s DIR OUT none|lz4|zstd [ROUNDS]\n", argv[0]), 2;
  const std::string compression = argv[3];
  const std::uint64_t rounds = argc > 4 ? std::stoull(argv[4]) : 10;
  std::vector<fs::path> paths;
  for (const auto& entry : fs::directory_iterator(argv[1]))
    if (entry.path().extension() == ".cdr" && entry.path().stem().extension() != ".python")
      paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());

  std::ofstream out(argv[2], std::ios::binary | std::ios::trunc);
  Writer writer([&](View b) { out.write(reinterpret_cast<const char*>(b.data()), std::ssize(b)); },
                {.profile = "ros2",
                 .chunk_bytes = 4096,
                 .compression = compression == "zstd"  ? Compression::Zstd
                                : compression == "lz4" ? Compression::Lz4
                                                       : Compression::None,
                 .data_crc = true});
  std::vector<Bytes> messages;
  std::uint16_t id = 0;
  for (const fs::path& path : paths) {
    ++id;
    messages.push_back(content_of(path));
    writer.add(Schema{.id = id,
                      .name = type_of(path),
                      .encoding = "ros2msg",
                      .data = content_of(fs::path(path).replace_extension(".ros2msg"))});
    writer.add(Channel{.id = id, .schema_id = id, .topic = "/" + path.stem().string(), .message_encoding = "cdr"});
  }
  const Bytes note = {std::byte{'h'}, std::byte{'i'}};
  writer.add(Attachment{.log_time = 1, .create_time = 1, .name = "note.txt", .media_type = "text/plain", .data = note});
  constexpr std::uint64_t kBegin = 1'700'000'000'000'000'000, kStep = 10'000'000;
  for (std::uint64_t round = 0; round < rounds; ++round)
    for (std::size_t i = 0; i < messages.size(); ++i)
      writer.write({.channel_id = static_cast<std::uint16_t>(i + 1),
                    .sequence = static_cast<std::uint32_t>(round),
                    .log_time = kBegin + round * kStep + i,
                    .publish_time = kBegin + round * kStep,
                    .data = View(messages[i])});
  writer.add(Metadata{.name = "versions", .metadata = {{"cardan", "0"}}});
  writer.close();
  return out.flush() ? 0 : 1;
} catch (const std::exception& e) {
  return std::fprintf(stderr, "%s: %s\n", argv[0], e.what()), 1;
}
