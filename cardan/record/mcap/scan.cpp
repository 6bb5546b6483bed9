// SPDX-License-Identifier: Apache-2.0
#include "cardan/record/mcap/scan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <fstream>
#include <limits>

#include "cardan/memory/error.hpp"
#include "cardan/record/mcap/no_index.hpp"

namespace cardan::mcap {
namespace {

/// Records that are not jumped over are read whole; a larger one is taken for damage.
constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 30;
/// Chunks lie side by side, so that all of them together claim no more than the file has; some may be copies within a
/// message.
constexpr std::uint64_t kMostClaimed = 16;
/// Of a chunk, what says how its records are packed: its fixed fields, and the longest name of a compression.
constexpr std::uint64_t kChunkHeadBytes = kChunkHeaderBytes + 256;

class Scanner {
 public:
  Scanner(const InputFile& file, ScanOptions options) : file_(file), options_(std::move(options)), end_(file.size()) {}

  Scan run() {
    check_magic(file_);
    std::array<std::byte, kMagic.size()> last{};
    finished_ = end_ >= 2 * kMagic.size() && file_.read(end_ - last.size(), last) == last.size() &&
                std::memcmp(last.data(), kMagic.data(), last.size()) == 0;
    at_ = kMagic.size();
    while (!done_) step();
    return std::move(scan_);
  }

 private:
  void stop(Finish::How how, std::string cause) {
    end_chunk();
    if (how != Finish::How::Complete && options_.search && !data_ended_ && find_chunk(cause)) return;
    done_ = true;
    std::array<std::byte, 1> behind{};
    const bool something = file_.read(at_, behind) == 1 && behind[0] != std::byte{0};
    scan_.finish = {.how = how,
                    .valid = at_,
                    .lossy = how != Finish::How::Complete && !data_ended_ && something,
                    .cause = std::move(cause)};
  }

  /// Whether a chunk seems to begin with these bytes: its lengths and its compression fit each other, which they do by
  /// chance once in some 2^60 places.
  [[nodiscard]] bool is_chunk(View bytes, std::uint64_t offset) const {
    if (bytes[0] != static_cast<std::byte>(Opcode::Chunk)) return false;
    const std::uint64_t length = Prefix(bytes).length;
    if (length < kChunkHeaderBytes || length > end_ - offset - kPrefixBytes) return false;
    Chunk head;
    std::uint64_t size = 0;
    detail::Decoder decoder{bytes.subspan(kPrefixBytes)};
    decoder("", head.message_start_time), decoder("", head.message_end_time), decoder("", head.uncompressed_size);
    decoder("", head.uncompressed_crc), decoder("", head.compression), decoder("", size);
    return decoder.ok() && (head.compression.empty() || head.compression == "lz4" || head.compression == "zstd") &&
           size == length - kChunkHeaderBytes - head.compression.size();
  }

  /// Goes on at the next chunk behind at_; false: there is none.
  bool find_chunk(const std::string& cause) {
    constexpr std::size_t kWindow = 1 << 20;
    constexpr std::size_t kHead = kPrefixBytes + kChunkHeaderBytes + 4;
    // What only looks like chunks, one in the other, would be read again and again: not more than real ones could be.
    if (claimed_ / kMostClaimed > end_) return false;
    for (std::uint64_t from = at_ + 1; from + kHead < end_; ++from) {
      if (from < window_at_ || from + kHead > window_at_ + window_bytes_) {  // the next search goes on in it, too
        window_.resize(kWindow + kHead);
        window_at_ = from;
        window_bytes_ = file_.read(from, window_);
        if (window_bytes_ < kHead) return false;
      }
      const View bytes = View(window_).subspan(static_cast<std::size_t>(from - window_at_), kHead);
      if (!is_chunk(bytes, from)) continue;
      claimed_ += Prefix(bytes).length;
      scan_.gaps.push_back({at_, from, cause});
      at_ = from;
      return true;
    }
    return false;
  }

  /// The record at at_; false: the walk ends here.
  std::optional<Prefix> prefix() {
    std::array<std::byte, kPrefixBytes> bytes{};
    const std::size_t got = file_.read(at_, bytes);
    const char* cause = got == 0 ? "it ends without a footer" : "it ends in the middle of a record";
    if (got > 0 && bytes[0] == std::byte{0}) {
      cause = "nothing was written behind it";
    } else if (got == bytes.size() && Prefix(bytes).length <= end_ - at_ - kPrefixBytes) {
      return Prefix(bytes);
    }
    stop(Finish::How::Cut, cause);
    return std::nullopt;
  }

  void step() {
    const auto found = prefix();
    if (!found) return;
    const std::uint64_t length = found->length;
    const std::uint64_t content = at_ + kPrefixBytes;
    const auto is = [&](Opcode which) { return found->is(which); };
    if (chunk_open_ && !is(Opcode::MessageIndex)) end_chunk();
    bool good = true;
    if (is(Opcode::Message)) {
      good = loose_message(content, length);
    } else if (is(Opcode::Chunk)) {
      good = chunk(content, length);
    } else if (is(Opcode::Attachment)) {
      good = attachment(content, length);
    } else if (length > kMostBytes) {
      good = false;
    } else if (!file_.read_exactly(content, length, buffer_)) {
      return stop(Finish::How::Cut, "it ends in the middle of a record");
    } else if (is(Opcode::Footer)) {
      return footer(content + length);
    } else {
      good = small_record(found->opcode, length);
    }
    if (!good) return stop(Finish::How::Damaged, fmt::format("the record at byte {} is damaged", at_));
    if (done_ || at_ + kPrefixBytes != content) return;  // it was not taken
    at_ = content + length;
  }

  void footer(std::uint64_t behind) {
    std::array<std::byte, kMagic.size()> magic{};
    const bool whole =
        file_.read(behind, magic) == magic.size() && std::memcmp(magic.data(), kMagic.data(), magic.size()) == 0;
    if (!whole) return stop(Finish::How::Cut, "the magic at its end is missing");
    at_ = behind + magic.size();
    stop(Finish::How::Complete, {});
  }

  template <class Record>
  bool with(View content, auto&& use) {
    auto record = decode<Record>(content);
    if (record) use(std::move(*record));
    return record.has_value();
  }

  bool small_record(std::uint8_t opcode, std::uint64_t length) {
    const View content = buffer_;
    // The summary repeats what is known, unless the chunk that said it is damaged.
    if (data_ended_ && opcode != static_cast<std::uint8_t>(Opcode::Schema) &&
        opcode != static_cast<std::uint8_t>(Opcode::Channel))
      return true;
    switch (static_cast<Opcode>(opcode)) {
      case Opcode::Header:
        return with<Header>(content, [&](Header&& h) { scan_.header = std::move(h); });
      case Opcode::Schema:
        return with<Schema>(content, [&](const Schema& s) { scan_.summary.add(s); });
      case Opcode::Channel:
        return with<Channel>(content, [&](const Channel& c) { scan_.summary.add(c); });
      case Opcode::Metadata:
        return with<Metadata>(content, [&](const Metadata& m) {
          if (m.name == kMarkName) note_mark(m);
          scan_.summary.add(MetadataIndex{.offset = at_, .length = kPrefixBytes + length, .name = m.name});
        });
      case Opcode::MessageIndex:
        return with<MessageIndex>(content, [&](const MessageIndex& m) {
          if (!chunk_open_) return;
          index_.message_index_offsets[m.channel_id] = at_;
          index_.message_index_length += kPrefixBytes + length;
        });
      case Opcode::DataEnd:
        data_ended_ = true;
        return true;
      default:
        return true;  // unknown ones are skipped
    }
  }

  void note_mark(const Metadata& mark) {
    const auto boot = mark.metadata.find(kMarkBoot);
    const auto bytes = mark.metadata.find(kMarkBytes);
    if (finished_ || boot == mark.metadata.end() || bytes == mark.metadata.end()) return;
    const std::string running = options_.boot_id.empty() ? current_boot_id() : options_.boot_id;
    if (boot->second == running) return;  // what was written is in the kernel's hands or on disk, all of it
    trusted_ = 0;
    std::from_chars(bytes->second.data(), bytes->second.data() + bytes->second.size(), trusted_);
  }

  bool loose_message(std::uint64_t content, std::uint64_t length) {
    std::array<std::byte, kMessageHeaderBytes> head{};
    if (length < head.size() || file_.read(content, head) != head.size()) return false;
    const auto message = decode<Message>(head);
    if (!message) return false;
    scan_.loose.push_back({message->channel_id, message->log_time, content, length});
    scan_.summary.count(message->channel_id, message->log_time);
    return true;
  }

  bool attachment(std::uint64_t content, std::uint64_t length) {
    // Its data may be huge, and its checksum is verify's to check: only the fields before them.
    if (!file_.read_exactly(content, std::min<std::uint64_t>(length, 64 << 10), buffer_)) return false;
    Attachment a;
    detail::Decoder decoder{View(buffer_)};
    decoder("", a.log_time), decoder("", a.create_time), decoder("", a.name), decoder("", a.media_type);
    std::uint64_t bytes = 0;
    decoder("", bytes);
    if (!decoder.ok() || bytes > length) return false;
    scan_.summary.add(AttachmentIndex{.offset = at_,
                                      .length = kPrefixBytes + length,
                                      .log_time = a.log_time,
                                      .create_time = a.create_time,
                                      .data_size = bytes,
                                      .name = a.name,
                                      .media_type = a.media_type});
    return true;
  }

  bool chunk(std::uint64_t content, std::uint64_t length) {
    if (!file_.read_exactly(content, std::min(length, kChunkHeadBytes), buffer_)) return false;
    Chunk head;
    detail::Decoder decoder{View(buffer_)};
    decoder("", head.message_start_time), decoder("", head.message_end_time), decoder("", head.uncompressed_size);
    decoder("", head.uncompressed_crc), decoder("", head.compression);
    std::uint64_t size = 0;
    decoder("", size);
    const std::uint64_t before = buffer_.size() - decoder.left().size();
    if (!decoder.ok() || size != length - before) return false;
    if (head.uncompressed_crc == 0 && content + length > trusted_) {
      stop(Finish::How::Cut, "what follows was perhaps not on disk when the computer stopped, and has no checksum");
      return true;
    }
    index_ = {.message_start_time = head.message_start_time,
              .message_end_time = head.message_end_time,
              .chunk_start_offset = at_,
              .chunk_length = kPrefixBytes + length,
              .compression = head.compression,
              .compressed_size = size,
              .uncompressed_size = head.uncompressed_size};
    in_chunk_.clear();
    if (head.compression.empty()) {
      if (!walk(content + before, size)) return false;
    } else {
      if (size > kMostBytes || !file_.read_exactly(content + before, size, buffer_)) return false;
      head.records = buffer_;
      std::string cause;
      const auto records = records_of(head, true, records_, cause);
      if (!records || !walk(*records)) return false;
    }
    for (const auto& [channel, time] : in_chunk_) scan_.summary.count(channel, time);
    scan_.summary.count_chunk();
    chunk_open_ = true;
    return true;
  }

  /// The records of a chunk, wherever they are. `content_of` reads the first bytes of one.
  bool record_in_chunk(std::uint8_t opcode, std::uint64_t length, auto&& content_of) {
    switch (static_cast<Opcode>(opcode)) {
      case Opcode::Message: {
        if (length < kMessageHeaderBytes) return false;
        return with<Message>(content_of(kMessageHeaderBytes),
                             [&](const Message& m) { in_chunk_.emplace_back(m.channel_id, m.log_time); });
      }
      case Opcode::Schema:
        return length <= kMostBytes && with<Schema>(content_of(length), [&](const Schema& s) { scan_.summary.add(s); });
      case Opcode::Channel:
        return length <= kMostBytes &&
               with<Channel>(content_of(length), [&](const Channel& c) { scan_.summary.add(c); });
      default:
        return true;
    }
  }

  bool walk(View records) {
    while (!records.empty()) {
      const auto record = take_record(records);
      if (!record || !record_in_chunk(record->opcode, record->content.size(), [&](std::uint64_t bytes) {
            return record->content.first(static_cast<std::size_t>(bytes));
          }))
        return false;
    }
    return true;
  }

  bool walk(std::uint64_t at, std::uint64_t bytes) {
    // Small chunks at once; of a large one only the heads of its records.
    if (bytes <= 256 << 10) return file_.read_exactly(at, bytes, buffer_) && walk(View(buffer_));
    const std::uint64_t end = at + bytes;
    while (at < end) {
      const auto head = file_.read_prefix(at);
      at += kPrefixBytes;
      if (!head || at > end || head->length > end - at) return false;
      const auto content_of = [&](std::uint64_t wanted) -> View {
        return file_.read_exactly(at, wanted, buffer_) ? View(buffer_) : View();
      };
      if (!record_in_chunk(head->opcode, head->length, content_of)) return false;
      at += head->length;
    }
    return true;
  }

  void end_chunk() {
    // Cut behind some of its message indexes: what they do not list is in the chunk all the same.
    if (chunk_open_ && !index_.message_index_offsets.empty())
      for (const auto& [channel, time] : in_chunk_) index_.message_index_offsets.try_emplace(channel, kNoIndex);
    if (chunk_open_) scan_.summary.add(std::move(index_));
    chunk_open_ = false;
  }

  const InputFile& file_;
  ScanOptions options_;
  std::uint64_t end_;
  std::uint64_t at_ = 0;
  Bytes buffer_, records_;
  ChunkIndex index_;
  std::vector<std::pair<std::uint16_t, std::uint64_t>>
      in_chunk_;  ///< channel and time of its messages; counted if it is whole
  bool chunk_open_ = false, data_ended_ = false, done_ = false;
  bool finished_ = false;
  Bytes window_;  ///< of the search, in the file from `window_at_` on
  std::uint64_t window_at_ = 0;
  std::size_t window_bytes_ = 0;
  std::uint64_t claimed_ = 0;  ///< bytes of all that looked like chunks in a search
  std::uint64_t trusted_ = std::numeric_limits<std::uint64_t>::max();  ///< chunks without checksum, up to there
  Scan scan_;
};

}  // namespace

void check_magic(const InputFile& file) {
  std::array<std::byte, kMagic.size()> magic{};
  if (file.read(0, magic) != magic.size() || std::memcmp(magic.data(), kMagic.data(), magic.size()) != 0)
    throw Error(ErrorCode::InvalidArgument, file.path() + " is not an MCAP file: the first eight bytes are not MCAP's",
                "name a file that a recorder wrote");
}

std::string current_boot_id() {
  std::string id;
  std::getline(std::ifstream("/proc/sys/kernel/random/boot_id"), id);
  return id;
}

Scan scan(const InputFile& file, ScanOptions options) { return Scanner(file, std::move(options)).run(); }

}  // namespace cardan::mcap
