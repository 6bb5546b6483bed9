// SPDX-License-Identifier: Apache-2.0
// A recording whose recorder died: of its writes any have reached the disk, in part, and some bytes were never what was
// written. Must hold: where all bytes that are there are as they were written, just whole messages are read, each as
// it was recorded.
#include <cstring>
#include <map>

#include "cardan/error.hpp"
#include "cardan/mcap/verify.hpp"
#include "src/record/chunks/seam.hpp"
#include "tests/fuzz/recordings.hpp"

namespace cardan::fuzz::mcap_seam_target {
namespace {

using namespace record;

/// Where the writes of one recording go, and its messages by number.
struct Recording {
  struct Write {
    std::uint64_t offset;
    std::string bytes;
  };
  std::vector<Write> writes;  ///< the preamble, then for each chunk its body (in parts) and its head; the trailer
  std::map<std::uint32_t, std::string> messages;
};

std::string text_of(mcap::View bytes) { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }

const Recording& recording() {
  static const Recording made = [] {
    Recording r;
    SeamLayout layout({.mount = {"before", "1", {}}});
    r.writes.push_back({0, text_of(layout.preamble())});
    layout.add(mcap::Schema{.id = 1, .name = "t/T", .encoding = "ros2msg", .data = mcap::Bytes(10)});
    mcap::Compressor lz4(mcap::Compression::Lz4);
    Seam end = layout.end();
    for (std::uint32_t i = 0; i < 5; ++i) {
      if (i < 2)
        layout.add(mcap::Channel{
            .id = static_cast<std::uint16_t>(1 + i), .schema_id = 1, .topic = "/c", .message_encoding = "cdr"});
      const auto channel = static_cast<std::uint16_t>(1 + i % 2);
      AlignedBuffer payload;
      Batch batch;
      PlacedChunk placed;
      if (i == 3) {
        for (std::uint32_t k = 0; k < 6; ++k) {
          const mcap::Bytes data(20 + k, static_cast<std::byte>(k));
          batch.add({channel, 100 + k, 1000 + k, 7}, data, {}, {});
          r.messages[100 + k] = text_of(data);
        }
        batch.close(lz4, true);
        placed = layout.place(batch);
        r.writes.push_back({placed.body_offset, text_of(batch.body().blocks())});
      } else {
        payload.append(
            mcap::Bytes(std::array<std::size_t, 5>{100, 4096, 5000, 0, 9000}[i], static_cast<std::byte>(65 + i)));
        const mcap::Bytes prefix(10 + i, std::byte{1}), suffix(i, std::byte{2});
        placed = layout.place(FrameChunk{.head = {channel, i, 1000 + i, 7},
                                         .prefix = prefix,
                                         .payload = payload.view(),
                                         .suffix = suffix,
                                         .checksum = i % 2 == 0});
        r.messages[i] = text_of(prefix) + text_of(payload.view()) + text_of(suffix);
        if (!placed.payload.empty()) r.writes.push_back({placed.body_offset, text_of(placed.payload)});
        r.writes.push_back({placed.body_offset + placed.payload.size(), text_of(placed.tail.blocks())});
      }
      r.writes.push_back({placed.head_offset, text_of(placed.head.blocks())});
      end = placed.end;
      if (i == 2) r.writes.push_back({0, text_of(layout.mark(end.offset).view())});
    }
    auto trailer = layout.finish(layout.chunks(), end, {});
    r.writes.push_back({trailer.offset, text_of(trailer.bytes.blocks())});
    return r;
  }();
  return made;
}

enum Op : std::uint8_t { kWrite, kWriteNext, kCut, kByte, kWord, kOps };

/// The first byte: whether it was the kernel that died. Then what reached the disk, and what did not.
void run(std::string_view input) {
  const Recording& r = recording();
  Input in(input);
  const std::uint8_t how = in.byte();
  std::string disk;
  bool honest = true, cut = false;
  std::size_t next = 0;
  for (int ops = 0; ops < 64 && !in.empty(); ++ops) {
    const std::uint8_t op = in.byte() % kOps;
    switch (op) {
      case kWrite:
      case kWriteNext: {
        if (op == kWrite) next = in.byte() % r.writes.size();
        // The recorder keeps its order, and writes nothing after its death.
        honest = honest && op == kWriteNext && !cut && (next != 0 || disk.empty());
        const Recording::Write& w = r.writes[next];
        next = (next + 1) % r.writes.size();
        if (disk.size() < w.offset + w.bytes.size()) disk.resize(w.offset + w.bytes.size());
        std::memcpy(disk.data() + w.offset, w.bytes.data(), w.bytes.size());
        break;
      }
      case kCut:
        disk.resize(std::min<std::size_t>(disk.size(), in.number(3)));
        cut = true;
        break;
      default: {
        const std::size_t at = in.number(3), count = op == kByte ? 1 : 8;
        const std::uint64_t value = in.number(count);
        if (at + count <= disk.size()) std::memcpy(disk.data() + at, &value, count);
        honest = false;
        break;
      }
    }
  }
  const MemoryFile file(disk);
  try {
    const mcap::Reader reader(
        file.path(), {.rescan = (how & 2U) != 0,
                      .scanning = {.search = (how & 4U) != 0,
                                   .mount = mcap::MountIdentity{(how & 1U) != 0 ? "after" : "before", "1", {}}}});
    std::size_t count = 0;
    mcap::Messages messages = reader.messages();
    while (const auto one = messages.next()) {
      if (++count > 1'000'000) fail("endless messages");
      if (!honest) continue;
      const auto known = r.messages.find(one->message.sequence);
      require(known != r.messages.end() && known->second == text_of(one->message.data),
              "a message that was not recorded so");
    }
    require(!honest || count <= r.messages.size(), "more messages than were recorded");
    (void)mcap::verify(file.path());
  } catch (const Error& e) {
    require(e.code() == ErrorCode::InvalidArgument, "the file's fault was taken for the disk's");
  }
}

std::vector<std::string> seeds() {
  std::vector<std::string> all;
  for (const char how : {'\0', '\1', '\3', '\4'}) {
    for (const std::size_t writes : {recording().writes.size(), std::size_t{4}, std::size_t{7}})
      all.push_back(how + std::string(writes, static_cast<char>(kWriteNext)));
    all.push_back(how + std::string(6, static_cast<char>(kWriteNext)) + static_cast<char>(kCut) +
                  std::string("\0\x30\0", 3));
    all.push_back(how + std::string(9, static_cast<char>(kWriteNext)) + static_cast<char>(kByte) +
                  std::string("\x10\x11\0\xff", 4));
  }
  return all;
}

}  // namespace
CARDAN_FUZZ_TARGET(mcap_seam, run, seeds)
}  // namespace cardan::fuzz::mcap_seam_target
