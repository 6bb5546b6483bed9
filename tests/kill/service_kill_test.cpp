// SPDX-License-Identifier: Apache-2.0
// The server and the clients of a service are killed at random moments and started again: no question is taken twice,
// each answer reaches the client that asked, the others learn of a death at once, and in the end nothing remains.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <random>
#include <thread>

#include "cardan/clock.hpp"
#include "cardan/error.hpp"
#include "cardan/service.hpp"
#include "tests/support/child.hpp"
#include "tests/support/raw_peer.hpp"
#include "tests/support/run_directory.hpp"
#include "tests/support/tally.hpp"

namespace cardan::service_kill_test {

struct Ask {
  std::uint64_t number;  // of all clients
};
struct Reply {
  std::uint64_t number;
  std::array<std::uint64_t, 512> words;  // each of them the number
};

}  // namespace cardan::service_kill_test

CARDAN_MESSAGE(cardan::service_kill_test::Ask, "test_msgs/msg/Ask", number);
CARDAN_MESSAGE(cardan::service_kill_test::Reply, "test_msgs/msg/Reply", number, words);

namespace {

using namespace std::chrono_literals;
using cardan::NoAnswer;
using cardan::steady_now;
using cardan::service_kill_test::Ask;
using cardan::service_kill_test::Reply;
using cardan::test::Child;

constexpr std::size_t kClients = 4;
constexpr std::uint32_t kPending = 3;
constexpr std::size_t kQuestions = std::size_t{1} << 24;
constexpr cardan::Service<Ask, Reply> kAsked{"/kill/ask", {.pending = kPending}};

struct Shared {
  std::atomic<std::uint32_t> stop;
  std::atomic<std::uint64_t> next;  // question
  std::atomic<std::uint64_t> answered[kClients], died[kClients], no_server[kClients], wrong, twice, other_reason;
  std::atomic<std::int64_t> killed_ns;   // when the server was killed last
  std::atomic<std::int64_t> slowest_ns;  // until a client knew of it
  std::atomic<std::uint8_t> taken[kQuestions];
};
using Tally = cardan::test::Tally<Shared>;

}  // namespace

// ask_server TALLY
CARDAN_ROLE(ask_server) {
  Tally tally(args[0]);
  std::optional<cardan::Server<cardan::Service<Ask, Reply>>> server;
  while (!server && tally->stop == 0) {
    try {
      server.emplace(kAsked, cardan::ServerOptions{.holds = 20});
    } catch (const cardan::Error&) {  // the killed one's name is still there
      std::this_thread::sleep_for(1ms);
    }
  }
  std::vector<cardan::Question<Ask, Reply>> kept;
  while (tally->stop == 0) {
    auto question = server->wait(10ms);
    if (!question) continue;
    if (tally->taken[question->number % kQuestions].fetch_add(1) != 0) ++tally->twice;
    kept.push_back(std::move(question));
    if (kept.size() < 3) continue;  // answers out of order, and dies with some in its hands
    auto& chosen = kept[kept.back()->number % kept.size()];
    if (auto answer = chosen.loan()) {
      answer->number = chosen->number;
      answer->words.fill(chosen->number);
      chosen.reply(std::move(answer));
    }
    kept.erase(kept.begin() + (&chosen - kept.data()));
  }
  return 0;
}

// ask_client TALLY PLACE
CARDAN_ROLE(ask_client) {
  Tally tally(args[0]);
  const std::size_t place = std::stoul(args[1]);
  cardan::Client client{kAsked};
  struct Open {
    std::uint64_t number;
    cardan::Ticket<Reply> ticket;
  };
  std::vector<Open> open;
  while (tally->stop == 0) {
    if (!client.has_server() && !client.wait_for_server(10ms)) ++tally->no_server[place];
    while (open.size() < kPending) {
      const std::uint64_t number = tally->next.fetch_add(1);
      auto ticket = client.ask(Ask{number}, 100ms);
      if (!ticket) break;
      open.push_back({number, std::move(ticket)});
    }
    for (Open& one : open) {
      const auto answer = one.ticket.poll();
      switch (answer.reason()) {
        case NoAnswer::Pending:
        case NoAnswer::TimedOut:
        case NoAnswer::Declined:
          continue;
        case NoAnswer::None:
          ++tally->answered[place];
          if (answer->number != one.number ||
              std::any_of(answer->words.begin(), answer->words.end(), [&](auto word) { return word != one.number; }))
            ++tally->wrong;
          continue;
        case NoAnswer::ServerDied: {
          ++tally->died[place];
          const std::int64_t took = steady_now() - tally->killed_ns;
          std::int64_t slowest = tally->slowest_ns;
          while (took > slowest && !tally->slowest_ns.compare_exchange_weak(slowest, took)) {
          }
          continue;
        }
        default:
          ++tally->other_reason;
      }
    }
    std::erase_if(open, [](const Open& one) { return !one.ticket; });
    if (open.size() == kPending) std::this_thread::sleep_for(200us);
  }
  return 0;
}

CARDAN_ROLE(ask_sweeper) {
  const cardan::Client client{kAsked};
  return 0;
}

namespace {

class ServiceKills : public cardan::test::OwnRunDirectory {};

TEST_F(ServiceKills, NoQuestionIsTakenTwiceAndEachAnswerIsTheRightOne) {
  const int kills = cardan::test::deep() ? 2000 : 60;
  Tally tally(cardan::test::run_directory() + "/service_kills");
  std::mt19937 random(7);
  Child server("ask_server", {tally.path()});
  std::array<Child, kClients> clients;
  for (std::size_t i = 0; i < kClients; ++i) clients[i] = Child("ask_client", {tally.path(), std::to_string(i)});
  const auto answered = [&] {
    std::uint64_t sum = 0;
    for (const auto& n : tally->answered) sum += n;
    return sum;
  };
  ASSERT_TRUE(cardan::test::eventually([&] { return answered() > 100; }));
  for (int i = 0; i < kills; ++i) {
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 30'000));
    const std::size_t place = random() % (2 * kClients);
    if (place < kClients) {
      clients[place].kill();
      clients[place] = Child("ask_client", {tally.path(), std::to_string(place)});
    } else {
      tally->killed_ns = steady_now();
      server.kill();
      server = Child("ask_server", {tally.path()});
    }
  }
  for (std::size_t i = 0; i < kClients; ++i) {
    const std::uint64_t before = tally->answered[i];
    EXPECT_TRUE(cardan::test::eventually([&] { return tally->answered[i] > before + 10; }))
        << "client " << i << " gets no answers any more";
  }
  tally->stop = 1;
  EXPECT_EQ(server.end(), 0);
  for (Child& client : clients) EXPECT_EQ(client.end(), 0);
  EXPECT_EQ(tally->wrong, 0U);
  EXPECT_EQ(tally->twice, 0U);
  EXPECT_EQ(tally->other_reason, 0U);
  std::uint64_t died = 0;
  for (const auto& n : tally->died) died += n;
  EXPECT_GT(died, 0U);
  // The tally does not lie in the domain.
  const std::string folder = cardan::test::run_directory() + "/" + domain_;
  EXPECT_TRUE(cardan::test::eventually(
      [&] {
        Child("ask_sweeper").end();
        return cardan::test::names_in(folder) == 0;
      },
      20s))
      << cardan::test::names_in(folder) << " names are left in the run directory";
  RecordProperty("answered", static_cast<int>(answered()));
  std::printf("%d kills, %llu answers, %llu questions failed by a death\n", kills,
              static_cast<unsigned long long>(answered()), static_cast<unsigned long long>(died));
}

}  // namespace
