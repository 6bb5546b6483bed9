// SPDX-License-Identifier: Apache-2.0
// A plan as bytes: each field of plan_fields.hpp in turn. Numbers have eight bytes, least first; before texts, lists
// and maps stands their size. Bytes, because paths and values from the command line need not be UTF-8; nothing in them
// is deeper than the types are, by any writer.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <bit>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <optional>
#include <span>
#include <system_error>
#include <variant>

#include "cardan/error.hpp"
#include "src/base/crc32c.hpp"
#include "src/system/plan/plan_fields.hpp"

namespace cardan::plan {
namespace {

constexpr std::string_view kMagic = "cardan plan\n";
constexpr int kSeals = F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE;

template <class T>
inline constexpr bool kIsTime = false;
template <class R, class P>
inline constexpr bool kIsTime<std::chrono::duration<R, P>> = true;
template <class T>
inline constexpr bool kIsList = false;
template <class T>
inline constexpr bool kIsList<std::vector<T>> = true;
template <class T>
inline constexpr bool kIsMap = false;
template <class K, class V, class C>
inline constexpr bool kIsMap<std::map<K, V, C>> = true;
template <class T>
inline constexpr bool kIsOptional = false;
template <class T>
inline constexpr bool kIsOptional<std::optional<T>> = true;

/// Of an enumerator, from the first one on.
template <class T>
std::uint64_t place_of(T value) {
  return static_cast<std::uint64_t>(static_cast<std::int64_t>(value) - static_cast<std::int64_t>(kFirst<T>));
}

template <class T, class F>
void each_field(F f) {
  std::apply([&](const auto&... field) { (f(field), ...); }, kFields<T>);
}

/// The meaning of the bytes, in words: other fields make another version.
template <class T>
void describe(std::string& words) {
  if constexpr (kHasFields<T>) {
    words += '{';
    each_field<T>([&]<class M>(const FieldOf<T, M>& field) {
      words += field.name;
      describe<M>(words);
    });
    words += '}';
  } else if constexpr (kIsList<T> || kIsOptional<T>) {
    words += kIsList<T> ? '*' : '?';
    describe<typename T::value_type>(words);
  } else if constexpr (kIsMap<T>) {
    words += ':';
    describe<typename T::mapped_type>(words);
  } else {
    words += fmt::format(" {}{} ", std::is_floating_point_v<T> ? "float" : "", sizeof(T));
  }
}

std::uint32_t crc(std::string_view text) { return crc32c(std::as_bytes(std::span(text.data(), text.size()))); }

std::uint64_t version() {
  std::string words;
  describe<Plan>(words);
  return crc(words);
}

class Encoder {
 public:
  template <class T>
  void put(const T& value) {
    if constexpr (kHasFields<T>) {
      each_field<T>([&](const auto& field) { put(value.*field.member); });
    } else if constexpr (kIsTime<T>) {
      put(value.count());
    } else if constexpr (std::is_same_v<T, double>) {
      put(std::bit_cast<std::uint64_t>(value));
    } else if constexpr (std::is_enum_v<T>) {
      put(place_of(value));
    } else if constexpr (std::is_integral_v<T>) {
      const auto number = static_cast<std::uint64_t>(value);
      for (unsigned i = 0; i < 8; ++i) bytes += static_cast<char>(number >> (8 * i) & 0xFFU);
    } else if constexpr (kIsOptional<T>) {
      put(value.has_value());
      if (value) put(*value);
    } else if constexpr (std::is_same_v<T, std::string>) {
      put(value.size());
      bytes += value;
    } else if constexpr (std::is_same_v<T, config::Value>) {
      put(value.index());
      std::visit([&](const auto& v) { put(v); }, value);
    } else if constexpr (kIsMap<T>) {
      put(value.size());
      for (const auto& [key, mapped] : value) {
        put(key);
        put(mapped);
      }
    } else {
      put(value.size());
      for (const typename T::value_type& element : value) put(element);
    }
  }
  std::string bytes{};
};

class Decoder {
 public:
  explicit Decoder(std::string_view bytes) : left_(bytes) {}

  template <class T>
  void get(T& value) {
    if constexpr (kHasFields<T>) {
      each_field<T>([&](const auto& field) {
        field_ = field.name;
        get(value.*field.member);
      });
    } else if constexpr (kIsTime<T>) {
      typename T::rep count = 0;
      get(count);
      value = T{count};
    } else if constexpr (std::is_same_v<T, double>) {
      value = std::bit_cast<double>(number());
    } else if constexpr (std::is_enum_v<T>) {
      const std::uint64_t n = number();
      if (n > place_of(kLast<T>)) wrong("is not one of its values");
      value = static_cast<T>(static_cast<std::int64_t>(n) + static_cast<std::int64_t>(kFirst<T>));
    } else if constexpr (std::is_integral_v<T>) {
      const std::uint64_t n = number();
      value = static_cast<T>(n);
      if (static_cast<std::uint64_t>(value) != n) wrong("is out of range");
    } else if constexpr (kIsOptional<T>) {
      bool has = false;
      get(has);
      value.reset();
      if (has) get(value.emplace());
    } else if constexpr (std::is_same_v<T, std::string>) {
      value = text(size());
    } else if constexpr (std::is_same_v<T, config::Value>) {
      alternative(value, number());
    } else if constexpr (kIsMap<T>) {
      value.clear();
      for (std::size_t left = size(); left > 0; --left) {
        typename T::key_type key;
        get(key);
        if (!value.empty() && !(value.rbegin()->first < key)) wrong("is not in order");
        get(value.emplace_hint(value.end(), std::move(key), typename T::mapped_type{})->second);
      }
    } else {
      value.clear();
      for (std::size_t left = size(); left > 0; --left) {
        if constexpr (std::is_same_v<T, std::vector<bool>>) {  // its elements have no place of their own
          bool element = false;
          get(element);
          value.push_back(element);
        } else {
          get(value.emplace_back());
        }
      }
    }
  }
  void end() const {
    if (!left_.empty()) wrong("is followed by other bytes");
  }

 private:
  [[noreturn]] void wrong(std::string_view why) const {
    throw Error(ErrorCode::Incompatible, fmt::format("the plan is damaged: its field '{}' {}", field_, why),
                "start the system again: cardan run FILE");
  }
  std::string_view text(std::size_t bytes) {
    if (bytes > left_.size()) wrong("is cut off");
    const std::string_view taken = left_.substr(0, bytes);
    left_.remove_prefix(bytes);
    return taken;
  }
  std::uint64_t number() {
    std::uint64_t n = 0;
    const std::string_view eight = text(8);
    for (unsigned i = 0; i < 8; ++i) n |= std::uint64_t{static_cast<unsigned char>(eight[i])} << (8 * i);
    return n;
  }
  /// Of what follows: each part of it has a byte at least.
  std::size_t size() {
    const std::uint64_t n = number();
    if (n > left_.size()) wrong("is cut off");
    return n;
  }
  template <std::size_t I = 0>
  void alternative(config::Value& value, std::uint64_t index) {
    if constexpr (I == std::variant_size_v<config::Value>) {
      wrong("is of an unknown type");
    } else if (index != I) {
      alternative<I + 1>(value, index);
    } else {
      get(value.emplace<I>());
    }
  }

  std::string_view left_, field_ = "configuration";
};

[[noreturn]] void cannot(const char* what) {
  throw Error(ErrorCode::System, fmt::format("cannot {}: {}", what, std::generic_category().message(errno)),
              "check the limits on memory and descriptors (ulimit -n, free -m)");
}

[[noreturn]] void not_a_plan(std::string_view why) {
  throw Error(ErrorCode::Incompatible, fmt::format("the descriptor does not give a plan: {}", why),
              "let `cardan run` start this, or give the configuration file instead");
}

}  // namespace

std::string encode(const Plan& plan) {
  Encoder encoder{.bytes = std::string(kMagic)};
  encoder.put(version());
  encoder.put(plan);
  if (encoder.bytes.size() > kMaxPlanBytes)
    throw Error(ErrorCode::Limit, fmt::format("the configuration needs more than {} MiB", kMaxPlanBytes >> 20U),
                "make it smaller: fewer instances, shorter texts");
  return std::move(encoder.bytes);
}

Plan decode(std::string_view bytes) {
  const auto other = [] {
    return Error(ErrorCode::Incompatible, "these bytes are not a plan of this version of Cardan",
                 "use the same version of Cardan on both sides");
  };
  if (!bytes.starts_with(kMagic) || bytes.size() > kMaxPlanBytes) throw other();
  Decoder decoder(bytes.substr(kMagic.size()));
  std::uint64_t theirs = 0;
  decoder.get(theirs);
  if (theirs != version()) throw other();
  Plan plan;
  decoder.get(plan);
  decoder.end();
  return plan;
}

Fd seal(const Plan& plan) {
  const std::string bytes = encode(plan);
  Fd writable{::memfd_create("cardan-plan", MFD_CLOEXEC | MFD_ALLOW_SEALING)};
  if (!writable) cannot("make a file in memory");
  if (::fchmod(writable.get(), 0400) != 0) cannot("keep the plan from others");
  for (std::size_t at = 0; at < bytes.size();) {
    const ssize_t written = ::write(writable.get(), bytes.data() + at, bytes.size() - at);
    if (written < 0 && errno != EINTR) cannot("write the plan");
    if (written > 0) at += static_cast<std::size_t>(written);
  }
  if (::fcntl(writable.get(), F_ADD_SEALS, kSeals) != 0) cannot("seal the plan");
  return writable;
}

Plan plan_of(int fd) {
  struct stat file{};
  if (::fstat(fd, &file) != 0) not_a_plan(std::generic_category().message(errno));
  const int seals = S_ISREG(file.st_mode) ? ::fcntl(fd, F_GET_SEALS) : -1;
  if (seals < 0 || (seals & kSeals) != kSeals) not_a_plan("it is not sealed memory");
  if (file.st_size <= 0 || static_cast<std::size_t>(file.st_size) > kMaxPlanBytes) not_a_plan("its size");
  std::string bytes(static_cast<std::size_t>(file.st_size), '\0');
  for (std::size_t at = 0; at < bytes.size();) {
    const ssize_t got = ::pread(fd, bytes.data() + at, bytes.size() - at, static_cast<off_t>(at));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) cannot("read the plan");
    at += static_cast<std::size_t>(got);
  }
  return decode(bytes);
}

}  // namespace cardan::plan
