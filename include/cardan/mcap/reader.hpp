// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cardan/mcap/before_start.hpp"
#include "cardan/mcap/input_file.hpp"
#include "cardan/mcap/record_reader.hpp"
#include "cardan/mcap/scan.hpp"
#include "cardan/mcap/summary.hpp"

namespace cardan::mcap {

/// The order of messages: by log time, ascending or descending.
enum class Order : std::uint8_t { LogTime, ReverseLogTime };

/// As ReadOptions::end: messages to the end of the file.
inline constexpr std::uint64_t kNoEnd = std::numeric_limits<std::uint64_t>::max();

/// Which messages of a file are read, and in which order.
struct ReadOptions {
  std::uint64_t start = 0;                       ///< log time, inclusive
  std::uint64_t end = kNoEnd;                    ///< log time, exclusive; kNoEnd: a message of this time is given too
  std::function<bool(const Channel&)> wanted{};  ///< empty: every channel
  Order order = Order::LogTime;                  ///< equal times: in the order of the file
  const std::atomic<bool>* cancelled = nullptr;  ///< once it is true, no further message is returned
  /// Of a compressed chunk: one that holds more is left out. Those that overlap in time have to be in memory at once:
  /// together they may have as much, or 16 times the file, up to 8 times as much.
  std::uint64_t most_unpacked_bytes = unpacked_limit();
  /// Only the chunk that starts there; kNoChunk: only messages outside of chunks. Empty: all.
  std::optional<std::uint64_t> only_chunk{};
  /// As `only_chunk`: only messages outside of chunks.
  static constexpr std::uint64_t kNoChunk = std::numeric_limits<std::uint64_t>::max();
  /// Whether a message from before the file's start (before_start.hpp) is left out. Empty: none is.
  std::function<bool(const Channel&, std::uint64_t log_time)> drops{};
};

/// A message, its channel and schema, and its place in the file. Its data are valid until the next call of next(), or
/// as long as `owner` is kept.
struct MessageView {
  const Channel* channel = nullptr;  ///< never nullptr in a message that was read; valid as long as the reader
  const Schema* schema = nullptr;    ///< nullptr: its channel has none
  Message message{};                 ///< the record
  /// Owner of the data, for code that reads ahead without copying. Any thread may drop it.
  std::shared_ptr<const void> owner{};
  std::size_t owner_bytes = 0;  ///< memory that `owner` keeps, including other messages of the same chunk
  bool from_before = false;     ///< the file repeats it from before its start
  bool was_packed = false;      ///< rosbag2 compressed it by itself; here it is unpacked
};

/// How a file is opened.
struct OpenOptions {
  bool rescan = false;     ///< ignore the file's own summary and read the file through, which takes longer
  ScanOptions scanning{};  ///< if the file is scanned
};

class Reader;

/// The messages of a reader in order. Only what overlaps in time is kept in memory: a large message that is not
/// compressed is read when its turn comes. Must not outlive its reader.
/// Not thread safe; blocks for the disk.
class Messages {
 public:
  /// Reader::messages() makes one.
  Messages(const Reader& reader, ReadOptions options);
  ~Messages();
  Messages(Messages&&) noexcept;
  Messages& operator=(Messages&&) noexcept;

  /// Returns the next message. Empty: the end. Throws Error (System) if the disk fails.
  [[nodiscard]] std::optional<MessageView> next();

  /// Everything that could not be read so far. Problems never stop the reading.
  [[nodiscard]] const std::vector<Problem>& problems() const noexcept;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Reads a file by its index. A file without an index, because its writer crashed or wanted none, is scanned first
/// (`complete()` reports this).
/// Thread safety: any thread may have its own Messages.
class Reader {
 public:
  /// Throws Error (InvalidArgument) if the file does not exist or is not an MCAP file, (System) if it cannot be read.
  explicit Reader(const std::string& path, const OpenOptions& options = {});

  /// The open file.
  [[nodiscard]] const InputFile& file() const noexcept { return file_; }
  /// The file's first record. Empty if it could not be read.
  [[nodiscard]] const Header& header() const noexcept { return header_; }
  /// The file's index, as it stores it or as the scan found it.
  [[nodiscard]] const Summary& summary() const noexcept { return summary_; }
  /// Whether summary().statistics() is known: a file may store an index without statistics.
  [[nodiscard]] bool has_statistics() const noexcept { return has_statistics_; }
  /// Messages outside of chunks. Empty without a scan.
  [[nodiscard]] const std::vector<LooseMessage>& loose() const noexcept { return loose_; }
  /// How the file's end was found; Complete without a scan.
  [[nodiscard]] const Finish& finish() const noexcept { return finish_; }
  /// Whether the file was finished by its writer.
  [[nodiscard]] bool complete() const noexcept { return finish_.how == Finish::How::Complete; }
  /// Whether the file was read through, because it has no index that helps, or OpenOptions::rescan asked for it.
  [[nodiscard]] bool scanned() const noexcept { return scanned_; }
  /// As Scan::gaps. Empty without a scan.
  [[nodiscard]] const std::vector<Gap>& gaps() const noexcept { return gaps_; }
  /// As Scan::losses. Empty without a scan.
  [[nodiscard]] const std::vector<Problem>& losses() const noexcept { return losses_; }
  /// True if a part of the file could not be read, as far as a scan found out.
  [[nodiscard]] bool lossy() const noexcept;

  /// The messages that the file repeats from before its start. Empty: nothing.
  [[nodiscard]] const std::optional<BeforeStart>& before_start() const noexcept { return before_start_; }
  /// Whether a message of the chunk that starts there, with this log time, is such a message.
  [[nodiscard]] bool is_from_before(std::uint64_t chunk, std::uint64_t log_time) const noexcept {
    return before_start_ && (log_time < before_start_->start || chunk < before_end_);
  }
  /// How many publishers the topic had, 1 to 64; 1 if the file does not say it.
  [[nodiscard]] std::uint64_t publishers(const std::string& topic) const;

  /// The messages that `options` select, in order. Each call starts again; the reader must live longer.
  [[nodiscard]] Messages messages(ReadOptions options = {}) const { return {*this, std::move(options)}; }
  /// Reads a metadata record. Empty if it is damaged. Throws Error (System) if the disk fails.
  [[nodiscard]] std::optional<Metadata> metadata(const MetadataIndex& index) const;
  /// Reads an attachment, with its data in `buffer`. Empty if it is damaged. Throws Error (System) if the disk fails.
  [[nodiscard]] std::optional<Attachment> attachment(const AttachmentIndex& index, Bytes& buffer) const;

 private:
  bool read_summary();
  void read_before_start();

  InputFile file_;
  Header header_;
  Summary summary_;
  std::vector<LooseMessage> loose_;
  std::vector<Gap> gaps_;
  std::vector<Problem> losses_;
  Finish finish_;
  std::optional<BeforeStart> before_start_;
  std::uint64_t before_end_ = 0;  ///< chunks that start before are from before
  Metadata publishers_;
  bool has_statistics_ = false, scanned_ = false;
};

}  // namespace cardan::mcap
