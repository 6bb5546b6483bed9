// SPDX-License-Identifier: Apache-2.0
#include "src/bridge/service_caller.hpp"

#include <gtest/gtest.h>
#include <poll.h>

#include <chrono>
#include <optional>
#include <variant>

#include "cardan/cdr.hpp"
#include "cardan/clock.hpp"
#include "cardan/service.hpp"
#include "tests/support/run_directory.hpp"

namespace cardan::bridge::service_caller_test {

struct Sum {
  std::int64_t a, b;
};
struct Total {
  std::int64_t sum;
};

}  // namespace cardan::bridge::service_caller_test

CARDAN_MESSAGE(cardan::bridge::service_caller_test::Sum, "test_msgs/msg/Sum", a, b);
CARDAN_MESSAGE(cardan::bridge::service_caller_test::Total, "test_msgs/msg/Total", sum);

namespace cardan::bridge::service_caller_test {
namespace {

using namespace std::chrono_literals;

constexpr auto kLong = 60s;
constexpr Service<Sum, Total> kAdd{"/add", {.pending = 8}};

const std::vector<TopicRule> kAll{{.topics = {"*"}}};

class ServiceCallerTest : public test::OwnRunDirectory {
 protected:
  /// The next result; waits for it.
  ServiceCaller::Result next(ServiceCaller& caller) {
    while (results_.empty()) {
      pollfd ready{.fd = caller.fd(), .events = POLLIN, .revents = 0};
      EXPECT_EQ(::poll(&ready, 1, 60'000), 1) << "no result";
      for (ServiceCaller::Result& result : caller.results()) results_.push_back(std::move(result));
    }
    ServiceCaller::Result result = std::move(results_.front());
    results_.pop_front();
    return result;
  }
  LocalService found(ServiceCaller& caller) {
    auto change = std::get<ServiceCaller::Change>(next(caller));
    EXPECT_TRUE(change.added);
    return change.service;
  }
  ServiceCaller::Answer answer(ServiceCaller& caller) { return std::get<ServiceCaller::Answer>(next(caller)); }
  bool call(ServiceCaller& caller, std::uint32_t service, std::uint32_t number, std::int64_t a, std::int64_t b,
            std::uint64_t peer = 1) {
    return caller.call({.peer = peer, .service = service, .number = number, .question = to_cdr(Sum{a, b})});
  }

 private:
  std::deque<ServiceCaller::Result> results_;
};

TEST_F(ServiceCallerTest, FindsAServiceAndAsksIt) {
  Server server{kAdd};
  ServiceCaller caller({}, kAll);
  const LocalService service = found(caller);
  EXPECT_EQ(service.name, "/add");
  EXPECT_EQ(service.question_type, "test_msgs/msg/Sum");
  EXPECT_EQ(service.question_definition, "int64 a\nint64 b\n");
  EXPECT_EQ(service.answer_type, "test_msgs/msg/Total");
  EXPECT_EQ(service.answer_definition, "int64 sum\n");
  for (std::uint32_t i = 0; i < 20; ++i) {
    ASSERT_TRUE(call(caller, service.id, i, i, 1, 7));
    auto question = server.wait(kLong);
    ASSERT_TRUE(question);
    ASSERT_TRUE(question.reply(Total{question->a + question->b}));
    const auto answered = answer(caller);
    EXPECT_EQ(answered.failure, "");
    EXPECT_EQ(answered.peer, 7U);
    EXPECT_EQ(answered.service, service.id);
    EXPECT_EQ(answered.number, i);
    EXPECT_EQ(answered.answer, to_cdr(Total{i + std::int64_t{1}}));
  }
}

TEST_F(ServiceCallerTest, SaysWhyThereIsNoAnswer) {
  std::optional<Server<Service<Sum, Total>>> server(std::in_place, kAdd);
  ServiceCaller caller({}, kAll, 200ms);
  const LocalService service = found(caller);
  ASSERT_TRUE(caller.call({.peer = 1, .service = service.id, .number = 1, .question = std::vector<std::byte>(7)}));
  EXPECT_NE(answer(caller).failure.find("does not fit"), std::string::npos);
  ASSERT_TRUE(call(caller, service.id + 1, 2, 1, 2));
  EXPECT_NE(answer(caller).failure.find("the service has ended"), std::string::npos);
  ASSERT_TRUE(call(caller, service.id, 3, 1, 2));
  auto question = server->wait(kLong);
  ASSERT_TRUE(question);
  question.decline("for the test");
  EXPECT_NE(answer(caller).failure.find("declines: for the test"), std::string::npos);
  ASSERT_TRUE(call(caller, service.id, 4, 1, 2));
  const std::string late = answer(caller).failure;
  EXPECT_NE(late.find("in time"), std::string::npos) << late;
  server.reset();
  const auto change = std::get<ServiceCaller::Change>(next(caller));
  EXPECT_FALSE(change.added);
  EXPECT_EQ(change.service.id, service.id);
}

TEST_F(ServiceCallerTest, AsksOnlyWhatIsWanted) {
  Server server{kAdd};
  constexpr Service<Sum, Total> kOther{"/other"};
  Server other{kOther};
  const std::vector<TopicRule> rules{{.topics = {"/o*"}, .types = {"test_msgs/msg/Sum"}, .name_space = "/car"}};
  ServiceCaller caller({}, rules);
  const LocalService service = found(caller);
  EXPECT_EQ(service.name, "/other");
  EXPECT_EQ(service.beyond, "/car/other");
  EXPECT_TRUE(service.is_owners);
}

TEST_F(ServiceCallerTest, AServiceOfItsOwnerAloneIsMarkedUnlessARuleNamesIt) {
  constexpr Service<Sum, Total> kOpen{"/open", {.access = Access::Everyone}};
  Server open{kOpen};
  Server named{kAdd};
  const std::vector<TopicRule> rules{{.topics = {"/add"}}, {.topics = {"*"}}};
  ServiceCaller caller({}, rules);
  EXPECT_FALSE(found(caller).is_owners);
  EXPECT_FALSE(found(caller).is_owners);
}

TEST_F(ServiceCallerTest, TheCallsThatWaitAreBounded) {
  Server server{kAdd};
  ServiceCaller caller({}, kAll, 300ms);
  const LocalService service = found(caller);
  std::uint32_t accepted = 0;
  while (call(caller, service.id, accepted, 1, 2)) ++accepted;
  EXPECT_EQ(accepted, ServiceCaller::kMostCalls);
  for (std::uint32_t i = 0; i < accepted; ++i) EXPECT_NE(answer(caller).failure, "") << i;
  EXPECT_TRUE(call(caller, service.id, 99, 1, 2)) << "others have their outcome";
}

TEST_F(ServiceCallerTest, OnePeerLeavesRoomForAnotherOne) {
  Server server{kAdd};
  ServiceCaller caller({}, kAll);
  const LocalService service = found(caller);
  for (std::uint32_t i = 0; i < 40; ++i) ASSERT_TRUE(call(caller, service.id, i, 1, 0, 1));
  std::vector<Question<Sum, Total>> kept;
  for (std::uint32_t i = 0; i < kAdd.options.pending - 1; ++i) {
    kept.push_back(server.wait(kLong));
    ASSERT_TRUE(kept.back());
    EXPECT_EQ(kept.back()->a, 1);
  }
  ASSERT_TRUE(call(caller, service.id, 99, 2, 0, 2));
  auto question = server.wait(kLong);
  ASSERT_TRUE(question);
  EXPECT_EQ(question->a, 2);
  ASSERT_TRUE(question.reply(Total{2}));
  EXPECT_EQ(answer(caller).peer, 2U);
  ASSERT_TRUE(kept[0].reply(Total{1}));
  EXPECT_EQ(answer(caller).number, 0U);
  auto next = server.wait(kLong);
  ASSERT_TRUE(next);
  EXPECT_EQ(next->a, 1) << "the next one in the queue";
}

TEST_F(ServiceCallerTest, AServerThatBeginsAgainIsAskedOnce) {
  std::optional<Server<Service<Sum, Total>>> server(std::in_place, kAdd);
  ServiceCaller caller({}, kAll);
  const LocalService before = found(caller);
  ASSERT_TRUE(call(caller, before.id, 1, 1, 2));
  ASSERT_TRUE(server->wait(kLong).reply(Total{3}));
  EXPECT_EQ(answer(caller).failure, "");
  server.reset();
  server.emplace(kAdd);
  auto change = std::get<ServiceCaller::Change>(next(caller));
  EXPECT_FALSE(change.added);
  EXPECT_EQ(change.service.id, before.id);
  const LocalService now = found(caller);
  ASSERT_TRUE(call(caller, before.id, 2, 1, 2));
  EXPECT_NE(answer(caller).failure.find("the service has ended"), std::string::npos);
  ASSERT_TRUE(call(caller, now.id, 3, 1, 2));
  ASSERT_TRUE(server->wait(kLong).reply(Total{3}));
  EXPECT_EQ(answer(caller).failure, "");
  EXPECT_FALSE(server->wait(200ms));
}

TEST_F(ServiceCallerTest, APeerThatIsGoneGetsNothingAndItsPlaceIsFree) {
  Server server{kAdd};
  ServiceCaller caller({}, kAll);
  const LocalService service = found(caller);
  ASSERT_TRUE(call(caller, service.id, 1, 1, 2, 5));
  auto question = server.wait(kLong);
  ASSERT_TRUE(question);
  caller.forget(5);
  const std::int64_t until = steady_now() + std::chrono::nanoseconds(kLong).count();
  while (!question.cancelled() && steady_now() < until) std::this_thread::sleep_for(1ms);
  EXPECT_TRUE(question.cancelled());
  ASSERT_TRUE(call(caller, service.id, 2, 3, 4, 6));
  auto second = server.wait(kLong);
  ASSERT_TRUE(second);
  ASSERT_TRUE(second.reply(Total{7}));
  const auto answered = answer(caller);
  EXPECT_EQ(answered.peer, 6U);
  EXPECT_EQ(answered.failure, "");
}

}  // namespace
}  // namespace cardan::bridge::service_caller_test
