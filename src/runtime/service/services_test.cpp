// SPDX-License-Identifier: Apache-2.0
// Services of components, over the transport.
#include "src/runtime/service/services.hpp"

#include <gtest/gtest.h>

#include <thread>

#include "cardan/error.hpp"
#include "src/runtime/runtime.hpp"
#include "src/runtime/service/service_sum_test.hpp"
#include "tests/support/run_directory.hpp"

namespace cardan::service_test {
namespace {

using namespace std::chrono_literals;

constexpr auto kLong = 60s;

template <class Done>
bool soon(Done done) {
  for (int i = 0; i < 60000 && !done(); ++i) std::this_thread::sleep_for(1ms);
  return done();
}

class ComponentServices : public test::OwnRunDirectory {
 protected:
  /// Each component in a group of its own.
  Runtime& start(const std::shared_ptr<Component>& first, const std::shared_ptr<Component>& second = nullptr) {
    runtime_ = std::make_unique<Runtime>(RuntimeOptions{
        .domain = domain_, .groups = {{.name = "first", .workers = 1}, {.name = "second", .workers = 2}}});
    runtime_->add({.name = "first", .group = "first"}, first);
    if (second != nullptr) runtime_->add({.name = "second", .group = "second"}, second);
    runtime_->start();
    return *runtime_;
  }
  std::unique_ptr<Runtime> runtime_;
};

TEST_F(ComponentServices, AComponentAnswersAPlainClient) {
  const auto adder = std::make_shared<Adder>();
  start(adder);
  Client client{kAdd};
  for (std::int64_t i = 0; i < 200; ++i) {
    const auto answer = client.call({i, 1}, kLong);
    ASSERT_TRUE(answer) << answer.text();
    EXPECT_EQ(answer->sum, i + 1);
  }
  EXPECT_EQ(client.call({-1, 1}, kLong).reason(), NoAnswer::Declined);
  EXPECT_EQ(adder->taken, 201);
  runtime_->stop();
}

TEST_F(ComponentServices, AComponentAsksAPlainServer) {
  Server server{kAdd};
  const auto asker = std::make_shared<Asker>();
  start(asker);
  EXPECT_TRUE(asker->add.has_server());
  for (std::int64_t i = 0; i < 200; ++i) {
    asker->later([&, i] { asker->ask(i, 1); });
    auto question = server.wait(kLong);
    ASSERT_TRUE(question);
    EXPECT_TRUE(question.reply({question->a + question->b}));
    ASSERT_TRUE(soon([&] { return asker->done() == static_cast<std::size_t>(i) + 1; }));
    EXPECT_EQ(asker->outcomes.back().sum, i + 1);
  }
  runtime_->stop();
}

TEST_F(ComponentServices, TwoComponentsOfOneProcessAskEachOther) {
  const auto asker = std::make_shared<Asker>();
  const auto adder = std::make_shared<Adder>();
  start(asker, adder);
  ASSERT_TRUE(soon([&] { return asker->add.has_server(); }));
  asker->later([&] {
    asker->ask(1, 2);
    asker->ask(3, 4);
    asker->ask(-1, 0);
  });
  ASSERT_TRUE(soon([&] { return asker->done() == 3; }));
  std::int64_t sum = 0;
  for (const auto& outcome : asker->outcomes) sum += outcome.sum;
  EXPECT_EQ(sum, 10);
  runtime_->stop();
}

TEST_F(ComponentServices, TheEndOfAServerIsReportedAtOnce) {
  auto server = std::make_unique<Server<Service<Sum, Total>>>(kAdd);
  const auto asker = std::make_shared<Asker>(false);
  start(asker);
  asker->ask(1, 2, 1h);
  auto question = server->wait(kLong);
  ASSERT_TRUE(question);
  question = {};
  ASSERT_TRUE(soon([&] { return asker->done() == 1; }));
  EXPECT_EQ(asker->outcomes[0].reason, NoAnswer::Declined);
  asker->ask(3, 4, 1h);
  question = server->wait(kLong);
  ASSERT_TRUE(question);
  server.reset();  // while its question is kept
  ASSERT_TRUE(soon([&] { return asker->done() == 2; })) << "without its time-out of an hour";
  EXPECT_EQ(asker->outcomes[1].reason, NoAnswer::ServerDied);
  EXPECT_TRUE(question.cancelled());
  EXPECT_FALSE(question.loan());
  asker->ask(5, 6);
  ASSERT_TRUE(soon([&] { return asker->done() == 3; }));
  EXPECT_EQ(asker->outcomes[2].reason, NoAnswer::NoServer);
  Server again{kAdd};
  ASSERT_TRUE(soon([&] { return asker->add.has_server(); }));
  runtime_->stop();
}

TEST_F(ComponentServices, TimeOutsEndWithoutAnyOtherEvent) {
  Server server{kAdd};
  const auto asker = std::make_shared<Asker>(false);
  start(asker);
  asker->ask(1, 2, 5ms);
  ASSERT_TRUE(soon([&] { return asker->done() == 1; }));
  EXPECT_EQ(asker->outcomes[0].reason, NoAnswer::TimedOut);
  asker->ask(3, 4, 1h);
  asker->ask(5, 6, 20ms);  // sooner than what the group sleeps for
  ASSERT_TRUE(soon([&] { return asker->done() == 2; }));
  EXPECT_EQ(asker->outcomes[1].reason, NoAnswer::TimedOut);
  auto question = server.wait(kLong);
  ASSERT_TRUE(question);
  EXPECT_EQ(question->a, 3) << "overdue questions are not delivered";
  EXPECT_FALSE(server.take());
  runtime_->stop();
}

TEST_F(ComponentServices, AnAnswerWakesAGroupThatOnlyWaitsForIt) {
  Server server{kAdd};
  const auto asker = std::make_shared<Asker>(false);
  start(asker);
  for (std::int64_t i = 0; i < 50; ++i) {
    asker->ask(i, 1, 1h);
    auto question = server.wait(kLong);
    ASSERT_TRUE(question);
    EXPECT_TRUE(question.reply({question->a + 1}));
    ASSERT_TRUE(soon([&] { return asker->done() == static_cast<std::size_t>(i) + 1; }));
  }
  runtime_->stop();
}

TEST_F(ComponentServices, AFunctionThatAsksWhenItIsDroppedLocksNothing) {
  Server server{kAdd};
  const auto asker = std::make_shared<Asker>(false);
  start(asker);
  struct AtTheEnd {
    explicit AtTheEnd(std::function<void()> what) : work(std::move(what)) {}
    AtTheEnd(const AtTheEnd&) = delete;
    AtTheEnd& operator=(const AtTheEnd&) = delete;
    ~AtTheEnd() { work(); }
    std::function<void()> work;
  };
  auto last = std::make_shared<AtTheEnd>([&] { asker->ask(7, 8, 5ms); });
  const std::uint64_t number = asker->add.ask({1, 2}, 1h, [last](const Answer<Total>&) {});
  last.reset();
  asker->add.cancel(number);
  ASSERT_TRUE(soon([&] { return asker->done() == 1; }));
  runtime_->stop();
}

TEST_F(ComponentServices, OnlyAsManyQuestionsAsHoldsAreTaken) {
  struct Keeper : Component {
    void on_start(Context& context) override {
      context.service(kAdd, [this](Question<Sum, Total> question) { kept.push_back(std::move(question)), ++taken; },
                      {.holds = 1});
      context.timer(1ms, [this] {
        if (!answers) return;
        for (auto& question : kept) question.reply({question->a});
        kept.clear();
      });
    }
    std::vector<Question<Sum, Total>> kept;
    std::atomic<int> taken{0};
    std::atomic<bool> answers{false};
  };
  const auto keeper = std::make_shared<Keeper>();
  start(keeper);
  Client client{kAdd};
  ASSERT_TRUE(client.wait_for_server(kLong));
  std::vector<Ticket<Total>> tickets;
  for (std::int64_t i = 0; i < 4; ++i) tickets.push_back(client.ask({i, 0}, kLong));
  ASSERT_TRUE(soon([&] { return keeper->taken == 2; }));
  std::this_thread::sleep_for(20ms);
  EXPECT_EQ(keeper->taken, 2) << "the others wait at their client";
  keeper->answers = true;
  for (std::int64_t i = 0; i < 4; ++i) {
    const auto answer = tickets[static_cast<std::size_t>(i)].wait();
    ASSERT_TRUE(answer) << answer.text();
    EXPECT_EQ(answer->sum, i);
  }
  runtime_->stop();
}

TEST_F(ComponentServices, AGroupWithManyTopicsAnswersToo) {
  struct Busy : Adder {
    void on_start(Context& context) override {
      for (int i = 0; i < 120; ++i) {
        names.push_back("/topic" + std::to_string(i));
        context.input(Topic<Total>{names.back().c_str()}, [](const Sample<Total>&) {});
      }
      Adder::on_start(context);
      add = context.client(Service<Sum, Total>{"/other", {.pending = 4}});
      context.timer(1ms, [this] {
        if (asks.exchange(false))
          (void)add.ask({1, 2}, kLong, [this](const Answer<Total>& answer) { sum = answer ? answer->sum : -1; });
      });
    }
    std::deque<std::string> names;
    ServiceClient<Service<Sum, Total>> add;
    std::atomic<bool> asks{false};
    std::atomic<std::int64_t> sum{0};
  };
  Server other{Service<Sum, Total>{"/other", {.pending = 4}}};
  const auto busy = std::make_shared<Busy>();
  start(busy);
  Client client{kAdd};
  for (std::int64_t i = 0; i < 20; ++i) {
    const auto answer = client.call({i, 1}, kLong);
    ASSERT_TRUE(answer) << answer.text();
  }
  busy->asks = true;
  auto question = other.wait(kLong);
  ASSERT_TRUE(question);
  question.reply({3});
  EXPECT_TRUE(soon([&] { return busy->sum == 3; }));
  runtime_->stop();
}

class Restarted : public Adder {};
CARDAN_COMPONENT(Restarted)

TEST_F(ComponentServices, AServerThatIsRestartedTakesNewQuestions) {
  Runtime runtime({.domain = domain_});
  runtime.add({.name = "adder", .class_name = "Restarted"});
  runtime.start();
  Client client{kAdd};
  ASSERT_TRUE(client.call({1, 2}, kLong));
  runtime.restart("adder");
  ASSERT_TRUE(soon([&] { return static_cast<bool>(client.call({3, 4}, kLong)); }));
  runtime.stop();
}

TEST_F(ComponentServices, ASecondServerAnywhereIsAnErrorThatNamesTheComponent) {
  Server server{kAdd};
  try {
    start(std::make_shared<Adder>());
    FAIL() << "two servers";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::NameTaken);
    EXPECT_NE(std::string(e.what()).find("component 'first'"), std::string::npos) << e.what();
  }
}

}  // namespace
}  // namespace cardan::service_test
