// SPDX-License-Identifier: Apache-2.0
#include "src/mcap/source_times.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "cardan/detail/checksum.hpp"
#include "cardan/mcap/codec.hpp"

namespace cardan::mcap {
namespace {

constexpr std::array<char, 4> kMark{'S', 'R', 'C', '1'};

}  // namespace

void append_source_times(Bytes& out, std::span<const std::int64_t> times) {
  if (std::all_of(times.begin(), times.end(), [](std::int64_t time) { return time == 0; })) return;
  const View bytes = std::as_bytes(times);
  detail::put(out, std::as_bytes(std::span(kMark)));
  detail::put(out, crc32(bytes));
  detail::put(out, bytes);
}

std::optional<IndexWithSourceTimes> decode_index(View content) {
  IndexWithSourceTimes found;
  detail::Decoder decoder(content);
  MessageIndex::fields(found.index, decoder);
  if (!decoder.ok()) return std::nullopt;
  const View behind = decoder.left();
  if (behind.size() < kMark.size() || std::memcmp(behind.data(), kMark.data(), kMark.size()) != 0) return found;
  const std::size_t count = found.index.records.size();  // in memory already, so this count can be trusted
  found.damaged = true;
  if (behind.size() < kSourceTimesHead || (behind.size() - kSourceTimesHead) / sizeof(std::int64_t) < count)
    return found;
  std::uint32_t crc = 0;
  std::memcpy(&crc, behind.data() + kMark.size(), sizeof crc);
  const View stamps = behind.subspan(kSourceTimesHead, count * sizeof(std::int64_t));
  if (crc != crc32(stamps)) return found;
  found.source_times.resize(count);
  if (count != 0) std::memcpy(found.source_times.data(), stamps.data(), stamps.size());
  found.damaged = false;
  return found;
}

}  // namespace cardan::mcap
