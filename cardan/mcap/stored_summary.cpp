// SPDX-License-Identifier: Apache-2.0
#include "cardan/mcap/stored_summary.hpp"

#include <cstring>
#include <type_traits>
#include <utility>

namespace cardan::mcap {
namespace {

constexpr std::size_t kFooterBytes = kPrefixBytes + 8 + 8 + 4 + kMagic.size();
constexpr std::uint64_t kMostSummaryBytes = std::uint64_t{2} << 30;

/// Adds a record of the summary; false: it is damaged.
bool add_to(StoredSummary& stored, const RawRecord& raw) {
  const auto add = [&](const auto& kind) {
    auto record = decode<std::remove_cvref_t<decltype(kind)>>(raw.content);
    if (record) stored.summary.add(std::move(*record));
    return record.has_value();
  };
  switch (static_cast<Opcode>(raw.opcode)) {
    case Opcode::Schema:
      return add(Schema{});
    case Opcode::Channel:
      return add(Channel{});
    case Opcode::ChunkIndex:
      return add(ChunkIndex{});
    case Opcode::AttachmentIndex:
      return add(AttachmentIndex{});
    case Opcode::MetadataIndex:
      return add(MetadataIndex{});
    default:
      return true;  // the statistics come last: those of the other records would count them twice
  }
}

/// The summary's bytes, and in `checked` whether their checksum says that they are whole.
std::optional<Bytes> summary_bytes(const InputFile& file, bool& checked) {
  const std::uint64_t end = file.size();
  Bytes tail;
  if (end < kMagic.size() + kFooterBytes || !file.read_exactly(end - kFooterBytes, kFooterBytes, tail))
    return std::nullopt;
  if (std::memcmp(tail.data() + kFooterBytes - kMagic.size(), kMagic.data(), kMagic.size()) != 0 ||
      tail[0] != static_cast<std::byte>(Opcode::Footer))
    return std::nullopt;
  const auto footer = decode<Footer>(View(tail).subspan(kPrefixBytes, kFooterBytes - kPrefixBytes - kMagic.size()));
  const std::uint64_t footer_at = end - kFooterBytes;
  if (!footer || footer->summary_start == 0 || footer->summary_start > footer_at ||
      footer_at - footer->summary_start > kMostSummaryBytes)
    return std::nullopt;
  Bytes bytes;
  if (!file.read_exactly(footer->summary_start, footer_at - footer->summary_start, bytes)) return std::nullopt;
  checked = footer->summary_crc != 0;
  if (checked && footer->summary_crc != crc32(View(tail).first(kPrefixBytes + 16), crc32(bytes))) return std::nullopt;
  return bytes;
}

}  // namespace

std::optional<StoredSummary> read_stored_summary(const InputFile& file) {
  StoredSummary stored;
  const auto bytes = summary_bytes(file, stored.checked);
  if (!bytes) return std::nullopt;
  std::optional<Statistics> statistics;
  for (View left = *bytes; !left.empty();) {
    const auto raw = take_record(left);
    if (!raw) return std::nullopt;
    if (raw->is(Opcode::Statistics)) {
      statistics = decode<Statistics>(raw->content);
      if (!statistics) return std::nullopt;
    } else if (!add_to(stored, *raw)) {
      return std::nullopt;
    }
  }
  stored.has_statistics = statistics.has_value();
  if (statistics) stored.summary.set(*statistics);
  return stored;
}

}  // namespace cardan::mcap
