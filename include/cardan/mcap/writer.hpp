// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "cardan/mcap/compression.hpp"
#include "cardan/mcap/summary.hpp"

namespace cardan::mcap {

/// How a file is written.
struct WriterOptions {
  std::string profile{};  ///< "ros2" only if every channel is as ROS 2 writes it
  /// Overwrites bytes that are in the file already. If it is given and `profile` is empty, close() sets the profile to
  /// "ros2" if every channel turned out to be as ROS 2 writes it. Not together with `data_crc`.
  std::function<void(std::uint64_t offset, View)> overwrite{};
  std::string library = "cardan";       ///< name of the program that writes, for the file's header
  bool chunks = true;                   ///< false: an index of messages is not possible; for streams
  std::uint64_t chunk_bytes = 1 << 20;  ///< a chunk ends once its records have this many bytes. With compression,
                                        ///< larger chunks give smaller files, but more to read for one message
  Compression compression = Compression::None;  ///< of chunks
  int level = 0;                                ///< of the compression; 0: its default
  bool chunk_crc = true;                        ///< lets readers detect a damaged chunk
  bool data_crc = false;                        ///< of the whole data section; checking it requires reading everything
  /// Lets a reader find messages in a chunk without reading it through. It holds their source stamps too.
  bool message_index = true;
  SummaryOptions summary{};  ///< parts of the summary that are written
};

/// Writes a file from start to end, into any sink for bytes.
/// Not thread safe; blocks as `write` does, and throws its exceptions.
class Writer {
 public:
  /// Takes the next bytes of the file. They are valid during the call.
  using Write = std::function<void(View)>;

  /// Writes the beginning of the file.
  explicit Writer(Write write, WriterOptions options = {});

  void add(const Schema& schema);    ///< call it before adding a channel that names the schema
  void add(const Channel& channel);  ///< call it before its messages
  /// Adds a message to the current chunk, and writes the chunk if it is full. Without chunks, writes the message.
  void write(const Message& message);
  /// Writes an attachment, outside of chunks.
  void add(const Attachment& attachment);
  /// Writes a metadata record, outside of chunks.
  void add(const Metadata& metadata);
  void end_chunk();  ///< writes the current chunk now

  /// Writes the summary. No call may follow.
  void close();

  /// The index of what was added so far.
  [[nodiscard]] const Summary& summary() const noexcept { return summary_; }
  /// Bytes written so far, without the current chunk.
  [[nodiscard]] std::uint64_t bytes() const noexcept { return position_; }

 private:
  template <class Record>
  void append_record(const Record& record);
  void flush();

  Write write_;
  WriterOptions options_;
  Compressor compressor_;
  Summary summary_;
  Bytes out_;      ///< records that go to the file as they are
  Bytes records_;  ///< of the chunk
  Bytes packed_;
  std::vector<MessageIndex> indexes_;                    ///< of the chunk; in the order of its channels
  std::vector<std::vector<std::int64_t>> source_times_;  ///< for each index, in the same order
  std::map<std::uint16_t, std::size_t> index_of_;
  std::uint64_t messages_ = 0, first_ = 0, last_ = 0;  ///< of the chunk
  bool ros2_ = true;                                   ///< all channels are as ROS 2 writes them
  std::uint64_t position_ = 0;
  std::uint32_t data_crc_ = 0;
};

}  // namespace cardan::mcap
