// SPDX-License-Identifier: Apache-2.0
#include "src/bridge/dds/discovery_info.hpp"

#include <gtest/gtest.h>

#include <numeric>

#include "src/record/metadata.hpp"

namespace cardan::bridge::dds {
namespace {

Guid guid(std::uint8_t first) {
  Guid all;
  std::iota(all.begin(), all.end(), first);
  return all;
}

ParticipantEntities example() {
  return {
      .participant = guid(1),
      .nodes = {{.name_space = "/", .name = "cardan_bridge", .readers = {guid(20)}, .writers = {guid(40), guid(60)}}}};
}

TEST(DiscoveryInfo, BothFormsComeBackAsTheyWere) {
  for (const int gid : {kOldGidBytes, kNewGidBytes}) {
    const auto bytes = discovery_info(example(), gid);
    const auto back = parse_discovery_info(bytes, gid);
    ASSERT_TRUE(back) << gid;
    EXPECT_EQ(*back, example());
    EXPECT_EQ(gid_bytes_of(bytes), gid);
    EXPECT_EQ(gid_bytes_of(discovery_info({.participant = guid(1), .nodes = {}}, gid)), gid) << "no nodes yet";
  }
}

TEST(DiscoveryInfo, TheBytesAreThoseOfTheWire) {
  const auto bytes = discovery_info({.participant = guid(1), .nodes = {{.name_space = "/", .name = "ab"}}}, 24);
  const std::vector<int> expected{0, 1, 0, 0,                                                 // little-endian
                                  1, 2, 3, 4, 5,   6, 7, 8, 9, 10, 11, 12, 13,  14,  15, 16,  // the GUID
                                  0, 0, 0, 0, 0,   0, 0, 0,                                   // up to Humble
                                  1, 0, 0, 0,                                                 // nodes
                                  2, 0, 0, 0, '/', 0, 0, 0, 3, 0,  0,  0,  'a', 'b', 0,  0,   // their names
                                  0, 0, 0, 0, 0,   0, 0, 0};                                  // no endpoints
  ASSERT_EQ(bytes.size(), expected.size());
  for (std::size_t i = 0; i < bytes.size(); ++i) EXPECT_EQ(std::to_integer<int>(bytes[i]), expected[i]) << i;
}

TEST(DiscoveryInfo, HostileBytesAreNeither) {
  auto bytes = discovery_info(example(), kNewGidBytes);
  for (std::size_t size = 0; size < bytes.size(); ++size)
    EXPECT_FALSE(parse_discovery_info(std::span(bytes).first(size), kNewGidBytes)) << size;
  std::fill(bytes.begin() + 4, bytes.end(), std::byte{0xff});
  EXPECT_EQ(gid_bytes_of(bytes), 0);
  EXPECT_EQ(gid_bytes_of({}), 0);
}

TEST(DiscoveryInfo, TheHashIsThatOfTheDefinition) {
  const std::string line = std::string(80, '=') + "\nMSG: ";
  const std::string text = "Gid gid\nNodeEntitiesInfo[] node_entities_info_seq\n" + line +
                           "rmw_dds_common/NodeEntitiesInfo\nstring<=256 node_namespace\nstring<=256 node_name\n"
                           "Gid[] reader_gid_seq\nGid[] writer_gid_seq\n" +
                           line + "rmw_dds_common/Gid\nuint8[16] data\n";
  EXPECT_EQ(record::ros_type_hash("rmw_dds_common/msg/ParticipantEntitiesInfo", text), kDiscoveryHash);
}

}  // namespace
}  // namespace cardan::bridge::dds
