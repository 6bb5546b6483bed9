// SPDX-License-Identifier: Apache-2.0
// A recording of ROS 2 in SQLite, read to its end. Must hold: it ends with a result or an error in words, nothing in
// it is run, and no more comes out of it than is in it.
#include <sqlite3.h>

#include <fstream>

#include "apps/bag/convert/sqlite_bag.hpp"
#include "cardan/error.hpp"
#include "tests/fuzz/fuzz.hpp"

namespace cardan::fuzz::db3_target {
namespace {

void run(std::string_view input) {
  const std::string path = folder() + "/in.db3";  // SQLite finds no file in memory by its descriptor's name
  std::ofstream(path, std::ios::binary | std::ios::trunc).write(input.data(), std::ssize(input));
  try {
    apps::SqliteBag bag(path);
    std::size_t bytes = 0, topics = 0;
    while (const auto message = bag.next()) {
      bytes += message->data.size();
      for (const std::byte b : message->data) topics += static_cast<std::size_t>(b);  // touches all of it
    }
    require(bytes <= input.size(), "more messages than there are bytes");
    topics = 0;
    for (const auto& [id, topic] : bag.topics()) topics += topic.name.size() + topic.type.size() + topic.qos.size();
    require(topics <= std::size_t{64} << 20, "more names than there may be");
    require(bag.problems().size() <= 51, "endless problems");
    for (const std::string& problem : bag.problems()) require(!problem.empty(), "a problem without words");
  } catch (const Error& e) {
    require(!e.cause().empty() && !e.remedy().empty(), "an error without words");
    require(e.code() == ErrorCode::InvalidArgument, "the file's fault was taken for the disk's");
  }
}

/// Of small pages, so that it has several.
std::string database(const std::string& orders) {
  sqlite3* raw = nullptr;
  require(sqlite3_open(":memory:", &raw) == SQLITE_OK, "no database");
  require(sqlite3_exec(raw, ("PRAGMA page_size=512;" + orders).c_str(), nullptr, nullptr, nullptr) == SQLITE_OK,
          "a wrong order");
  sqlite3_int64 size = 0;
  unsigned char* const bytes = sqlite3_serialize(raw, "main", &size, 0);
  std::string out(reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(size));
  sqlite3_free(bytes);
  sqlite3_close(raw);
  return out;
}

std::vector<std::string> seeds() {
  const std::string topics =
      "CREATE TABLE topics(id INTEGER PRIMARY KEY, name TEXT, type TEXT, serialization_format TEXT, "
      "offered_qos_profiles TEXT, type_description_hash TEXT);"
      "INSERT INTO topics VALUES(1, '/a', 'std_msgs/msg/String', 'cdr', '', '');";
  const std::string messages =
      "CREATE TABLE messages(id INTEGER PRIMARY KEY, topic_id INTEGER, timestamp INTEGER, data BLOB);"
      "CREATE INDEX timestamp_idx ON messages(timestamp ASC);";
  const std::string definitions =
      "CREATE TABLE message_definitions(id INTEGER PRIMARY KEY, topic_type TEXT, encoding TEXT, "
      "encoded_message_definition TEXT);"
      "INSERT INTO message_definitions VALUES(1, 'std_msgs/msg/String', 'ros2msg', 'string data');";
  const std::string rows =
      "INSERT INTO messages VALUES(1,1,5,x'0001000000000000'),(2,1,6,x'0001'),(9,1,7,zeroblob(1500));"
      "INSERT INTO messages SELECT id + 20, 1, id, zeroblob(40) FROM messages, (SELECT 1 UNION ALL SELECT 2) LIMIT 0;";
  return {database(topics + messages + definitions + rows), database(topics + messages + rows),
          database(topics + "CREATE TABLE messages(id INTEGER PRIMARY KEY, topic_id INTEGER, timestamp INTEGER, "
                            "data BLOB AS (zeroblob(100000)));INSERT INTO messages VALUES(1,1,5),(2,1,6);"),
          database(topics + "CREATE VIEW messages AS SELECT 1 AS id, 1 AS topic_id, 1 AS timestamp, "
                            "zeroblob(100000) AS data;")};
}

}  // namespace
CARDAN_FUZZ_TARGET(db3, run, seeds)
}  // namespace cardan::fuzz::db3_target
