// SPDX-License-Identifier: Apache-2.0
#include "cardan/mcap/compression.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <lz4frame.h>
#include <zstd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <span>

#include "cardan/error.hpp"
#include "cardan/mcap/record_reader.hpp"

namespace cardan::mcap {
namespace {

[[noreturn]] void refused(const char* library, const char* why) {
  throw Error(ErrorCode::System, std::string(library) + " cannot compress: " + why, "free memory, or do not compress");
}

constexpr std::size_t kScratch = 128 << 10;

/// A chunk is unpacked as a whole.
constexpr std::uint64_t kMostUnpacked = std::uint64_t{4} << 30;

/// The bytes that one call of a library's stream took and gave. `left` 0: a frame has ended.
struct Step {
  std::size_t left = 0, taken = 0, given = 0;
};

/// Bytes that a chunk's records may well have: for that much room is made at once. More is counted first, which takes
/// the time of unpacking it once more.
std::uint64_t likely_size(std::uint64_t packed) { return 64 * packed + (1U << 20); }
std::uint64_t likely_size(View in) { return likely_size(in.size()); }

/// Runs a library's stream to its end. The bytes go to `out`; if that is empty, they are only counted. Returns why they
/// are not exactly `size`; nullptr: they are.
template <class Take>
const char* run(View in, std::uint64_t size, std::span<std::byte> out, bool one_frame, const char* damaged,
                Take&& take) {
  Bytes scratch(out.empty() ? kScratch : 1);  // after the end of `out`, so that too much is noticed
  std::uint64_t written = 0;
  for (;;) {
    const std::span<std::byte> to = written < out.size() ? out.subspan(static_cast<std::size_t>(written)) : scratch;
    const std::optional<Step> step = take(to.data(), to.size(), in);
    if (!step) return damaged;
    written += step->given;
    in = in.subspan(step->taken);
    if (written > size || (step->left == 0 && (one_frame || in.empty()))) break;
    if (step->taken == 0 && step->given == 0) return "its compressed records are cut short, or longer than it says";
  }
  return written == size && in.empty() ? nullptr : "its compressed records have another size than it says";
}

void make_room(Bytes& out, std::uint64_t size) {
  if (out.capacity() < size) Bytes().swap(out);  // not two of them at a time
  out.resize(static_cast<std::size_t>(size));
}

const char* run_lz4(View in, std::uint64_t size, std::span<std::byte> out) {
  LZ4F_dctx* context = nullptr;
  if (LZ4F_isError(LZ4F_createDecompressionContext(&context, LZ4F_VERSION)) != 0) return "no memory for lz4";
  const std::unique_ptr<LZ4F_dctx, decltype(&LZ4F_freeDecompressionContext)> owner(context,
                                                                                   &LZ4F_freeDecompressionContext);
  return run(in, size, out, true, "its lz4 frame is damaged",
             [&](std::byte* to, std::size_t room, View from) -> std::optional<Step> {
               std::size_t given = room, taken = from.size();
               const std::size_t left = LZ4F_decompress(context, to, &given, from.data(), &taken, nullptr);
               if (LZ4F_isError(left) != 0) return std::nullopt;
               return Step{left, taken, given};
             });
}

const char* decompress_lz4(View in, std::uint64_t size, Bytes& out) {
  if (size > likely_size(in))
    if (const char* const why = run_lz4(in, size, {})) return why;
  make_room(out, size);
  return run_lz4(in, size, out);
}

const char* decompress_zstd(View in, std::uint64_t size, Bytes& out) {
  constexpr const char* kDamaged = "its zstd frame is damaged";
  if (const auto own = ZSTD_getFrameContentSize(in.data(), in.size());  // before room is made for what it claims
      own == ZSTD_CONTENTSIZE_ERROR || (own != ZSTD_CONTENTSIZE_UNKNOWN && own > size))
    return own == ZSTD_CONTENTSIZE_ERROR ? kDamaged : "its zstd frame has another size than it says";
  if (size > likely_size(in)) {
    const std::unique_ptr<ZSTD_DCtx, decltype(&ZSTD_freeDCtx)> context(ZSTD_createDCtx(), &ZSTD_freeDCtx);
    if (context == nullptr) return "no memory for zstd";
    const char* const why =
        run(in, size, {}, false, kDamaged, [&](std::byte* to, std::size_t room, View from) -> std::optional<Step> {
          ZSTD_outBuffer output{to, room, 0};
          ZSTD_inBuffer input{from.data(), from.size(), 0};
          const std::size_t left = ZSTD_decompressStream(context.get(), &output, &input);
          if (ZSTD_isError(left) != 0) return std::nullopt;
          return Step{left, input.pos, output.pos};
        });
    if (why != nullptr) return why;
  }
  make_room(out, size);
  const std::size_t written = ZSTD_decompress(out.data(), out.size(), in.data(), in.size());
  if (ZSTD_isError(written) != 0) return kDamaged;
  return written == size ? nullptr : "its zstd frame has another size than it says";
}

std::atomic<std::uint64_t>& limit() {
  static std::atomic<std::uint64_t> bytes = [] {
    std::uint64_t set = 0;
    const char* const text = std::getenv("CARDAN_MAX_CHUNK");
    if (text != nullptr) std::from_chars(text, text + std::strlen(text), set);
    return set == 0 ? std::uint64_t{512} << 20 : set;
  }();
  return bytes;
}

}  // namespace

std::string_view name_of(Compression compression) noexcept {
  return compression == Compression::None ? "" : kCompressionNames[static_cast<std::size_t>(compression)];
}

std::optional<Compression> compression_named(std::string_view name) noexcept {
  if (name.empty()) return Compression::None;
  const auto* const found = std::find(kCompressionNames.begin(), kCompressionNames.end(), name);
  if (found == kCompressionNames.end()) return std::nullopt;
  return static_cast<Compression>(found - kCompressionNames.begin());
}

Compression require_compression(std::string_view name) {
  if (const auto compression = compression_named(name); compression && !name.empty()) return *compression;
  throw Error(ErrorCode::InvalidArgument, fmt::format("unknown compression '{}'", name),
              fmt::format("use {}", fmt::join(kCompressionNames, ", ")));
}

Levels levels_of(Compression compression) noexcept {
  switch (compression) {
    case Compression::None:
      break;
    case Compression::Lz4:
      return {-65'537, LZ4F_compressionLevel_max()};  // below 0: its acceleration
    case Compression::Zstd:
      return {ZSTD_minCLevel(), ZSTD_maxCLevel()};
  }
  return {};
}

struct Compressor::State {
  std::unique_ptr<ZSTD_CCtx, decltype(&ZSTD_freeCCtx)> zstd{nullptr, &ZSTD_freeCCtx};
};

Compressor::Compressor(Compression compression, int level)
    : kind_(compression), level_(level), state_(std::make_unique<State>()) {
  if (kind_ != Compression::Zstd) return;
  state_->zstd.reset(ZSTD_createCCtx());
  if (state_->zstd == nullptr) refused("zstd", "no memory");
}
Compressor::~Compressor() = default;
Compressor::Compressor(Compressor&&) noexcept = default;
Compressor& Compressor::operator=(Compressor&&) noexcept = default;

void Compressor::append(Bytes& out, View bytes) {
  const std::size_t at = out.size();
  switch (kind_) {
    case Compression::None:
      out.insert(out.end(), bytes.begin(), bytes.end());
      return;
    case Compression::Lz4: {
      LZ4F_preferences_t preferences{};
      preferences.compressionLevel = level_;
      preferences.frameInfo.contentSize = bytes.size();
      preferences.frameInfo.blockSizeID = LZ4F_max4MB;
      out.resize(at + LZ4F_compressFrameBound(bytes.size(), &preferences));
      const std::size_t size =
          LZ4F_compressFrame(out.data() + at, out.size() - at, bytes.data(), bytes.size(), &preferences);
      if (LZ4F_isError(size) != 0) refused("lz4", LZ4F_getErrorName(size));
      out.resize(at + size);
      return;
    }
    case Compression::Zstd: {
      out.resize(at + ZSTD_compressBound(bytes.size()));
      const std::size_t size =
          ZSTD_compressCCtx(state_->zstd.get(), out.data() + at, out.size() - at, bytes.data(), bytes.size(), level_);
      if (ZSTD_isError(size) != 0) refused("zstd", ZSTD_getErrorName(size));
      out.resize(at + size);
      return;
    }
  }
}

const char* decompress(std::string_view compression, View in, std::uint64_t size, Bytes& out) {
  if (compression.empty()) {
    if (in.size() != size) return "its records have another size than it says";
    out.assign(in.begin(), in.end());
    return nullptr;
  }
  if (size > kMostUnpacked) return "its records are larger than 4 GiB when they are unpacked";
  // Neither can make more than about 255 (lz4) or 128 Ki (zstd) bytes of one: a liar's size is not worth an allocation.
  const std::uint64_t most = compression == "lz4" ? 256 : std::uint64_t{1} << 18;
  if (size / most > in.size()) return "its records cannot be as large as it says";
  if (compression == "lz4") return decompress_lz4(in, size, out);
  if (compression == "zstd") return decompress_zstd(in, size, out);
  return "its compression is not supported";
}

const char* unpack_zstd(const std::function<std::size_t(std::span<std::byte>)>& read,
                        const std::function<void(View)>& write, std::uint64_t most) {
  // (The library refuses a window of more than 128 MiB.)
  const std::unique_ptr<ZSTD_DCtx, decltype(&ZSTD_freeDCtx)> context(ZSTD_createDCtx(), &ZSTD_freeDCtx);
  if (context == nullptr) return "there is no memory for zstd";
  Bytes in(ZSTD_DStreamInSize()), out(ZSTD_DStreamOutSize());
  std::size_t left = 1;  // of the frame; 0: it has ended
  while (const std::size_t bytes = read(in)) {
    ZSTD_inBuffer input{in.data(), bytes, 0};
    ZSTD_outBuffer output{out.data(), out.size(), 0};
    // After what fills the room for it, more may follow, also without further input.
    for (bool more = true; more; more = input.pos < input.size || (left != 0 && output.pos == output.size)) {
      output.pos = 0;
      left = ZSTD_decompressStream(context.get(), &output, &input);
      if (ZSTD_isError(left) != 0) return "its zstd frame is damaged";
      if (output.pos > most) return "it holds too much when it is unpacked";
      most -= output.pos;
      write(View(out).first(output.pos));
    }
  }
  return left == 0 ? nullptr : "its zstd frame is cut short";
}

std::uint64_t most_unpacked_of(std::uint64_t packed) noexcept {
  return std::max(unpacked_limit(), likely_size(std::min(packed, std::uint64_t{1} << 50)));
}

bool PackedMessages::is_packed(View message) noexcept {
  constexpr std::array<unsigned char, 4> kFrame{0x28, 0xb5, 0x2f, 0xfd};
  return message.size() > kFrame.size() && std::memcmp(message.data(), kFrame.data(), kFrame.size()) == 0;
}

std::string PackedMessages::unpack(View message, Bytes& out) {
  const auto size = ZSTD_getFrameContentSize(message.data(), message.size());
  if (size == ZSTD_CONTENTSIZE_ERROR || size == ZSTD_CONTENTSIZE_UNKNOWN)
    return "a compressed message is damaged, or does not say how much it holds";
  if (size > unpacked_limit()) return "a compressed message " + too_large_text(size, unpacked_limit());
  if (size > left_) return "the compressed messages of the file hold too much when they are unpacked (--max-chunk)";
  if (const char* const why = decompress("zstd", message, size, out))
    return std::string("a compressed message is damaged: ") + why;
  left_ -= size;
  return {};
}

std::uint64_t unpacked_limit() noexcept { return limit().load(std::memory_order_relaxed); }
void set_unpacked_limit(std::uint64_t bytes) noexcept { limit().store(bytes, std::memory_order_relaxed); }

}  // namespace cardan::mcap
