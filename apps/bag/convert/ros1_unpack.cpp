// SPDX-License-Identifier: Apache-2.0
#include <lz4frame.h>
#if defined(CARDAN_HAS_BZIP2)
#include <bzlib.h>
#endif

#include <algorithm>
#include <cstring>
#include <memory>

#include "apps/bag/convert/ros1_bag.hpp"

namespace cardan::apps {
namespace {

constexpr std::uint64_t kMostChunk = std::uint64_t{1} << 29;  ///< rosbag makes them of 768 KiB, or of one message
constexpr std::size_t kStep = std::size_t{1} << 20;
constexpr const char* kOtherSize = "a chunk's data has another size than the chunk says";

/// Room for what comes next; at most a byte more than there may be, so that too much is noticed.
std::size_t grow(mcap::Bytes& out, std::size_t used, std::uint64_t size) {
  const std::size_t room = static_cast<std::size_t>(std::min<std::uint64_t>(size + 1 - used, std::max(kStep, used)));
  out.resize(used + room);
  return room;
}

const char* unpack_lz4(mcap::View packed, std::uint64_t size, mcap::Bytes& out) {
  LZ4F_dctx* raw = nullptr;
  if (LZ4F_isError(LZ4F_createDecompressionContext(&raw, LZ4F_VERSION)) != 0) return "no memory for decompression";
  const std::unique_ptr<LZ4F_dctx, LZ4F_errorCode_t (*)(LZ4F_dctx*)> context(raw, LZ4F_freeDecompressionContext);
  std::size_t used = 0, hint = 1;
  while (hint != 0) {
    if (used > size) return kOtherSize;
    std::size_t room = grow(out, used, size), taken = packed.size();
    hint = LZ4F_decompress(context.get(), out.data() + used, &room, packed.data(), &taken, nullptr);
    if (LZ4F_isError(hint) != 0) return "a chunk's lz4 data is damaged";
    if (room == 0 && taken == 0 && hint != 0) return "a chunk's lz4 data ends too early";
    used += room;
    packed = packed.subspan(taken);
  }
  out.resize(used);
  return used == size ? nullptr : kOtherSize;
}

#if defined(CARDAN_HAS_BZIP2)
const char* unpack_bz2(mcap::View packed, std::uint64_t size, mcap::Bytes& out) {
  bz_stream stream{};
  if (BZ2_bzDecompressInit(&stream, 0, 0) != BZ_OK) return "no memory for decompression";
  const std::unique_ptr<bz_stream, int (*)(bz_stream*)> end(&stream, BZ2_bzDecompressEnd);
  mcap::Bytes copy(packed.begin(), packed.end());  // the library takes what is not const
  stream.next_in = reinterpret_cast<char*>(copy.data());
  stream.avail_in = static_cast<unsigned>(copy.size());
  std::size_t used = 0;
  for (int state = BZ_OK; state != BZ_STREAM_END;) {
    if (used > size) return kOtherSize;
    const std::size_t room = grow(out, used, size);
    const unsigned before = stream.avail_in;
    stream.next_out = reinterpret_cast<char*>(out.data() + used);
    stream.avail_out = static_cast<unsigned>(room);
    state = BZ2_bzDecompress(&stream);
    if (state != BZ_OK && state != BZ_STREAM_END) return "a chunk's bz2 data is damaged";
    used += room - stream.avail_out;
    if (state == BZ_OK && stream.avail_out == room && stream.avail_in == before)
      return "a chunk's bz2 data ends too early";
  }
  out.resize(used);
  return used == size ? nullptr : kOtherSize;
}
#else
const char* unpack_bz2(mcap::View, std::uint64_t, mcap::Bytes&) {
  return "a chunk is compressed with bz2, and this cardan was built without it: install libbz2-dev and build again";
}
#endif

}  // namespace

const char* unpack_ros1(std::string_view compression, mcap::View packed, std::uint64_t size, mcap::Bytes& out) {
  if (size > kMostChunk) return "a chunk claims to hold more than 512 MiB";
  if (compression == "lz4") return unpack_lz4(packed, size, out);
  if (compression == "bz2") return unpack_bz2(packed, size, out);
  return "the compression of a chunk is not supported";
}

}  // namespace cardan::apps
