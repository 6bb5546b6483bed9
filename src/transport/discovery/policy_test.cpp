// SPDX-License-Identifier: Apache-2.0
#include "src/transport/discovery/policy.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "cardan/error.hpp"
#include "src/transport/discovery/access.hpp"

namespace {

using cardan::Access;
using cardan::Error;
using cardan::ErrorCode;
using cardan::detail::Policy;
using cardan::socket::kUnmapped;
using cardan::socket::Peer;
namespace fs = std::filesystem;

Peer user(uid_t uid, std::vector<gid_t> groups = {}) { return {.pid = 1, .uid = uid, .gid = uid, .groups = groups}; }

std::string ask(const std::string& text, const std::string& topic, const Peer& peer) {
  return Policy(text, "the file").refusal(topic, peer);
}

class PolicyFile : public testing::Test {
 protected:
  PolicyFile() {
    char name[] = "/tmp/cardan-test-XXXXXX";
    folder_ = ::mkdtemp(name);
    file_ = Policy::file_in(folder_);
  }
  ~PolicyFile() override { fs::remove_all(folder_); }
  void write(const std::string& text) const {
    std::ofstream(file_) << text;
    ::chmod(file_.c_str(), 0644);
  }
  std::string folder_;
  std::string file_;
};

}  // namespace

TEST(PolicyText, TheFirstRuleThatFitsCounts) {
  const std::string text =
      R"({"topics": [{"topic": "/a/*", "users": [5001], "groups": [6001]}, {"topic": "*", "users": [5002]}]})";
  EXPECT_EQ(ask(text, "/a/b", user(5001)), "");
  EXPECT_EQ(ask(text, "/a/b", user(5003, {7, 6001})), "");
  EXPECT_EQ(ask(text, "/a/b", user(6001)), "") << "by its own group";
  EXPECT_NE(ask(text, "/a/b", user(5002)).find("user 5002 is on no list of the policy the file"), std::string::npos);
  EXPECT_EQ(ask(text, "/b", user(5002)), "");
  EXPECT_NE(ask(text, "/b", user(5001)), "");
  EXPECT_NE(ask(R"({"topics": []})", "/b", user(5001)).find("no rule"), std::string::npos);
}

TEST(PolicyText, NamesAreLookedUp) {
  const std::string text = R"({"topics": [{"topic": "*", "users": ["root", "no-such-user"], "groups": ["root"]}]})";
  EXPECT_EQ(ask(text, "/a", user(0)), "");
  EXPECT_EQ(ask(text, "/a", user(5001, {0})), "");
  EXPECT_NE(ask(text, "/a", user(5001)), "");
}

TEST(PolicyText, UnmappedUsersAreNobody) {
  const std::string text = R"({"topics": [{"topic": "*", "users": [65534], "groups": [65534]}]})";
  EXPECT_NE(ask(text, "/a", user(kUnmapped, {kUnmapped})), "");
  EXPECT_EQ(ask(text, "/a", user(65534)), "") << "a user like any other where all ids are mapped";
}

TEST(PolicyText, AnInvalidPolicyIsRefusedAsAWhole) {
  for (const char* text :
       {"", "{", "[]", "7", "{}", R"({"topics": 7})", R"({"topics": {}})", R"({"topics": [7]})",
        R"({"topics": [{"topic": 7}]})", R"({"topics": [{"topic": "*", "users": 5001}]})",
        R"({"topics": [{"topic": "*", "users": [-1]}]})", R"({"topics": [{"topic": "*", "users": [1.5]}]})",
        R"({"topics": [{"topic": "*", "users": [{}]}]})", R"({"topics": [{"topic": "*", "users": [""]}]})",
        R"({"topics": [{"topic": "*", "users": [4294967295]}]})",
        R"({"topics": [{"topic": "*", "users": [4294968297]}]})",  // 1001 in 32 bits
        R"({"topics": [{"topic": "*", "groups": ["\xff"]}]})"}) {
    try {
      (void)ask(text, "/a", user(1001));
      ADD_FAILURE() << text;
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), ErrorCode::InvalidArgument) << text;
      EXPECT_NE(e.cause().find("the file"), std::string::npos) << e.what();
    }
  }
  std::string deep(100'000, '[');
  EXPECT_THROW((void)ask(deep, "/a", user(1001)), Error);
  EXPECT_THROW((void)ask(deep + std::string(100'000, ']'), "/a", user(1001)), Error);
}

TEST_F(PolicyFile, AFloodOfDecisionsParsesItOnce) {
  write(R"({"topics": [{"topic": "*", "users": [5001]}]})");
  std::this_thread::sleep_for(std::chrono::milliseconds(150));  // a file that has just changed is read each time
  const std::size_t before = Policy::parsed();
  for (int i = 0; i < 1000; ++i) {
    ASSERT_EQ(Policy::refusal_by(file_, "/a", user(5001)), "");
    ASSERT_NE(Policy::refusal_by(file_, "/a", user(5002)), "");
  }
  EXPECT_LE(Policy::parsed() - before, 2U);
}

TEST_F(PolicyFile, AnEditCountsAtOnce) {
  for (unsigned i = 0; i < 200; ++i) {  // even one of the same length within a tick of the file system's clock
    write(R"({"topics": [{"topic": "*", "users": [)" + std::to_string(5000 + i) + "]}]}");
    ASSERT_EQ(Policy::refusal_by(file_, "/a", user(5000 + i)), "") << i;
    ASSERT_NE(Policy::refusal_by(file_, "/a", user(5000 + i - 1)), "") << i;
  }
  write("{");
  EXPECT_THROW((void)Policy::refusal_by(file_, "/a", user(5199)), Error);
  fs::remove(file_);
  EXPECT_NE(Policy::refusal_by(file_, "/a", user(5199)).find("no policy file"), std::string::npos);
}

TEST_F(PolicyFile, AUserThatCanWriteItIsNotLetInByIt) {
  write(R"({"topics": [{"topic": "*", "users": [5001]}]})");
  EXPECT_EQ(cardan::detail::refusal(Access::Policy, "/a", user(5001), folder_), "");
  ::chmod(file_.c_str(), 0666);
  EXPECT_THROW((void)cardan::detail::refusal(Access::Policy, "/a", user(5001), folder_), Error)
      << "a policy that was good a moment ago";
}

TEST(AccessByOwner, TheOwnerOfANameDecides) {
  const uid_t us = ::geteuid();
  for (const Access access : {Access::Owner, Access::Group, Access::Everyone, Access::Policy})
    EXPECT_TRUE(cardan::detail::may_be_accepted(access, us));
  EXPECT_FALSE(cardan::detail::may_be_accepted(Access::Owner, us + 1));
  EXPECT_FALSE(cardan::detail::may_be_accepted(Access::Owner, kUnmapped));
  EXPECT_TRUE(cardan::detail::may_be_accepted(Access::Everyone, us + 1));
  EXPECT_TRUE(cardan::detail::may_be_accepted(Access::Group, us + 1)) << "its groups decide";
  EXPECT_EQ(cardan::detail::peer_by_database(0).gid, 0U);
  EXPECT_EQ(cardan::detail::peer_by_database(3'999'999'999U).gid, kUnmapped) << "nobody's user";
}
