// SPDX-License-Identifier: Apache-2.0
#include "apps/message/encode.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <new>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "apps/decode.hpp"
#include "apps/message/find_type.hpp"
#include "apps/terminal/wide_text.hpp"
#include "cardan/error.hpp"
#include "src/config/suggest.hpp"
#include "src/messages/layout_cdr.hpp"
#include "src/messages/layout_walk.hpp"

namespace cardan::apps {
namespace {

using LayoutKind = detail::Kind;
using nlohmann::ordered_json;

class MessageEncoder {
 public:
  bool message(const TypeLayout& t, std::byte* at, const ordered_json& from, bool nested) {
    if (!from.is_object()) wrong(t, from);
    const std::size_t outside = path_.size();
    for (const auto& [key, value] : from.items()) {
      const auto field = std::find_if(t.fields.begin(), t.fields.end(), [&](const auto& f) { return f.name == key; });
      if (field == t.fields.end()) unknown(t, key);
      path_ += (outside == 0 ? "" : ".") + key;
      if (!write(*field->type, at + field->offset, value, nested)) return false;
      path_.resize(outside);
    }
    return true;
  }

 private:
  [[nodiscard]] std::string where() const { return path_.empty() ? "the message" : fmt::format("field '{}'", path_); }

  [[noreturn]] void refuse(const std::string& cause, std::string remedy) const {
    throw Error(ErrorCode::InvalidArgument, cause, std::move(remedy));
  }

  static std::string range_of(const TypeLayout& t) {
    const TypeLayout& number = t.kind == LayoutKind::Enum ? *t.element : t;
    if (number.kind != LayoutKind::Integer) return {};
    const std::uint64_t most = std::numeric_limits<std::uint64_t>::max() >> (64 - 8 * t.size);
    return number.is_signed ? fmt::format(" (-{} to {})", most / 2 + 1, most / 2) : fmt::format(" (0 to {})", most);
  }

  /// Names what was given instead, if it is short.
  [[noreturn]] void wrong(const TypeLayout& t, const ordered_json& value) const {
    constexpr std::size_t kMost = 40;
    std::string given = value.is_structured() ? (value.is_array() ? "a list" : "an object") : one_line(value);
    if (given.size() > kMost) given = value.type_name() + std::string(" of ") + std::to_string(given.size()) + " bytes";
    refuse(fmt::format("{} takes {}{}, not {}", where(), type_name(t), range_of(t), given),
           t.kind == LayoutKind::Message ? fmt::format("cardan message show {} lists its fields", t.name)
                                         : "write it as `cardan topic echo --json` prints it");
  }

  [[noreturn]] void unknown(const TypeLayout& t, const std::string& key) const {
    std::vector<std::string> names;
    for (const TypeLayout::Field& f : t.fields) names.push_back(f.name);
    const std::string name = key.size() > 64 ? key.substr(0, 64) + "…" : key;
    refuse(fmt::format("{}{} has no field '{}'", path_.empty() ? "" : where() + ": ", t.name, name),
           config::suggestion(key, names, "it has none"));
  }

  bool write(const TypeLayout& t, std::byte* at, const ordered_json& v, bool nested) {
    switch (t.kind) {
      case LayoutKind::Bool:
        if (!v.is_boolean()) wrong(t, v);
        *at = static_cast<std::byte>(v.get<bool>());
        return true;
      case LayoutKind::Integer:
        integer(t, t, at, v);
        return true;
      case LayoutKind::Enum:
        integer(t, *t.element, at, v);
        return true;
      case LayoutKind::Float:
        real(t, at, v);
        return true;
      case LayoutKind::FixedString:
        fixed_text(t, at, v);
        return true;
      case LayoutKind::String:
      case LayoutKind::WString:
        return text(t, at, v, nested);
      case LayoutKind::Array:
      case LayoutKind::FixedVector:
      case LayoutKind::Vector:
        return list(t, at, v, nested);
      case LayoutKind::Message:
        return message(t, at, v, nested);
      default:
        wrong(t, v);
    }
  }

  void integer(const TypeLayout& shown, const TypeLayout& t, std::byte* at, const ordered_json& v) const {
    const std::size_t unused = 64 - 8 * t.size;
    std::uint64_t raw = 0;
    bool fits = false;
    if (v.is_number_unsigned()) {
      raw = v.get<std::uint64_t>();
      fits = raw <= std::numeric_limits<std::uint64_t>::max() >> (unused + (t.is_signed ? 1 : 0));
    } else if (v.is_number_integer() && t.is_signed) {
      const auto wide = v.get<std::int64_t>();
      fits = wide >= std::numeric_limits<std::int64_t>::min() >> unused;
      raw = static_cast<std::uint64_t>(wide);
    }
    if (!fits) wrong(shown, v);
    detail::with_number_of(t.size, [&](auto number) {
      number = static_cast<decltype(number)>(raw);
      std::memcpy(at, &number, sizeof number);
    });
  }

  void real(const TypeLayout& t, std::byte* at, const ordered_json& v) const {
    if (!v.is_number() && !v.is_null()) wrong(t, v);
    const double number = v.is_null() ? std::nan("") : v.get<double>();
    if (std::isinf(number)) wrong(t, v);
    if (t.size == sizeof number) {
      std::memcpy(at, &number, sizeof number);
      return;
    }
    if (std::abs(number) > static_cast<double>(std::numeric_limits<float>::max())) wrong(t, v);
    const auto narrow = static_cast<float>(number);
    std::memcpy(at, &narrow, sizeof narrow);
  }

  void too_long(const TypeLayout& t, std::size_t given) const {
    if (t.count != 0 && given > t.count)
      refuse(fmt::format("{} has room for {}, and the message has {}", where(), t.count, given),
             "shorten it, or choose another type");
  }

  void fixed_text(const TypeLayout& t, std::byte* at, const ordered_json& v) const {
    if (!v.is_string()) wrong(t, v);
    const auto& letters = v.get_ref<const std::string&>();
    too_long(t, letters.size());
    const auto count = static_cast<std::uint32_t>(letters.size());
    std::memcpy(at, &count, sizeof count);
    std::memcpy(at + sizeof count, letters.data(), letters.size());
  }

  bool text(const TypeLayout& t, std::byte* at, const ordered_json& v, bool nested) const {
    if (!v.is_string()) wrong(t, v);
    const auto& letters = v.get_ref<const std::string&>();
    const std::u16string wide = t.kind == LayoutKind::WString ? utf16(letters) : std::u16string();
    const std::size_t count = t.kind == LayoutKind::WString ? wide.size() : letters.size();
    too_long(t, count);
    auto& to = *reinterpret_cast<shm::VectorBase*>(at);
    if (!detail::make_room(t, to, count, nested)) return false;
    const void* const from = t.kind == LayoutKind::WString ? static_cast<const void*>(wide.data()) : letters.data();
    if (count != 0) std::memcpy(to.elements(), from, count * detail::element_bytes(t));
    return true;
  }

  bool list(const TypeLayout& t, std::byte* at, const ordered_json& v, bool nested) {
    if (v.is_object() && v.contains("count") && v.contains("first"))
      refuse(fmt::format("{} is a list that was shortened", where()),
             "print it whole: cardan topic echo --json --list N");
    if (!v.is_array()) wrong(t, v);
    if (t.kind == LayoutKind::Array && v.size() != t.count)
      refuse(fmt::format("{} has {} elements, not {}", where(), t.count, v.size()), "give as many, or leave it out");
    if (t.kind != LayoutKind::Array) too_long(t, v.size());
    std::byte* first = at;
    if (t.kind == LayoutKind::FixedVector) {
      const auto count = static_cast<std::uint32_t>(v.size());
      std::memcpy(at, &count, sizeof count);
      first = at + detail::first_of_fixed(t);
    } else if (t.kind == LayoutKind::Vector) {
      auto& to = *reinterpret_cast<shm::VectorBase*>(at);
      if (!detail::make_room(t, to, v.size(), nested)) return false;
      first = static_cast<std::byte*>(to.elements());
      nested = true;
    }
    const std::size_t outside = path_.size();
    for (std::size_t i = 0; i < v.size(); ++i) {
      path_ += fmt::format("[{}]", i);
      if (!write(*t.element, first + i * t.element->size, v[i], nested)) return false;
      path_.resize(outside);
    }
    return true;
  }

  std::string path_;
};

struct FreeAligned {
  void operator()(std::byte* bytes) const noexcept {
    ::operator delete(bytes, std::align_val_t{shm::Arena::kAlignment});
  }
};
using AlignedMemory = std::unique_ptr<std::byte, FreeAligned>;

AlignedMemory aligned_memory(std::size_t bytes) {
  return AlignedMemory(static_cast<std::byte*>(
      ::operator new(std::max<std::size_t>(bytes, 1), std::align_val_t{shm::Arena::kAlignment})));
}

/// `values`: how many more it may have.
ordered_json empty_value(const TypeLayout& t, int& values) {
  if (--values < 0)
    throw Error(ErrorCode::Limit, "a message of this type has more than 100,000 values",
                "its fields are too many to show");
  switch (t.kind) {
    case LayoutKind::Bool:
      return false;
    case LayoutKind::Integer:
    case LayoutKind::Enum:
      return 0;
    case LayoutKind::Float:
      return 0.0;
    case LayoutKind::FixedString:
    case LayoutKind::String:
    case LayoutKind::WString:
      return "";
    case LayoutKind::Array: {
      ordered_json items = ordered_json::array();
      for (std::size_t i = 0; i < t.count; ++i) items.push_back(empty_value(*t.element, values));
      return items;
    }
    case LayoutKind::Message: {
      ordered_json fields = ordered_json::object();
      for (const TypeLayout::Field& f : t.fields) fields[f.name] = empty_value(*f.type, values);
      return fields;
    }
    default:
      return ordered_json::array();
  }
}

}  // namespace

bool encode(const TypeLayout& type, const ordered_json& message, std::byte* at) {
  return MessageEncoder().message(type, at, message, false);
}

std::size_t encoded_payload(const TypeLayout& type, const ordered_json& message) {
  const auto limit = [&] {
    return Error(ErrorCode::Limit,
                 fmt::format("the message of {} would need more than {} MiB", type.name, kMostEncodedBytes >> 20U),
                 "shorten its lists");
  };
  if (type.size > kMostEncodedBytes) throw limit();
  const AlignedMemory draft = aligned_memory(type.size);
  for (std::size_t room = std::size_t{1} << 20U; room <= kMostEncodedBytes; room *= 16) {
    const AlignedMemory payload = aligned_memory(type.has_vectors() ? room : 0);
    shm::Arena arena;
    arena.place(payload.get(), type.has_vectors() ? room : 0);
    std::memset(draft.get(), 0, type.size);
    bind(type, draft.get(), arena);
    if (encode(type, message, draft.get())) return arena.used;
  }
  throw limit();
}

ordered_json empty_message(const TypeLayout& type) {
  int values = 100'000;  // a definition may name an array of a gigabyte
  return empty_value(type, values);
}

}  // namespace cardan::apps
