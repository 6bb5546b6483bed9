// SPDX-License-Identifier: Apache-2.0
// A recording of ROS 1, read to its end, with its messages as CDR. Must hold: it ends with a result or an error in
// words, and no more comes out of it than its chunks held.
#include <map>
#include <memory>

#include "apps/bag/convert/ros1_bag.hpp"
#include "apps/bag/convert/ros1_type.hpp"
#include "cardan/error.hpp"
#include "cardan/mcap/compression.hpp"
#include "tests/fuzz/recordings.hpp"

namespace cardan::fuzz::bag_target {
namespace {

using apps::Ros1Bag, apps::Ros1Connection, apps::Ros1Type;

constexpr std::size_t kMostChunk = std::size_t{1} << 16;

std::unique_ptr<const Ros1Type> type_of(const Ros1Connection& connection) {
  try {
    return std::make_unique<const Ros1Type>(connection.type, connection.definition);
  } catch (const Error& e) {
    require(!e.cause().empty(), "an error without words");
    return nullptr;
  }
}

void read_all(Ros1Bag& bag, std::size_t size) {
  std::map<std::uint32_t, std::unique_ptr<const Ros1Type>> types;
  std::vector<std::byte> cdr;
  // A chunk takes 30 bytes of the file at least, and a message 20 of a chunk.
  std::size_t left = (size / 30 + 1) * (kMostChunk + size) / 20;
  while (const auto message = bag.next()) {
    require(left-- != 0, "more messages than there is room for");
    require(bag.connections().contains(message->connection), "a message of no connection");
    const auto [at, is_new] = types.try_emplace(message->connection);
    if (is_new) at->second = type_of(bag.connections().at(message->connection));
    if (at->second == nullptr) continue;
    (void)at->second->to_cdr(message->data, cdr);
    require(cdr.size() <= 1024 + 32 * message->data.size(), "a message that is much longer than it was");
  }
  for (const auto& [id, connection] : bag.connections()) (void)bag.callers(connection);
  require(bag.problems().size() <= 50, "endless problems");
  for (const mcap::Problem& problem : bag.problems()) require(!problem.cause.empty(), "a problem without words");
}

void run(std::string_view input) {
  mcap::set_unpacked_limit(kMostChunk);
  const MemoryFile file(input);
  try {
    Ros1Bag bag(file.path());
    if (const auto index = bag.index()) {
      require(index->chunks.size() <= input.size() / 20, "more chunks than the index has records");
      for (const auto& [id, messages] : index->messages)
        require(bag.connections().contains(id), "messages of no connection");
    }
    read_all(bag, input.size());
  } catch (const Error& e) {
    require(!e.cause().empty() && !e.remedy().empty(), "an error without words");
    require(e.code() == ErrorCode::InvalidArgument, "the file's fault was taken for the disk's");
  }
}

std::string number(std::uint64_t value, std::size_t bytes) {
  std::string out;
  for (std::size_t i = 0; i < bytes; ++i) out += static_cast<char>(value >> (8 * i));
  return out;
}
std::string field(const std::string& name, const std::string& value) {
  return number(name.size() + 1 + value.size(), 4) + name + "=" + value;
}
std::string record(const std::string& fields, const std::string& data) {
  return number(fields.size(), 4) + fields + number(data.size(), 4) + data;
}
std::string connection(std::uint32_t id, const std::string& topic, const std::string& type, const std::string& text) {
  return record(field("conn", number(id, 4)) + field("op", "\7") + field("topic", topic),
                field("callerid", "/node") + field("latching", "1") + field("md5sum", "0") +
                    field("message_definition", text) + field("topic", topic) + field("type", type));
}
std::string message(std::uint32_t id, const std::string& data) {
  return record(field("conn", number(id, 4)) + field("op", "\2") + field("time", number(5, 8)), data);
}
std::string chunk(const std::string& records, const std::string& compression, std::size_t size) {
  return record(field("compression", compression) + field("op", "\5") + field("size", number(size, 4)), records);
}
std::string bag(const std::string& rest, std::uint64_t index, std::uint32_t chunks) {
  return "#ROSBAG V2.0\n" +
         record(field("chunk_count", number(chunks, 4)) + field("conn_count", number(1, 4)) +
                    field("index_pos", number(index, 8)) + field("op", "\3"),
                "    ") +
         rest;
}

std::vector<std::string> seeds() {
  const std::string line(80, '=');
  const std::string types[] = {
      connection(0, "/a", "std_msgs/String", "string data\n"),
      connection(1, "/b", "p/M",
                 "Header header\nE[] a\ntime[2] t\nuint8 N=1\n" + line + "\nMSG: p/E\n" + line +
                     "\nMSG: std_msgs/Header\nuint32 seq\ntime stamp\nstring frame_id\n")};
  const std::string records = types[0] + types[1] + message(0, number(2, 4) + "ab") +
                              message(1, std::string(16, '\0') + number(3, 4) + std::string(16, '\0'));
  mcap::Bytes lz4;
  mcap::Compressor(mcap::Compression::Lz4).append(lz4, std::as_bytes(std::span(records)));
  const std::string packed(reinterpret_cast<const char*>(lz4.data()), lz4.size());
  const std::string plain = chunk(records, "none", records.size());
  const std::size_t begin = bag("", 0, 0).size();
  const std::string info = record(field("chunk_pos", number(begin, 8)) + field("count", number(2, 4)) +
                                      field("op", "\6") + field("ver", number(1, 4)),
                                  number(0, 4) + number(1, 4) + number(1, 4) + number(1, 4));
  return {bag(plain, 0, 1), bag(plain + types[0] + types[1] + info, begin + plain.size(), 1),
          bag(chunk(packed, "lz4", records.size()), 0, 1), bag("damage" + plain + "\xff" + plain, 0, 2),
          bag(message(0, "") + types[0], 0, 0)};
}

}  // namespace
CARDAN_FUZZ_TARGET(bag, run, seeds)
}  // namespace cardan::fuzz::bag_target
