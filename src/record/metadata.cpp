// SPDX-License-Identifier: Apache-2.0
#include "src/record/metadata.hpp"

#include <fmt/format.h>
#include <sha2.h>

#include <array>
#include <charconv>
#include <ctime>
#include <system_error>

#include "cardan/clock.hpp"
#include "src/messages/ros_description.hpp"

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

std::string ros_type_hash(const std::string& type_name, const std::string& schema) {
  const std::string text = ros_type_description(type_name, schema);
  if (text.empty()) return {};
  std::array<char, SHA256_DIGEST_STRING_LENGTH> digits{};
  ::SHA256Data(reinterpret_cast<const std::uint8_t*>(text.data()), text.size(), digits.data());
  return "RIHS01_" + std::string(digits.data());
}

std::string offered_qos(std::uint32_t depth) {
  // rmw's numbers: keep last 1, reliable 1, transient local 1, automatic 1; a time without an end.
  constexpr const char* kForever = "\n    sec: 9223372036\n    nsec: 854775807\n";
  return fmt::format(
      "- history: 1\n  depth: {}\n  reliability: 1\n  durability: 1\n  deadline:{}  lifespan:{}  liveliness: 1\n"
      "  liveliness_lease_duration:{}  avoid_ros_namespace_conventions: false",
      depth, kForever, kForever, kForever);
}

std::int64_t wall_clock_ahead() noexcept {
  timespec wall{};
  const std::int64_t before = steady_now();
  ::clock_gettime(CLOCK_REALTIME, &wall);
  const std::int64_t after = steady_now();
  return wall.tv_sec * 1'000'000'000 + wall.tv_nsec - (before + (after - before) / 2);
}

}  // namespace cardan::record
