// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "cardan/mcap/input_file.hpp"
#include "cardan/mcap/summary.hpp"
#include "src/mcap/record_search.hpp"

namespace cardan::mcap {

/// A chunk whose records were walked through, while the message indexes after it come: do they say the same? Not to be
/// shared by threads; does not block.
class WalkedChunk {
 public:
  struct Message {
    std::uint16_t channel = 0;
    std::uint64_t time = 0, place = 0;
    auto operator<=>(const Message&) const = default;
  };

  ChunkIndex index{};
  bool has_checksum = false;
  std::vector<Message> messages{};

  /// False: it says something else than the chunk.
  bool note(const MessageIndex& listed, std::uint64_t offset, std::uint64_t bytes) {
    if (!has_index_) std::sort(messages.begin(), messages.end());
    has_index_ = true;
    const auto [begin, end] = std::equal_range(messages.begin(), messages.end(), Message{.channel = listed.channel_id},
                                               [](const auto& a, const auto& b) { return a.channel < b.channel; });
    auto said = listed.records;
    std::sort(said.begin(), said.end());
    if (index.message_index_offsets.contains(listed.channel_id) ||
        !std::equal(begin, end, said.begin(), said.end(), [](const Message& found, const auto& one) {
          return std::tie(found.time, found.place) == std::tie(one.first, one.second);
        }))
      return false;
    index.message_index_offsets[listed.channel_id] = offset;
    index.message_index_length += bytes;
    listed_ += said.size();
    return true;
  }
  void note_damaged_index() noexcept { has_index_ = true; }

  [[nodiscard]] bool has_index() const noexcept { return has_index_; }
  /// Each message is in an index.
  [[nodiscard]] bool fits_index() const noexcept { return listed_ == messages.size(); }

 private:
  bool has_index_ = false;
  std::size_t listed_ = 0;
};

/// Walks through the records of chunks, which may be larger than the memory: of what is not compressed only the heads
/// are read. Not to be shared by threads; blocks for the disk.
class ChunkWalker {
 public:
  explicit ChunkWalker(const InputFile& file) : file_(file) {}

  /// The records of the chunk with that head, which start at `at` in the file. Its messages go into `chunk`, its
  /// schemas and channels into `summary`. False: it is damaged. `check`: its checksum is looked at, if it has one.
  /// Throws Error (System): the disk fails.
  [[nodiscard]] bool walk(const ChunkHead& head, std::uint64_t at, bool check, WalkedChunk& chunk, Summary& summary);

  /// The checksum of these bytes of the file, whatever they are.
  [[nodiscard]] std::uint32_t file_crc(std::uint64_t at, std::uint64_t bytes);

 private:
  [[nodiscard]] bool walk_memory(View records, WalkedChunk& chunk, Summary& summary);
  [[nodiscard]] bool walk_file(std::uint64_t begin, std::uint64_t bytes, WalkedChunk& chunk, Summary& summary);

  const InputFile& file_;
  Bytes buffer_, unpacked_;
};

/// Finds copies: a damaged disk, or a copy of a file that went wrong, may have a chunk at two places. Each chunk is
/// read at most once for it, and only if another one has its times and sizes.
class ChunkCopies {
 public:
  explicit ChunkCopies(ChunkWalker& walker) : walker_(walker) {}

  /// Where the same chunk was before. Empty: nowhere.
  [[nodiscard]] std::optional<std::uint64_t> first_of(const ChunkIndex& chunk);

 private:
  struct Alike {
    std::uint64_t first = 0;                               ///< of these, the first one's offset
    std::map<std::uint32_t, std::uint64_t> by_checksum{};  ///< empty while there is only one
  };
  ChunkWalker& walker_;
  std::map<std::tuple<std::uint64_t, std::uint64_t, std::uint64_t, std::uint64_t>, Alike> known_;
};

}  // namespace cardan::mcap
