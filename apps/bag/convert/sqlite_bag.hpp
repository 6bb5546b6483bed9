// SPDX-License-Identifier: Apache-2.0
// Recordings of ROS 2 in SQLite (.db3), read from the first row to the last.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cardan/mcap/records.hpp"

namespace cardan::apps {

struct SqliteTopic {
  std::string name{}, type{}, format{}, qos{}, hash{};
  std::string definition_encoding{}, definition{};  ///< empty: the file has none
};

struct SqliteMessage {
  std::int64_t topic = 0;
  std::int64_t time = 0;  ///< nanoseconds
  mcap::View data{};      ///< valid until the next message is asked for
};

/// The name by which SQLite opens a file that is open already, whatever names it has: with `parameters` of its URI, as
/// "&immutable=1". Any thread; no blocking.
[[nodiscard]] std::string sqlite_name_of(int fd, const char* parameters);

/// Not to be shared by threads; blocks for the disk.
class SqliteBag {
 public:
  /// The parts of each message that are read.
  enum class Read : std::uint8_t {
    All,
    Times,  ///< its data is empty
  };

  /// A file that rosbag2 compressed is unpacked first (mcap::InputFile::of_recording). Throws Error (InvalidArgument):
  /// it is not such a file; (System): it cannot be read; (Unavailable): this program was built without SQLite.
  explicit SqliteBag(const std::string& path, Read read = Read::All);
  ~SqliteBag();
  SqliteBag(const SqliteBag&) = delete;
  SqliteBag& operator=(const SqliteBag&) = delete;

  /// Bytes of the file, after it was unpacked.
  [[nodiscard]] std::uint64_t bytes() const noexcept;
  /// By their numbers.
  [[nodiscard]] const std::map<std::int64_t, SqliteTopic>& topics() const noexcept { return topics_; }
  /// In the order in which they were recorded. Empty: the end.
  [[nodiscard]] std::optional<SqliteMessage> next();

  /// Everything that could not be read so far.
  [[nodiscard]] const std::vector<std::string>& problems() const noexcept { return problems_; }
  /// Rows that should be there and could not be read.
  [[nodiscard]] std::uint64_t missing() const noexcept { return missing_; }

 private:
  struct State;
  void close_gap(std::int64_t behind);
  void problem(std::string what);
  std::optional<SqliteMessage> end();

  std::unique_ptr<State> state_;
  std::map<std::int64_t, SqliteTopic> topics_;
  std::vector<std::string> problems_;
  std::uint64_t missing_ = 0;
};

}  // namespace cardan::apps
