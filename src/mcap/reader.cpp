// SPDX-License-Identifier: Apache-2.0
#include "cardan/mcap/reader.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

#include "src/mcap/stored_summary.hpp"

namespace cardan::mcap {

Reader::Reader(const std::string& path, const OpenOptions& options) : file_(InputFile::of_recording(path)) {
  if (!options.rescan && read_summary()) {
    read_before_start();
    return;
  }
  Scan found = scan(file_, options.scanning);
  header_ = std::move(found.header);
  summary_ = std::move(found.summary);
  loose_ = std::move(found.loose);
  gaps_ = std::move(found.gaps);
  losses_ = std::move(found.losses);
  finish_ = std::move(found.finish);
  scanned_ = has_statistics_ = true;
  read_before_start();
}

void Reader::read_before_start() {
  for (const MetadataIndex& index : summary_.metadata()) {
    if (index.name == kPublishersName) publishers_ = metadata(index).value_or(Metadata{});
    if (index.name != kBeforeStartName || before_start_) continue;
    if (const auto record = metadata(index)) before_start_ = before_start_of(*record);
  }
  if (!before_start_ || before_start_->chunks == 0 || before_start_->chunks > summary_.chunks().size()) return;
  // A tool that repacks the messages keeps the record: then the first chunks have others too.
  std::vector<const ChunkIndex*> chunks;
  for (const ChunkIndex& chunk : summary_.chunks()) chunks.push_back(&chunk);
  const auto end = chunks.begin() + static_cast<std::ptrdiff_t>(before_start_->chunks);
  std::partial_sort(chunks.begin(), end, chunks.end(), [](const ChunkIndex* a, const ChunkIndex* b) {
    return a->chunk_start_offset < b->chunk_start_offset;
  });
  const auto latest = *std::max_element(chunks.begin(), end, [](const ChunkIndex* a, const ChunkIndex* b) {
    return a->message_end_time < b->message_end_time;
  });
  if (latest->message_end_time == before_start_->last) before_end_ = (*(end - 1))->chunk_start_offset + 1;
}

std::uint64_t Reader::publishers(const std::string& topic) const {
  const auto found = publishers_.metadata.find(topic);
  std::uint64_t number = 0;
  if (found != publishers_.metadata.end())
    std::from_chars(found->second.data(), found->second.data() + found->second.size(), number);
  return std::clamp<std::uint64_t>(number, 1, 64);
}

// False: no reliable one.
bool Reader::read_summary() {
  auto stored = read_stored_summary(file_);
  if (!stored) return false;
  // A summary that indexes no messages, of a file that has some, or does not say of what, does not help to read it.
  const bool has_messages = !stored->has_statistics || stored->summary.statistics().message_count > 0;
  if (has_messages && (stored->summary.chunks().empty() || stored->summary.channels().empty())) return false;
  has_statistics_ = stored->has_statistics;
  summary_ = std::move(stored->summary);
  Bytes bytes;
  if (const auto prefix = file_.read_prefix(kMagic.size()); prefix && prefix->length < (1U << 20))
    if (auto header = read_record<Header>(file_, kMagic.size(), kPrefixBytes + prefix->length, bytes))
      header_ = *header;
  finish_ = {.how = Finish::How::Complete, .valid = file_.size()};
  return true;
}

bool Reader::lossy() const noexcept { return !gaps_.empty() || !losses_.empty() || finish_.lossy; }

std::optional<Metadata> Reader::metadata(const MetadataIndex& index) const {
  Bytes buffer;
  return read_record<Metadata>(file_, index.offset, index.length, buffer);
}

std::optional<Attachment> Reader::attachment(const AttachmentIndex& index, Bytes& buffer) const {
  return read_record<Attachment>(file_, index.offset, index.length, buffer);
}

}  // namespace cardan::mcap
