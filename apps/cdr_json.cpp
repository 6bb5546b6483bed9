// SPDX-License-Identifier: Apache-2.0
#include "apps/cdr_json.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <nlohmann/json.hpp>
#include <string>

#include "apps/wide_text.hpp"

namespace cardan::apps {
namespace {

using Json = nlohmann::ordered_json;
using Kind = RosType::Kind;

/// How DDS implementations write the letters of a wstring, behind a number.
enum class Letters : std::uint8_t {
  Two,         ///< of so many letters of two bytes: Fast DDS since ROS 2 Jazzy, and Cardan
  Four,        ///< of four bytes: Fast DDS up to ROS 2 Iron, and Cyclone DDS of those days
  TwoByBytes,  ///< of so many bytes, two a letter: Cyclone DDS
};

class Walk {
 public:
  Walk(std::span<const std::byte> bytes, bool swapped, std::size_t most_alignment, std::size_t longest_list,
       Letters letters)
      : bytes_(bytes),
        swapped_(swapped),
        most_alignment_(most_alignment),
        longest_list_(longest_list),
        letters_(letters) {}

  [[nodiscard]] bool ok() const noexcept { return ok_; }
  [[nodiscard]] bool met_letters() const noexcept { return met_letters_; }
  /// To the end of the bytes, but for what fills them up.
  [[nodiscard]] bool fits() const noexcept { return ok_ && left() < 4; }

  Json message(const RosMessage& m, bool wanted) {
    Json out = wanted ? Json::object() : Json();
    for (const RosField& field : m.fields) {
      Json value = value_of(field.type, wanted);
      if (!ok_) break;
      if (wanted) out[field.name] = std::move(value);
    }
    if (m.fields.empty()) skip(1);  // ROS gives an empty message one byte
    return out;
  }

 private:
  Json value_of(const RosType& type, bool wanted) {
    if (type.many == RosType::Many::One) return one(type, wanted);
    const std::size_t count = type.many == RosType::Many::Fixed ? type.count : number<std::uint32_t>();
    if (const std::size_t each = size_of(type.kind); each != 0 && ok_) {
      if (count > 0) align(each);
      if (count > left() / each) return fail();
    } else if (count > left()) {  // each has a byte at least
      return fail();
    }
    Json items = wanted ? Json::array() : Json();
    const std::size_t shown = wanted ? std::min(count, longest_list_) : 0;
    for (std::size_t i = 0; i < shown && ok_; ++i) items.push_back(one(type, true));
    if (const std::size_t each = size_of(type.kind); each != 0) {
      skip((count - shown) * each);
    } else {
      for (std::size_t i = shown; i < count && ok_; ++i) one(type, false);
    }
    if (!wanted || shown == count) return items;
    return {{"count", count}, {"first", std::move(items)}};
  }

  Json one(const RosType& type, bool wanted) {
    switch (type.kind) {
      case Kind::Bool:
        return number<std::uint8_t>() != 0;
      case Kind::Int8:
        return number<std::int8_t>();
      case Kind::Uint8:
        return number<std::uint8_t>();
      case Kind::Int16:
        return number<std::int16_t>();
      case Kind::Uint16:
        return number<std::uint16_t>();
      case Kind::Int32:
        return number<std::int32_t>();
      case Kind::Uint32:
        return number<std::uint32_t>();
      case Kind::Int64:
        return number<std::int64_t>();
      case Kind::Uint64:
        return number<std::uint64_t>();
      case Kind::Float32:
        return number<float>();
      case Kind::Float64:
        return number<double>();
      case Kind::String:
        return text();
      case Kind::WString:
        return wide_text();
      case Kind::Message:
        return message(*type.message, wanted);
    }
    return fail();
  }

  template <class T>
  T number() {
    align(sizeof(T));
    T value{};
    if (left() < sizeof value) {
      ok_ = false;
      return value;
    }
    std::array<std::byte, sizeof value> raw{};
    std::copy_n(bytes_.begin() + static_cast<std::ptrdiff_t>(at_), raw.size(), raw.begin());
    if (swapped_) std::reverse(raw.begin(), raw.end());
    std::memcpy(&value, raw.data(), raw.size());
    at_ += sizeof value;
    return value;
  }

  Json text() {
    const std::size_t bytes = number<std::uint32_t>();  // with the zero at its end
    if (!ok_ || bytes > left()) return fail();
    const char* const begin = reinterpret_cast<const char*>(bytes_.data()) + at_;
    at_ += bytes;
    return std::string(begin, bytes == 0 ? 0 : bytes - 1);
  }

  Json wide_text() {
    const std::size_t said = number<std::uint32_t>();
    const std::size_t each = letters_ == Letters::Four ? 4 : 2;
    const std::size_t units = letters_ == Letters::TwoByBytes ? said / 2 : said;
    met_letters_ = true;
    if (!ok_ || units > left() / each || (letters_ == Letters::TwoByBytes && said % 2 != 0)) return fail();
    std::u16string wide;
    for (std::size_t i = 0; i < units && ok_; ++i) {
      const std::uint32_t unit = each == 4 ? number<std::uint32_t>() : number<std::uint16_t>();
      if (unit > 0xffff) return fail();
      wide += static_cast<char16_t>(unit);
    }
    return utf8(wide);
  }

  void align(std::size_t to) {
    to = std::min(to, most_alignment_);
    skip((to - at_ % to) % to);
  }
  void skip(std::size_t bytes) {
    if (bytes > left()) ok_ = false;
    at_ += std::min(bytes, left());
  }
  [[nodiscard]] std::size_t left() const noexcept { return bytes_.size() - at_; }
  Json fail() {
    ok_ = false;
    return nullptr;
  }

  std::span<const std::byte> bytes_;
  bool swapped_;
  std::size_t most_alignment_;
  std::size_t longest_list_;
  Letters letters_;
  std::size_t at_ = 0;
  bool ok_ = true, met_letters_ = false;
};

}  // namespace

std::optional<Json> cdr_json(const RosSchema& schema, std::span<const std::byte> cdr, std::size_t longest_list) {
  if (cdr.size() < 4 || cdr[0] != std::byte{0}) return std::nullopt;
  // The encapsulation: 0/1 plain XCDR1, 6/7 plain XCDR2; odd ones are little-endian.
  const auto form = static_cast<unsigned>(cdr[1]);
  if (form > 1 && form != 6 && form != 7) return std::nullopt;
  std::optional<Json> first;
  for (const Letters letters : {Letters::Two, Letters::Four, Letters::TwoByBytes}) {
    Walk walk(cdr.subspan(4), form % 2 == 0, form > 1 ? 4 : 8, longest_list, letters);
    Json message = walk.message(schema.root(), true);
    // Nothing but the length of the whole tells which form it is.
    if (walk.fits() || (walk.ok() && !walk.met_letters())) return message;
    if (walk.ok() && !first) first = std::move(message);
    if (!walk.met_letters()) break;
  }
  return first;
}

}  // namespace cardan::apps
