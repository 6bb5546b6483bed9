// SPDX-License-Identifier: Apache-2.0
#include "src/bridge/dds/environment.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <map>

#include "cardan/error.hpp"

namespace cardan::bridge::dds {
namespace {

using Values = std::map<std::string, std::string>;

DomainChoice chosen(const Values& values, const DdsRules& rules = {}) {
  return choose_domain(rules, [&](const std::string& name) {
    const auto found = values.find(name);
    return found == values.end() ? std::string() : found->second;
  });
}
std::string refusal(const Values& values, const DdsRules& rules = {}) {
  try {
    (void)chosen(values, rules);
  } catch (const Error& e) {
    return e.what();
  }
  return {};
}
bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

constexpr std::size_t kMost = 1U << 30U;
constexpr Interfaces kUsualToo{.loopback_has_multicast = true, .beyond_loopback = true};

TEST(DdsEnvironment, RosVariablesDecideWhatTheRulesDoNot) {
  EXPECT_EQ(chosen({}).id, 0);
  EXPECT_EQ(chosen({}).range, Range::Localhost) << "nothing leaves the computer unless somebody says so";
  EXPECT_EQ(chosen({{"ROS_DOMAIN_ID", "42"}}).id, 42);
  EXPECT_EQ(chosen({{"ROS_DOMAIN_ID", "42"}}, {.domain_id = 7}).id, 7);
  EXPECT_EQ(chosen({{"ROS_LOCALHOST_ONLY", "1"}, {"ROS_AUTOMATIC_DISCOVERY_RANGE", "SUBNET"}}).range, Range::Computer);
  EXPECT_EQ(chosen({{"ROS_LOCALHOST_ONLY", "0"}}).range, Range::Subnet);
  EXPECT_EQ(chosen({{"ROS_AUTOMATIC_DISCOVERY_RANGE", "SUBNET"}}).range, Range::Subnet);
  EXPECT_EQ(chosen({{"ROS_AUTOMATIC_DISCOVERY_RANGE", "OFF"}}).range, Range::Off);
  EXPECT_EQ(chosen({{"ROS_AUTOMATIC_DISCOVERY_RANGE", "SYSTEM_DEFAULT"}}).range, Range::System);
  EXPECT_EQ(chosen({{"ROS_AUTOMATIC_DISCOVERY_RANGE", "SUBNET"}}, {.discovery = "off"}).range, Range::Off);
  EXPECT_TRUE(chosen({}).is_usual);
  EXPECT_FALSE(chosen({{"ROS_LOCALHOST_ONLY", "1"}}).is_usual);
  EXPECT_FALSE(chosen({{"ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST"}}).is_usual);
  EXPECT_FALSE(chosen({}, {.discovery = "localhost"}).is_usual);
  const std::vector<std::string> peers{"10.0.0.2", "host-b"};
  EXPECT_EQ(chosen({{"ROS_STATIC_PEERS", "10.0.0.2;host-b;"}}).peers, peers);
  EXPECT_TRUE(chosen({{"ROS_STATIC_PEERS", "10.0.0.2"}, {"ROS_AUTOMATIC_DISCOVERY_RANGE", "OFF"}}).peers.empty());
}

TEST(DdsEnvironment, NodesThatStayOnTheComputerAreMetWhereTheyAre) {
  // Humble uses loopback's address with the first, Jazzy the usual one with both.
  for (const char* const variable : {"ROS_LOCALHOST_ONLY=1", "ROS_AUTOMATIC_DISCOVERY_RANGE=LOCALHOST"}) {
    const std::string text = variable;
    const auto equals = text.find('=');
    const DomainChoice here = chosen({{text.substr(0, equals), text.substr(equals + 1)}});
    EXPECT_EQ(here.range, Range::Computer) << variable;
    EXPECT_TRUE(stays_here(here));
    const std::string xml = domain_configuration(here, kUsualToo, kMost);
    EXPECT_TRUE(has(xml, R"(<NetworkInterface name="lo" multicast="default"/>)"));
    EXPECT_TRUE(has(xml, R"(<NetworkInterface autodetermine="true"/>)"));
    EXPECT_TRUE(has(xml, "<MulticastTimeToLive>0<")) << "nothing goes out there";
    EXPECT_TRUE(has(xml, R"(<Peer address="127.0.0.1"/>)"));
    EXPECT_TRUE(has(xml, "<FragmentSize>65000B<"));
    EXPECT_FALSE(has(domain_configuration(here, {}, kMost), "autodetermine")) << "Cyclone takes no interface twice";
  }
}

TEST(DdsEnvironment, InvalidValuesAreRefused) {
  EXPECT_TRUE(has(refusal({{"ROS_DOMAIN_ID", "x"}}), "ROS_DOMAIN_ID is 'x'"));
  EXPECT_TRUE(has(refusal({{"ROS_DOMAIN_ID", "233"}}), "0 to 232"));
  EXPECT_TRUE(has(refusal({{"ROS_AUTOMATIC_DISCOVERY_RANGE", "galaxy"}}), "'galaxy'"));
  EXPECT_TRUE(has(refusal({{"ROS_STATIC_PEERS", "a\"/><x"}}), "not an address"));
}

TEST(DdsEnvironment, ANodeHasANameThatRosAllows) {
  EXPECT_TRUE(has(refusal({}, {.node = "a/b"}), "'a/b'"));
  EXPECT_TRUE(has(refusal({}, {.node = ""}), "not a name"));
  EXPECT_TRUE(has(refusal({}, {.node_namespace = "vehicle1"}), "'vehicle1'"));
  EXPECT_TRUE(has(refusal({}, {.gid_bytes = 17}), "17"));
  EXPECT_EQ(refusal({}, {.node = "front_1", .node_namespace = "/vehicle1/a", .gid_bytes = 24}), "");
}

TEST(DdsEnvironment, OnLoopbackNothingElseIsUsed) {
  const std::string with = domain_configuration(chosen({}), kUsualToo, kMost);
  EXPECT_TRUE(has(with, R"(<NetworkInterface name="lo")"));
  EXPECT_TRUE(has(with, "<AllowMulticast>spdp</AllowMulticast>"));
  EXPECT_TRUE(has(with, R"(<Peer address="127.0.0.1"/>)"));
  EXPECT_TRUE(has(with, "<MaxAutoParticipantIndex>64<"));
  EXPECT_TRUE(has(with, "<FragmentSize>65000B<"));
  EXPECT_TRUE(has(domain_configuration(chosen({}), {}, kMost), "<AllowMulticast>false</AllowMulticast>"));
  const std::string beyond = domain_configuration(chosen({{"ROS_STATIC_PEERS", "10.0.0.2"}}), kUsualToo, kMost);
  EXPECT_FALSE(has(beyond, "NetworkInterface")) << "a peer elsewhere is not reached through loopback";
  EXPECT_TRUE(has(beyond, R"(<Peer address="10.0.0.2"/>)"));
  EXPECT_TRUE(has(beyond, "<AllowMulticast>false"));
}

TEST(DdsEnvironment, BeyondTheComputerPacketsFitEthernet) {
  const std::string subnet =
      domain_configuration(chosen({}, {.discovery = "subnet", .peers = {"10.0.0.2"}}), kUsualToo, kMost);
  EXPECT_FALSE(has(subnet, "FragmentSize"));
  EXPECT_FALSE(has(subnet, "NetworkInterface"));
  EXPECT_FALSE(has(subnet, "AllowMulticast"));
  EXPECT_TRUE(has(subnet, R"(<Peer address="10.0.0.2"/>)"));
  EXPECT_TRUE(has(subnet, "SocketReceiveBufferSize"));
}

TEST(DdsEnvironment, TheUsersConfigurationComesLast) {
  const std::string uri = R"(<CycloneDDS><Domain><General><Interfaces><NetworkInterface name="eth1"/></Interfaces>)"
                          R"(</General></Domain></CycloneDDS>)";
  const std::string all = domain_configuration(chosen({{"CYCLONEDDS_URI", uri}}), kUsualToo, kMost);
  EXPECT_TRUE(all.ends_with("," + uri));
  EXPECT_FALSE(has(all, R"(name="lo")")) << "two interfaces would be used otherwise";
}

TEST(DdsEnvironment, PartiallyReceivedMessagesAreBounded) {
  EXPECT_EQ(most_sample_bytes({}), (256U << 20U) + (64U << 10U));
  Rules rules;
  rules.in.push_back({.max_bytes = std::uint64_t{1} << 20});
  EXPECT_EQ(most_sample_bytes(rules), (256U << 20U) + (64U << 10U)) << "what leaves may be larger";
  rules.in.push_back({.max_bytes = std::uint64_t{1} << 30});
  EXPECT_EQ(most_sample_bytes(rules), (1U << 30U) + (64U << 10U));
  const std::string xml = domain_configuration(chosen({}), kUsualToo, 12345);
  EXPECT_TRUE(has(xml, "<MaxSampleSize>12345B</MaxSampleSize>"));
  EXPECT_TRUE(has(xml, "<DefragReliableMaxSamples>4</DefragReliableMaxSamples>"));
}

TEST(DdsEnvironment, SharedMemoryOfCycloneIsRefused) {
  const auto with = [](const std::string& value) {
    return refusal({{"CYCLONEDDS_URI", "<CycloneDDS><Domain><SharedMemory><Enable>" + value +
                                           "</Enable></SharedMemory></Domain></CycloneDDS>"}});
  };
  EXPECT_TRUE(has(with("true"), "RouDi"));
  EXPECT_TRUE(has(with(" TRUE "), "RouDi"));
  EXPECT_TRUE(has(with("${SHM}"), "RouDi")) << "a variable of somebody's may be true";
  EXPECT_EQ(with("false"), "");
  char file[] = "/tmp/cardan-dds-XXXXXX";
  const int descriptor = ::mkstemp(file);
  ASSERT_GE(descriptor, 0);
  ::close(descriptor);
  std::ofstream(file)
      << R"(<CycloneDDS><Domain><SharedMemory><Enable>true</Enable></SharedMemory></Domain></CycloneDDS>)";
  EXPECT_TRUE(has(refusal({{"CYCLONEDDS_URI", std::string("file://") + file}}), "RouDi"));
  EXPECT_TRUE(has(refusal({{"CYCLONEDDS_URI", std::string("<a/>,file://") + file}}), "RouDi"));
  EXPECT_FALSE(refusal({{"CYCLONEDDS_URI", "file:///nowhere/at/all.xml"}}).empty());
  std::remove(file);
}

TEST(DdsEnvironment, MessagesAreSearchedWhereTheUserAndRosHaveThem) {
  const std::vector<std::string> expected{"/mine", "/opt/ros/humble/share", "/ws/install/share"};
  EXPECT_EQ(message_folders({.message_paths = {"/mine"}},
                            [](const std::string&) { return std::string("/opt/ros/humble:/ws/install"); }),
            expected);
}

TEST(DdsEnvironment, TheGidFollowsTheRelease) {
  const auto of = [](const char* name, int given) {
    return likely_gid_bytes({.gid_bytes = given}, [&](const std::string&) { return std::string(name); });
  };
  EXPECT_EQ(of("humble", 0), 24);
  EXPECT_EQ(of("jazzy", 0), 16);
  EXPECT_EQ(of("", 0), 0) << "what is wrong for others' release would break their list of nodes";
  EXPECT_EQ(of("", 24), 24);
  EXPECT_EQ(of("humble", 16), 16);
}

TEST(DdsEnvironment, SmallReceiveBuffersAreNoted) {
  constexpr ReceiveBuffers kUbuntu{.usual = 212'992, .most = 212'992},
      kAsDoctorSays{.usual = 8U << 20U, .most = 32U << 20U};
  EXPECT_TRUE(notes_on(kUbuntu, false, false).empty()) << "nobody loses anything";
  ASSERT_EQ(notes_on(kUbuntu, true, false).size(), 1U);
  EXPECT_TRUE(has(notes_on(kUbuntu, true, false)[0], "limited to 208 KiB")) << "of the bridge";
  ASSERT_EQ(notes_on(kUbuntu, false, true).size(), 1U);
  EXPECT_TRUE(has(notes_on(kUbuntu, false, true)[0], "receivers on this computer have a buffer of 208 KiB"));
  EXPECT_EQ(notes_on(kUbuntu, true, true).size(), 2U);
  EXPECT_TRUE(notes_on(kAsDoctorSays, true, true).empty());
  EXPECT_EQ(notes_on({.usual = 212'992, .most = 32U << 20U}, true, true).size(), 1U) << "the bridge asks for more";
  EXPECT_EQ(notes_on({.usual = 8U << 20U, .most = 4U << 20U}, true, false).size(), 1U)
      << "less than the bridge asks for";
  EXPECT_TRUE(notes_on({}, true, true).empty()) << "the kernel does not say";
}

}  // namespace
}  // namespace cardan::bridge::dds
