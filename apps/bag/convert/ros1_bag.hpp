// SPDX-License-Identifier: Apache-2.0
// Recordings of ROS 1 (bag format 2.0), read from their beginning to their end: also those that nobody closed, and what
// is left of damaged ones. Nothing that a file says is believed: memory follows what is there.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "cardan/mcap/input_file.hpp"
#include "cardan/mcap/scan.hpp"

namespace cardan::apps {

struct Ros1Connection {
  std::string topic{}, type{}, definition{}, md5{}, caller{};
  bool latching = false;
};

/// Connections of different publishers that become one channel: the same topic, type, definition and latching.
struct AsOneChannel {
  bool operator()(const Ros1Connection* a, const Ros1Connection* b) const {
    return std::tie(a->topic, a->type, a->latching, a->definition) <
           std::tie(b->topic, b->type, b->latching, b->definition);
  }
};

struct Ros1Message {
  std::uint32_t connection = 0;
  std::uint64_t time = 0;  ///< nanoseconds
  mcap::View data{};       ///< valid until the next message is asked for
};

/// The index at the end of a file. (Nothing else of the file has to be read for it.)
struct Ros1Index {
  std::map<std::uint32_t, std::uint64_t> messages{};  ///< by connection
  std::uint64_t first = 0, last = 0;                  ///< nanoseconds; of a file without messages 0
  std::vector<mcap::ChunkIndex> chunks{};             ///< their sizes and compression alone
};

/// Gives up soon after a stop was requested (transport/stop.hpp). Not to be shared by threads; blocks for the disk.
class Ros1Bag {
 public:
  /// Throws Error (InvalidArgument): it is not such a file; (System): it cannot be read.
  explicit Ros1Bag(const std::string& path);

  /// In the order of the file. Empty: the end, or a stop was requested. Throws Error (System): the disk fails.
  [[nodiscard]] std::optional<Ros1Message> next();

  /// Empty: it is missing, damaged, or of connections that it does not name. Before next() alone.
  [[nodiscard]] std::optional<Ros1Index> index();

  /// Those that are known so far; a message's one is among them.
  [[nodiscard]] const std::map<std::uint32_t, Ros1Connection>& connections() const noexcept { return connections_; }
  /// The publishers of all connections that are known so far and become one channel with this one.
  [[nodiscard]] const std::set<std::string_view>& callers(const Ros1Connection& connection) const {
    return callers_.at(&connection);
  }
  /// Of the first chunk that was read: none, bz2 or lz4.
  [[nodiscard]] const std::string& compression() const noexcept { return compression_; }

  /// Everything that could not be read so far. Many of them are not all named.
  [[nodiscard]] const std::vector<mcap::Problem>& problems() const noexcept { return problems_; }
  [[nodiscard]] std::uint64_t unnamed_problems() const noexcept { return unnamed_problems_; }
  /// Messages that the file's index, or a readable record, names and that could not be read.
  [[nodiscard]] std::uint64_t missing() const noexcept { return missing_; }
  /// Nobody closed it; nothing need be missing.
  [[nodiscard]] bool unfinished() const noexcept { return unfinished_; }

 private:
  /// A record's header, taken apart. Views into what was parsed.
  struct Fields {
    std::vector<std::pair<std::string_view, mcap::View>> all;
    [[nodiscard]] std::optional<mcap::View> find(std::string_view name) const;
    [[nodiscard]] std::string text(std::string_view name) const;
    template <class T>
    [[nodiscard]] std::optional<T> number(std::string_view name) const;
    [[nodiscard]] int op() const;
  };
  struct Record {
    Fields fields;
    std::uint64_t data_at = 0, end = 0;  ///< places in the file
  };

  static std::optional<Fields> parse(mcap::View header);
  std::optional<Record> record_at(std::uint64_t at);
  void read_head();
  void read_index(std::uint64_t at, std::optional<std::uint32_t> chunks);
  bool add_chunk_info(const Fields& fields, mcap::View data);
  void add_connection(const Fields& fields, mcap::View data);
  bool take_record();
  void open_chunk(std::uint64_t at, const Record& record);
  void close_chunk(bool damaged, const std::string& why);
  std::optional<Ros1Message> next_in_chunk();
  std::optional<std::uint64_t> next_chunk_behind(std::uint64_t at);
  std::optional<std::uint64_t> chunk_with_sign(std::uint64_t sign, std::uint64_t from);
  bool fill_piece(std::uint64_t from);
  bool afford(std::uint64_t bytes);
  void problem(std::uint64_t at, std::string cause);

  mcap::InputFile file_;
  std::uint64_t size_, end_, at_ = 0;  ///< of the file; of what is walked through; where the walk is
  mcap::Bytes header_, packed_, chunk_;
  mcap::Bytes piece_;  ///< of the file, in which is searched, from `piece_at_` on
  std::uint64_t piece_at_ = 0, searched_ = 0, looked_at_ = 0;
  std::uint64_t chunk_at_ = 0, chunk_pos_ = 0, chunk_seen_ = 0;
  bool in_chunk_ = false, unfinished_ = false;
  std::map<std::uint64_t, std::uint64_t> indexed_;  ///< messages of the chunk at that place
  Ros1Index index_;
  bool index_is_whole_ = false;
  std::map<std::uint32_t, Ros1Connection> connections_;
  std::map<const Ros1Connection*, std::set<std::string_view>, AsOneChannel> callers_;
  std::size_t connection_bytes_ = 0;  ///< of their texts
  std::set<std::uint32_t> unknown_;   ///< connections without a record
  std::string compression_ = "none";
  std::vector<mcap::Problem> problems_;
  std::uint64_t unnamed_problems_ = 0, missing_ = 0;
};

/// Replaces `out` by the `size` bytes that a chunk held before it was compressed with "bz2" or "lz4"; no room is made
/// for a size that is a lie. Returns why that is impossible; empty: done.
[[nodiscard]] std::string unpack_ros1(std::string_view compression, mcap::View packed, std::uint64_t size,
                                      mcap::Bytes& out);

}  // namespace cardan::apps
