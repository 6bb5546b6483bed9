// SPDX-License-Identifier: Apache-2.0
#include "apps/bag/convert/ros1_bag.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>

#include "cardan/error.hpp"
#include "cardan/stop.hpp"

namespace cardan::apps {
namespace {

constexpr std::string_view kMagic = "#ROSBAG V2.0\n";
constexpr std::uint64_t kMostHeader = 64 << 10;                   ///< of a record: a topic's name, and numbers
constexpr std::uint64_t kMostSmallData = std::uint64_t{1} << 20;  ///< of a connection: a definition
constexpr std::size_t kMostConnections = 65'535;
constexpr std::size_t kMostBagProblems = 50;
constexpr std::uint64_t kPiece = std::uint64_t{1} << 20;  ///< that a search looks at in one go
/// A search tries what looks like records until all of it together exceeds this many times the file.
constexpr std::uint64_t kMostSearched = 16;
constexpr std::size_t kMostConnectionBytes = std::size_t{64}
                                             << 20;  ///< of all texts; chunks may hold more than the file
constexpr std::string_view kChunkSign("\4\0\0\0op=\5", 8);
constexpr std::uint64_t kMostBeforeSign = 64;     ///< of a chunk's header: its length, and fields before that one
constexpr std::uint64_t kMostChunkHeader = 4096;  ///< that a search looks for; rosbag's has 50 bytes

enum Op : int { kMessage = 2, kBagHeader = 3, kIndex = 4, kChunk = 5, kChunkInfo = 6, kConnection = 7 };

template <class T>
T number_at(const std::byte* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

/// Seconds in the lower half, nanoseconds in the upper one.
std::uint64_t nanoseconds_of(std::uint64_t time) { return (time & 0xffff'ffffU) * 1'000'000'000 + (time >> 32U); }

std::string_view text_of(mcap::View bytes) { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }

}  // namespace

std::optional<mcap::View> Ros1Bag::Fields::find(std::string_view name) const {
  for (const auto& [key, value] : all)
    if (key == name) return value;
  return std::nullopt;
}

std::string Ros1Bag::Fields::text(std::string_view name) const {
  const auto value = find(name);
  return value ? std::string(text_of(*value)) : std::string();
}

template <class T>
std::optional<T> Ros1Bag::Fields::number(std::string_view name) const {
  const auto value = find(name);
  if (!value || value->size() != sizeof(T)) return std::nullopt;
  return number_at<T>(value->data());
}

int Ros1Bag::Fields::op() const { return number<std::uint8_t>("op").value_or(0); }

Ros1Bag::Ros1Bag(const std::string& path) : file_(path), size_(file_.size()), end_(size_) {
  std::array<std::byte, kMagic.size()> magic{};
  const bool read = file_.read(0, magic) == magic.size();
  if (!read || text_of(magic) != kMagic)
    throw Error(ErrorCode::InvalidArgument, path + " is not a bag of format 2.0 of ROS 1",
                text_of(magic).starts_with("#ROSBAG V1") ? "convert it with rosbag migrate"
                                                         : "name a file that rosbag record wrote");
  at_ = kMagic.size();
  read_head();
}

/// Fields: a length, a name, '=' and the value, until the header is full.
std::optional<Ros1Bag::Fields> Ros1Bag::parse(mcap::View header) {
  Fields out;
  while (!header.empty()) {
    if (header.size() < 4) return std::nullopt;
    const auto length = number_at<std::uint32_t>(header.data());
    header = header.subspan(4);
    if (length > header.size()) return std::nullopt;
    const mcap::View field = header.first(length);
    const std::size_t equals = text_of(field).find('=');
    if (equals == std::string_view::npos || equals == 0) return std::nullopt;
    out.all.emplace_back(text_of(field.first(equals)), field.subspan(equals + 1));
    header = header.subspan(length);
  }
  return out;
}

/// Valid until the next one is asked for.
std::optional<Ros1Bag::Record> Ros1Bag::record_at(std::uint64_t at) {
  std::array<std::byte, 4> length{};
  looked_at_ = 0;
  if (at + 4 > size_ || file_.read(at, length) != 4) return std::nullopt;
  const std::uint64_t bytes = number_at<std::uint32_t>(length.data());
  if (bytes > kMostHeader || at + 8 + bytes > size_ || !file_.read_exactly(at + 4, bytes + 4, header_))
    return std::nullopt;
  looked_at_ = bytes;
  auto fields = parse(mcap::View(header_).first(bytes));
  if (!fields || fields->op() == 0) return std::nullopt;
  Record record{.fields = std::move(*fields), .data_at = at + 8 + bytes};
  record.end = record.data_at + number_at<std::uint32_t>(header_.data() + bytes);
  if (record.end > size_) return std::nullopt;
  return record;
}

void Ros1Bag::read_head() {
  const auto head = record_at(at_);
  const auto index =
      head && head->fields.op() == kBagHeader ? head->fields.number<std::uint64_t>("index_pos") : std::nullopt;
  if (!index) return problem(at_, "the record after the magic bytes is damaged: the file's index cannot be found");
  at_ = head->end;
  if (*index == 0) {
    unfinished_ = true;
  } else if (*index < at_ || *index > size_) {
    problem(at_, fmt::format("the file is cut: its index should be at byte {}", *index));
  } else {
    read_index(*index, head->fields.number<std::uint32_t>("chunk_count"));
  }
}

/// `chunks`: as many as the file's head says. Whatever ends the index before, only a walk finds all messages.
void Ros1Bag::read_index(std::uint64_t at, std::optional<std::uint32_t> chunks) {
  end_ = at;
  const std::uint64_t begin = at;
  bool counted = true;
  mcap::Bytes data;
  while (at < size_) {
    if (stopping()) return;
    const auto record = record_at(at);
    const int op = record ? record->fields.op() : 0;
    if ((op != kConnection && op != kChunkInfo) || record->end - record->data_at > kMostSmallData ||
        !file_.read_exactly(record->data_at, record->end - record->data_at, data))
      return problem(at, "the file's index is damaged");
    if (op == kConnection) {
      add_connection(record->fields, data);
    } else {
      counted = add_chunk_info(record->fields, data) && counted;
    }
    at = record->end;
  }
  if (!chunks) return problem(begin, "the file does not say how many chunks its index must name");
  if (*chunks != indexed_.size())
    return problem(begin, fmt::format("the index names {} chunks of {}", indexed_.size(), *chunks));
  index_is_whole_ = counted;
}

/// False: the counts are not whole with this one.
bool Ros1Bag::add_chunk_info(const Fields& fields, mcap::View data) {
  const auto place = fields.number<std::uint64_t>("chunk_pos");
  if (!place || data.size() % 8 != 0) return false;
  std::uint64_t messages = 0;
  bool known = true;
  for (std::size_t i = 0; i < data.size(); i += 8) {
    const auto connection = number_at<std::uint32_t>(data.data() + i);
    const auto count = number_at<std::uint32_t>(data.data() + i + 4);
    messages += count;
    known = known && connections_.contains(connection);
    if (known) index_.messages[connection] += count;
  }
  indexed_[*place] = messages;
  const auto first = fields.number<std::uint64_t>("start_time"), last = fields.number<std::uint64_t>("end_time");
  if (messages == 0 || !first || !last) return known && messages == 0;
  const bool is_first = index_.last == 0;
  index_.first = is_first ? nanoseconds_of(*first) : std::min(index_.first, nanoseconds_of(*first));
  index_.last = std::max(index_.last, nanoseconds_of(*last));
  return known;
}

std::optional<Ros1Index> Ros1Bag::index() {
  if (!index_is_whole_ || unfinished_ || !problems_.empty()) return std::nullopt;
  for (const auto& [place, messages] : indexed_) {
    const auto record = record_at(place);
    if (!afford(looked_at_) || !record || record->fields.op() != kChunk) return std::nullopt;
    const std::string compression = record->fields.text("compression");
    index_.chunks.push_back({.compression = compression == "none" ? "" : compression,
                             .compressed_size = record->end - record->data_at,
                             .uncompressed_size = record->fields.number<std::uint32_t>("size").value_or(0)});
  }
  return std::move(index_);
}

void Ros1Bag::add_connection(const Fields& fields, mcap::View data) {
  const auto id = fields.number<std::uint32_t>("conn");
  if (!id || data.size() > kMostSmallData || connections_.contains(*id)) return;
  const auto inner = parse(data);
  if (!inner || connections_.size() >= kMostConnections || data.size() > kMostConnectionBytes - connection_bytes_)
    return;
  Ros1Connection one{.topic = fields.text("topic"),
                     .type = inner->text("type"),
                     .definition = inner->text("message_definition"),
                     .md5 = inner->text("md5sum"),
                     .caller = inner->text("callerid"),
                     .latching = inner->text("latching") == "1"};
  if (one.topic.empty()) one.topic = inner->text("topic");
  if (one.topic.empty() || one.type.empty()) return;
  connection_bytes_ += data.size();
  const Ros1Connection& added = connections_.emplace(*id, std::move(one)).first->second;
  auto& callers = callers_[&added];
  if (!added.caller.empty()) callers.insert(added.caller);
}

std::optional<Ros1Message> Ros1Bag::next() {
  for (;;) {
    if (stopping()) return std::nullopt;
    if (in_chunk_) {
      if (auto message = next_in_chunk()) return message;
    } else if (!take_record()) {
      break;
    }
  }
  for (const auto& [place, messages] : std::exchange(indexed_, {})) {
    if (messages == 0) continue;
    missing_ += messages;
    problem(place, fmt::format("the file's index names a chunk of {} messages there, and it was not found", messages));
  }
  return std::nullopt;
}

/// False: the end.
bool Ros1Bag::take_record() {
  if (at_ >= end_) return false;
  const std::uint64_t at = at_;
  const auto record = record_at(at);
  if (!record || record->end > end_) {
    const auto next = afford(looked_at_) ? next_chunk_behind(at) : std::nullopt;
    const std::uint64_t to = next.value_or(end_);
    // A file that was never closed may end anywhere; in one that was closed this is damage.
    problem(at, fmt::format("{} (to byte {})",
                            !afford(0) ? "a record is damaged, and too much after it only looks like chunks"
                            : next || end_ != size_ ? "a record is damaged"
                                                    : "the file ends in the middle of a record",
                            to));
    at_ = to;
    return next.has_value();
  }
  at_ = record->end;
  if (record->fields.op() == kChunk) {
    open_chunk(at, *record);
  } else if (record->fields.op() == kMessage) {
    // Of a chunk that its writer did not get to close: it is one of its own.
    in_chunk_ = file_.read_exactly(at, at_ - at, chunk_);
    chunk_at_ = at;
    chunk_pos_ = chunk_seen_ = 0;
  } else if (record->fields.op() == kConnection && record->end - record->data_at <= kMostSmallData) {
    mcap::Bytes data;
    const Fields fields = record->fields;
    if (file_.read_exactly(record->data_at, record->end - record->data_at, data)) add_connection(fields, data);
  }
  return true;
}

void Ros1Bag::open_chunk(std::uint64_t at, const Record& record) {
  chunk_at_ = at;
  chunk_pos_ = chunk_seen_ = 0;
  in_chunk_ = true;
  const std::string compression = record.fields.text("compression");
  const auto size = record.fields.number<std::uint32_t>("size");
  const std::uint64_t bytes = record.end - record.data_at;
  if (!size) return close_chunk(true, "a chunk does not say how large it is");
  if (compression == "none") {
    if (*size != bytes || !file_.read_exactly(record.data_at, bytes, chunk_))
      return close_chunk(true, "a chunk's data has another size than the chunk says");
  } else {
    if (!file_.read_exactly(record.data_at, bytes, packed_)) return close_chunk(true, "a chunk cannot be read");
    if (const std::string why = unpack_ros1(compression, packed_, *size, chunk_); !why.empty())
      return close_chunk(true, why);
    compression_ = compression;
  }
}

void Ros1Bag::close_chunk(bool damaged, const std::string& why) {
  in_chunk_ = false;
  const auto indexed = indexed_.find(chunk_at_);
  const std::uint64_t lost = indexed == indexed_.end() ? 0 : indexed->second - std::min(chunk_seen_, indexed->second);
  if (indexed != indexed_.end()) indexed_.erase(indexed);
  if (damaged || lost > 0)
    problem(chunk_at_, lost == 0 ? why : fmt::format("{}; {} of its messages are lost", why, lost));
  missing_ += lost;
}

std::optional<Ros1Message> Ros1Bag::next_in_chunk() {
  const mcap::View chunk(chunk_);
  while (chunk_pos_ < chunk.size() && !stopping()) {
    const mcap::View rest = chunk.subspan(chunk_pos_);
    const std::uint64_t header = rest.size() < 8 ? rest.size() : number_at<std::uint32_t>(rest.data());
    std::optional<Fields> fields;
    if (header <= kMostHeader && header <= rest.size() - std::min<std::size_t>(rest.size(), 8))
      fields = parse(rest.subspan(4, header));
    const std::uint64_t bytes = fields ? number_at<std::uint32_t>(rest.data() + 4 + header) : 0;
    if (!fields || fields->op() == 0 || bytes > rest.size() - 8 - header) {
      close_chunk(true, "a record in a chunk is damaged, and what follows it there cannot be found");
      return std::nullopt;
    }
    const mcap::View data = rest.subspan(8 + header, bytes);
    chunk_pos_ += 8 + header + bytes;
    if (fields->op() == kConnection) add_connection(*fields, data);
    if (fields->op() != kMessage) continue;
    ++chunk_seen_;
    const auto connection = fields->number<std::uint32_t>("conn");
    const auto time = fields->number<std::uint64_t>("time");
    if (!connection || !time || !connections_.contains(*connection)) {
      ++missing_;
      if (unknown_.size() < kMostConnections && unknown_.insert(connection.value_or(0)).second)
        problem(chunk_at_,
                !connection || !time
                    ? "a message's record is damaged"
                    : fmt::format("the record of connection {} is lost: the type of its messages is not known",
                                  *connection));
      continue;
    }
    return Ros1Message{.connection = *connection, .time = nanoseconds_of(*time), .data = data};
  }
  if (!stopping()) close_chunk(false, "a chunk does not hold all that the file's index says");
  return std::nullopt;
}

bool Ros1Bag::afford(std::uint64_t bytes) {
  searched_ += bytes;
  return searched_ / kMostSearched <= size_;
}

/// Has the bytes from there on in the piece, and what may precede them in a header. False: too few are left.
bool Ros1Bag::fill_piece(std::uint64_t from) {
  if (from + kChunkSign.size() > end_) return false;
  if (from >= piece_at_ && from + kChunkSign.size() <= piece_at_ + piece_.size()) return true;
  piece_at_ = from - std::min(from, kMostBeforeSign);
  return file_.read_exactly(piece_at_, std::min(kPiece, end_ - piece_at_), piece_);
}

/// Where the chunk starts whose header has that sign, at `from` or later.
std::optional<std::uint64_t> Ros1Bag::chunk_with_sign(std::uint64_t sign, std::uint64_t from) {
  const mcap::View piece(piece_);
  for (std::uint64_t back = 4; back <= kMostBeforeSign && sign >= std::max(from, piece_at_) + back; ++back) {
    // The cheap checks first: the header is long enough, and its fields end where the sign starts.
    const std::size_t at = sign - back - piece_at_;
    const std::uint64_t header = number_at<std::uint32_t>(piece.data() + at);
    if (header < back - 4 + kChunkSign.size() || header > kMostChunkHeader) continue;
    if (!afford(back)) return std::nullopt;
    if (!parse(piece.subspan(at + 4, back - 4))) continue;
    if (!afford(header)) return std::nullopt;
    const auto record = record_at(sign - back);
    if (record && record->end <= end_ && record->fields.op() == kChunk && record->fields.find("size"))
      return sign - back;
  }
  return std::nullopt;
}

/// The first place after `at` where a chunk's record seems to start.
std::optional<std::uint64_t> Ros1Bag::next_chunk_behind(std::uint64_t at) {
  for (std::uint64_t from = at + 1; fill_piece(from) && afford(0) && !stopping();) {
    const std::size_t found = text_of(piece_).find(kChunkSign, from - piece_at_);
    if (found == std::string_view::npos) {
      from = piece_at_ + piece_.size() - kChunkSign.size() + 1;
      continue;
    }
    if (const auto chunk = chunk_with_sign(piece_at_ + found, at + 1)) return chunk;
    from = piece_at_ + found + 1;
  }
  return std::nullopt;
}

void Ros1Bag::problem(std::uint64_t at, std::string cause) {
  if (problems_.size() < kMostBagProblems)
    problems_.push_back({at, std::move(cause)});
  else
    ++unnamed_problems_;
}

}  // namespace cardan::apps
