// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "cardan/mcap/records.hpp"

namespace cardan::mcap {

/// How chunks are compressed.
enum class Compression : std::uint8_t {
  None,  ///< costs no CPU time; the largest files
  Lz4,   ///< fast, and readable everywhere
  Zstd,  ///< smaller, slower
};

/// As options name them, in the order of Compression.
inline constexpr std::array<std::string_view, 3> kCompressionNames{"none", "lz4", "zstd"};

/// As MCAP writes it: "", "lz4", "zstd".
[[nodiscard]] std::string_view name_of(Compression compression) noexcept;
/// By an option's name or MCAP's. Empty: it is unknown here.
[[nodiscard]] std::optional<Compression> compression_named(std::string_view name) noexcept;
/// As compression_named(). Throws Error (InvalidArgument).
[[nodiscard]] Compression require_compression(std::string_view name);

/// The levels that a compression's library knows.
struct Levels {
  int lowest = 0, highest = 0;  ///< both are allowed; a higher level gives smaller files and takes longer
};
/// The levels of a compression. Any thread; does not block.
[[nodiscard]] Levels levels_of(Compression compression) noexcept;

/// Compresses chunks. Keeps its tables from chunk to chunk. Not to be shared by threads; does not block.
class Compressor {
 public:
  /// level: as the library's; 0 is its default, a lower one is faster.
  explicit Compressor(Compression compression, int level = 0);
  ~Compressor();
  Compressor(Compressor&&) noexcept;
  Compressor& operator=(Compressor&&) noexcept;

  /// As given to the constructor.
  [[nodiscard]] Compression kind() const noexcept { return kind_; }

  /// Appends the compressed bytes. Throws Error (System): the library fails, for lack of memory.
  void append(Bytes& out, View bytes);

 private:
  struct State;
  Compression kind_;
  int level_;
  std::unique_ptr<State> state_;
};

/// Replaces `out` by exactly `size` bytes. Returns the reason if that is impossible; nullptr: done. No number of a file
/// is trusted: above 64 times the compressed bytes and 1 MiB, `size` bytes are allocated only after a first pass has
/// shown that the data has that many. Any thread; does not block.
[[nodiscard]] const char* decompress(std::string_view compression, View compressed, std::uint64_t size, Bytes& out);

/// Unpacks a file of zstd frames: `read` fills a buffer and returns the number of bytes (0: the end), `write` takes the
/// unpacked bytes, at most `most` in all. Returns the reason if that is impossible; nullptr: done. Throws the
/// exceptions of `read` and `write`.
[[nodiscard]] const char* unpack_zstd(const std::function<std::size_t(std::span<std::byte>)>& read,
                                      const std::function<void(View)>& write, std::uint64_t most);

/// The most bytes that a file of `packed` bytes may hold, if rosbag2 compressed it as a whole or message by message:
/// 64 times `packed` and 1 MiB, or unpacked_limit() if that is more.
[[nodiscard]] std::uint64_t most_unpacked_of(std::uint64_t packed) noexcept;

/// The messages of a file that rosbag2 compressed one by one (compression_mode MESSAGE): each is a zstd frame that says
/// how much it holds. Not to be shared by threads; does not block.
class PackedMessages {
 public:
  /// Of a file of this many bytes: in all, at most most_unpacked_of() bytes come out of it.
  explicit PackedMessages(std::uint64_t file_bytes) : left_(most_unpacked_of(file_bytes)) {}

  /// Whether a message in CDR is such a frame: no CDR begins with these bytes.
  [[nodiscard]] static bool is_packed(View message) noexcept;
  /// Replaces `out` by the message. Returns the reason if that is impossible; empty: done.
  [[nodiscard]] std::string unpack(View message, Bytes& out);

 private:
  std::uint64_t left_;  ///< bytes that may still come out of the file
};

/// The default limit of a compressed chunk's contents, in bytes: larger chunks are not read. 512 MiB, or
/// $CARDAN_MAX_CHUNK, or the value that this process set (`--max-chunk`). Any thread.
[[nodiscard]] std::uint64_t unpacked_limit() noexcept;
/// Sets the limit for this process, in bytes. Any thread.
void set_unpacked_limit(std::uint64_t bytes) noexcept;

}  // namespace cardan::mcap
