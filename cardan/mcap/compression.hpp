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
/// is trusted: `size` is not allocated before the compressed bytes could hold that much. Any thread; does not block.
[[nodiscard]] const char* decompress(std::string_view compression, View compressed, std::uint64_t size, Bytes& out);

}  // namespace cardan::mcap
