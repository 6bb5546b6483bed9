// SPDX-License-Identifier: Apache-2.0
#include "apps/decode.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <nlohmann/json.hpp>

#include "apps/terminal/output.hpp"
#include "apps/terminal/wide_text.hpp"
#include "cardan/detail/encoded.hpp"
#include "cardan/error.hpp"
#include "src/base/printable.hpp"
#include "src/base/text_of_json.hpp"

namespace cardan::apps {
namespace {

using LayoutKind = detail::Kind;
using nlohmann::ordered_json;

template <class T>
T read(const std::byte* at) {
  T value;
  std::memcpy(&value, at, sizeof(T));
  return value;
}

ordered_json number_json(const TypeLayout& t, const std::byte* at) {
  switch (t.size) {
    case 1:
      return t.is_signed ? ordered_json(read<std::int8_t>(at)) : ordered_json(read<std::uint8_t>(at));
    case 2:
      return t.is_signed ? ordered_json(read<std::int16_t>(at)) : ordered_json(read<std::uint16_t>(at));
    case 4:
      return t.is_signed ? ordered_json(read<std::int32_t>(at)) : ordered_json(read<std::uint32_t>(at));
    default:
      return t.is_signed ? ordered_json(read<std::int64_t>(at)) : ordered_json(read<std::uint64_t>(at));
  }
}

class SampleDecoder {
 public:
  SampleDecoder(const ObservedSample& sample, std::size_t longest_list)
      : sample_(sample), longest_list_(longest_list) {}

  /// `at` is in the copied struct, or in the copied payload.
  ordered_json value(const TypeLayout& t, const std::byte* at) {
    if (--budget_ < 0) return nullptr;
    switch (t.kind) {
      case LayoutKind::Bool:
        return read<std::uint8_t>(at) != 0;
      case LayoutKind::Integer:
        return number_json(t, at);
      case LayoutKind::Float:
        // The shortest decimal of the float, not that of the double nearest to it.
        return t.size == 8 ? read<double>(at) : std::strtod(fmt::format("{}", read<float>(at)).c_str(), nullptr);
      case LayoutKind::Enum:
        return number_json(*t.element, at);
      case LayoutKind::FixedString:
        return text(at + 4, std::min<std::size_t>(read<std::uint32_t>(at), t.count));
      case LayoutKind::Array:
        return list(*t.element, at, t.count);
      case LayoutKind::FixedVector: {
        const std::size_t first = (4 + t.element->alignment - 1) / t.element->alignment * t.element->alignment;
        return list(*t.element, at + first, std::min<std::size_t>(read<std::uint32_t>(at), t.count));
      }
      case LayoutKind::Vector: {
        std::size_t count = 0;
        const std::byte* elements = in_payload(at, t.element->size, count);
        return elements == nullptr ? ordered_json(nullptr) : list(*t.element, elements, count);
      }
      case LayoutKind::String: {
        std::size_t count = 0;
        const std::byte* letters = in_payload(at, 1, count);
        return letters == nullptr ? ordered_json(nullptr) : text(letters, count);
      }
      case LayoutKind::WString: {
        std::size_t count = 0;
        const std::byte* letters = in_payload(at, sizeof(char16_t), count);
        return letters == nullptr ? ordered_json(nullptr) : wide_text(letters, count);
      }
      case LayoutKind::Message: {
        ordered_json fields = ordered_json::object();
        for (const TypeLayout::Field& f : t.fields) fields[f.name] = value(*f.type, at + f.offset);
        return fields;
      }
      default:
        return nullptr;
    }
  }

  /// An encoded object's bytes. Null: they are not there.
  const std::byte* bytes(const std::byte* at, std::size_t& count) const { return in_payload(at, 1, count); }

 private:
  [[nodiscard]] ordered_json text(const std::byte* at, std::size_t bytes) const {
    return std::string(reinterpret_cast<const char*>(at), std::min(bytes, kLongestText));
  }

  [[nodiscard]] ordered_json wide_text(const std::byte* at, std::size_t letters) const {
    std::u16string wide(std::min(letters, kLongestText), u'\0');
    if (!wide.empty()) std::memcpy(wide.data(), at, wide.size() * sizeof(char16_t));
    return utf8(wide);
  }

  [[nodiscard]] ordered_json list(const TypeLayout& element, const std::byte* at, std::size_t count) {
    ordered_json items = ordered_json::array();
    for (std::size_t i = 0; i < std::min(count, longest_list_); ++i)
      items.push_back(value(element, at + i * element.size));
    if (count <= longest_list_) return items;
    return {{"count", count}, {"first", items}};
  }

  /// A vector's elements in our copy of the payload, checked; null: they are not there.
  const std::byte* in_payload(const std::byte* vector, std::size_t element_bytes, std::size_t& count) const {
    static const std::byte none{};
    const auto offset = read<std::uint64_t>(vector);  // shm::VectorBase: data_, size_, …
    count = read<std::uint64_t>(vector + 8);
    if (count == 0) return &none;
    const std::size_t bytes = sample_.payload().size();
    const std::byte* const payload = sample_.payload().data();
    const bool nested = std::greater_equal<>{}(vector, payload) && std::less<>{}(vector, payload + bytes);
    const std::uint64_t where = nested ? static_cast<std::uint64_t>(vector - sample_.payload().data())
                                       : static_cast<std::uint64_t>(sample_.message_offset()) +
                                             static_cast<std::uint64_t>(vector - sample_.message().data());
    // Modulo 2^64, as in VectorBase::adopt_from.
    const std::uint64_t position = where + offset;
    if (position > bytes || count > (bytes - position) / element_bytes) return nullptr;
    return sample_.payload().data() + position;
  }

  static constexpr std::size_t kLongestText = 64 * 1024;

  const ObservedSample& sample_;
  std::size_t longest_list_;
  long budget_ = 4'000'000;  // values: lists in lists in lists of a strange publisher
};

/// Whether a text is JSON within the limits of parse_json().
class JsonLimits final : public nlohmann::json_sax<ordered_json> {
 public:
  /// The byte (from 1) at which it stops being JSON; 0: it is JSON, or it was given up because it is too much.
  [[nodiscard]] std::size_t wrong_at() const noexcept { return wrong_at_; }

  bool null() override { return one(); }
  bool boolean(bool) override { return one(); }
  bool number_integer(number_integer_t) override { return one(); }
  bool number_unsigned(number_unsigned_t) override { return one(); }
  bool number_float(number_float_t, const string_t&) override { return one(); }
  bool string(string_t&) override { return one(); }
  bool binary(binary_t&) override { return one(); }
  bool start_object(std::size_t) override { return open(); }
  bool start_array(std::size_t) override { return open(); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }
  bool key(string_t&) override { return depth_ <= kMostDepth && ++keys_[depth_] <= kMostKeys; }
  bool parse_error(std::size_t position, const std::string&, const nlohmann::detail::exception&) override {
    wrong_at_ = position;
    return false;
  }

 private:
  static constexpr std::size_t kMostDepth = 64, kMostKeys = 4096, kMostValues = 1'000'000;

  bool one() { return depth_ <= kMostDepth && ++values_ <= kMostValues; }
  bool open() {
    if (!one()) return false;
    if (++depth_ < keys_.size()) keys_[depth_] = 0;
    return true;
  }
  bool close() {
    --depth_;
    return true;
  }

  std::array<std::size_t, kMostDepth + 1> keys_{};  // of the object that is open at each depth
  std::size_t depth_ = 0, values_ = 0, wrong_at_ = 0;
};

std::string names_of(const ordered_json& message) {
  std::string all;
  for (const auto& [key, value] : message.items()) all += (all.empty() ? "" : ", ") + key;
  return all;
}

/// A list as the decoder shortens it. An object of a JSON message may have the same names, and mean something else.
bool is_cut_list(const ordered_json& v) {
  return v.is_object() && v.size() == 2 && v.contains("count") && v.contains("first") &&
         v["count"].is_number_unsigned() && v["first"].is_array();
}

/// The first bytes.
std::string hex_of(std::span<const std::byte> bytes) {
  std::string hex;
  for (const std::byte b : bytes.first(std::min<std::size_t>(bytes.size(), 32)))
    hex += fmt::format("{:02x}", static_cast<unsigned>(b));
  return hex;
}

std::string inline_list(const ordered_json& items) {
  std::string all;
  for (const ordered_json& item : items) all += (all.empty() ? "" : ", ") + one_line(item);
  return all;
}

}  // namespace

ordered_json decode(const TypeLayout& type, const ObservedSample& sample, std::size_t longest_list) {
  if (sample.message().size() != type.size) return undecoded(sample);
  return SampleDecoder(sample, longest_list).value(type, sample.message().data());
}

ordered_json undecoded(const ObservedSample& sample) {
  ordered_json j{
      {"undecoded", true}, {"message_bytes", sample.message().size()}, {"message_head", hex_of(sample.message())}};
  j["payload_bytes"] = sample.payload().size();
  j["payload_head"] = hex_of(sample.payload());
  return j;
}

std::optional<std::span<const std::byte>> encoded_bytes(const ObservedSample& sample) {
  if (sample.message().size() != sizeof(detail::Encoded)) return std::nullopt;
  std::size_t count = 0;
  const std::byte* const first = SampleDecoder(sample, 0).bytes(sample.message().data(), count);
  if (first == nullptr) return std::nullopt;
  return std::span(first, count);
}

ordered_json undecoded(std::string_view encoding, std::span<const std::byte> message) {
  return {{"encoding", encoding}, {"bytes", message.size()}, {"first_bytes", hex_of(message)}};
}

std::optional<ordered_json> parse_json(std::span<const std::byte> text, std::string* why) {
  const char* const begin = reinterpret_cast<const char*>(text.data());
  JsonLimits limits;
  // The first pass keeps nothing. A callback of the second would cost the square of the number of lists and objects.
  if (ordered_json::sax_parse(begin, begin + text.size(), &limits))
    return ordered_json::parse(begin, begin + text.size(), nullptr, false);
  if (why != nullptr) {
    constexpr std::size_t kBefore = 10, kSome = 20;
    const std::size_t at = limits.wrong_at();
    const std::string_view all(begin, text.size());
    *why = at == 0            ? kNotShownJson
           : at > text.size() ? "it ends in the middle"
                              : fmt::format("near byte {}, in '{}'", at, all.substr(at - std::min(at, kBefore), kSome));
  }
  return std::nullopt;
}

bool is_cut_list(const ordered_json& value, std::size_t longest_list) {
  return is_cut_list(value) && value["first"].size() == longest_list &&
         value["count"].get<std::size_t>() > longest_list;
}

ordered_json pick_fields(const ordered_json& message, const std::vector<std::string>& names) {
  ordered_json picked = ordered_json::object();
  for (const std::string& name : names) {
    const ordered_json* at = &message;
    std::size_t begin = 0;
    while (begin <= name.size()) {
      if (at->is_null()) break;  // an optional field that this message lacks
      const std::size_t dot = std::min(name.find('.', begin), name.size());
      const std::string part = name.substr(begin, dot - begin);
      if (!at->is_object() || !at->contains(part))
        throw Error(ErrorCode::InvalidArgument, fmt::format("the message has no field '{}'", name),
                    at->is_object() ? "the fields there are: " + names_of(*at)
                                    : fmt::format("'{}' has no fields", name.substr(0, begin > 0 ? begin - 1 : 0)));
      at = &(*at)[part];
      begin = dot + 1;
    }
    picked[name] = *at;
  }
  return picked;
}

std::string one_line(const ordered_json& value) { return detail::printable_json(text_of_json(value)); }

std::string json_lines(const ordered_json& value) { return detail::printable_json(text_of_json(value, 2)) + "\n"; }

std::string readable(const ordered_json& value, int indent) {
  std::string all;
  for (const auto& [key, v] : value.items()) {
    all += std::string(static_cast<std::size_t>(indent), ' ') + printable(key) + ":";
    if (is_cut_list(v) && !v["first"].empty() && v["first"][0].is_primitive()) {
      all += fmt::format(" {} elements: {}, …\n", v["count"].get<std::size_t>(), inline_list(v["first"]));
    } else if (is_cut_list(v) || (v.is_array() && !v.empty() && v[0].is_object())) {
      const ordered_json& items = v.is_array() ? v : v["first"];
      all += fmt::format(" {} elements\n", v.is_array() ? v.size() : v["count"].get<std::size_t>());
      for (const ordered_json& item : items) {
        std::string lines = item.is_object()
                                ? readable(item, indent + 4)
                                : std::string(static_cast<std::size_t>(indent) + 4, ' ') + one_line(item) + "\n";
        lines[static_cast<std::size_t>(indent) + 2] = '-';
        all += lines;
      }
      if (v.is_object()) all += std::string(static_cast<std::size_t>(indent + 2), ' ') + "…\n";
    } else if (v.is_object()) {
      all += "\n" + readable(v, indent + 2);
    } else if (v.is_array()) {
      all += " [" + inline_list(v) + "]\n";
    } else {
      all += " " + one_line(v) + "\n";
    }
  }
  return all;
}

}  // namespace cardan::apps
