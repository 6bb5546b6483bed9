// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <optional>

#include "src/messages/layout_cdr.hpp"
#include "src/messages/layout_walk.hpp"
#include "src/messages/wide_form.hpp"

namespace cardan {
namespace {

using Kind = TypeLayout::Kind;
using detail::WideForm;

/// Reads one message into a zeroed and bound struct.
class Filler {
 public:
  Filler(CdrReader& reader, WideForm wide) noexcept : reader_(reader), wide_(wide) {}

  bool root(const TypeLayout& t, std::byte* at) noexcept {
    if (t.kind == Kind::Message && t.fields.empty() && reader_.left() == 0) return true;  // some leave its byte out
    return value(t, at, false);
  }
  /// A text was met that may be of another form.
  [[nodiscard]] bool met_wide() const noexcept { return met_wide_; }

 private:
  /// `nested`: it lies in the payload.
  bool value(const TypeLayout& t, std::byte* at, bool nested) noexcept {
    if (t.read_cdr != nullptr) return t.read_cdr(reader_, at);
    switch (t.kind) {
      case Kind::Bool:
        return reader_.boolean(*reinterpret_cast<bool*>(at));
      case Kind::Integer:
      case Kind::Float:
      case Kind::Enum:
        return detail::with_number_of(t.size, [&](auto value) {
          if (!reader_.number(value)) return false;
          std::memcpy(at, &value, sizeof value);
          return true;
        });
      case Kind::Array:
        return list(*t.element, at, t.count, nested);
      case Kind::FixedString:
        return fixed_string(t, at);
      case Kind::FixedVector:
        return fixed_vector(t, at, nested);
      case Kind::String:
        return string(t, *reinterpret_cast<shm::VectorBase*>(at), nested);
      case Kind::WString:
        return wide_string(t, *reinterpret_cast<shm::VectorBase*>(at), nested);
      case Kind::Vector:
        return vector(t, *reinterpret_cast<shm::VectorBase*>(at), nested);
      case Kind::Message:
        return fields(t, at, nested);
      default:
        return false;
    }
  }

  bool fields(const TypeLayout& t, std::byte* at, bool nested) noexcept {
    if (t.fields.empty()) return reader_.number(*reinterpret_cast<std::uint8_t*>(at));
    return std::all_of(t.fields.begin(), t.fields.end(), [&](const TypeLayout::Field& f) {
      reader_.enter(f.name);
      return value(*f.type, at + f.offset, nested);
    });
  }

  bool fixed_string(const TypeLayout& t, std::byte* at) noexcept {
    return reader_.string_to([&](std::size_t letters) {
      if (letters > t.count) reader_.fail(CdrError::TooLong);
      const auto count = static_cast<std::uint32_t>(letters);
      if (!reader_.failed()) std::memcpy(at, &count, sizeof count);
      return at + sizeof count;
    });
  }

  bool fixed_vector(const TypeLayout& t, std::byte* at, bool nested) noexcept {
    std::size_t count = 0;
    if (!reader_.count(count, detail::least_cdr_bytes(*t.element))) return false;
    if (count > t.count) return reader_.fail(CdrError::TooLong);
    const auto stored = static_cast<std::uint32_t>(count);
    std::memcpy(at, &stored, sizeof stored);
    return list(*t.element, at + detail::first_of_fixed(t), count, nested);
  }

  bool make_room(const TypeLayout& t, shm::VectorBase& to, std::size_t count, bool nested) noexcept {
    if (t.count != 0 && count > t.count) return reader_.fail(CdrError::TooLong);
    return detail::make_room(t, to, count, nested) || reader_.fail(CdrError::NoRoom);
  }

  bool string(const TypeLayout& t, shm::VectorBase& to, bool nested) noexcept {
    return reader_.string_to(
        [&](std::size_t letters) { return make_room(t, to, letters, nested) ? to.elements() : nullptr; });
  }

  bool wide_string(const TypeLayout& t, shm::VectorBase& to, bool nested) noexcept {
    std::size_t count = 0;
    met_wide_ = true;
    const std::size_t each = wide_ == WideForm::FourBytes ? 4 : wide_ == WideForm::TwoBytes ? 2 : 1;
    if (!reader_.count(count, each)) return false;
    if (wide_ == WideForm::Bytes) {
      if (count % 2 != 0) return reader_.fail(CdrError::BadText);
      count /= 2;
    }
    if (!make_room(t, to, count, nested)) return false;
    auto* const letters = static_cast<std::uint16_t*>(to.elements());
    if (wide_ != WideForm::FourBytes) return reader_.numbers(letters, count);
    for (std::size_t i = 0; i < count; ++i) {
      std::uint32_t letter = 0;
      if (!reader_.number(letter)) return false;
      if (letter > 0xffff) return reader_.fail(CdrError::BadText);
      letters[i] = static_cast<std::uint16_t>(letter);
    }
    return true;
  }

  bool vector(const TypeLayout& t, shm::VectorBase& to, bool nested) noexcept {
    std::size_t count = 0;
    if (!reader_.count(count, detail::least_cdr_bytes(*t.element)) || !make_room(t, to, count, nested)) return false;
    return list(*t.element, static_cast<std::byte*>(to.elements()), count, true);
  }

  bool list(const TypeLayout& element, std::byte* at, std::size_t count, bool nested) noexcept {
    if (detail::is_plain_number(element))
      return detail::with_number_of(
          element.size, [&](auto value) { return reader_.numbers(reinterpret_cast<decltype(value)*>(at), count); });
    for (std::size_t i = 0; i < count; ++i)
      if (!value(element, at + i * element.size, nested)) return false;
    return true;
  }

  CdrReader& reader_;
  WideForm wide_;
  bool met_wide_ = false;
};

/// As on a fresh loan.
void begin_again(const TypeLayout& type, std::byte* message) noexcept {
  shm::Arena* arena = nullptr;
  detail::for_each_vector_in(type, message,
                             [&](const shm::VectorBase& vector, const TypeLayout&) { arena = vector.storage(); });
  std::memset(message, 0, type.size);
  if (arena != nullptr) bind(type, message, *arena);
}

}  // namespace

CdrResult from_cdr(const TypeLayout& type, std::span<const std::byte> bytes, std::byte* message) noexcept {
  return from_cdr(type, CdrPieces(&bytes, 1), message);
}

CdrResult from_framed_cdr(const TypeLayout& type, CdrPieces bytes, std::byte* element) noexcept {
  CdrReader reader(bytes);
  if (!reader.failed()) Filler(reader, WideForm::FourBytes).root(type, element);
  return reader.finish();
}

CdrResult from_cdr(const TypeLayout& type, CdrPieces bytes, std::byte* message) noexcept {
  const auto attempt = [&](WideForm wide, bool& certain) {
    CdrReader reader(bytes);
    if (reader.failed()) return reader.finish();
    Filler filler(reader, wide);
    filler.root(type, message);
    certain = !filler.met_wide() || (!reader.failed() && reader.left() < detail::kUsualPadding);
    return reader.finish();
  };
  bool certain = true;
  const CdrResult first = attempt(detail::kWideForms[0], certain);
  if (certain) return first;
  std::optional<WideForm> likely;
  if (first) likely = detail::kWideForms[0];
  for (std::size_t i = 1; i < detail::kWideForms.size(); ++i) {
    begin_again(type, message);
    const CdrResult result = attempt(detail::kWideForms[i], certain);
    if (certain) return result;
    if (result && !likely) likely = detail::kWideForms[i];
  }
  if (!likely) return first;
  begin_again(type, message);
  return attempt(*likely, certain);
}

}  // namespace cardan
