// SPDX-License-Identifier: Apache-2.0
#include "cardan/service.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "cardan/error.hpp"
#include "cardan/observer.hpp"
#include "tests/support/run_directory.hpp"

namespace cardan::service_test {

struct Sum {
  std::int64_t a, b;
};
struct Total {
  std::int64_t sum;
};
struct Region {
  std::int32_t cells;
};
struct Map {
  shm::vector<std::uint32_t> cells;
};

}  // namespace cardan::service_test

CARDAN_MESSAGE(cardan::service_test::Sum, "test_msgs/msg/Sum", a, b);
CARDAN_MESSAGE(cardan::service_test::Total, "test_msgs/msg/Total", sum);
CARDAN_MESSAGE(cardan::service_test::Region, "test_msgs/msg/Region", cells);
CARDAN_MESSAGE(cardan::service_test::Map, "test_msgs/msg/Map", cells);

namespace cardan::service_test {
namespace {

using namespace std::chrono_literals;

constexpr Service<Sum, Total> kAdd{"/add", {.pending = 4}};
constexpr Service<Region, Map> kMap{"/map", {.max_answer_bytes = 1 << 20, .pending = 1}};
constexpr auto kLong = 60s;

class Services : public test::OwnRunDirectory {};

/// Answers on its own thread until it is ended.
class Adder {
 public:
  Adder() : thread_([this] { run(); }) {}
  ~Adder() {
    ended_ = true;
    thread_.join();
  }
  Adder(const Adder&) = delete;
  Adder& operator=(const Adder&) = delete;
  std::atomic<int> taken{0};

 private:
  void run() {
    while (!ended_)
      if (auto question = server_.wait(5ms)) {
        ++taken;
        question.reply(Total{question->a + question->b});
      }
  }
  Server<Service<Sum, Total>> server_{kAdd};
  std::atomic<bool> ended_{false};
  std::thread thread_;
};

TEST_F(Services, AQuestionGetsItsAnswer) {
  Adder adder;
  Client client{kAdd};
  for (std::int64_t i = 0; i < 100; ++i) {
    const auto answer = client.call({i, 1}, kLong);
    ASSERT_TRUE(answer) << answer.text();
    EXPECT_EQ(answer->sum, i + 1);
  }
  EXPECT_EQ(adder.taken, 100);
}

TEST_F(Services, WithoutAServerTheReasonIsReported) {
  Client client{kAdd};
  EXPECT_FALSE(client.has_server());
  const auto answer = client.call({1, 2}, 20ms);
  EXPECT_FALSE(answer);
  EXPECT_EQ(answer.reason(), NoAnswer::NoServer);
  EXPECT_NE(answer.text().find("no server"), std::string::npos);
}

TEST_F(Services, AServerThatStartsLaterIsFound) {
  Client client{kAdd};
  Adder adder;
  ASSERT_TRUE(client.wait_for_server(kLong));
  const auto answer = client.call({1, 2}, kLong);
  ASSERT_TRUE(answer) << answer.text();
  EXPECT_EQ(answer->sum, 3);
}

TEST_F(Services, AnswersMayComeOutOfOrder) {
  Server server{kAdd};
  Client client{kAdd};
  auto first = client.ask({1, 0}, kLong), second = client.ask({2, 0}, kLong), third = client.ask({3, 0}, kLong);
  std::vector<Question<Sum, Total>> questions;
  for (int i = 0; i < 3; ++i) {
    questions.push_back(server.wait(kLong));
    ASSERT_TRUE(questions.back());
  }
  EXPECT_EQ(first.poll().reason(), NoAnswer::Pending);
  for (const std::size_t i : {2U, 0U, 1U}) EXPECT_TRUE(questions[i].reply(Total{10 * questions[i]->a}));
  EXPECT_EQ(second.wait()->sum, 20);
  EXPECT_EQ(third.wait()->sum, 30);
  EXPECT_EQ(first.wait()->sum, 10);
}

TEST_F(Services, AFullQueueIsAnErrorAtOnce) {
  Server server{kAdd};
  Client client{kAdd};
  std::vector<Ticket<Total>> tickets;
  for (std::int64_t i = 0; i < 4; ++i) {
    tickets.push_back(client.ask({i, 0}, kLong));
    EXPECT_TRUE(tickets.back());
  }
  auto fifth = client.ask({5, 0}, kLong);
  EXPECT_FALSE(fifth);
  EXPECT_EQ(fifth.wait().reason(), NoAnswer::Full);
  for (std::int64_t i = 0; i < 4; ++i) {
    auto question = server.wait(kLong);
    ASSERT_TRUE(question);
    EXPECT_EQ(question->a, i) << "in the order of asking";
    question.reply(Total{i});
  }
  for (auto& ticket : tickets) EXPECT_TRUE(ticket.wait());
}

TEST_F(Services, ADroppedOrDeclinedQuestionSaysWhy) {
  Server server{kAdd};
  Client client{kAdd};
  auto declined = client.ask({1, 0}, kLong), dropped = client.ask({2, 0}, kLong);
  auto question = server.wait(kLong);
  ASSERT_TRUE(question);
  question.decline("a is odd");
  (void)server.wait(kLong);
  const auto first = declined.wait(), second = dropped.wait();
  EXPECT_EQ(first.reason(), NoAnswer::Declined);
  EXPECT_NE(first.text().find("a is odd"), std::string::npos) << first.text();
  EXPECT_EQ(second.reason(), NoAnswer::Declined);
  EXPECT_NE(second.text().find("dropped"), std::string::npos) << second.text();
}

TEST_F(Services, ACancelledQuestionIsSeenAndNotDelivered) {
  Server server{kAdd};
  Client client{kAdd};
  auto kept = client.ask({1, 0}, kLong), never = client.ask({2, 0}, kLong), last = client.ask({3, 0}, kLong);
  auto question = server.wait(kLong);
  ASSERT_TRUE(question);
  EXPECT_FALSE(question.cancelled());
  kept.cancel();
  never.cancel();
  for (int i = 0; i < 10'000 && !question.cancelled(); ++i) std::this_thread::sleep_for(1ms);
  EXPECT_TRUE(question.cancelled());
  auto next = server.wait(kLong);
  ASSERT_TRUE(next);
  EXPECT_EQ(next->a, 3);
  question.reply(Total{1});
  next.reply(Total{3});
  EXPECT_EQ(last.wait()->sum, 3) << "the answer to the cancelled one is dropped";
}

TEST_F(Services, CancelledQuestionsPushOutNoOther) {
  Server server{kAdd};
  Client client{kAdd};
  auto live = client.ask({7, 0}, kLong);
  for (std::int64_t i = 0; i < 20; ++i) client.ask({i, 1}, kLong).cancel();
  EXPECT_EQ(client.ask({8, 0}, kLong).wait().reason(), NoAnswer::Full) << "the server has taken none of them";
  auto question = server.wait(kLong);
  ASSERT_TRUE(question);
  EXPECT_EQ(question->a, 7);
  EXPECT_TRUE(question.reply(Total{7}));
  EXPECT_EQ(live.wait()->sum, 7);
}

TEST_F(Services, AnswersToCancelledQuestionsPushOutNoOther) {
  Server server{kAdd, {.holds = 32}};
  Client client{kAdd};
  std::vector<Question<Sum, Total>> old;
  for (std::int64_t i = 0; i < 20; ++i) {
    auto ticket = client.ask({i, 1}, kLong);
    old.push_back(server.wait(kLong));
    ASSERT_TRUE(old.back());
    ticket.cancel();
    for (int n = 0; n < 10'000 && !old.back().cancelled(); ++n) std::this_thread::sleep_for(1ms);
  }
  auto live = client.ask({7, 0}, kLong);
  auto question = server.wait(kLong);
  ASSERT_TRUE(question);
  EXPECT_TRUE(question.reply(Total{7}));
  for (auto& one : old) EXPECT_FALSE(one.reply(Total{0}));
  EXPECT_EQ(live.wait()->sum, 7);
}

TEST_F(Services, AnOverdueQuestionIsNotDelivered) {
  Server server{kAdd};
  Client client{kAdd};
  auto late = client.ask({1, 0}, 1ms);
  EXPECT_EQ(late.wait().reason(), NoAnswer::TimedOut);
  auto next = client.ask({2, 0}, kLong);
  auto question = server.wait(kLong);
  ASSERT_TRUE(question);
  EXPECT_EQ(question->a, 2);
  question.reply(Total{2});
  EXPECT_TRUE(next.wait());
}

TEST_F(Services, TheEndOfTheServerIsToldAtOnce) {
  Client client{kAdd};
  auto server = std::make_unique<Server<Service<Sum, Total>>>(kAdd);
  ASSERT_TRUE(client.wait_for_server(kLong));
  auto ticket = client.ask({1, 0}, 24h);
  ASSERT_TRUE(server->wait(kLong));
  auto unseen = client.ask({2, 0}, 24h);
  server.reset();
  const auto answer = unseen.wait();
  EXPECT_EQ(answer.reason(), NoAnswer::ServerDied);
  EXPECT_NE(answer.text().find("/add"), std::string::npos) << answer.text();
  Adder again;
  ASSERT_TRUE(client.wait_for_server(kLong));
  EXPECT_TRUE(client.call({1, 2}, kLong));
  EXPECT_EQ(again.taken, 1) << "old questions are not delivered to it";
}

TEST_F(Services, TheEndOfAClientFreesItsPlace) {
  Server server{kAdd};
  {
    Client client{kAdd};
    EXPECT_EQ(server.clients(), 1U);
    auto ticket = client.ask({1, 0}, kLong);
    auto question = server.wait(kLong);
    ASSERT_TRUE(question);
  }
  for (int i = 0; i < 10'000 && server.clients() != 0; ++i) std::this_thread::sleep_for(1ms);
  EXPECT_EQ(server.clients(), 0U);
}

TEST_F(Services, LargeAnswersAreNotCopied) {
  Server server{kMap};
  Client client{kMap};
  auto ticket = client.ask({1000}, kLong);
  auto question = server.wait(kLong);
  ASSERT_TRUE(question);
  auto answer = question.loan();
  ASSERT_TRUE(answer);
  answer->cells.resize(static_cast<std::size_t>(question->cells));
  answer->cells[999] = 7;
  ASSERT_TRUE(question.reply(std::move(answer)));
  const auto got = ticket.wait();
  ASSERT_TRUE(got) << got.text();
  ASSERT_EQ(got->cells.size(), 1000U);
  EXPECT_EQ(got->cells[999], 7U);
}

TEST_F(Services, OtherTypesAreRefusedByName) {
  Server server{kAdd};
  constexpr Service<Region, Total> kOther{"/add", {.pending = 4}};
  try {
    const Client client{kOther};
    FAIL() << "it was served";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::Incompatible);
    EXPECT_NE(std::string(e.what()).find("test_msgs/msg/Region"), std::string::npos) << e.what();
  }
}

TEST_F(Services, ASecondServerIsRefused) {
  const Server server{kAdd};
  try {
    const Server second{kAdd};
    FAIL() << "two servers";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::NameTaken);
    EXPECT_NE(std::string(e.what()).find("service '/add' has one server"), std::string::npos) << e.what();
  }
}

TEST_F(Services, ItsPartsAreNotTopicsOfUsers) {
  Server server{kAdd};
  Client client{kAdd};
  const Publisher<Sum> topic({"/add", {}});  // a topic may have the same name
  const DomainReport all = look_around();
  ASSERT_EQ(all.publishers.size(), 1U);
  EXPECT_EQ(all.publishers[0].topic, "/add");
  EXPECT_TRUE(all.closed.empty());
  EXPECT_THROW(Publisher<Sum>({"/add?", {}}), Error);
  EXPECT_THROW(Subscriber<Sum>({"/add?", {}}), Error);
}

TEST_F(Services, WrongOptionsAreRefused) {
  for (const char* name : {"add", "/", "/add?"}) EXPECT_THROW(Server(Service<Sum, Total>{name, {}}), Error) << name;
  for (const std::uint32_t pending : {0U, 65U})
    EXPECT_THROW(Client(Service<Sum, Total>{"/add", {.pending = pending}}), Error) << pending;
  EXPECT_THROW(Server(Service<Sum, Total>{"/add", {.answers = 0}}), Error);
  EXPECT_THROW(Server(Service<Sum, Total>{"/add", {.holds = 0}}), Error);
}

TEST_F(Services, AnAnswerOfAnotherQuestionsClientIsRefused) {
  Server server{kAdd};
  Client one{kAdd}, other{kAdd};
  auto first = one.ask({1, 0}, kLong), second = other.ask({2, 0}, kLong);
  auto question = server.wait(kLong), next = server.wait(kLong);
  ASSERT_TRUE(question && next);
  EXPECT_FALSE(next.reply(question.loan())) << "the slot is in the other client's publication";
  EXPECT_TRUE(question.reply(Total{1}));
  EXPECT_EQ(first.wait()->sum, 1);
  EXPECT_EQ(second.poll().reason(), NoAnswer::Pending);
  EXPECT_TRUE(next.reply(Total{2})) << "it can still be answered";
  EXPECT_EQ(second.wait()->sum, 2);
}

TEST_F(Services, TheAnswerRestsOnTheQuestion) {
  Server server{kAdd};
  Client client{kAdd};
  const Publisher<Sum> camera({"/camera", {}});
  auto ticket = client.ask({1, 0}, kLong);
  auto question = server.wait(kLong);
  ASSERT_TRUE(question);
  const std::int64_t asked = question.sample().publish_time();
  question.reply(Total{1});
  EXPECT_EQ(ticket.wait().sample().origin_time(), asked);
}

TEST_F(Services, SeveralClientsGetTheirOwnAnswers) {
  Adder adder;
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (std::int64_t n = 0; n < 8; ++n)
    threads.emplace_back([n, &wrong] {
      Client client{kAdd};
      for (std::int64_t i = 0; i < 200; ++i) {
        const auto answer = client.call({n * 1'000'000, i}, kLong);
        if (!answer || answer->sum != n * 1'000'000 + i) ++wrong;
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

TEST_F(Services, TheServerCountsWhatItDoes) {
  Server server{kAdd};
  Client client{kAdd};
  const auto counts = [] { return look_around({}, "?").publishers.at(0).service; };
  for (int i = 0; i < 3; ++i) {
    auto ticket = client.ask({1, 2}, kLong);
    auto question = server.wait(kLong);
    ASSERT_TRUE(question);
    if (i == 0)
      question.decline("for the test");
    else
      ASSERT_TRUE(question.reply(Total{3}));
    EXPECT_EQ(static_cast<bool>(ticket.wait()), i != 0);
  }
  EXPECT_FALSE(client.call({1, 2}, 0ns));
  EXPECT_FALSE(server.take());
  const ServiceReport report = counts();
  EXPECT_EQ(report.taken, 3U);
  EXPECT_EQ(report.answered, 2U);
  EXPECT_EQ(report.declined, 1U);
  EXPECT_EQ(report.expired, 1U);
  EXPECT_GT(report.longest_ns, 0);
  std::uint64_t all = 0;
  for (const auto& [bucket, count] : report.answer) all += count;
  EXPECT_EQ(all, 2U);
}

}  // namespace
}  // namespace cardan::service_test
