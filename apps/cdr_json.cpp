// SPDX-License-Identifier: Apache-2.0
#include "apps/cdr_json.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <nlohmann/json.hpp>
#include <string>

#include "apps/terminal/wide_text.hpp"
#include "src/messages/wide_form.hpp"

namespace cardan::apps {
namespace {

using Json = nlohmann::ordered_json;
using Kind = RosType::Kind;
using cardan::detail::WideForm;

class Walk {
 public:
  Walk(std::span<const std::byte> bytes, bool swapped, std::size_t most_alignment, std::size_t longest_list,
       WideForm wide)
      : bytes_(bytes), swapped_(swapped), most_alignment_(most_alignment), longest_list_(longest_list), wide_(wide) {}

  [[nodiscard]] bool ok() const noexcept { return ok_; }
  [[nodiscard]] std::size_t left() const noexcept { return bytes_.size() - at_; }
  /// A text was met that may be of another form.
  [[nodiscard]] bool met_wide() const noexcept { return met_wide_; }

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
    met_wide_ = true;
    std::size_t letters = number<std::uint32_t>();
    if (wide_ == WideForm::Bytes) {
      if (letters % 2 != 0) return fail();
      letters /= 2;
    }
    if (!ok_ || letters > left() / (wide_ == WideForm::FourBytes ? 4 : 2)) return fail();
    std::u16string wide;
    for (std::size_t i = 0; i < letters; ++i) {
      const std::uint32_t letter = wide_ == WideForm::FourBytes ? number<std::uint32_t>() : number<std::uint16_t>();
      if (letter > 0xffff) return fail();
      wide += static_cast<char16_t>(letter);
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
  Json fail() {
    ok_ = false;
    return nullptr;
  }

  std::span<const std::byte> bytes_;
  bool swapped_;
  std::size_t most_alignment_;
  std::size_t longest_list_;
  WideForm wide_;
  std::size_t at_ = 0;
  bool ok_ = true, met_wide_ = false;
};

}  // namespace

std::optional<Json> cdr_json(const RosSchema& schema, std::span<const std::byte> cdr, std::size_t longest_list) {
  if (cdr.size() < 4 || cdr[0] != std::byte{0}) return std::nullopt;
  // The encapsulation: 0/1 plain XCDR1, 6/7 plain XCDR2; odd ones are little-endian.
  const auto form = static_cast<unsigned>(cdr[1]);
  if (form > 1 && form != 6 && form != 7) return std::nullopt;
  std::optional<Json> likely;
  for (const WideForm wide : cardan::detail::kWideForms) {
    Walk walk(cdr.subspan(4), form % 2 == 0, form > 1 ? 4 : 8, longest_list, wide);
    Json message = walk.message(schema.root(), true);
    const bool certain = !walk.met_wide() || (walk.ok() && walk.left() < cardan::detail::kUsualPadding);
    if (certain) return walk.ok() ? std::optional(std::move(message)) : std::nullopt;
    if (walk.ok() && !likely) likely = std::move(message);
  }
  return likely;
}

}  // namespace cardan::apps
