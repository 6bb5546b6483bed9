// SPDX-License-Identifier: Apache-2.0
#include "src/bridge/foxglove/origin.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>

namespace cardan::bridge::foxglove {
namespace {

const OwnNames kLoopback{.hosts = {}, .address = "127.0.0.1"};

TEST(FoxgloveOrigin, ProgramsAndTheOwnPageMayConnect) {
  EXPECT_TRUE(may_connect("", "127.0.0.1:8765", {}, kLoopback));
  EXPECT_TRUE(may_connect("http://127.0.0.1:8765", "127.0.0.1:8765", {}, kLoopback));
  EXPECT_TRUE(may_connect("http://localhost:8765", "localhost:8765", {}, kLoopback));
  EXPECT_TRUE(may_connect("http://[::1]:8765", "[::1]:8765", {}, kLoopback));
  EXPECT_TRUE(may_connect("http://LOCALHOST:8765", "localhost:8765", {}, kLoopback));
}

TEST(FoxgloveOrigin, OtherPagesMayNotUnlessTheRulesSaySo) {
  const auto may = [](const char* origin, const std::vector<std::string>& allowed) {
    return may_connect(origin, "127.0.0.1:8765", allowed, kLoopback);
  };
  EXPECT_FALSE(may("https://evil.example", {}));
  EXPECT_FALSE(may("null", {}));
  EXPECT_FALSE(may("http://127.0.0.1:9999", {})) << "another program's page";
  EXPECT_FALSE(may("https://127.0.0.1:8765", {}));
  EXPECT_TRUE(may("https://app.foxglove.dev", {"https://app.foxglove.dev"}));
  EXPECT_FALSE(may("https://app.foxglove.dev.evil.example", {"https://app.foxglove.dev"}));
  EXPECT_TRUE(may("null", {"*"}));
}

TEST(FoxgloveOrigin, AForeignNameThatPointsHereIsNotTheOwnOrigin) {
  EXPECT_FALSE(may_connect("http://evil.example:8765", "evil.example:8765", {}, kLoopback));
  for (const char* host :
       {"evil.example:8765", "", "[", "[]", ":8765", "127.0.0.1.evil.example", "localhost.evil.example",
        "evillocalhost", ".localhost", "localhost.", "127.1", "2130706433", "0x7f.0.0.1", "0.0.0.0",
        "127.0.0.1@evil.example", "evil.example#localhost", "[::1].evil.example", "::1", "126.0.0.1"})
    EXPECT_FALSE(is_own_host(host, kLoopback)) << host;
  for (const char* host : {"127.0.0.1:8765", "127.8.9.10", "[::1]:8765", "[::ffff:127.0.0.1]", "localhost",
                           "LocalHost:1", "vehicle.localhost:8765"})
    EXPECT_TRUE(is_own_host(host, kLoopback)) << host;
}

/// Somebody on the network answers for it, with mDNS for example, and may say 127.0.0.1 after the page has come.
TEST(FoxgloveOrigin, TheComputersOwnNameIsForeignToo) {
  std::array<char, 256> own{};
  ASSERT_EQ(::gethostname(own.data(), own.size() - 1), 0);
  const std::string name = own.data();
  if (name.empty() || name == "localhost" || name.ends_with(".localhost")) GTEST_SKIP() << "skipped: it is " << name;
  for (const std::string& host : {name, name + ".local", name + ".local:8765"}) {
    EXPECT_FALSE(is_own_host(host, kLoopback)) << host;
    EXPECT_FALSE(may_connect("http://" + host, host, {}, kLoopback)) << host;
  }
}

TEST(FoxgloveOrigin, AddressesOfThisServerAndNamesThatTheUserGivesAreItsOwn) {
  const OwnNames names{.hosts = {"vehicle.local", "gate:80", "2001:db8::2"}, .address = "192.0.2.7"};
  for (const char* host : {"192.0.2.7:8765", "Vehicle.local:8765", "gate:8765", "[2001:db8::2]:1", "localhost"})
    EXPECT_TRUE(is_own_host(host, names)) << host;
  for (const char* host : {"192.0.2.8", "vehicle", "vehicle.local.evil.example", "gate.local", "2001", "[2001:db8::3]"})
    EXPECT_FALSE(is_own_host(host, names)) << host;
  EXPECT_TRUE(is_own_host("[2001:db8::1]:8765", {.hosts = {}, .address = "2001:db8::1"}));
  EXPECT_TRUE(is_own_host("192.0.2.7", {.hosts = {}, .address = "::ffff:192.0.2.7"}));
  EXPECT_TRUE(may_connect("http://vehicle.local:8765", "vehicle.local:8765", {}, names));
}

}  // namespace
}  // namespace cardan::bridge::foxglove
