// SPDX-License-Identifier: Apache-2.0
#include "cardan/record/mcap/compression.hpp"

#include <lz4frame.h>
#include <zstd.h>

#include <algorithm>

#include "cardan/memory/error.hpp"

namespace cardan::mcap {
namespace {

[[noreturn]] void refused(const char* library, const char* why) {
  throw Error(ErrorCode::System, std::string(library) + " cannot compress: " + why, "free memory, or do not compress");
}

const char* decompress_lz4(View in, Bytes& out) {
  LZ4F_dctx* context = nullptr;
  if (LZ4F_isError(LZ4F_createDecompressionContext(&context, LZ4F_VERSION)) != 0) return "no memory for lz4";
  const std::unique_ptr<LZ4F_dctx, decltype(&LZ4F_freeDecompressionContext)> owner(context,
                                                                                   &LZ4F_freeDecompressionContext);
  std::size_t written = 0;
  std::size_t hint = 1;
  while (hint != 0) {
    std::size_t to = out.size() - written;
    std::size_t from = in.size();
    hint = LZ4F_decompress(context, out.data() + written, &to, in.data(), &from, nullptr);
    if (LZ4F_isError(hint) != 0) return "its lz4 frame is damaged";
    if (hint != 0 && to == 0 && from == 0) return "its lz4 frame is cut short, or longer than it says";
    written += to;
    in = in.subspan(from);
  }
  return written == out.size() && in.empty() ? nullptr : "its lz4 frame has another size than it says";
}

}  // namespace

const char* name_of(Compression compression) noexcept {
  switch (compression) {
    case Compression::None:
      return "";
    case Compression::Lz4:
      return "lz4";
    case Compression::Zstd:
      return "zstd";
  }
  return "";
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
  // Neither can make more than about 255 (lz4) or 128 Ki (zstd) bytes of one: a liar's size is not worth an allocation.
  const std::uint64_t most = compression == "lz4" ? 256 : std::uint64_t{1} << 18;
  if (size / most > in.size()) return "its records cannot be as large as it says";
  if (compression == "zstd")  // before room is made for what it claims
    if (const auto own = ZSTD_getFrameContentSize(in.data(), in.size());
        own == ZSTD_CONTENTSIZE_ERROR || (own != ZSTD_CONTENTSIZE_UNKNOWN && own > size))
      return own == ZSTD_CONTENTSIZE_ERROR ? "its zstd frame is damaged"
                                           : "its zstd frame has another size than it says";
  out.resize(static_cast<std::size_t>(size));
  if (compression == "lz4") return decompress_lz4(in, out);
  if (compression != "zstd") return "its compression is not known";
  const std::size_t written = ZSTD_decompress(out.data(), out.size(), in.data(), in.size());
  if (ZSTD_isError(written) != 0) return "its zstd frame is damaged";
  return written == size ? nullptr : "its zstd frame has another size than it says";
}

}  // namespace cardan::mcap
