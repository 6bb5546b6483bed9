// SPDX-License-Identifier: Apache-2.0
#include "bench/record/peers/ros1/bag_count.hpp"

#include <cstring>
#include <fstream>
#include <map>
#include <vector>

#include "cardan/error.hpp"

namespace cardan::bench::recording {
namespace {

constexpr std::string_view kBagMagic = "#ROSBAG V2.0\n";
constexpr std::uint32_t kMostHeader = 1 << 20;
constexpr char kBagHeader = 0x03;
constexpr char kChunkInfo = 0x06;

[[noreturn]] void not_a_bag(const std::string& path, const char* why) {
  throw Error(ErrorCode::System, path + " cannot be counted: " + why, "was it closed?");
}

template <class T>
T number_in(const std::string& bytes, const std::string& path) {
  T value{};
  if (bytes.size() < sizeof value) not_a_bag(path, "a field is too short");
  std::memcpy(&value, bytes.data(), sizeof value);
  return value;
}

/// A block with its length before it; empty at the end of the file.
bool read_block(std::ifstream& in, std::string& block, const std::string& path) {
  std::uint32_t bytes = 0;
  if (!in.read(reinterpret_cast<char*>(&bytes), sizeof bytes)) return false;
  if (bytes > kMostHeader) not_a_bag(path, "a record of its index is too long");
  block.resize(bytes);
  if (!in.read(block.data(), bytes)) not_a_bag(path, "it is cut short");
  return true;
}

// name=value, each with its length before it
std::map<std::string, std::string> fields_of(const std::string& header, const std::string& path) {
  std::map<std::string, std::string> fields;
  for (std::size_t at = 0; at < header.size();) {
    const auto bytes = number_in<std::uint32_t>(header.substr(at), path);
    at += sizeof bytes;
    if (bytes > header.size() - at) not_a_bag(path, "a field is too long");
    const std::string field = header.substr(at, bytes);
    at += bytes;
    const std::size_t equals = field.find('=');
    if (equals == std::string::npos) not_a_bag(path, "a field has no name");
    fields[field.substr(0, equals)] = field.substr(equals + 1);
  }
  return fields;
}

}  // namespace

std::uint64_t count_bag_messages(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::string magic(kBagMagic.size(), '\0');
  if (!in.read(magic.data(), static_cast<std::streamsize>(magic.size())) || magic != kBagMagic)
    not_a_bag(path, "it does not begin as one");
  std::string header;
  std::string data;
  if (!read_block(in, header, path)) not_a_bag(path, "it is empty");
  auto fields = fields_of(header, path);
  if (fields["op"] != std::string(1, kBagHeader)) not_a_bag(path, "it has no header");
  const auto index = number_in<std::uint64_t>(fields["index_pos"], path);
  if (index == 0) not_a_bag(path, "it was not closed");
  in.seekg(static_cast<std::streamoff>(index));

  std::uint64_t messages = 0;
  while (read_block(in, header, path)) {
    if (!read_block(in, data, path)) not_a_bag(path, "it is cut short");
    fields = fields_of(header, path);
    if (fields["op"] != std::string(1, kChunkInfo)) continue;
    // connection and count, for each connection
    constexpr std::size_t kPair = 2 * sizeof(std::uint32_t);
    for (std::size_t at = 0; at + kPair <= data.size(); at += kPair)
      messages += number_in<std::uint32_t>(data.substr(at + sizeof(std::uint32_t)), path);
  }
  return messages;
}

}  // namespace cardan::bench::recording
