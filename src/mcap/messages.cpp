// SPDX-License-Identifier: Apache-2.0
// Messages in the order of their times: the chunks that overlap are open at the same time, the others are not.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <mutex>
#include <new>
#include <tuple>
#include <utility>

#include "cardan/mcap/reader.hpp"
#include "src/mcap/no_index.hpp"
#include "src/mcap/source_times.hpp"

namespace cardan::mcap {
namespace {

/// Chunks above are read message by message, if they are not compressed.
constexpr std::uint64_t kWholeChunkBytes = 1 << 20;

constexpr std::uint64_t kAnyFile = std::uint64_t{1} << 56;  ///< larger than every one, and its multiples are numbers

constexpr const char* kAgainAndAgain = "the index names the same bytes again and again";

}  // namespace

struct Messages::State {
  /// Buffers that come back when nobody keeps their message any more: large messages cost no new pages each.
  class Buffers : public std::enable_shared_from_this<Buffers> {
   public:
    [[nodiscard]] std::shared_ptr<Bytes> take() {
      std::unique_ptr<Bytes> bytes;
      {
        const std::lock_guard lock(mutex_);
        if (!free_.empty()) {
          bytes = std::move(free_.back());
          free_.pop_back();
        }
      }
      if (!bytes) bytes = std::make_unique<Bytes>();
      return {bytes.release(),
              [pool = shared_from_this()](Bytes* back) { pool->give_back(std::unique_ptr<Bytes>(back)); }};
    }

   private:
    void give_back(std::unique_ptr<Bytes> bytes) {
      const std::lock_guard lock(mutex_);
      free_.push_back(std::move(bytes));
    }

    std::mutex mutex_;
    std::vector<std::unique_ptr<Bytes>> free_;
  };

  struct Entry {
    std::uint64_t time = 0;
    std::uint64_t place = 0;  ///< of its record: in the file, or in `records`
    std::uint16_t channel = 0;
    std::int64_t source_time = 0;
  };

  /// The open part of a chunk (or of all messages outside of chunks).
  struct Source {
    std::uint64_t file_order = 0;
    bool in_memory = false;
    Bytes bytes;  ///< the chunk, and its records if they were compressed
    Bytes unpacked;
    View records;
    std::uint64_t end = 0;       ///< in the file, of what messages may reach to
    std::uint64_t left = 0;      ///< bytes of its records that no message has taken yet
    std::vector<Entry> entries;  ///< in the order in which they are given
    std::size_t next = 0;
    std::optional<std::uint16_t> unknown;  ///< a channel of messages in it that the file does not name
  };

  const Reader& reader;
  ReadOptions options;
  std::vector<bool> wanted = std::vector<bool>(1 << 16), known = std::vector<bool>(1 << 16);
  std::vector<const ChunkIndex*> pending;  ///< the next one last
  bool loose_pending = true;
  std::vector<std::shared_ptr<Source>> open;  ///< a heap
  std::shared_ptr<Source> current;            ///< keeps the message given last, if its chunk is in memory
  std::shared_ptr<Bytes> large_message;       ///< … else
  std::shared_ptr<Buffers> buffers = std::make_shared<Buffers>();
  Bytes buffer;
  PackedMessages packed{reader.file().size()};
  std::vector<Problem> problems;
  std::uint64_t read_bytes = 0;              ///< of chunks and their indexes, so far
  std::uint64_t unpacked_bytes = 0;          ///< of compressed chunks that are open
  std::uint64_t most_open = 0;               ///< of them
  bool stamped = false;                      ///< some messages of the file have source stamps
  std::vector<std::uint64_t> without_index;  ///< chunks that have lost some: what stamps there were is not known

  [[nodiscard]] bool reverse() const noexcept { return options.order == Order::ReverseLogTime; }
  /// The end of all times ends nothing: a message without a time may have it.
  [[nodiscard]] bool behind(std::uint64_t time) const noexcept { return time >= options.end && options.end != kNoEnd; }
  [[nodiscard]] bool in_range(std::uint64_t time) const noexcept { return time >= options.start && !behind(time); }

  /// Whether `a` is given before `b`.
  [[nodiscard]] bool before(std::uint64_t a, std::uint64_t b) const noexcept { return reverse() ? a > b : a < b; }
  [[nodiscard]] std::uint64_t first_time(const ChunkIndex& chunk) const noexcept {
    return reverse() ? chunk.message_end_time : chunk.message_start_time;
  }

  State(const Reader& r, ReadOptions o) : reader(r), options(std::move(o)) {
    // The contents are seldom more than 16 times the file. A small one that claims more has to be read in order.
    const std::uint64_t most = options.most_unpacked_bytes, size = std::min(reader.file().size(), kAnyFile);
    most_open = std::max(most, std::min(16 * size, 8 * std::min(most, kAnyFile)));
    for (const auto& [id, channel] : reader.summary().channels()) {
      known[id] = true;
      wanted[id] = !options.wanted || options.wanted(channel);
    }
    for (const ChunkIndex& chunk : reader.summary().chunks()) {
      if (chunk.message_end_time < options.start || behind(chunk.message_start_time)) continue;
      if (options.only_chunk && chunk.chunk_start_offset != *options.only_chunk) continue;
      const auto& by_channel = chunk.message_index_offsets;
      if (by_channel.empty() || std::any_of(by_channel.begin(), by_channel.end(),
                                            [&](const auto& one) { return wanted[one.first] || !known[one.first]; }))
        pending.push_back(&chunk);
    }
    std::sort(pending.begin(), pending.end(),
              [&](const ChunkIndex* a, const ChunkIndex* b) { return before(first_time(*b), first_time(*a)); });
  }

  /// The heap's order: its top is what is given next.
  [[nodiscard]] bool later(const std::shared_ptr<Source>& a, const std::shared_ptr<Source>& b) const {
    const std::uint64_t x = a->entries[a->next].time, y = b->entries[b->next].time;
    if (x != y) return before(y, x);
    return before(b->file_order, a->file_order);
  }
  [[nodiscard]] auto heap_order() const {
    return [this](const auto& a, const auto& b) { return later(a, b); };
  }

  void add(std::shared_ptr<Source> source) {
    auto& entries = source->entries;
    if (options.drops && reader.before_start())
      std::erase_if(entries, [&](const Entry& e) {
        return reader.is_from_before(source->file_order, e.time) &&
               options.drops(reader.summary().channels().at(e.channel), e.time);
      });
    std::sort(entries.begin(), entries.end(),
              [](const Entry& a, const Entry& b) { return std::tie(a.time, a.place) < std::tie(b.time, b.place); });
    if (reverse()) std::reverse(entries.begin(), entries.end());
    if (entries.empty()) return;
    unpacked_bytes += source->unpacked.size();
    open.push_back(std::move(source));
    std::push_heap(open.begin(), open.end(), heap_order());
  }

  void open_loose() {
    loose_pending = false;
    if (options.only_chunk && *options.only_chunk != ReadOptions::kNoChunk) return;
    auto source = std::make_shared<Source>();
    source->end = source->left = reader.finish().valid;
    for (const LooseMessage& m : reader.loose())
      if (wanted[m.channel_id] && in_range(m.log_time))
        source->entries.push_back({.time = m.log_time, .place = m.offset - kPrefixBytes, .channel = m.channel_id});
    add(std::move(source));
  }

  void open_chunk(const ChunkIndex& index) {
    auto source = std::make_shared<Source>();
    source->file_order = index.chunk_start_offset;
    std::string cause;
    const bool large = index.compression.empty() && index.chunk_length > kWholeChunkBytes &&
                       !index.message_index_offsets.empty() && !lacks_an_index(index);
    try {
      if (large ? find_in_file(index, *source, cause) : read_whole(index, *source, cause)) {
        note_strays(index, *source);
        note_unknown(index, *source);
        return add(std::move(source));
      }
    } catch (const std::bad_alloc&) {
      cause = "its records need more memory than there is, or their size is wrong";
    }
    problems.push_back({index.chunk_start_offset, cause});
  }

  /// Of a file that was cut, or damaged: of a channel that is wanted.
  [[nodiscard]] bool lacks_an_index(const ChunkIndex& chunk) const {
    const auto& by_channel = chunk.message_index_offsets;
    return (by_channel.empty() && !reader.complete()) ||
           std::any_of(by_channel.begin(), by_channel.end(),
                       [&](const auto& one) { return wanted[one.first] && one.second == kNoIndex; });
  }

  /// Where the others have stamps, those of a chunk without its index had some too.
  void note_lost_stamps() {
    if (!stamped) return;
    for (const std::uint64_t chunk : without_index)
      problems.push_back({chunk,
                          "the file ends within its message indexes, or they are damaged: its messages are returned "
                          "without the source stamps in it"});
    without_index.clear();
  }

  /// Whose place in the order cannot be right: the chunk was opened when its index said.
  void note_strays(const ChunkIndex& index, const Source& source) {
    if (std::any_of(source.entries.begin(), source.entries.end(), [&](const Entry& e) {
          return e.time < index.message_start_time || e.time > index.message_end_time;
        }))
      problems.push_back(
          {index.chunk_start_offset, "it holds messages of other times than its index says: their order may be wrong"});
  }

  /// Chunks and their indexes lie side by side in a file, each is read once: more than the file has (and room for a lie
  /// or two) is a trick to fill the memory, or the time, with the same bytes again and again.
  [[nodiscard]] bool reads_in_circles() const { return read_bytes > 2 * reader.file().size(); }

  /// Messages that nobody can want, because the file does not say what they are. (Of a file that was walked through its
  /// losses tell.)
  void note_unknown(const ChunkIndex& index, const Source& source) {
    if (source.unknown && !reader.scanned())
      problems.push_back({index.chunk_start_offset,
                          fmt::format("it holds messages of channel {}, whose record is lost", *source.unknown)});
  }

  /// Puts the index of one channel into `buffer`. False: it is not there.
  bool read_index(std::uint64_t offset) {
    const auto prefix = reader.file().read_prefix(offset);
    read_bytes += kPrefixBytes;
    if (!prefix || !prefix->is(Opcode::MessageIndex) || reads_in_circles() ||
        !reader.file().read_exactly(offset + kPrefixBytes, prefix->length, buffer))
      return false;
    read_bytes += prefix->length;
    return true;
  }

  /// Whether anything follows the fields of an index; in most files only zeros do.
  bool may_have_source_times(std::uint64_t offset) {
    std::array<std::byte, kPrefixBytes + 2 + 4> head{};
    read_bytes += head.size();
    if (reads_in_circles() || reader.file().read(offset, head) != head.size()) return false;
    const Prefix prefix(head);
    std::uint32_t records = 0;
    std::memcpy(&records, head.data() + kPrefixBytes + 2, sizeof records);
    return prefix.is(Opcode::MessageIndex) && prefix.length >= 2 + 4 + std::uint64_t{records} + kSourceTimesHead;
  }

  void note_damaged_stamps(const ChunkIndex& index) {
    problems.push_back({index.chunk_start_offset, "the source stamps of its messages are damaged, and left out"});
  }

  /// Gives a chunk's messages, which are in the order of their places, their source stamps.
  void find_source_times(const ChunkIndex& index, Source& source) {
    std::vector<std::pair<std::uint64_t, std::int64_t>> stamps;
    bool damaged = false;
    const bool lacks_one = !source.entries.empty() && lacks_an_index(index);
    if (lacks_one) without_index.push_back(index.chunk_start_offset);
    for (const auto& [channel, offset] : index.message_index_offsets) {
      if (offset == kNoIndex || (!wanted[channel] && !lacks_one)) continue;
      if (!may_have_source_times(offset) || !read_index(offset)) continue;
      const auto found = decode_index(buffer);
      if (!found || found->index.channel_id != channel) continue;
      stamped = stamped || !found->source_times.empty();
      if (!wanted[channel]) continue;
      damaged = damaged || found->damaged;
      for (std::size_t i = 0; i < found->source_times.size(); ++i)
        stamps.emplace_back(found->index.records[i].second, found->source_times[i]);
    }
    if (damaged) note_damaged_stamps(index);
    std::sort(stamps.begin(), stamps.end());
    auto stamp = stamps.begin();
    for (Entry& entry : source.entries) {
      while (stamp != stamps.end() && stamp->first < entry.place) ++stamp;
      if (stamp != stamps.end() && stamp->first == entry.place) entry.source_time = stamp->second;
    }
  }

  bool read_whole(const ChunkIndex& index, Source& source, std::string& cause) {
    source.in_memory = true;
    cause = kAgainAndAgain;
    if (reads_in_circles()) return false;
    cause = "its index points outside of the file, or to something else";
    if (index.chunk_length < kPrefixBytes ||
        !reader.file().read_exactly(index.chunk_start_offset, index.chunk_length, source.bytes) ||
        source.bytes[0] != static_cast<std::byte>(Opcode::Chunk))
      return false;
    const auto chunk = decode<Chunk>(View(source.bytes).subspan(kPrefixBytes));
    if (!chunk) return false;
    read_bytes += index.chunk_length;
    if (!chunk->compression.empty() && unpacked_bytes > 0 &&
        chunk->uncompressed_size > most_open - std::min(most_open, unpacked_bytes)) {
      cause = "it and the chunks that overlap with it hold too much when they are unpacked (--max-chunk)";
      return false;
    }
    const auto records = records_of(*chunk, true, source.unpacked, cause, options.most_unpacked_bytes);
    if (!records) return false;
    source.records = *records;
    cause = "a record in it is longer than the chunk";
    source.entries.reserve(message_count(*records));  // a list that grows takes twice the memory
    for (View left = *records; !left.empty();) {
      const auto place = static_cast<std::uint64_t>(left.data() - records->data());
      const auto record = take_record(left);
      if (!record) return false;
      if (!record->is(Opcode::Message)) continue;
      const auto message = decode<Message>(record->content);
      if (!message) return false;
      if (!known[message->channel_id]) source.unknown = message->channel_id;
      if (wanted[message->channel_id] && in_range(message->log_time))
        source.entries.push_back({.time = message->log_time, .place = place, .channel = message->channel_id});
    }
    find_source_times(index, source);
    return true;
  }

  bool find_in_file(const ChunkIndex& index, Source& source, std::string& cause) {
    const std::uint64_t file_bytes = reader.file().size();
    if (index.chunk_start_offset > file_bytes || index.chunk_length > file_bytes - index.chunk_start_offset) {
      cause = "its index points outside of the file";
      return false;
    }
    source.end = index.chunk_start_offset + index.chunk_length;
    // The part before the records has the rest of the chunk's length.
    if (index.compressed_size > index.chunk_length) {
      cause = "its index says that its records are longer than it";
      return false;
    }
    cause = kAgainAndAgain;
    read_bytes += index.chunk_length;
    if (reads_in_circles()) return false;
    source.left = index.compressed_size;
    const std::uint64_t records = source.end - index.compressed_size;
    for (const auto& [channel, offset] : index.message_index_offsets) {
      if (!wanted[channel] && known[channel]) continue;
      cause = "its message index is damaged";
      const bool read = read_index(offset);
      const auto found = read ? decode_index(buffer) : std::nullopt;
      if (!known[channel]) {
        if (found && found->index.channel_id == channel && !found->index.records.empty()) source.unknown = channel;
        continue;
      }
      if (!found || found->index.channel_id != channel) return false;
      if (found->damaged) note_damaged_stamps(index);
      stamped = stamped || !found->source_times.empty();
      for (std::size_t i = 0; i < found->index.records.size(); ++i) {
        const auto& [time, place] = found->index.records[i];
        const std::int64_t stamp = found->source_times.empty() ? 0 : found->source_times[i];
        if (in_range(time))
          source.entries.push_back({.time = time, .place = records + place, .channel = channel, .source_time = stamp});
      }
    }
    return true;
  }

  /// The message of an entry; empty: it is not there, and `cause` says it.
  std::optional<Message> load(Source& source, const Entry& entry, const char*& cause) {
    View content;
    cause = "a message is not where its index says";
    if (source.in_memory) {
      View at = source.records.subspan(static_cast<std::size_t>(entry.place));
      content = take_record(at)->content;  // it was looked at when the chunk was opened
    } else {
      if (entry.place >= source.end) return std::nullopt;
      const auto prefix = reader.file().read_prefix(entry.place);
      large_message = buffers->take();
      if (!prefix || !prefix->is(Opcode::Message) || prefix->length > source.end - entry.place ||
          !reader.file().read_exactly(entry.place + kPrefixBytes, prefix->length, *large_message))
        return std::nullopt;
      content = *large_message;
      // Messages lie side by side: an index that names more than there is would return messages without end.
      if (const std::uint64_t bytes = kPrefixBytes + prefix->length; bytes <= source.left) {
        source.left -= bytes;
      } else {
        cause = kAgainAndAgain;
        source.entries.resize(source.next);
        return std::nullopt;
      }
    }
    auto message = decode<Message>(content);
    if (message && (message->log_time != entry.time || message->channel_id != entry.channel)) return std::nullopt;
    if (message) message->source_time = entry.source_time;
    return message;
  }
};

Messages::Messages(const Reader& reader, ReadOptions options)
    : state_(std::make_unique<State>(reader, std::move(options))) {}
Messages::~Messages() = default;
Messages::Messages(Messages&&) noexcept = default;
Messages& Messages::operator=(Messages&&) noexcept = default;

const std::vector<Problem>& Messages::problems() const noexcept { return state_->problems; }

std::optional<MessageView> Messages::next() {
  State& s = *state_;
  s.current.reset();
  s.large_message.reset();
  const auto cancelled = [&] { return s.options.cancelled != nullptr && s.options.cancelled->load(); };
  for (;;) {
    if (s.loose_pending) s.open_loose();
    while (!s.pending.empty() && !cancelled()) {
      const std::uint64_t first = s.first_time(*s.pending.back());
      if (!s.open.empty() && s.before(s.open.front()->entries[s.open.front()->next].time, first)) break;
      const ChunkIndex* const chunk = s.pending.back();
      s.pending.pop_back();
      s.open_chunk(*chunk);
      s.note_lost_stamps();
    }
    if (s.open.empty() || cancelled()) return std::nullopt;
    std::pop_heap(s.open.begin(), s.open.end(), s.heap_order());
    const auto source = std::move(s.open.back());
    s.open.pop_back();
    const State::Entry entry = source->entries[source->next++];
    const char* cause = nullptr;
    auto message = s.load(*source, entry, cause);
    if (source->next < source->entries.size()) {
      s.open.push_back(source);
      std::push_heap(s.open.begin(), s.open.end(), s.heap_order());
    } else {
      s.unpacked_bytes -= source->unpacked.size();
    }
    const auto& channels = s.reader.summary().channels();
    const auto channel = message ? channels.find(message->channel_id) : channels.end();
    if (channel == channels.end()) {
      s.problems.push_back({source->in_memory ? source->file_order : entry.place, cause});
      continue;
    }
    const bool packed = PackedMessages::is_packed(message->data) && channel->second.message_encoding == "cdr";
    if (packed) {
      auto unpacked = s.buffers->take();
      if (std::string why = s.packed.unpack(message->data, *unpacked); !why.empty()) {
        s.problems.push_back({source->in_memory ? source->file_order : entry.place, std::move(why)});
        continue;
      }
      message->data = View(*unpacked);
      s.large_message = std::move(unpacked);
    }
    std::shared_ptr<const void> owner = s.large_message;
    std::size_t owner_bytes = 0;
    if (source->in_memory && !packed) {
      s.current = source;
      owner = source;
      owner_bytes = source->bytes.size() + source->unpacked.size();
    } else {
      owner_bytes = s.large_message->size();
    }
    const auto& schemas = s.reader.summary().schemas();
    const auto schema = schemas.find(channel->second.schema_id);
    return MessageView{.channel = &channel->second,
                       .schema = schema == schemas.end() ? nullptr : &schema->second,
                       .message = *message,
                       .owner = std::move(owner),
                       .owner_bytes = owner_bytes,
                       .from_before = s.reader.is_from_before(source->file_order, entry.time),
                       .was_packed = packed};
  }
}

}  // namespace cardan::mcap
