// SPDX-License-Identifier: Apache-2.0
// Services between the components of a simulation.
#include <gtest/gtest.h>

#include "cardan/error.hpp"
#include "cardan/simulation.hpp"
#include "src/runtime/service/service_sum_test.hpp"

namespace cardan::service_test {
namespace {

using namespace std::chrono_literals;

TEST(ServicesInASimulation, AQuestionIsAnsweredAtTheSameTime) {
  Simulation simulation;
  auto& asker = simulation.add<Asker>("asker");  // before its server: the order does not count
  auto& adder = simulation.add<Adder>("adder");
  simulation.start();
  asker.ask(2, 3);
  asker.ask(4, 5);
  simulation.run();
  ASSERT_EQ(asker.outcomes.size(), 2U);
  EXPECT_EQ(asker.outcomes[0].sum, 5);
  EXPECT_EQ(asker.outcomes[1].sum, 9);
  EXPECT_EQ(adder.taken, 2);
  EXPECT_EQ(simulation.now(), 0);
}

TEST(ServicesInASimulation, ThousandsOfQuestionsLeakNoSlot) {
  Simulation simulation;
  auto& asker = simulation.add<Asker>("asker");
  simulation.add<Adder>("adder");
  simulation.start();
  for (std::int64_t i = 0; i < 5000; ++i) {
    asker.ask(i, 1);
    simulation.run();
  }
  ASSERT_EQ(asker.outcomes.size(), 5000U);
  for (std::int64_t i = 0; i < 5000; ++i) ASSERT_EQ(asker.outcomes[static_cast<std::size_t>(i)].sum, i + 1);
}

TEST(ServicesInASimulation, TheReasonOfAMissingAnswerIsReported) {
  Simulation simulation;
  auto& asker = simulation.add<Asker>("asker");
  simulation.start();
  asker.ask(1, 2);
  EXPECT_EQ(asker.number, 0U);
  EXPECT_FALSE(asker.add.has_server());
  EXPECT_TRUE(asker.outcomes.empty()) << "its function is called as a callback, not within ask()";
  simulation.run();
  ASSERT_EQ(asker.outcomes.size(), 1U);
  EXPECT_EQ(asker.outcomes[0].reason, NoAnswer::NoServer);
  EXPECT_NE(asker.outcomes[0].text.find("no server"), std::string::npos);
}

TEST(ServicesInASimulation, AServerDeclines) {
  Simulation simulation;
  auto& asker = simulation.add<Asker>("asker");
  simulation.add<Adder>("adder");
  simulation.start();
  asker.ask(-1, 2);
  simulation.run();
  ASSERT_EQ(asker.outcomes.size(), 1U);
  EXPECT_EQ(asker.outcomes[0].reason, NoAnswer::Declined);
  EXPECT_NE(asker.outcomes[0].text.find("no negative numbers"), std::string::npos);
}

TEST(ServicesInASimulation, ATimeOutIsOfTheSimulatedClock) {
  Simulation simulation;
  auto& asker = simulation.add<Asker>("asker");
  auto& adder = simulation.add<Adder>("adder");
  adder.keeps = true;
  simulation.start();
  asker.ask(1, 2, 50ms);
  asker.ask(3, 4, 70ms);
  simulation.run_for(49ms);
  EXPECT_EQ(adder.taken, 2);
  EXPECT_TRUE(asker.outcomes.empty());
  EXPECT_FALSE(adder.kept[0].cancelled());
  simulation.run_for(2ms);
  ASSERT_EQ(asker.outcomes.size(), 1U);
  EXPECT_EQ(asker.outcomes[0].reason, NoAnswer::TimedOut);
  EXPECT_TRUE(adder.kept[0].cancelled());
  EXPECT_FALSE(adder.kept[0].reply({0})) << "nobody waits for it";
  EXPECT_TRUE(adder.kept[1].reply({7})) << "a kept question is answered later";
  simulation.run();
  ASSERT_EQ(asker.outcomes.size(), 2U);
  EXPECT_EQ(asker.outcomes[1].sum, 7);
}

TEST(ServicesInASimulation, MoreThanPendingQuestionsFailAtOnce) {
  Simulation simulation;
  auto& asker = simulation.add<Asker>("asker");
  auto& adder = simulation.add<Adder>("adder");
  adder.keeps = true;
  simulation.start();
  for (std::int64_t i = 0; i < 5; ++i) asker.ask(i, 0);
  simulation.run();
  ASSERT_EQ(asker.outcomes.size(), 1U);
  EXPECT_EQ(asker.outcomes[0].reason, NoAnswer::Full);
  EXPECT_EQ(adder.taken, 4);
}

TEST(ServicesInASimulation, ACancelledQuestionIsNeitherDeliveredNorAnswered) {
  Simulation simulation;
  auto& asker = simulation.add<Asker>("asker");
  auto& adder = simulation.add<Adder>("adder");
  simulation.start();
  asker.ask(1, 2);
  asker.add.cancel(asker.number);
  asker.add.cancel(asker.number);
  simulation.run();
  EXPECT_EQ(adder.taken, 0);
  EXPECT_TRUE(asker.outcomes.empty());
  asker.ask(1, 2);
  simulation.run();
  EXPECT_EQ(asker.outcomes.size(), 1U);
}

TEST(ServicesInASimulation, AComponentMayAskItself) {
  struct Both : Component {
    void on_start(Context& context) override {
      add = context.client(kAdd, {.name = "sums"});
      context.service(kAdd, [](Question<Sum, Total> question) { question.reply({question->a + question->b}); });
      context.timer(10ms, [this] {
        (void)add.ask({1, 1}, 1s, [this](const Answer<Total>& answer) { sum = answer ? answer->sum : -1; });
      });
    }
    ServiceClient<Service<Sum, Total>> add;
    std::int64_t sum = 0;
  };
  Simulation simulation;
  auto& both = simulation.add<Both>("both");
  simulation.start();
  simulation.run_for(15ms);
  EXPECT_EQ(both.sum, 2);
}

TEST(ServicesInASimulation, TwoServersOrOtherTypesAreRefused) {
  const auto error_of = [](Simulation& simulation) -> std::string {
    try {
      simulation.start();
    } catch (const Error& e) {
      return e.what();
    }
    return "";
  };
  Simulation twice;
  twice.add<Adder>("one");
  twice.add<Adder>("two");
  EXPECT_NE(error_of(twice).find("two servers"), std::string::npos);

  struct Stranger : Component {
    void on_start(Context& context) override { client = context.client(Service<Total, Sum>{"/add"}); }
    ServiceClient<Service<Total, Sum>> client;
  };
  Simulation other;
  other.add<Adder>("adder");
  other.add<Stranger>("other");
  const std::string error = error_of(other);
  EXPECT_NE(error.find("test_msgs/msg/Sum"), std::string::npos) << error;
  EXPECT_NE(error.find("component 'other'"), std::string::npos) << error;
}

TEST(ServicesInASimulation, AHandleThatWasNeverSetSaysHow) {
  ServiceClient<Service<Sum, Total>> unset;
  EXPECT_FALSE(unset);
  EXPECT_THROW((void)unset.has_server(), Error);
}

TEST(ServicesInASimulation, TheConfigurationRenamesAService) {
  Simulation simulation;
  auto asker = std::make_shared<Asker>();
  simulation.add({.name = "asker", .topics = {{"/add", "/left/add"}}}, asker);
  simulation.add({.name = "adder", .topics = {{"/add", "/left/add"}}}, std::make_shared<Adder>());
  simulation.start();
  asker->ask(1, 2);
  simulation.run();
  ASSERT_EQ(asker->outcomes.size(), 1U);
  EXPECT_EQ(asker->outcomes[0].sum, 3);
}

}  // namespace
}  // namespace cardan::service_test
