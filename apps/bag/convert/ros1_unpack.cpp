// SPDX-License-Identifier: Apache-2.0
#if defined(CARDAN_HAS_BZIP2)
#include <bzlib.h>
#endif
#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "apps/bag/convert/ros1_bag.hpp"
#include "cardan/mcap/compression.hpp"
#include "cardan/mcap/record_reader.hpp"
#include "cardan/stop.hpp"

namespace cardan::apps {
namespace {

#if defined(CARDAN_HAS_BZIP2)
constexpr std::size_t kStep = std::size_t{1} << 20;  ///< a moment's work, after which a stop is noticed
constexpr std::uint64_t kLikelyRatio = 64;           ///< bz2 compresses most data less

/// Unpacks into `out`, or, if that is null, only counts. Returns why it is impossible; nullptr: there are `size` bytes.
const char* run_bz2(mcap::View packed, std::uint64_t size, mcap::Bytes* out) {
  bz_stream stream{};
  if (BZ2_bzDecompressInit(&stream, 0, 0) != BZ_OK) return "no memory for decompression";
  const std::unique_ptr<bz_stream, int (*)(bz_stream*)> end(&stream, BZ2_bzDecompressEnd);
  stream.next_in = const_cast<char*>(reinterpret_cast<const char*>(packed.data()));  // it only reads there
  stream.avail_in = static_cast<unsigned>(packed.size());
  mcap::Bytes scratch(out == nullptr ? kStep : 1);
  std::uint64_t done = 0;
  for (int state = BZ_OK; state != BZ_STREAM_END;) {
    if (stopping()) return "stopped";
    // After the end there is room for more, so that too much is noticed.
    const bool to_out = out != nullptr && done < size;
    const auto room = static_cast<unsigned>(to_out ? std::min<std::uint64_t>(size - done, kStep) : scratch.size());
    const unsigned before = stream.avail_in;
    stream.next_out = reinterpret_cast<char*>(to_out ? out->data() + done : scratch.data());
    stream.avail_out = room;
    state = BZ2_bzDecompress(&stream);
    if (state != BZ_OK && state != BZ_STREAM_END) return "a chunk's bz2 data is damaged";
    done += room - stream.avail_out;
    if (done > size) break;
    if (state == BZ_OK && stream.avail_out == room && stream.avail_in == before)
      return "a chunk's bz2 data ends too early";
  }
  return done == size ? nullptr : "a chunk's data has another size than the chunk says";
}

const char* unpack_bz2(mcap::View packed, std::uint64_t size, mcap::Bytes& out) {
  if (size > kLikelyRatio * packed.size() + kStep)  // before room is made for what it claims
    if (const char* const why = run_bz2(packed, size, nullptr)) return why;
  mcap::Bytes().swap(out);
  out.resize(static_cast<std::size_t>(size));
  return run_bz2(packed, size, &out);
}
#else
const char* unpack_bz2(mcap::View, std::uint64_t, mcap::Bytes&) {
  return "a chunk is compressed with bz2, and this cardan was built without it: install libbz2-dev and build again";
}
#endif

}  // namespace

std::string unpack_ros1(std::string_view compression, mcap::View packed, std::uint64_t size, mcap::Bytes& out) {
  if (size > mcap::unpacked_limit()) return "a chunk " + mcap::too_large_text(size, mcap::unpacked_limit());
  const char* why = "the compression of a chunk is not supported";
  if (compression == "bz2") why = unpack_bz2(packed, size, out);
  if (compression == "lz4") {
    why = mcap::decompress(compression, packed, size, out);
    if (why != nullptr) return fmt::format("a chunk is damaged: {}", why);
  }
  return why == nullptr ? std::string() : std::string(why);
}

}  // namespace cardan::apps
