// SPDX-License-Identifier: Apache-2.0
#include "src/mcap/stored_summary.hpp"

#include <algorithm>
#include <cstring>
#include <type_traits>
#include <utility>

namespace cardan::mcap {
namespace {

constexpr std::size_t kFooterBytes = kPrefixBytes + 8 + 8 + 4 + kMagic.size();
constexpr std::uint64_t kMostSummaryBytes = std::uint64_t{2} << 30;
constexpr std::uint64_t kPieceBytes = std::uint64_t{1} << 20;

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

/// Where the summary is, with its footer.
struct SummaryPlace {
  std::uint64_t begin = 0, end = 0;
  std::uint32_t crc = 0;  ///< 0: not computed
  Bytes tail;             ///< the footer, and what follows
};

std::optional<SummaryPlace> place_in(const InputFile& file) {
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
  return SummaryPlace{footer->summary_start, footer_at, footer->summary_crc, std::move(tail)};
}

bool crc_fits(const InputFile& file, const SummaryPlace& place) {
  std::uint32_t crc = 0;
  Bytes piece;
  for (std::uint64_t at = place.begin; at < place.end; at += piece.size()) {
    if (!file.read_exactly(at, std::min(kPieceBytes, place.end - at), piece)) return false;
    crc = crc32(piece, crc);
  }
  return crc32(View(place.tail).first(kPrefixBytes + 16), crc) == place.crc;
}

/// The summary's records, with a piece of it in memory: where a file has a hole, much costs its writer nothing.
class SummaryRecords {
 public:
  SummaryRecords(const InputFile& file, const SummaryPlace& place) : file_(file), at_(place.begin), end_(place.end) {}

  [[nodiscard]] bool at_end() const noexcept { return at_ == end_; }

  /// Its content is valid until the next call, and empty if nobody needs it. Nothing: the record is damaged.
  std::optional<RawRecord> next() {
    if (!hold(kPrefixBytes)) return std::nullopt;
    const Prefix prefix(held());
    if (prefix.length > end_ - at_ - kPrefixBytes) return std::nullopt;
    const bool needed = is_needed(static_cast<Opcode>(prefix.opcode));
    if (needed && (prefix.length > kMostSmallRecordBytes || !hold(kPrefixBytes + prefix.length))) return std::nullopt;
    const View content = needed ? held().subspan(kPrefixBytes, static_cast<std::size_t>(prefix.length)) : View();
    at_ += kPrefixBytes + prefix.length;
    return RawRecord{prefix.opcode, content};
  }

 private:
  static bool is_needed(Opcode opcode) noexcept {
    return opcode == Opcode::Schema || opcode == Opcode::Channel || opcode == Opcode::ChunkIndex ||
           opcode == Opcode::AttachmentIndex || opcode == Opcode::MetadataIndex || opcode == Opcode::Statistics;
  }
  [[nodiscard]] View held() const noexcept { return View(piece_).subspan(static_cast<std::size_t>(at_ - piece_at_)); }

  /// Has this many bytes from `at_` on in memory; false: there are fewer.
  bool hold(std::uint64_t bytes) {
    if (bytes > end_ - at_) return false;
    if (at_ - piece_at_ <= piece_.size() && bytes <= piece_.size() - (at_ - piece_at_)) return true;
    piece_at_ = at_;
    return file_.read_exactly(at_, std::min(std::max(bytes, kPieceBytes), end_ - at_), piece_);
  }

  const InputFile& file_;
  std::uint64_t at_, end_;
  Bytes piece_;
  std::uint64_t piece_at_ = 0;
};

}  // namespace

std::optional<StoredSummary> read_stored_summary(const InputFile& file) {
  StoredSummary stored;
  const auto place = place_in(file);
  if (!place) return std::nullopt;
  stored.checked = place->crc != 0;
  if (stored.checked && !crc_fits(file, *place)) return std::nullopt;
  std::optional<Statistics> statistics;
  for (SummaryRecords records(file, *place); !records.at_end();) {
    const auto raw = records.next();
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
