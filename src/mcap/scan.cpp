// SPDX-License-Identifier: Apache-2.0
#include "cardan/mcap/scan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <limits>
#include <map>
#include <set>
#include <type_traits>
#include <utility>

#include "cardan/error.hpp"
#include "src/mcap/no_index.hpp"
#include "src/mcap/record_search.hpp"
#include "src/mcap/stored_summary.hpp"
#include "src/mcap/walked_chunk.hpp"

namespace cardan::mcap {
namespace {

constexpr std::uint64_t kPiece = 256 << 10;

constexpr const char* kUncertain =
    "the data there was perhaps not on disk when the computer stopped or the disk was removed, and has no checksum";

class Scanner {
 public:
  Scanner(const InputFile& file, ScanOptions options)
      : file_(file), options_(std::move(options)), search_(file), walker_(file), end_(file.size()) {}

  Scan run() {
    check_magic(file_);
    std::array<std::byte, kMagic.size()> last{};
    finished_ = end_ >= 2 * kMagic.size() && file_.read(end_ - last.size(), last) == last.size() &&
                std::memcmp(last.data(), kMagic.data(), last.size()) == 0;
    if (options_.search) believe_summary();
    at_ = settled_ = kMagic.size();
    while (!done_)
      if (auto halt = step()) resolve(*halt);
    if (stored_) visit_what_the_summary_names();
    settle_accounts();
    return std::move(scan_);
  }

 private:
  /// The reason why the walk cannot just continue.
  struct Halt {
    Finish::How how = Finish::How::Damaged;
    std::string cause{};
    std::uint64_t begin = 0;
    std::uint64_t behind = 0;  ///< where the bad record ends; 0: unknown
    std::uint64_t messages = 0;
  };
  using MaybeHalt = std::optional<Halt>;

  [[nodiscard]] Halt damage(std::string cause, std::uint64_t behind = 0) const {
    return {.cause = std::move(cause), .begin = at_, .behind = behind};
  }
  /// Of a record whose opcode and length may be right, but not its content.
  [[nodiscard]] Halt bad_record(std::uint64_t behind) const {
    return damage("the record there is damaged", search_.may_go_on_at(behind) ? behind : 0);
  }

  // Schemas and channels are in the file twice: the copy with a checksum counts.
  void believe_summary() {
    stored_ = read_stored_summary(file_);
    if (!stored_ || !stored_->checked) return;
    for (const auto& [id, schema] : stored_->summary.schemas()) scan_.summary.add(schema);
    for (const auto& [id, channel] : stored_->summary.channels()) scan_.summary.add(channel);
    for (const ChunkIndex& chunk : stored_->summary.chunks()) written_.insert(place_and_times(chunk));
    expects_indexes_ = std::any_of(stored_->summary.chunks().begin(), stored_->summary.chunks().end(),
                                   [](const ChunkIndex& c) { return !c.message_index_offsets.empty(); });
  }

  void resolve(const Halt& halt) {
    if (options_.search && !data_ended_ && go_on_behind(halt)) return;
    done_ = true;
    std::array<std::byte, 1> there{};
    const bool something = file_.read(halt.begin, there) == 1 && there[0] != std::byte{0};
    scan_.finish = {.how = halt.how,
                    .valid = halt.begin,
                    .lossy = halt.how != Finish::How::Complete && !data_ended_ && something,
                    .cause = halt.cause};
  }

  bool go_on_behind(const Halt& halt) {
    if (halt.how == Finish::How::Complete) return false;
    const auto next = halt.behind != 0 ? std::optional(halt.behind) : search_.next(settled_, end_, halt.begin);
    if (!next) return false;
    if (*next > halt.begin) {
      add_gap({.begin = halt.begin, .end = *next, .cause = halt.cause, .messages = halt.messages});
    } else if (!is_zero(settled_, *next)) {
      add_gap({.begin = settled_, .end = *next, .cause = halt.cause});
    }  // else the record before is longer than it was, and nothing is missing
    at_ = settled_ = *next;
    return true;
  }

  void add_gap(Gap gap) {
    Gap* const last = scan_.gaps.empty() ? nullptr : &scan_.gaps.back();
    if (last == nullptr || last->end != gap.begin || last->cause != gap.cause)
      return scan_.gaps.push_back(std::move(gap));
    last->end = gap.end;
    last->messages += gap.messages;
  }

  bool is_zero(std::uint64_t from, std::uint64_t to) {
    while (from < to) {
      const std::uint64_t bytes = std::min(to - from, kPiece);
      if (!file_.read_exactly(from, bytes, buffer_) ||
          std::any_of(buffer_.begin(), buffer_.end(), [](std::byte b) { return b != std::byte{0}; }))
        return false;
      from += bytes;
    }
    return true;
  }

  MaybeHalt step() {
    std::array<std::byte, kPrefixBytes> bytes{};
    const std::size_t got = file_.read(at_, bytes);
    const Prefix found(bytes);
    const char* cause = got == 0 ? "it ends without a footer" : "it ends in the middle of a record";
    if (got > 0 && found.opcode == 0) cause = "nothing was written after it";
    const bool whole = got == bytes.size() && found.opcode != 0 && found.length <= end_ - at_ - kPrefixBytes;
    if (chunk_ && !(whole && found.is(Opcode::MessageIndex)))
      if (auto halt = close_chunk()) return halt;
    if (!whole) return Halt{.how = Finish::How::Cut, .cause = cause, .begin = at_};
    auto halt = record(found);
    if (halt) return halt;
    at_ += kPrefixBytes + found.length;
    if (options_.search && !data_ended_) find_swallowed_records();
    settled_ = at_;
    return std::nullopt;
  }

  // Bytes after a record's fields are the record's own, unless its length is wrong.
  void find_swallowed_records() {
    if (settled_ >= at_ || is_zero(settled_, at_)) return;
    const auto next = search_.next(settled_, at_, at_);
    if (!next) return;
    if (!is_zero(settled_, *next))
      add_gap({.begin = settled_, .end = *next, .cause = "the record before is longer than its fields"});
    at_ = *next;
  }

  MaybeHalt record(const Prefix& found) {
    const std::uint64_t content = at_ + kPrefixBytes;
    const std::uint64_t length = found.length;
    settled_ = content + length;
    MaybeHalt halt;
    switch (static_cast<Opcode>(found.opcode)) {
      case Opcode::Message:
        halt = loose_message(content, length);
        break;
      case Opcode::Chunk:
        halt = chunk(content, length);
        break;
      case Opcode::Attachment:
        halt = attachment(content, length);
        break;
      case Opcode::Footer:
        halt = footer(content, length);
        break;
      default:
        halt = small_record(found.opcode, content, length);
        break;
    }
    if (halt) settled_ = at_;
    return halt;
  }

  MaybeHalt footer(std::uint64_t content, std::uint64_t length) {
    constexpr std::uint64_t kFooterBytes = 8 + 8 + 4;
    if (length != kFooterBytes) return bad_record(content + length);
    std::array<std::byte, kMagic.size()> magic{};
    const std::uint64_t behind = content + length;
    if (file_.read(behind, magic) != magic.size() || std::memcmp(magic.data(), kMagic.data(), magic.size()) != 0)
      return Halt{.how = Finish::How::Cut, .cause = "the magic at its end is missing", .begin = at_};
    return Halt{.how = Finish::How::Complete, .begin = behind + magic.size()};
  }

  /// Decodes what is in the buffer, and notes where its fields end.
  template <class Record>
  bool with(std::uint64_t content, auto&& use) {
    Record record;
    detail::Decoder decoder{View(buffer_)};
    Record::fields(record, decoder);
    if (!decoder.ok()) return false;
    settled_ = content + buffer_.size() - decoder.left().size();
    use(std::move(record));
    return true;
  }

  MaybeHalt small_record(std::uint8_t opcode, std::uint64_t content, std::uint64_t length) {
    const std::uint64_t behind = content + length;
    if (is_out_of_place(opcode, content, length)) return damage("the record there is of a wrong kind", behind);
    const bool is_known = name_of(static_cast<Opcode>(opcode)) != nullptr;
    if (is_known && length > (is_small(static_cast<Opcode>(opcode)) ? kMostSmallRecordBytes : kMostRecordBytes))
      return damage("the record there is damaged");
    if (length > end_ - content || (is_known && !file_.read_exactly(content, length, buffer_)))
      return Halt{.how = Finish::How::Cut, .cause = "it ends in the middle of a record", .begin = at_};
    if (take(static_cast<Opcode>(opcode), content, length)) return std::nullopt;
    if (chunk_) chunk_->note_damaged_index();
    return bad_record(behind);
  }

  /// An opcode that cannot occur in the data, with a content that can: the opcode is damaged. Others are for programs
  /// that know them, and are skipped.
  bool is_out_of_place(std::uint8_t opcode, std::uint64_t content, std::uint64_t length) {
    if (!options_.search || data_ended_) return false;
    switch (static_cast<Opcode>(opcode)) {
      case Opcode::Header:
      case Opcode::Schema:
      case Opcode::Channel:
      case Opcode::Metadata:
      case Opcode::MessageIndex:
      case Opcode::DataEnd:
        return false;  // their fields tell
      default:
        return search_.hides_a_record(content, length);
    }
  }

  bool take(Opcode opcode, std::uint64_t content, std::uint64_t length) {
    // The summary repeats what is known, unless the chunk that said it is damaged.
    if (data_ended_ && opcode != Opcode::Schema && opcode != Opcode::Channel) return true;
    switch (opcode) {
      case Opcode::Header:
        return with<Header>(content, [&](Header&& h) { scan_.header = std::move(h); });
      case Opcode::Schema:
        return with<Schema>(content, [&](Schema&& s) { scan_.summary.add(s); });
      case Opcode::Channel:
        return with<Channel>(content, [&](Channel&& c) { scan_.summary.add(c); });
      case Opcode::Metadata:
        return with<Metadata>(content, [&](Metadata&& m) {
          if (m.name == kMarkName) note_mark(m);
          scan_.summary.add(MetadataIndex{.offset = at_, .length = kPrefixBytes + length, .name = m.name});
        });
      case Opcode::MessageIndex:
        return with<MessageIndex>(content, [&](MessageIndex&& m) { message_index(m, kPrefixBytes + length); });
      case Opcode::DataEnd:
        data_ended_ = length == sizeof(DataEnd::data_section_crc);
        return data_ended_;
      default:
        return true;  // unknown ones are skipped
    }
  }

  void note_mark(const Metadata& mark) {
    const auto field = [&mark](const char* key) {
      const auto found = mark.metadata.find(key);
      return found == mark.metadata.end() ? std::string() : found->second;
    };
    expects_indexes_ = true;  // it is a recorder's that writes them
    const std::string bytes = field(kMarkBytes);
    if (finished_ || bytes.empty()) return;
    const MountIdentity then{
        .boot_id = field(kMarkBoot), .mount = field(kMarkMount), .superblock = field(kMarkSuperblock)};
    // Everything that was written is in the kernel's hands or on disk.
    if (mounted_since(then, options_.mount.boot_id.empty() ? mount_identity(file_.fd()) : options_.mount)) return;
    trusted_ = 0;
    std::from_chars(bytes.data(), bytes.data() + bytes.size(), trusted_);
  }

  MaybeHalt loose_message(std::uint64_t content, std::uint64_t length) {
    std::array<std::byte, kMessageHeaderBytes> head{};
    if (length < head.size() || file_.read(content, head) != head.size()) return bad_record(content + length);
    const auto message = decode<Message>(head);
    // Where messages are in chunks, or with another record's fields, it is another record's opcode that is damaged.
    if (!message || (options_.search && (expects_indexes_ || search_.hides_a_record(content, length))))
      return bad_record(content + length);
    scan_.loose.push_back({message->channel_id, message->log_time, content, length});
    scan_.summary.count(message->channel_id, message->log_time);
    return std::nullopt;
  }

  MaybeHalt attachment(std::uint64_t content, std::uint64_t length) {
    // Its data may be huge, and its checksum is verify's to check: only the fields before them.
    const bool read = file_.read_exactly(content, std::min(length, kRecordHeadBytes), buffer_);
    auto index = read ? attachment_head(buffer_, length) : std::nullopt;
    if (!index) return bad_record(content + length);
    constexpr std::uint64_t kFieldBytes = 8 + 8 + 4 + 4 + 8 + 4;
    settled_ = content + kFieldBytes + index->name.size() + index->media_type.size() + index->data_size;
    index->offset = at_;
    index->length = kPrefixBytes + length;
    scan_.summary.add(std::move(*index));
    return std::nullopt;
  }

  MaybeHalt chunk(std::uint64_t content, std::uint64_t length) {
    const std::uint64_t behind = content + length;
    const bool read = file_.read_exactly(content, std::min(length, kRecordHeadBytes), buffer_);
    const auto head = read ? chunk_head(buffer_, length) : std::nullopt;
    if (!head) return bad_record(behind);
    met_.insert(at_);
    const Chunk& c = head->chunk;
    const bool uncertain = behind > trusted_;
    Halt is_uncertain{.how = Finish::How::Cut, .cause = kUncertain, .begin = at_, .behind = behind};
    if (uncertain && c.uncompressed_crc == 0) return is_uncertain;
    chunk_.emplace();
    chunk_->has_checksum = c.uncompressed_crc != 0;
    chunk_->index = {.message_start_time = c.message_start_time,
                     .message_end_time = c.message_end_time,
                     .chunk_start_offset = at_,
                     .chunk_length = kPrefixBytes + length,
                     .compression = c.compression,
                     .compressed_size = head->records_size,
                     .uncompressed_size = c.uncompressed_size};
    if (!c.compression.empty() && c.uncompressed_size > options_.most_unpacked_bytes) {
      chunk_.reset();
      return damage("the chunk there " + too_large_text(c.uncompressed_size, options_.most_unpacked_bytes), behind);
    }
    const bool check = options_.search || uncertain || !c.compression.empty();
    if (walker_.walk(*head, content + head->records_at, check, *chunk_, scan_.summary)) return std::nullopt;
    chunk_.reset();
    return uncertain ? is_uncertain : bad_record(behind);
  }

  void message_index(const MessageIndex& index, std::uint64_t bytes) {
    if (chunk_ && (chunk_->note(index, at_, bytes) || !chunk_->fits_index())) return;
    if (!options_.search) return;
    // Its chunk was skipped, or taken for something else.
    const Gap* const last = scan_.gaps.empty() ? nullptr : &scan_.gaps.back();
    add_gap({.begin = at_,
             .end = at_ + bytes,
             .cause = last != nullptr && last->end == at_ ? last->cause : "the chunk before the index there is damaged",
             .messages = index.records.size()});
  }

  /// All of its indexes have come: does it count?
  MaybeHalt close_chunk() {
    WalkedChunk chunk = std::move(*chunk_);
    chunk_.reset();
    const std::uint64_t begin = chunk.index.chunk_start_offset;
    expects_indexes_ = expects_indexes_ || chunk.has_index();
    if (!chunk.fits_index() && expects_indexes_) {
      if (!chunk.has_checksum)
        return Halt{.cause = "the chunk there has no checksum, and no message index after it that matches",
                    .begin = begin,
                    .behind = at_,
                    .messages = chunk.messages.size()};
      // Messages that they do not list are in the chunk all the same: it is read whole.
      if (!chunk.index.message_index_offsets.empty())
        for (const auto& message : chunk.messages)
          chunk.index.message_index_offsets.try_emplace(message.channel, kNoIndex);
      if (options_.search)
        scan_.losses.push_back({begin,
                                "the message index after the chunk there is damaged: its messages are whole, "
                                "their source stamps, if they had any, are lost"});
    }
    if (options_.search && !chunk.messages.empty())
      if (const auto first = copies_.first_of(chunk.index); first && !was_written_so(chunk.index)) {
        lose(begin, fmt::format("the chunk there is the one of byte {} once more: it is kept once", *first));
        return std::nullopt;
      }
    for (const auto& message : chunk.messages) scan_.summary.count(message.channel, message.time);
    scan_.summary.count_chunk();
    counted_[begin] = begin + chunk.index.chunk_length;
    scan_.summary.add(std::move(chunk.index));
    return std::nullopt;
  }

  /// Whether the file's own index has this chunk: its writer may have got the same messages twice.
  [[nodiscard]] bool was_written_so(const ChunkIndex& c) const { return written_.contains(place_and_times(c)); }
  static std::array<std::uint64_t, 3> place_and_times(const ChunkIndex& c) {
    return {c.chunk_start_offset, c.message_start_time, c.message_end_time};
  }

  void lose(std::uint64_t offset, std::string cause) { scan_.losses.push_back({offset, std::move(cause)}); }

  // The walk may have been led past what is there: records whose length or kind is damaged can look like others.
  void visit_what_the_summary_names() {
    const bool ended = std::exchange(data_ended_, false);
    std::map<std::uint64_t, std::uint64_t> gaps;  // that the walk found: start and end
    for (const Gap& gap : scan_.gaps) gaps[gap.begin] = std::max(gaps[gap.begin], gap.end);
    const auto in_gap = [&](std::uint64_t offset) {
      const auto after = gaps.upper_bound(offset);
      return after != gaps.begin() && offset < std::prev(after)->second;
    };
    for (const ChunkIndex& chunk : stored_->summary.chunks())
      if (!met_.contains(chunk.chunk_start_offset) && !visit(chunk) && !in_gap(chunk.chunk_start_offset))
        lose(chunk.chunk_start_offset, "the file's index names a chunk there, but it is damaged");
    data_ended_ = ended;
    visit_all(stored_->summary.attachments(), scan_.summary.attachments(), "attachment");
    visit_all(stored_->summary.metadata(), scan_.summary.metadata(), "metadata");
  }

  bool visit(const ChunkIndex& named) {
    const std::uint64_t begin = named.chunk_start_offset;
    const auto after = counted_.upper_bound(begin);
    if (begin > end_ || named.chunk_length > end_ - begin || !search_.afford(named.chunk_length)) return false;
    if (after != counted_.begin() && std::prev(after)->second > begin) return false;
    if (after != counted_.end() && after->first < begin + named.chunk_length) return false;
    const auto prefix = file_.read_prefix(begin);
    if (!prefix || !prefix->is(Opcode::Chunk) || prefix->length + kPrefixBytes != named.chunk_length) return false;
    at_ = begin;
    if (step()) return false;
    for (auto next = file_.read_prefix(at_); chunk_ && next && next->is(Opcode::MessageIndex);
         next = file_.read_prefix(at_))
      if (step()) break;
    if (chunk_) (void)close_chunk();
    return counted_.contains(begin);
  }

  template <class Index>
  void visit_all(const std::vector<Index>& named, const std::vector<Index>& found, const char* what) {
    std::set<std::uint64_t> known;
    for (const Index& index : found) known.insert(index.offset);
    for (const Index& index : named) {
      if (!known.insert(index.offset).second) continue;
      const auto prefix = file_.read_prefix(index.offset);
      constexpr Opcode kKind = std::is_same_v<Index, AttachmentIndex> ? Opcode::Attachment : Opcode::Metadata;
      if (prefix && prefix->is(kKind) && prefix->length + kPrefixBytes == index.length) {
        scan_.summary.add(index);
      } else {
        lose(index.offset, fmt::format("the {} {}, which the file's index names, is damaged", what, index.name));
      }
    }
  }

  void settle_accounts() {
    Statistics counted = scan_.summary.statistics();
    if (stored_ && stored_->has_statistics) compare(stored_->summary.statistics(), counted);
    std::erase_if(counted.channel_message_counts, [&](const auto& one) {
      const auto& [channel, messages] = one;
      if (scan_.summary.channels().contains(channel)) return false;
      lose(0,
           fmt::format("{} messages of channel {}: its record is lost, so their type is not known", messages, channel));
      counted.message_count -= messages;
      return true;
    });
    scan_.summary.set(counted);
    if (!options_.search) return;
    for (const auto& [id, channel] : scan_.summary.channels())
      if (channel.schema_id != 0 && !scan_.summary.schemas().contains(channel.schema_id))
        lose(0, fmt::format("the schema of {}: its messages are kept without", channel.topic));
  }

  void compare(const Statistics& said, const Statistics& counted) {
    if (said.channel_message_counts.empty() && said.message_count > counted.message_count)
      lose(0, fmt::format("the file's statistics name {} messages, but {} were found", said.message_count,
                          counted.message_count));
    for (const auto& [channel, messages] : said.channel_message_counts) {
      const auto found = counted.channel_message_counts.find(channel);
      const std::uint64_t there = found == counted.channel_message_counts.end() ? 0 : found->second;
      const auto known = scan_.summary.channels().find(channel);
      if (there < messages)
        lose(0, fmt::format(
                    "the file's statistics name {} messages of {}, but {} were found", messages,
                    known == scan_.summary.channels().end() ? fmt::format("channel {}", channel) : known->second.topic,
                    there));
    }
  }

  const InputFile& file_;
  ScanOptions options_;
  RecordSearch search_;
  ChunkWalker walker_;
  ChunkCopies copies_{walker_};
  std::set<std::array<std::uint64_t, 3>> written_;  ///< chunks, as the file's own index has them
  std::uint64_t end_;
  std::uint64_t at_ = 0;
  std::uint64_t settled_ = 0;  ///< up to there, records' own fields account for the bytes
  Bytes buffer_;
  std::optional<WalkedChunk> chunk_;                ///< whose indexes may still come
  std::set<std::uint64_t> met_;                     ///< chunks, whatever they were worth
  std::map<std::uint64_t, std::uint64_t> counted_;  ///< start and end of those that count
  bool data_ended_ = false, done_ = false, finished_ = false;
  bool expects_indexes_ = false;  ///< the file's chunks have message indexes
  std::optional<StoredSummary> stored_;
  std::uint64_t trusted_ = std::numeric_limits<std::uint64_t>::max();  ///< chunks without checksum, up to there
  Scan scan_;
};

}  // namespace

void check_magic(const InputFile& file) {
  std::array<std::byte, kMagic.size()> magic{};
  if (file.read(0, magic) == magic.size() && std::memcmp(magic.data(), kMagic.data(), magic.size()) == 0) return;
  const bool sqlite = std::memcmp(magic.data(), "SQLite f", magic.size()) == 0;
  if (sqlite || std::memcmp(magic.data(), "#ROSBAG ", magic.size()) == 0)
    throw Error(ErrorCode::InvalidArgument,
                file.path() + (sqlite ? " is an SQLite file, as ROS 2 records them, not MCAP"
                                      : " is a recording of ROS 1, not MCAP"),
                "convert it to MCAP with cardan bag convert");
  throw Error(ErrorCode::InvalidArgument, file.path() + " is not an MCAP file: the first eight bytes are not MCAP's",
              "name a file that a recorder wrote");
}

Scan scan(const InputFile& file, ScanOptions options) { return Scanner(file, std::move(options)).run(); }

}  // namespace cardan::mcap
