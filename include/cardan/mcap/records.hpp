// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// MCAP's records as plain structs. Source: the MCAP specification, version 0 (mcap.dev/spec). Names, order and meaning
/// of the fields are the specification's. Times are nanoseconds since the epoch that the file's topics use (here: Unix
/// time), sizes are bytes, and offsets are bytes from the start of the file.
///
/// Each struct has its opcode as `kOpcode`, and lists its fields once, in the order of the file: `fields(self, visit)`
/// calls `visit(name, field)` for each. The encoder, the decoder and printers are such visitors.

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace cardan::mcap {

/// Bytes with another owner.
using View = std::span<const std::byte>;
/// Bytes that it owns.
using Bytes = std::vector<std::byte>;

/// The first and the last bytes of each MCAP file.
inline constexpr std::array<unsigned char, 8> kMagic{0x89, 'M', 'C', 'A', 'P', '0', '\r', '\n'};

/// An opcode and a 64-bit length come before each record's content.
inline constexpr std::size_t kPrefixBytes = 9;

/// The kinds of records in an MCAP file.
enum class Opcode : std::uint8_t {
  Header = 0x01,
  Footer = 0x02,
  Schema = 0x03,
  Channel = 0x04,
  Message = 0x05,
  Chunk = 0x06,
  MessageIndex = 0x07,
  ChunkIndex = 0x08,
  Attachment = 0x09,
  AttachmentIndex = 0x0A,
  Statistics = 0x0B,
  Metadata = 0x0C,
  MetadataIndex = 0x0D,
  SummaryOffset = 0x0E,
  DataEnd = 0x0F,
};

/// "Chunk"; nullptr for an opcode that the specification does not name.
[[nodiscard]] const char* name_of(Opcode opcode) noexcept;

/// The first record of a file.
struct Header {
  static constexpr Opcode kOpcode = Opcode::Header;
  std::string profile{}, library{};  ///< conventions that the file follows, as "ros2"; the program that wrote it
  static void fields(auto& self, auto&& visit) {
    visit("profile", self.profile);
    visit("library", self.library);
  }
  bool operator==(const Header&) const = default;
};

/// The last record of a file: where its summary is.
struct Footer {
  static constexpr Opcode kOpcode = Opcode::Footer;
  std::uint64_t summary_start = 0;         ///< 0: no summary
  std::uint64_t summary_offset_start = 0;  ///< 0: no summary offsets
  std::uint32_t summary_crc = 0;           ///< 0: none
  static void fields(auto& self, auto&& visit) {
    visit("summary_start", self.summary_start);
    visit("summary_offset_start", self.summary_offset_start);
    visit("summary_crc", self.summary_crc);
  }
  bool operator==(const Footer&) const = default;
};

/// The definition of a message type.
struct Schema {
  static constexpr Opcode kOpcode = Opcode::Schema;
  std::uint16_t id = 0;            ///< 0 is not valid
  std::string name{}, encoding{};  ///< as "sensor_msgs/msg/Image" and "ros2msg"
  Bytes data{};                    ///< the definition in that encoding
  static void fields(auto& self, auto&& visit) {
    visit("id", self.id);
    visit("name", self.name);
    visit("encoding", self.encoding);
    visit("data", self.data);
  }
  bool operator==(const Schema&) const = default;
};

/// A topic with its schema and its messages' encoding.
struct Channel {
  static constexpr Opcode kOpcode = Opcode::Channel;
  std::uint16_t id = 0;
  std::uint16_t schema_id = 0;                    ///< 0: no schema
  std::string topic{}, message_encoding{};        ///< as "/camera/front" and "cdr"
  std::map<std::string, std::string> metadata{};  ///< of the topic, as ROS 2's quality of service
  static void fields(auto& self, auto&& visit) {
    visit("id", self.id);
    visit("schema_id", self.schema_id);
    visit("topic", self.topic);
    visit("message_encoding", self.message_encoding);
    visit("metadata", self.metadata);
  }
  bool operator==(const Channel&) const = default;
};

/// The content that fills the rest of its record.
struct Rest : View {
  using View::View;
  Rest(View view) : View(view) {}  // NOLINT(google-explicit-constructor): it is one
};

/// A message of a channel.
struct Message {
  static constexpr Opcode kOpcode = Opcode::Message;
  std::uint16_t channel_id = 0;
  std::uint32_t sequence = 0;      ///< its publisher's count; 0 if it has none
  std::uint64_t log_time = 0;      ///< when it was recorded
  std::uint64_t publish_time = 0;  ///< when it was published
  Rest data{};                     ///< the message in the channel's encoding
  /// The publisher's own stamp; 0: none. Not a field of the record: it follows the chunk's MessageIndex
  /// (source_times.hpp), and is lost where that is missing.
  std::int64_t source_time = 0;
  static void fields(auto& self, auto&& visit) {
    visit("channel_id", self.channel_id);
    visit("sequence", self.sequence);
    visit("log_time", self.log_time);
    visit("publish_time", self.publish_time);
    visit("data", self.data);
  }
};
/// The part of a message's content before its data.
inline constexpr std::size_t kMessageHeaderBytes = 2 + 4 + 8 + 8;

/// Schemas, channels and messages together, usually compressed.
struct Chunk {
  static constexpr Opcode kOpcode = Opcode::Chunk;
  std::uint64_t message_start_time = 0, message_end_time = 0;  ///< the least and the greatest log time of its messages
  std::uint64_t uncompressed_size = 0;                         ///< of `records` once they are unpacked
  std::uint32_t uncompressed_crc = 0;                          ///< 0: none
  std::string compression{};                                   ///< "", "lz4" or "zstd"
  View records{};                                              ///< compressed as `compression` says
  static void fields(auto& self, auto&& visit) {
    visit("message_start_time", self.message_start_time);
    visit("message_end_time", self.message_end_time);
    visit("uncompressed_size", self.uncompressed_size);
    visit("uncompressed_crc", self.uncompressed_crc);
    visit("compression", self.compression);
    visit("records", self.records);
  }
};
/// The part of a chunk's content before its records, without the name of its compression.
inline constexpr std::size_t kChunkHeaderBytes = 8 + 8 + 8 + 4 + 4 + 8;

/// Where the messages of a channel are in the chunk before it.
struct MessageIndex {
  static constexpr Opcode kOpcode = Opcode::MessageIndex;
  std::uint16_t channel_id = 0;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> records{};  ///< log_time, offset in the uncompressed records
  static void fields(auto& self, auto&& visit) {
    visit("channel_id", self.channel_id);
    visit("records", self.records);
  }
  bool operator==(const MessageIndex&) const = default;
};

/// Where a chunk and its message indexes are in the file.
struct ChunkIndex {
  static constexpr Opcode kOpcode = Opcode::ChunkIndex;
  std::uint64_t message_start_time = 0, message_end_time = 0;      ///< as in the chunk
  std::uint64_t chunk_start_offset = 0, chunk_length = 0;          ///< of its record, with opcode and length
  std::map<std::uint16_t, std::uint64_t> message_index_offsets{};  ///< by channel
  std::uint64_t message_index_length = 0;                          ///< of all message indexes together
  std::string compression{};                                       ///< as in the chunk
  std::uint64_t compressed_size = 0, uncompressed_size = 0;        ///< of its records
  static void fields(auto& self, auto&& visit) {
    visit("message_start_time", self.message_start_time);
    visit("message_end_time", self.message_end_time);
    visit("chunk_start_offset", self.chunk_start_offset);
    visit("chunk_length", self.chunk_length);
    visit("message_index_offsets", self.message_index_offsets);
    visit("message_index_length", self.message_index_length);
    visit("compression", self.compression);
    visit("compressed_size", self.compressed_size);
    visit("uncompressed_size", self.uncompressed_size);
  }
  bool operator==(const ChunkIndex&) const = default;
};

/// A file inside the file. The codec writes and checks its checksum, over all fields.
struct Attachment {
  static constexpr Opcode kOpcode = Opcode::Attachment;
  std::uint64_t log_time = 0, create_time = 0;  ///< when it was recorded, and when it was made; 0: unknown
  std::string name{}, media_type{};             ///< as "calibration.yaml" and "application/yaml"
  View data{};                                  ///< its contents
  static void fields(auto& self, auto&& visit) {
    visit("log_time", self.log_time);
    visit("create_time", self.create_time);
    visit("name", self.name);
    visit("media_type", self.media_type);
    visit("data", self.data);
  }
};

/// Where an attachment is in the file.
struct AttachmentIndex {
  static constexpr Opcode kOpcode = Opcode::AttachmentIndex;
  std::uint64_t offset = 0, length = 0;         ///< of its record, with opcode and length
  std::uint64_t log_time = 0, create_time = 0;  ///< as in the attachment
  std::uint64_t data_size = 0;                  ///< of its contents
  std::string name{}, media_type{};             ///< as in the attachment
  static void fields(auto& self, auto&& visit) {
    visit("offset", self.offset);
    visit("length", self.length);
    visit("log_time", self.log_time);
    visit("create_time", self.create_time);
    visit("data_size", self.data_size);
    visit("name", self.name);
    visit("media_type", self.media_type);
  }
  bool operator==(const AttachmentIndex&) const = default;
};

/// How much is in the file.
struct Statistics {
  static constexpr Opcode kOpcode = Opcode::Statistics;
  std::uint64_t message_count = 0;
  std::uint16_t schema_count = 0;
  std::uint32_t channel_count = 0, attachment_count = 0, metadata_count = 0, chunk_count = 0;
  std::uint64_t message_start_time = 0, message_end_time = 0;       ///< the least and the greatest log time
  std::map<std::uint16_t, std::uint64_t> channel_message_counts{};  ///< messages by channel
  static void fields(auto& self, auto&& visit) {
    visit("message_count", self.message_count);
    visit("schema_count", self.schema_count);
    visit("channel_count", self.channel_count);
    visit("attachment_count", self.attachment_count);
    visit("metadata_count", self.metadata_count);
    visit("chunk_count", self.chunk_count);
    visit("message_start_time", self.message_start_time);
    visit("message_end_time", self.message_end_time);
    visit("channel_message_counts", self.channel_message_counts);
  }
  bool operator==(const Statistics&) const = default;
};

/// Names and values that belong to the file.
struct Metadata {
  static constexpr Opcode kOpcode = Opcode::Metadata;
  std::string name{};                             ///< of the record; several may have the same
  std::map<std::string, std::string> metadata{};  ///< value by name
  static void fields(auto& self, auto&& visit) {
    visit("name", self.name);
    visit("metadata", self.metadata);
  }
  bool operator==(const Metadata&) const = default;
};

/// Where a metadata record is in the file.
struct MetadataIndex {
  static constexpr Opcode kOpcode = Opcode::MetadataIndex;
  std::uint64_t offset = 0, length = 0;  ///< of its record, with opcode and length
  std::string name{};                    ///< as in the record
  static void fields(auto& self, auto&& visit) {
    visit("offset", self.offset);
    visit("length", self.length);
    visit("name", self.name);
  }
  bool operator==(const MetadataIndex&) const = default;
};

/// Where the records of a kind are in the summary.
struct SummaryOffset {
  static constexpr Opcode kOpcode = Opcode::SummaryOffset;
  std::uint8_t group_opcode = 0;                    ///< the kind, as Opcode
  std::uint64_t group_start = 0, group_length = 0;  ///< of all records of this kind together
  static void fields(auto& self, auto&& visit) {
    visit("group_opcode", self.group_opcode);
    visit("group_start", self.group_start);
    visit("group_length", self.group_length);
  }
  bool operator==(const SummaryOffset&) const = default;
};

/// The end of the data, before the summary.
struct DataEnd {
  static constexpr Opcode kOpcode = Opcode::DataEnd;
  std::uint32_t data_section_crc = 0;  ///< 0: none
  static void fields(auto& self, auto&& visit) { visit("data_section_crc", self.data_section_crc); }
  bool operator==(const DataEnd&) const = default;
};

}  // namespace cardan::mcap
