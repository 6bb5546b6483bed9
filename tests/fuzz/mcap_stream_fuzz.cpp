// SPDX-License-Identifier: Apache-2.0
// A recording that is read from a pipe, record by record. Must hold: it comes to an end that says how far all was
// well, and the records that are given fit into what was read.
#include <algorithm>
#include <cstring>

#include "cardan/mcap/codec.hpp"
#include "cardan/mcap/record_reader.hpp"
#include "tests/fuzz/recordings.hpp"

namespace cardan::fuzz::mcap_stream_target {
namespace {

template <class... Records>
void decode_as(mcap::Opcode opcode, mcap::View content) {
  ((opcode == Records::kOpcode ? (void)mcap::decode<Records>(content) : (void)0), ...);
}

/// The first byte: how many bytes the pipe gives at a time, and what is checked.
void run(std::string_view input) {
  Input parts(input);
  const std::uint8_t how = parts.byte();
  std::string_view left = parts.rest();
  const std::size_t size = left.size();
  const std::size_t step = (how & 4U) != 0 ? 7 : 100'000;
  const auto read = [&](std::span<std::byte> into) {
    const std::size_t count = std::min({into.size(), left.size(), step});
    if (count != 0) std::memcpy(into.data(), left.data(), count);
    left.remove_prefix(count);
    return count;
  };
  mcap::RecordReader reader(read, {.open_chunks = (how & 1U) != 0, .check_crcs = (how & 2U) != 0});
  std::uint64_t bytes = 0;
  while (const auto record = reader.next()) {
    if (!record->in_chunk) {
      bytes += record->content.size();
      require(record->offset + mcap::kPrefixBytes + record->content.size() <= size, "a record beyond the end");
    }
    decode_as<mcap::Header, mcap::Footer, mcap::Schema, mcap::Channel, mcap::Message, mcap::Chunk, mcap::MessageIndex,
              mcap::ChunkIndex, mcap::Attachment, mcap::AttachmentIndex, mcap::Statistics, mcap::Metadata,
              mcap::MetadataIndex, mcap::SummaryOffset, mcap::DataEnd>(static_cast<mcap::Opcode>(record->opcode),
                                                                       record->content);
  }
  require(bytes <= size, "more was given than was there");
  require(reader.finish().valid <= size, "more is well than is there");
  require(reader.finish().how == mcap::Finish::How::Complete || !reader.finish().cause.empty(),
          "an end without a cause");
}

std::vector<std::string> seeds() {
  std::vector<std::string> all;
  for (const std::string& file : some_recordings())
    for (const char how : {'\1', '\3', '\4'}) all.push_back(how + file);
  return all;
}

}  // namespace
CARDAN_FUZZ_TARGET(mcap_stream, run, seeds)
}  // namespace cardan::fuzz::mcap_stream_target
