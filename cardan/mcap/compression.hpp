// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "cardan/mcap/records.hpp"

namespace cardan::mcap {

enum class Compression : std::uint8_t {
  None,
  Lz4,   ///< fast, and readable everywhere
  Zstd,  ///< smaller, slower
};

/// As MCAP writes it: "", "lz4", "zstd".
[[nodiscard]] const char* name_of(Compression compression) noexcept;

/// The levels that its library knows, the lowest and the highest.
struct Levels {
  int lowest = 0, highest = 0;
};
[[nodiscard]] Levels levels_of(Compression compression) noexcept;

/// Keeps its tables from chunk to chunk. Not to be shared by threads; does not block.
class Compressor {
 public:
  /// level: as the library's; 0 is its default, a lower one is faster.
  explicit Compressor(Compression compression, int level = 0);
  ~Compressor();
  Compressor(Compressor&&) noexcept;
  Compressor& operator=(Compressor&&) noexcept;

  [[nodiscard]] Compression kind() const noexcept { return kind_; }

  /// Appends the compressed bytes. Throws Error (System): the library refuses, for want of memory.
  void append(Bytes& out, View bytes);

 private:
  struct State;
  Compression kind_;
  int level_;
  std::unique_ptr<State> state_;
};

/// Replaces `out` by exactly `size` bytes. Returns why that is impossible; nullptr: done. Nothing of what a file says
/// is trusted: `size` bytes are allocated only once the compressed bytes have turned out to hold that many, unless it
/// is at most 64 times their number and 1 MiB. Any thread; does not block.
[[nodiscard]] const char* decompress(std::string_view compression, View compressed, std::uint64_t size, Bytes& out);

/// A compressed chunk that holds more is not read, wherever options do not say another number: 512 MiB, or what
/// CARDAN_MAX_CHUNK in the environment says, or what this process set (`--max-chunk`). Bytes. Any thread.
[[nodiscard]] std::uint64_t unpacked_limit() noexcept;
void set_unpacked_limit(std::uint64_t bytes) noexcept;

}  // namespace cardan::mcap
