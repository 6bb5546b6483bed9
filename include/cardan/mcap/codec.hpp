// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Records to bytes and back. Any thread; does not block.

#include <concepts>
#include <cstring>
#include <optional>
#include <type_traits>

#include "cardan/detail/checksum.hpp"
#include "cardan/mcap/records.hpp"

namespace cardan::mcap {
namespace detail {

// MCAP is little-endian, as all that Cardan runs on.
template <std::integral T>
void put(Bytes& out, T value) {
  const auto* const bytes = reinterpret_cast<const std::byte*>(&value);
  out.insert(out.end(), bytes, bytes + sizeof value);
}
inline void put(Bytes& out, View bytes) { out.insert(out.end(), bytes.begin(), bytes.end()); }

class Encoder {
 public:
  explicit Encoder(Bytes& out) noexcept : out_(out) {}

  template <std::integral T>
  void operator()(const char*, const T& value) {
    put(out_, value);
  }
  void operator()(const char*, const std::string& text) { put_text(text); }
  void operator()(const char*, const Bytes& bytes) {
    put(out_, static_cast<std::uint32_t>(bytes.size()));
    put(out_, View(bytes));
  }
  void operator()(const char*, const View& bytes) {
    put(out_, std::uint64_t{bytes.size()});
    put(out_, bytes);
  }
  void operator()(const char*, const Rest& bytes) { put(out_, bytes); }
  void operator()(const char*, const std::map<std::string, std::string>& map) {
    sized([&] {
      for (const auto& [key, value] : map) put_text(key), put_text(value);
    });
  }
  void operator()(const char*, const std::map<std::uint16_t, std::uint64_t>& map) { pairs(map); }
  void operator()(const char*, const std::vector<std::pair<std::uint64_t, std::uint64_t>>& list) { pairs(list); }

 private:
  void put_text(const std::string& text) {
    put(out_, static_cast<std::uint32_t>(text.size()));
    put(out_, std::as_bytes(std::span(text)));
  }
  void pairs(const auto& list) {
    sized([&] {
      for (const auto& [first, second] : list) put(out_, first), put(out_, second);
    });
  }
  void sized(auto&& write) {
    const std::size_t at = out_.size();
    put(out_, std::uint32_t{0});
    write();
    const auto bytes = static_cast<std::uint32_t>(out_.size() - at - sizeof(std::uint32_t));
    std::memcpy(out_.data() + at, &bytes, sizeof bytes);
  }

  Bytes& out_;
};

/// Never reads beyond the content, whatever its lengths say; ok() tells whether all was there. Bytes of a newer writer
/// after the known fields are ignored, as the specification asks.
class Decoder {
 public:
  explicit Decoder(View content) noexcept : left_(content) {}
  [[nodiscard]] bool ok() const noexcept { return ok_; }
  [[nodiscard]] View left() const noexcept { return left_; }

  template <std::integral T>
  void operator()(const char*, T& value) {
    if (const View bytes = take(sizeof value); ok_) std::memcpy(&value, bytes.data(), sizeof value);
  }
  void operator()(const char*, std::string& text) {
    const View bytes = block<std::uint32_t>();
    text.assign(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  }
  void operator()(const char*, Bytes& data) {
    const View bytes = block<std::uint32_t>();
    data.assign(bytes.begin(), bytes.end());
  }
  void operator()(const char*, View& bytes) { bytes = block<std::uint64_t>(); }
  void operator()(const char*, Rest& bytes) { bytes = take(left_.size()); }
  void operator()(const char* name, auto& list) {  // a map, or a list of pairs
    Decoder inner(block<std::uint32_t>());
    while (ok_ && !inner.left_.empty()) {
      std::pair<std::remove_const_t<typename std::remove_cvref_t<decltype(list)>::value_type::first_type>,
                typename std::remove_cvref_t<decltype(list)>::value_type::second_type>
          item{};
      inner(name, item.first);
      inner(name, item.second);
      ok_ = inner.ok_;
      if (ok_) list.insert(list.end(), std::move(item));
    }
  }

 private:
  View take(std::uint64_t bytes) noexcept {
    if (!ok_ || bytes > left_.size()) {
      ok_ = false;
      return {};
    }
    const View taken = left_.first(static_cast<std::size_t>(bytes));
    left_ = left_.subspan(static_cast<std::size_t>(bytes));
    return taken;
  }
  template <class Length>
  View block() noexcept {
    Length bytes = 0;
    (*this)("", bytes);
    return take(bytes);
  }

  View left_;
  bool ok_ = true;
};

}  // namespace detail

/// Appends a record with its opcode and length. `extra` goes after its fields: readers skip it. (Not for Message,
/// DataEnd and Footer, which the specification never extends.)
template <class Record>
void append(Bytes& out, const Record& record, View extra = {}) {
  out.push_back(static_cast<std::byte>(Record::kOpcode));
  detail::put(out, std::uint64_t{0});
  const std::size_t content = out.size();
  Record::fields(record, detail::Encoder(out));
  if constexpr (std::is_same_v<Record, Attachment>) detail::put(out, crc32(View(out).subspan(content)));
  detail::put(out, extra);
  const std::uint64_t bytes = out.size() - content;
  std::memcpy(out.data() + content - sizeof bytes, &bytes, sizeof bytes);
}

/// A record of any kind.
struct RawRecord {
  std::uint8_t opcode = 0;  ///< an Opcode, or a number that the specification does not name
  View content{};           ///< without the opcode and the length
  /// Whether it is of this kind.
  [[nodiscard]] bool is(Opcode which) const noexcept { return opcode == static_cast<std::uint8_t>(which); }
};

/// The opcode and length at the beginning of `bytes` (kPrefixBytes of them).
struct Prefix {
  std::uint8_t opcode = 0;   ///< as RawRecord::opcode
  std::uint64_t length = 0;  ///< of the content

  /// Reads kPrefixBytes bytes; `bytes` must have them.
  explicit Prefix(View bytes) noexcept : opcode(static_cast<std::uint8_t>(bytes[0])) {
    std::memcpy(&length, bytes.data() + 1, sizeof length);
  }
  /// Whether the record is of this kind.
  [[nodiscard]] bool is(Opcode which) const noexcept { return opcode == static_cast<std::uint8_t>(which); }
};

/// Takes the first record off `left`. Empty: it is longer than what is left, and nothing is taken.
[[nodiscard]] inline std::optional<RawRecord> take_record(View& left) noexcept {
  if (left.size() < kPrefixBytes) return std::nullopt;
  const Prefix prefix(left);
  if (prefix.length > left.size() - kPrefixBytes) return std::nullopt;
  const auto length = static_cast<std::size_t>(prefix.length);
  const RawRecord record{prefix.opcode, left.subspan(kPrefixBytes, length)};
  left = left.subspan(kPrefixBytes + length);
  return record;
}

/// A record from its content (without opcode and length); its views point into that. Empty: it is cut short, a length
/// in it is wrong, or an attachment's checksum does not fit.
template <class Record>
[[nodiscard]] std::optional<Record> decode(View content) {
  Record record;
  detail::Decoder decoder(content);
  Record::fields(record, decoder);
  if constexpr (std::is_same_v<Record, Attachment>) {
    const View checked = content.first(content.size() - decoder.left().size());
    std::uint32_t crc = 0;
    decoder("crc", crc);
    if (crc != 0 && decoder.ok() && crc != crc32(checked)) return std::nullopt;
  }
  if (!decoder.ok()) return std::nullopt;
  return record;
}

}  // namespace cardan::mcap
