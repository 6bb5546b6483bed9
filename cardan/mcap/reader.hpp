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

#include "cardan/mcap/input_file.hpp"
#include "cardan/mcap/record_reader.hpp"
#include "cardan/mcap/scan.hpp"
#include "cardan/mcap/summary.hpp"

namespace cardan::mcap {

enum class Order : std::uint8_t { LogTime, ReverseLogTime };

struct ReadOptions {
  std::uint64_t start = 0;                                        ///< log time, inclusive
  std::uint64_t end = std::numeric_limits<std::uint64_t>::max();  ///< log time, exclusive
  std::function<bool(const Channel&)> wanted{};                   ///< empty: every channel
  Order order = Order::LogTime;                                   ///< equal times: in the order of the file
  const std::atomic<bool>* cancelled = nullptr;                   ///< once it is true, no message comes any more
  /// Of compressed chunks that overlap in time, all of which have to be in memory at once: what is more is left out.
  std::uint64_t most_unpacked_bytes = std::uint64_t{4} << 30;
};

/// A message, what it is and where it stands. Its data are valid until the next one is asked for, or as long as
/// somebody keeps `owner`.
struct MessageView {
  const Channel* channel = nullptr;
  const Schema* schema = nullptr;  ///< nullptr: its channel has none
  Message message{};
  std::shared_ptr<const void> owner{};  ///< of the data: for who reads ahead without copying. Any thread may drop it
  std::size_t owner_bytes = 0;          ///< memory that it keeps, other messages of the same chunk included
};

struct OpenOptions {
  bool rescan = false;     ///< do not believe the file's own summary
  ScanOptions scanning{};  ///< if it is walked through
};

class Reader;

/// The messages of a reader in order. Holds what overlaps in time only: a large message that is not compressed is read
/// when its turn comes. Not to be shared by threads; blocks for the disk. Must not outlive its reader.
class Messages {
 public:
  Messages(const Reader& reader, ReadOptions options);
  ~Messages();
  Messages(Messages&&) noexcept;
  Messages& operator=(Messages&&) noexcept;

  /// Empty: the end. Throws Error (System): the disk fails.
  [[nodiscard]] std::optional<MessageView> next();

  /// What could not be read so far; never a reason to stop.
  [[nodiscard]] const std::vector<Problem>& problems() const noexcept;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// A file by its index; one without, because its writer crashed or wanted none, is walked through first (`complete()`
/// tells). Any thread may have Messages of its own.
class Reader {
 public:
  /// Throws Error (InvalidArgument): it is not there, or no MCAP file; (System): it cannot be read.
  explicit Reader(const std::string& path, const OpenOptions& options = {});

  [[nodiscard]] const InputFile& file() const noexcept { return file_; }
  [[nodiscard]] const Header& header() const noexcept { return header_; }
  [[nodiscard]] const Summary& summary() const noexcept { return summary_; }
  [[nodiscard]] bool has_statistics() const noexcept { return has_statistics_; }
  [[nodiscard]] const std::vector<LooseMessage>& loose() const noexcept { return loose_; }
  /// How its end was found; Complete without a scan.
  [[nodiscard]] const Finish& finish() const noexcept { return finish_; }
  [[nodiscard]] bool complete() const noexcept { return finish_.how == Finish::How::Complete; }
  [[nodiscard]] bool scanned() const noexcept { return scanned_; }
  [[nodiscard]] const std::vector<Gap>& gaps() const noexcept { return gaps_; }
  [[nodiscard]] const std::vector<Problem>& losses() const noexcept { return losses_; }
  /// Something of the file could not be read, of which a scan knows.
  [[nodiscard]] bool lossy() const noexcept;

  [[nodiscard]] Messages messages(ReadOptions options = {}) const { return {*this, std::move(options)}; }
  /// Empty: it is damaged.
  [[nodiscard]] std::optional<Metadata> metadata(const MetadataIndex& index) const;
  /// Its data is put into `buffer`. Empty: it is damaged.
  [[nodiscard]] std::optional<Attachment> attachment(const AttachmentIndex& index, Bytes& buffer) const;

 private:
  bool read_summary();

  InputFile file_;
  Header header_;
  Summary summary_;
  std::vector<LooseMessage> loose_;
  std::vector<Gap> gaps_;
  std::vector<Problem> losses_;
  Finish finish_;
  bool has_statistics_ = false, scanned_ = false;
};

}  // namespace cardan::mcap
