// SPDX-License-Identifier: Apache-2.0
#include "cardan/record/mcap/reader.hpp"

#include <array>
#include <cstring>
#include <utility>

namespace cardan::mcap {
namespace {

constexpr std::size_t kFooterBytes = kPrefixBytes + 8 + 8 + 4 + kMagic.size();
constexpr std::uint64_t kMostSummaryBytes = std::uint64_t{2} << 30;

/// The record at `offset`, if it is whole and of this kind.
template <class Record>
std::optional<Record> read_record(const InputFile& file, std::uint64_t offset, std::uint64_t length, Bytes& buffer) {
  if (length < kPrefixBytes || !file.read_exactly(offset, length, buffer)) return std::nullopt;
  const Prefix prefix(buffer);
  if (!prefix.is(Record::kOpcode) || prefix.length != length - kPrefixBytes) return std::nullopt;
  return decode<Record>(View(buffer).subspan(kPrefixBytes));
}

}  // namespace

Reader::Reader(const std::string& path, const OpenOptions& options) : file_(path) {
  if (!options.rescan && read_summary()) return;
  Scan found = scan(file_, options.scanning);
  header_ = std::move(found.header);
  summary_ = std::move(found.summary);
  loose_ = std::move(found.loose);
  gaps_ = std::move(found.gaps);
  finish_ = std::move(found.finish);
  scanned_ = has_statistics_ = true;
}

// False: there is none to rely on.
bool Reader::read_summary() {
  const std::uint64_t end = file_.size();
  Bytes bytes;
  if (end < kMagic.size() + kFooterBytes || !file_.read_exactly(end - kFooterBytes, kFooterBytes, bytes)) return false;
  if (std::memcmp(bytes.data() + kFooterBytes - kMagic.size(), kMagic.data(), kMagic.size()) != 0 ||
      bytes[0] != static_cast<std::byte>(Opcode::Footer))
    return false;
  const Bytes tail = bytes;
  const auto footer = decode<Footer>(View(tail).subspan(kPrefixBytes, kFooterBytes - kPrefixBytes - kMagic.size()));
  const std::uint64_t footer_at = end - kFooterBytes;
  if (!footer || footer->summary_start == 0 || footer->summary_start > footer_at ||
      footer_at - footer->summary_start > kMostSummaryBytes)
    return false;
  if (!file_.read_exactly(footer->summary_start, footer_at - footer->summary_start, bytes)) return false;
  if (footer->summary_crc != 0 && footer->summary_crc != crc32(View(tail).first(kPrefixBytes + 16), crc32(bytes)))
    return false;

  View left = bytes;
  std::optional<Statistics> statistics;
  while (!left.empty()) {
    const auto raw = take_record(left);
    const auto add = [&](const auto& kind) {
      auto record = decode<std::remove_cvref_t<decltype(kind)>>(raw->content);
      if (record) summary_.add(std::move(*record));
      return record.has_value();
    };
    bool good = raw.has_value();
    switch (good ? static_cast<Opcode>(raw->opcode) : Opcode::Header) {
      case Opcode::Schema:
        good = add(Schema{});
        break;
      case Opcode::Channel:
        good = add(Channel{});
        break;
      case Opcode::ChunkIndex:
        good = add(ChunkIndex{});
        break;
      case Opcode::AttachmentIndex:
        good = add(AttachmentIndex{});
        break;
      case Opcode::MetadataIndex:
        good = add(MetadataIndex{});
        break;
      case Opcode::Statistics: {
        statistics = decode<Statistics>(raw->content);
        good = statistics.has_value();
        break;
      }
      default:
        break;
    }
    if (!good) {
      summary_ = {};
      return false;
    }
  }
  // A summary that indexes no messages, of a file that has some, or does not say of what, is no help in reading it.
  const bool has_messages = statistics ? statistics->message_count > 0 : true;
  if (has_messages && (summary_.chunks().empty() || summary_.channels().empty())) {
    summary_ = {};
    return false;
  }
  has_statistics_ = statistics.has_value();
  if (statistics) summary_.set(*statistics);
  if (const auto prefix = file_.read_prefix(kMagic.size()); prefix && prefix->length < (1U << 20))
    if (auto header = read_record<Header>(file_, kMagic.size(), kPrefixBytes + prefix->length, bytes))
      header_ = *header;
  finish_ = {.how = Finish::How::Complete, .valid = end};
  return true;
}

std::optional<Metadata> Reader::metadata(const MetadataIndex& index) const {
  Bytes buffer;
  return read_record<Metadata>(file_, index.offset, index.length, buffer);
}

std::optional<Attachment> Reader::attachment(const AttachmentIndex& index, Bytes& buffer) const {
  return read_record<Attachment>(file_, index.offset, index.length, buffer);
}

}  // namespace cardan::mcap
