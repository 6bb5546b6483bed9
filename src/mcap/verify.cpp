// SPDX-License-Identifier: Apache-2.0
#include "cardan/mcap/verify.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "src/mcap/source_times.hpp"

namespace cardan::mcap {
namespace {

/// A chunk as its own bytes are.
struct ChunkSeen {
  ChunkIndex index;
  std::map<std::uint16_t, std::vector<std::pair<std::uint64_t, std::uint64_t>>> messages{};
};

class Verifier {
 public:
  Verifier(const std::string& path, const std::function<void(std::uint64_t)>& progress)
      : file_(InputFile::of_recording(path)), progress_(progress) {
    check_magic(file_);
  }

  Verification run() {
    std::uint64_t at = 0;
    RecordReader reader(
        [&](std::span<std::byte> into) {
          const std::size_t bytes = file_.read(at, into);
          at += bytes;
          return bytes;
        },
        {.open_chunks = false});
    crc_ = crc32(std::as_bytes(std::span(kMagic)));
    while (const auto record = reader.next()) {
      if (record->offset == kMagic.size() && !record->is(Opcode::Header))
        complain(record->offset, "it does not begin with the record of its header");
      take(*record);
      if (progress_) progress_(at);
    }
    end_chunk();
    result_.finish = reader.finish();
    result_.bytes = file_.size();
    if (result_.finish.how != Finish::How::Complete) return std::move(result_);
    if (!data_ended_) complain(0, "it does not say where its data section ends");
    Bytes().swap(buffer_);  // without an index the file is walked through, which unpacks its chunks once more
    compare();
    return std::move(result_);
  }

 private:
  void complain(std::uint64_t offset, std::string cause) {
    if (result_.problems.size() < Verification::kMostProblems) result_.problems.push_back({offset, std::move(cause)});
  }

  template <class Record>
  void with(const RecordView& view, auto&& use) {
    if (const auto record = decode<Record>(view.content)) return use(*record);
    complain(view.offset, fmt::format("the {} record is damaged", name_of(Record::kOpcode)));
  }

  void take(const RecordView& r) {
    if (!r.is(Opcode::MessageIndex)) end_chunk();
    switch (static_cast<Opcode>(r.opcode)) {
      case Opcode::Schema:
        with<Schema>(r, [&](const Schema& s) { schema(r.offset, s); });
        break;
      case Opcode::Channel:
        with<Channel>(r, [&](const Channel& c) { channel(r.offset, c); });
        break;
      case Opcode::Message:
        with<Message>(r, [&](const Message& m) {
          message(r.offset, m);
          loose_ = true;
        });
        break;
      case Opcode::Chunk:
        with<Chunk>(r, [&](const Chunk& c) { chunk(r, c); });
        break;
      case Opcode::MessageIndex:
        with<MessageIndex>(r, [&](const MessageIndex& m) { message_index(r, m); });
        if (const auto index = decode_index(r.content); index && index->damaged)
          complain(r.offset, "the source stamps after the index are cut short, or do not match their checksum");
        break;
      case Opcode::Attachment:
        ++result_.attachments;
        with<Attachment>(r, [&](const Attachment& a) {
          seen_.add(AttachmentIndex{.offset = r.offset,
                                    .length = kPrefixBytes + r.content.size(),
                                    .log_time = a.log_time,
                                    .create_time = a.create_time,
                                    .data_size = a.data.size(),
                                    .name = a.name,
                                    .media_type = a.media_type});
        });
        break;
      case Opcode::Metadata:
        with<Metadata>(r, [&](const Metadata& m) {
          if (!data_ended_)
            seen_.add(MetadataIndex{.offset = r.offset, .length = kPrefixBytes + r.content.size(), .name = m.name});
        });
        break;
      case Opcode::DataEnd:
        with<DataEnd>(r, [&](const DataEnd& d) {
          if (d.data_section_crc != 0 && d.data_section_crc != crc_)
            complain(r.offset, "the checksum does not match the data section");
        });
        data_ended_ = true;
        break;
      default:
        break;  // the summary is compared as a whole
    }
    if (data_ended_) return;
    Bytes prefix{static_cast<std::byte>(r.opcode)};
    detail::put(prefix, std::uint64_t{r.content.size()});
    crc_ = crc32(r.content, crc32(prefix, crc_));
  }

  void schema(std::uint64_t offset, const Schema& s) {
    if (s.id == 0) return complain(offset, "a schema has the number 0");
    if (const auto known = seen_.schemas().find(s.id); known != seen_.schemas().end() && !(known->second == s))
      complain(offset, fmt::format("schema {} is defined twice, differently", s.id));
    seen_.add(s);
  }

  void channel(std::uint64_t offset, const Channel& c) {
    if (const auto known = seen_.channels().find(c.id); known != seen_.channels().end() && !(known->second == c))
      complain(offset, fmt::format("channel {} is defined twice, differently", c.id));
    if (c.schema_id != 0 && !seen_.schemas().contains(c.schema_id))
      complain(offset, fmt::format("channel {} ({}) names schema {}, which is not defined before it", c.id, c.topic,
                                   c.schema_id));
    seen_.add(c);
  }

  void message(std::uint64_t offset, const Message& m) {
    ++result_.messages;
    if (!seen_.channels().contains(m.channel_id))
      complain(offset, fmt::format("a message names channel {}, which is not defined before it", m.channel_id));
    seen_.count(m.channel_id, m.log_time);
  }

  void chunk(const RecordView& r, const Chunk& c) {
    ++result_.chunks;
    seen_.count_chunk();
    std::string cause;
    const auto records = records_of(c, true, buffer_, cause);
    if (!records) return complain(r.offset, "the chunk is damaged: " + cause);
    if (c.uncompressed_crc == 0) result_.unchecked_bytes += c.uncompressed_size;
    ChunkSeen seen{.index = {.chunk_start_offset = r.offset,
                             .chunk_length = kPrefixBytes + r.content.size(),
                             .compression = c.compression,
                             .compressed_size = c.records.size(),
                             .uncompressed_size = c.uncompressed_size}};
    std::map<std::uint16_t, std::size_t> counts;  // lists that grow take twice the memory
    for (View left = *records; !left.empty();) {
      const auto record = take_record(left);
      if (!record) break;
      const auto message = record->is(Opcode::Message) ? decode<Message>(record->content) : std::nullopt;
      if (message) ++counts[message->channel_id];
    }
    for (const auto& [channel, count] : counts) seen.messages[channel].reserve(count);
    std::uint64_t first = 0, last = 0;
    bool any = false;
    for (View left = *records; !left.empty();) {
      const auto place = static_cast<std::uint64_t>(left.data() - records->data());
      const auto record = take_record(left);
      if (!record) {
        complain(r.offset, "a record in the chunk is longer than the chunk");
        break;
      }
      const RecordView inner{*record, r.offset, true};
      if (inner.is(Opcode::Schema)) with<Schema>(inner, [&](const Schema& s) { schema(r.offset, s); });
      if (inner.is(Opcode::Channel)) with<Channel>(inner, [&](const Channel& ch) { channel(r.offset, ch); });
      if (!inner.is(Opcode::Message)) continue;
      with<Message>(inner, [&](const Message& m) {
        message(r.offset, m);
        first = any ? std::min(first, m.log_time) : m.log_time;
        last = any ? std::max(last, m.log_time) : m.log_time;
        any = true;
        seen.messages[m.channel_id].emplace_back(m.log_time, place);
      });
    }
    if (first != c.message_start_time || last != c.message_end_time)
      complain(r.offset, "the chunk's times are not those of its messages");
    seen.index.message_start_time = first;
    seen.index.message_end_time = last;
    open_ = std::move(seen);
  }

  void message_index(const RecordView& r, const MessageIndex& m) {
    if (!open_) return;  // of a damaged chunk, or one that nobody looks for
    auto listed = m.records;
    std::sort(listed.begin(), listed.end());
    const auto found = open_->messages.find(m.channel_id);
    if (found != open_->messages.end()) std::sort(found->second.begin(), found->second.end());
    if (found == open_->messages.end() ? !listed.empty() : listed != found->second)
      complain(r.offset, fmt::format("the index of channel {} is not that of the chunk's messages", m.channel_id));
    open_->index.message_index_offsets[m.channel_id] = r.offset;
    open_->index.message_index_length += kPrefixBytes + r.content.size();
  }

  void end_chunk() {
    if (!open_) return;
    if (!open_->index.message_index_offsets.empty())
      for (const auto& [channel, messages] : open_->messages)
        if (!open_->index.message_index_offsets.contains(channel))
          complain(open_->index.chunk_start_offset, fmt::format("the chunk has no index of channel {}", channel));
    seen_.add(std::move(open_->index));
    open_.reset();
  }

  /// The summary against what was seen.
  void compare() {
    const Reader reader(file_.path());
    if (reader.scanned()) {
      if (result_.messages > 0 && result_.chunks > 0) complain(0, "there is no index, or it is damaged");
      return;
    }
    const Summary& said = reader.summary();
    const auto same = [&](const auto& a, const auto& b, const char* what) {
      if (!(a == b)) complain(0, fmt::format("the summary's {} are not those of the file", what));
    };
    if (!said.schemas().empty()) same(said.schemas(), seen_.schemas(), "schemas");
    same(said.channels(), seen_.channels(), "channels");
    if (!said.chunks().empty()) same(said.chunks(), seen_.chunks(), "indexes of chunks");
    if (!said.attachments().empty()) same(said.attachments(), seen_.attachments(), "indexes of attachments");
    if (!said.metadata().empty()) same(said.metadata(), seen_.metadata(), "indexes of metadata");
    if (reader.has_statistics()) {
      Statistics counted = seen_.statistics();
      counted.schema_count = static_cast<std::uint16_t>(seen_.schemas().size());
      counted.channel_count = static_cast<std::uint32_t>(seen_.channels().size());
      Statistics listed = said.statistics();
      if (listed.channel_message_counts.empty()) counted.channel_message_counts.clear();  // not available
      std::erase_if(listed.channel_message_counts, [](const auto& one) { return one.second == 0; });
      same(listed, counted, "statistics");
    }
    if (loose_ && !said.chunks().empty()) complain(0, "messages are outside of chunks, where its index cannot point");
  }

  InputFile file_;
  const std::function<void(std::uint64_t)>& progress_;
  Verification result_;
  Summary seen_;
  std::optional<ChunkSeen> open_;
  Bytes buffer_;
  std::uint32_t crc_ = 0;
  bool data_ended_ = false, loose_ = false;
};

}  // namespace

Verification verify(const std::string& path, const std::function<void(std::uint64_t)>& progress) {
  return Verifier(path, progress).run();
}

}  // namespace cardan::mcap
