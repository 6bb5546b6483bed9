// SPDX-License-Identifier: Apache-2.0
// The users that may subscribe, and whose publications count, with processes of other users: both sides hear the reason
// in words.
#include <grp.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <mutex>

#include "cardan/error.hpp"
#include "cardan/log.hpp"
#include "tests/support/child.hpp"
#include "tests/support/frames.hpp"
#include "tests/support/run_directory.hpp"

namespace {

using namespace std::chrono_literals;
using cardan::Access;
using cardan::Error;
using cardan::test::Child;
using cardan::test::Small;

constexpr unsigned kFriend = 5001;
constexpr unsigned kStranger = 5002;
constexpr unsigned kGroup = 6001;

cardan::Topic<Small> topic_of(Access access) { return {"/guarded", {.depth = 2, .access = access}}; }

class AccessRules : public cardan::test::OwnRunDirectory {
 protected:
  void SetUp() override {
    SKIP_UNLESS_ROOT();
    ::chmod(cardan::test::run_directory().c_str(), 01777);
    cardan::set_log([this](cardan::LogLevel, const std::string& text) {
      const std::lock_guard lock(mutex_);
      log_ += text + "\n";
    });
  }
  void TearDown() override {
    cardan::set_log({});
    ::unsetenv("CARDAN_POLICY");
  }
  std::string log() {
    const std::lock_guard lock(mutex_);
    return std::exchange(log_, {});
  }
  /// The samples that a subscriber with Access::Everyone on its own side gets from a publisher with `access` here.
  std::string ask(Access access, const std::function<void()>& who) {
    const cardan::Publisher<Small> out{topic_of(access)};
    Child c("asks", {}, who);
    const std::string answer = c.line().value_or("(nothing)");
    EXPECT_EQ(c.end(), 0);
    return answer;
  }

 private:
  std::mutex mutex_;
  std::string log_;
};

}  // namespace

CARDAN_ROLE(asks) {
  try {
    const cardan::Subscriber<Small> in{topic_of(Access::Everyone)};
    cardan::test::say("attached " + std::to_string(in.publishers()));
  } catch (const Error& e) {
    cardan::test::say(std::string(e.code() == cardan::ErrorCode::Refused ? "refused " : "error ") + e.what());
  }
  return 0;
}

CARDAN_ROLE(offers) {
  cardan::Publisher<Small> out{topic_of(Access::Everyone)};
  cardan::test::publish_next(out, 1, 0);
  cardan::test::say("ready");
  cardan::test::hear();
  return 0;
}

TEST_F(AccessRules, OwnerIsTheSameUserOnly) {
  EXPECT_EQ(ask(Access::Owner, {}), "attached 1");
  const std::string no = ask(Access::Owner, cardan::test::as_user(kStranger));
  EXPECT_TRUE(no.starts_with("refused ")) << no;
  EXPECT_NE(no.find("/guarded"), std::string::npos) << no;
  EXPECT_NE(no.find("user 5002"), std::string::npos) << no;
  const std::string words = log();
  EXPECT_NE(words.find("/guarded"), std::string::npos) << words;
  EXPECT_NE(words.find("user 5002"), std::string::npos) << "the publisher logs the user that asked: " << words;
}

TEST_F(AccessRules, GroupIsThePublishersGroup) {
  EXPECT_EQ(ask(Access::Group, cardan::test::as_user(kFriend, ::getegid())), "attached 1");
  const std::string no = ask(Access::Group, cardan::test::as_user(kStranger, kGroup));
  EXPECT_TRUE(no.starts_with("refused ")) << no;
  EXPECT_NE(no.find("group"), std::string::npos) << no;
}

TEST_F(AccessRules, EveryoneIsEveryone) {
  EXPECT_EQ(ask(Access::Everyone, cardan::test::as_user(kStranger)), "attached 1");
}

TEST_F(AccessRules, PolicyNamesUsersAndGroups) {
  const std::string file = cardan::test::run_directory() + "/" + domain_ + ".json";
  ::setenv("CARDAN_POLICY", file.c_str(), 1);
  const auto policy = [&](const std::string& text) { std::ofstream(file) << text; };
  policy(
      R"({"topics": [{"topic": "/other", "users": [5002]}, {"topic": "/gua*", "users": [5001], "groups": [6001]}]})");
  EXPECT_EQ(ask(Access::Policy, cardan::test::as_user(kFriend)), "attached 1");
  EXPECT_EQ(ask(Access::Policy, cardan::test::as_user(kStranger, kGroup)), "attached 1");
  std::string no = ask(Access::Policy, cardan::test::as_user(kStranger));
  EXPECT_TRUE(no.starts_with("refused ") && no.find("5002") != std::string::npos) << no;
  policy(R"({"topics": []})");  // an edit counts at once
  no = ask(Access::Policy, cardan::test::as_user(kFriend));
  EXPECT_TRUE(no.starts_with("refused ") && no.find("no rule") != std::string::npos) << no;
  for (const char* broken : {"{", "{\"topics\": 7}", "{\"topics\": [{\"topic\": 7}]}",
                             "{\"topics\": [{\"topic\": \"/guarded\", \"users\": [-1, {}, 1.5]}]}", ""}) {
    policy(broken);
    no = ask(Access::Policy, cardan::test::as_user(kFriend));
    EXPECT_TRUE(no.starts_with("refused ")) << broken << ": " << no;
  }
  ::unlink(file.c_str());
  no = ask(Access::Policy, cardan::test::as_user(kFriend));
  EXPECT_TRUE(no.starts_with("refused ") && no.find("no policy file") != std::string::npos) << no;
}

TEST_F(AccessRules, ASubscriberAcceptsOnlyWhomItsOwnRuleAllows) {
  Child stranger("offers", {}, cardan::test::as_user(kStranger));
  stranger.expect("ready");
  {
    cardan::Subscriber<Small> in{topic_of(Access::Owner)};
    EXPECT_EQ(in.publishers(), 0U) << "another user's publication was accepted";
    const auto event = in.event();
    ASSERT_TRUE(event);
    EXPECT_EQ(event->kind, cardan::Event::Kind::Refused);
    EXPECT_NE(event->text.find("user 5002"), std::string::npos) << event->text;
  }
  cardan::Subscriber<Small> open{topic_of(Access::Everyone)};
  EXPECT_TRUE(open.wait(5s));
  EXPECT_EQ(stranger.end(), 0);
}

TEST_F(AccessRules, OneAllowedPublisherIsEnough) {
  const cardan::Publisher<Small> own{topic_of(Access::Owner)};
  Child stranger("offers", {}, cardan::test::as_user(kStranger));
  stranger.expect("ready");
  cardan::Subscriber<Small> in{topic_of(Access::Owner)};
  EXPECT_EQ(in.publishers(), 1U);
  const auto event = in.event();
  EXPECT_TRUE(event);
  EXPECT_EQ(stranger.end(), 0);
}

TEST_F(AccessRules, APrivateTopicCannotBeReached) {
  const cardan::Publisher<Small> out{
      cardan::Topic<Small>{"/guarded", {.depth = 2, .access = Access::Everyone, .process_private = true}}};
  Child c("asks");
  EXPECT_EQ(c.line(), "attached 0");
}
