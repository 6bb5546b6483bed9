// SPDX-License-Identifier: Apache-2.0
#include "src/record/channel_form.hpp"

#include <fmt/format.h>

#include <charconv>
#include <system_error>

namespace cardan::record {

std::string type_hash_text(std::uint64_t hash) { return fmt::format("{:016x}", hash); }

std::optional<std::uint64_t> type_hash_of(const mcap::Channel& channel) {
  const auto found = channel.metadata.find(kTypeHashKey);
  if (found == channel.metadata.end()) return std::nullopt;
  const std::string& digits = found->second;
  std::uint64_t hash = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), hash, 16);
  if (error != std::errc{} || end != digits.data() + digits.size()) return std::nullopt;
  return hash;
}

}  // namespace cardan::record
