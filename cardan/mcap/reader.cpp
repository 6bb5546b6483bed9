// SPDX-License-Identifier: Apache-2.0
#include "cardan/mcap/reader.hpp"

#include <utility>

#include "cardan/mcap/stored_summary.hpp"

namespace cardan::mcap {

Reader::Reader(const std::string& path, const OpenOptions& options) : file_(path) {
  if (!options.rescan && read_summary()) return;
  Scan found = scan(file_, options.scanning);
  header_ = std::move(found.header);
  summary_ = std::move(found.summary);
  loose_ = std::move(found.loose);
  gaps_ = std::move(found.gaps);
  losses_ = std::move(found.losses);
  finish_ = std::move(found.finish);
  scanned_ = has_statistics_ = true;
}

// False: there is none to rely on.
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
