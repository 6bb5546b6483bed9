// SPDX-License-Identifier: Apache-2.0
#include "src/system/plan/plan_parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "cardan/error.hpp"

namespace cardan::plan {
namespace {

constexpr std::size_t kPartBytes = 6000;  // of a request of 16 KiB: two digits a byte, and the rest

Error too_much() {
  return {ErrorCode::Limit, fmt::format("a plan of more than {} MiB cannot be applied", kMaxOfferedBytes >> 20U),
          "end the system, and start it with the file: cardan run FILE"};
}

int value_of(char digit) noexcept {
  if (digit >= '0' && digit <= '9') return digit - '0';
  if (digit >= 'a' && digit <= 'f') return digit - 'a' + 10;
  return -1;
}

}  // namespace

std::vector<std::string> parts_of(std::string_view bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  if (bytes.size() > kMaxOfferedBytes) throw too_much();
  std::vector<std::string> parts;
  for (std::size_t at = 0; at < bytes.size(); at += kPartBytes) {
    std::string& part = parts.emplace_back();
    for (const char c : bytes.substr(at, kPartBytes)) {
      part += kDigits[static_cast<unsigned char>(c) >> 4U];
      part += kDigits[static_cast<unsigned char>(c) & 15U];
    }
  }
  return parts;
}

bool PartsOfAPlan::add(std::uint64_t offer, std::uint64_t part, std::uint64_t parts, std::string_view digits) {
  if (part == 0) *this = {};
  if (part == 0) {
    offer_ = offer;
    parts_ = parts;
  }
  const auto refuse = [this](Error error) {
    *this = {};
    throw Error(std::move(error));
  };
  if (offer != offer_ || part != next_ || parts != parts_ || part >= parts)
    refuse({ErrorCode::InvalidArgument, "a part of the plan is missing: another one was offered meanwhile",
            "give the order again"});
  if (bytes_.size() + digits.size() / 2 > kMaxOfferedBytes) refuse(too_much());
  bool good = digits.size() % 2 == 0;
  for (std::size_t i = 0; good && i < digits.size(); i += 2) {
    const int high = value_of(digits[i]);
    const int low = value_of(digits[i + 1]);
    good = high >= 0 && low >= 0;
    if (good) bytes_ += static_cast<char>(high * 16 + low);
  }
  if (!good)
    refuse({ErrorCode::InvalidArgument, "a part of the plan cannot be read",
            "use the same version of Cardan on both sides"});
  return ++next_ == parts_;
}

std::string PartsOfAPlan::take() {
  std::string bytes = std::move(bytes_);
  *this = {};
  return bytes;
}

}  // namespace cardan::plan
