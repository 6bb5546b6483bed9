// SPDX-License-Identifier: Apache-2.0
// The messages on `ros_discovery_info`, in which each process of ROS 2 names its nodes and their endpoints. Any thread;
// nothing blocks.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace cardan::bridge::dds {

inline constexpr const char* kDiscoveryTopic = "ros_discovery_info";
inline constexpr const char* kDiscoveryType = "rmw_dds_common::msg::dds_::ParticipantEntitiesInfo_";
/// Of the form with gids of 16 bytes. Older releases know no hashes.
inline constexpr const char* kDiscoveryHash = "RIHS01_91a0593bacdcc50ea9bdcf849a938b128412cc1ea821245c663bcd26f83c295e";

using Guid = std::array<std::uint8_t, 16>;

struct NodeEntities {
  std::string name_space{}, name{};
  std::vector<Guid> readers{}, writers{};
  bool operator==(const NodeEntities&) const = default;
};
struct ParticipantEntities {
  Guid participant{};
  std::vector<NodeEntities> nodes{};
  bool operator==(const ParticipantEntities&) const = default;
};

/// In ROS 2 Humble and older a gid has 24 bytes, the last 8 zero; in newer releases 16.
inline constexpr int kOldGidBytes = 24, kNewGidBytes = 16;

/// As CDR, with its header.
[[nodiscard]] std::vector<std::byte> discovery_info(const ParticipantEntities& entities, int gid_bytes);

/// Reads what may be hostile. Empty: it is not of this form to its last byte.
[[nodiscard]] std::optional<ParticipantEntities> parse_discovery_info(std::span<const std::byte> cdr, int gid_bytes);

/// Which form somebody's message has: 24, 16, or 0 for neither.
[[nodiscard]] int gid_bytes_of(std::span<const std::byte> cdr);

}  // namespace cardan::bridge::dds
