// SPDX-License-Identifier: Apache-2.0
#include "src/bridge/catalogue.hpp"

#include <gtest/gtest.h>
#include <poll.h>

#include <array>
#include <memory>
#include <new>
#include <set>
#include <string>
#include <vector>

#include "cardan/messages.hpp"
#include "cardan/publisher.hpp"
#include "tests/support/run_directory.hpp"

namespace cardan::bridge {
namespace {

class CatalogueTest : public test::OwnRunDirectory {
 protected:
  /// The next change; without one the test hangs until its time-out.
  static Catalogue::Change next(Catalogue& catalogue) {
    static std::vector<Catalogue::Change> waiting;
    while (waiting.empty()) {
      pollfd fd{.fd = catalogue.fd(), .events = POLLIN, .revents = 0};
      ::poll(&fd, 1, -1);
      waiting = catalogue.changes();
    }
    Catalogue::Change first = waiting.front();
    waiting.erase(waiting.begin());
    return first;
  }
};

TEST_F(CatalogueTest, OneOfCardansOwnTopicsMayBeNamed) {
  Publisher<Clock> own{Topic<Clock>{"/cardan/own", {}}}, named{Topic<Clock>{"/cardan/named", {}}};
  Rules rules;
  rules.out = {{}};
  Catalogue catalogue(rules, Catalogue::Owners::Marked, "/cardan/named");
  EXPECT_EQ(next(catalogue).topic.name, "/cardan/named");
  EXPECT_TRUE(catalogue.changes().empty()) << "and no other";
  rules.out = {{.exclude = {"/cardan/*"}}};
  Catalogue strict(rules, Catalogue::Owners::Marked, "/cardan/named");
  EXPECT_TRUE(strict.changes().empty()) << "a rule has to send it";
}

TEST_F(CatalogueTest, TopicsComeAndGoAsTheRulesSay) {
  Publisher<Clock> before{Topic<Clock>{"/wanted/before", {}}};
  Publisher<Clock> other{Topic<Clock>{"/unwanted", {}}};
  Publisher<Clock> own{Topic<Clock>{"/cardan/own", {}}};
  Rules rules;
  rules.out = {{.topics = {"/wanted/*", "/cardan/*"}, .max_hz = 3}};
  Catalogue catalogue(rules);
  Catalogue::Change change = next(catalogue);
  EXPECT_TRUE(change.added);
  EXPECT_EQ(change.topic.name, "/wanted/before");
  EXPECT_EQ(change.topic.type, "rosgraph_msgs/msg/Clock");
  ASSERT_NE(change.rule, nullptr);
  EXPECT_EQ(change.rule->max_hz, 3);

  auto later = std::make_unique<Publisher<Clock>>(Topic<Clock>{"/wanted/later", {}});
  change = next(catalogue);
  EXPECT_TRUE(change.added);
  EXPECT_EQ(change.topic.name, "/wanted/later");
  auto second = std::make_unique<Publisher<Clock>>(Topic<Clock>{"/wanted/later", {}});
  later.reset();
  second.reset();
  change = next(catalogue);
  EXPECT_FALSE(change.added) << "one end for both, and no second beginning";
  EXPECT_EQ(change.topic.name, "/wanted/later");
  EXPECT_TRUE(catalogue.changes().empty());
}

TEST_F(CatalogueTest, AChangeThatCouldNotBeTakenComesAgain) {
  constexpr std::array kNames{"/t0", "/t1", "/t2", "/t3"};
  std::vector<std::unique_ptr<Publisher<Clock>>> there;
  for (const char* const name : kNames) there.push_back(std::make_unique<Publisher<Clock>>(Topic<Clock>{name, {}}));
  Rules rules;
  rules.out = {{}};
  Catalogue catalogue(rules);
  std::set<std::string> taken;
  int tries = 0;
  for (bool out_of_memory = true; taken.size() < 4; out_of_memory = !out_of_memory) {
    pollfd fd{.fd = catalogue.fd(), .events = POLLIN, .revents = 0};
    ::poll(&fd, 1, 10);
    try {
      catalogue.each_change([&](const Catalogue::Change& change) {
        ++tries;
        if (out_of_memory && taken.size() == 2) throw std::bad_alloc();
        EXPECT_TRUE(taken.insert(change.topic.name).second) << "handed out once: " << change.topic.name;
      });
    } catch (const std::bad_alloc&) {
    }
  }
  EXPECT_GE(tries, 4);
}

TEST_F(CatalogueTest, AnotherTypeOfTheSameTopicIsAProblemWithAName) {
  Publisher<Clock> first{Topic<Clock>{"/mixed", {}}};
  Rules rules;
  rules.out = {{}};
  Catalogue catalogue(rules);
  EXPECT_EQ(next(catalogue).topic.type, "rosgraph_msgs/msg/Clock");
  Publisher<Imu> second{Topic<Imu>{"/mixed", {}}};
  while (catalogue.problems().empty()) ::poll(nullptr, 0, 1);
  EXPECT_NE(catalogue.problems().at("/mixed").find("sensor_msgs/msg/Imu"), std::string::npos);
}

TEST_F(CatalogueTest, ATopicOfItsOwnerAloneLeavesOnlyIfARuleNamesIt) {
  const Publisher<Clock> named{Topic<Clock>{"/named", {}}}, by_pattern{Topic<Clock>{"/patterned", {}}};
  const Publisher<Clock> open{Topic<Clock>{"/open", {.access = Access::Everyone}}};
  Rules rules;
  rules.out = {{.topics = {"/named"}}, {.topics = {"/op*", "/pat*"}}};
  Catalogue catalogue(rules, Catalogue::Owners::LeftOut);
  const std::set<std::string> expected{"/named", "/open"};
  EXPECT_EQ((std::set<std::string>{next(catalogue).topic.name, next(catalogue).topic.name}), expected);
  EXPECT_NE(catalogue.problems().at("/patterned").find("--owner"), std::string::npos);
  EXPECT_EQ(catalogue.problems().size(), 1U);

  rules.out[1].owner = true;
  Catalogue all(rules, Catalogue::Owners::LeftOut);
  EXPECT_TRUE(all.problems().empty());
}

TEST_F(CatalogueTest, ATopicIsLeftOutWhileOneOfItsPublicationsIs) {
  const Publisher<Clock> open{Topic<Clock>{"/mixed", {.access = Access::Everyone}}};
  Rules rules;
  rules.out = {{}};
  Catalogue catalogue(rules, Catalogue::Owners::LeftOut);
  EXPECT_TRUE(next(catalogue).added);
  auto own = std::make_unique<Publisher<Clock>>(Topic<Clock>{"/mixed", {}});
  EXPECT_FALSE(next(catalogue).added) << "what it publishes must not leave";
  own.reset();
  const Catalogue::Change again = next(catalogue);
  EXPECT_TRUE(again.added);
  EXPECT_NE(again.rule, nullptr);
  EXPECT_TRUE(catalogue.problems().empty());
}

TEST_F(CatalogueTest, ATopicIsMarkedWhileAnyOfItsPublicationsIsNotForOtherUsers) {
  const Publisher<Clock> named{Topic<Clock>{"/named", {}}};
  auto open = std::make_unique<Publisher<Clock>>(Topic<Clock>{"/mixed", {.access = Access::Everyone}});
  Rules rules;
  rules.out = {{.topics = {"/named"}}, {}};
  Catalogue catalogue(rules, Catalogue::Owners::Marked);
  EXPECT_FALSE(next(catalogue).is_owners);
  EXPECT_FALSE(next(catalogue).is_owners);
  const auto comes_again = [&](bool is_owners) {
    EXPECT_FALSE(next(catalogue).added);
    const Catalogue::Change again = next(catalogue);
    EXPECT_TRUE(again.added);
    EXPECT_EQ(again.topic.name, "/mixed");
    EXPECT_EQ(again.is_owners, is_owners);
    EXPECT_NE(again.rule, nullptr);
  };
  auto own = std::make_unique<Publisher<Clock>>(Topic<Clock>{"/mixed", {}});
  comes_again(true);
  own.reset();
  comes_again(false);
  own = std::make_unique<Publisher<Clock>>(Topic<Clock>{"/mixed", {}});
  comes_again(true);
  open.reset();
  own.reset();
  EXPECT_FALSE(next(catalogue).added);
  own = std::make_unique<Publisher<Clock>>(Topic<Clock>{"/mixed", {}});
  EXPECT_TRUE(next(catalogue).is_owners) << "from its beginning";
  EXPECT_TRUE(catalogue.problems().empty());
}

}  // namespace
}  // namespace cardan::bridge
