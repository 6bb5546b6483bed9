// SPDX-License-Identifier: Apache-2.0
// Processes of other users attack a service: its server and its other clients continue, and nobody reads what is not
// for them.
#include <gtest/gtest.h>

#include <chrono>
#include <optional>
#include <vector>

#include "cardan/any_type.hpp"
#include "cardan/error.hpp"
#include "cardan/log.hpp"
#include "cardan/observer.hpp"
#include "cardan/service.hpp"
#include "src/transport/discovery/process.hpp"
#include "tests/hostile/attack.hpp"

namespace cardan::hostile_service_test {

struct Ask {
  std::uint64_t number;
};
struct Reply {
  std::uint64_t number;
};

}  // namespace cardan::hostile_service_test

CARDAN_MESSAGE(cardan::hostile_service_test::Ask, "test_msgs/msg/Ask", number);
CARDAN_MESSAGE(cardan::hostile_service_test::Reply, "test_msgs/msg/Reply", number);

namespace {

using namespace std::chrono_literals;
using cardan::hostile_service_test::Ask;
using cardan::hostile_service_test::Reply;
using cardan::test::Child;
using cardan::test::RawPeer;
namespace handshake = cardan::test::handshake;

constexpr cardan::Service<Ask, Reply> kService{"/service", {.pending = 2, .access = cardan::Access::Everyone}};
constexpr cardan::Service<Ask, Reply> kLarge{
    "/large", {.max_answer_bytes = 4 << 20, .pending = 1, .access = cardan::Access::Everyone}};
constexpr const char* kCard = "/service?";
constexpr const char* kProcess = "0123456789abcdef";
constexpr auto kLong = 60s;

std::string layout_of(std::uint64_t hash) {
  char text[17];
  std::snprintf(text, sizeof(text), "%016llx", static_cast<unsigned long long>(hash));
  return text;
}

handshake::Ask request(const cardan::test::Target& target, std::uint64_t id, const std::string& process,
                       const std::string& name) {
  return {.id = id,
          .serial = static_cast<std::uint32_t>(std::stoul(target.serial)),
          .topic = kCard,
          .process = process,
          .questions = 1,
          .name = name,
          .type = "test_msgs/msg/Ask",
          .hash = layout_of(cardan::message_traits<Ask>::type_hash()),
          .answer_type = "test_msgs/msg/Reply",
          .answer_hash = layout_of(cardan::message_traits<Reply>::type_hash()),
          .pending = 1};
}

std::string own_process(const cardan::test::Target& target) { return target.socket.substr(target.socket.size() - 16); }
std::string secret() { return std::string(kCard) + std::string(32, '0'); }

class HostileServices : public cardan::test::AttackTest {};

}  // namespace

/// Asks in ways that no honest client does. Prints how many were served.
CARDAN_ROLE(asks_falsely) {
  const auto target = cardan::test::target_of(kCard);
  const std::string here = own_process(target);
  const std::vector<std::pair<std::string, std::string>> lies{
      {"../../../../tmp/x", secret()},
      {"", secret()},
      {"0123456789ABCDEF", secret()},
      {here, secret()},
      {here, "/own"},
      {kProcess, "/own"},
      {kProcess, kCard},
      {kProcess, "/service"},
      {kProcess, std::string(4000, '?')},
  };
  int served = 0, refused = 0;
  for (std::size_t i = 0; i < lies.size(); ++i) {
    const RawPeer peer(target.socket);
    if (!peer || !peer.hello() || !peer.send(request(target, 1, lies[i].first, lies[i].second))) continue;
    const auto answer = peer.receive(5s);
    if (answer && answer->text.find("\"op\":\"served\"") != std::string::npos) ++served;
    if (answer && answer->text.find("\"op\":\"refused\"") != std::string::npos) ++refused;
  }
  cardan::test::say("served " + std::to_string(served) + " refused " + std::to_string(refused));
  return 0;
}

/// Clients without end. Prints how many were served.
CARDAN_ROLE(asks_often) {
  cardan::set_log([](auto, const auto&) {});
  std::vector<std::unique_ptr<cardan::Client<cardan::Service<Ask, Reply>>>> clients;
  std::size_t served = 0;
  for (int i = 0; i < 40; ++i) try {
      clients.push_back(std::make_unique<cardan::Client<cardan::Service<Ask, Reply>>>(kService));
      if (clients.back()->has_server()) ++served;
    } catch (const cardan::Error&) {
    }
  cardan::test::say("served " + std::to_string(served));
  cardan::test::hear();
  return 0;
}

/// The same of a service with large answers.
CARDAN_ROLE(asks_for_much) {
  cardan::set_log([](auto, const auto&) {});
  std::vector<std::unique_ptr<cardan::Client<cardan::Service<Ask, Reply>>>> clients;
  std::size_t served = 0;
  for (int i = 0; i < 12; ++i) try {
      clients.push_back(std::make_unique<cardan::Client<cardan::Service<Ask, Reply>>>(kLarge));
      if (clients.back()->has_server()) ++served;
    } catch (const cardan::Error&) {
    }
  cardan::test::say("served " + std::to_string(served));
  cardan::test::hear();
  return 0;
}

/// A client whose server has other types.
CARDAN_ROLE(asks_another_type) {
  cardan::set_log([](auto, const auto&) {});
  try {
    constexpr cardan::Service<Reply, Reply> kOther{"/service", {.pending = 2, .access = cardan::Access::Everyone}};
    cardan::Client client{kOther};
    cardan::test::say(client.has_server() ? "client served" : "client without server");
  } catch (const cardan::Error& e) {
    cardan::test::say("client error " + std::string(e.what()));
  }
  return 0;
}

/// Tries to attach to every publication of the server's process, by every name that it can guess.
CARDAN_ROLE(guesses) {
  const auto target = cardan::test::target_of(kCard);
  const RawPeer peer(target.socket);
  int attached = 0;
  if (!peer || !peer.hello()) return 1;
  std::uint64_t id = 0;
  for (std::uint32_t serial = 1; serial < 20; ++serial)
    for (const std::string& name : {std::string(kCard), std::string("/service?questions"),
                                    std::string("/service?answers"), std::string("/service"), secret()}) {
      auto attach = cardan::test::attach_request<Reply>(target, name, ++id);
      attach.serial = serial;
      const auto page = cardan::test::make_page();
      if (!peer.send(attach, {page.read_only_fd()})) break;
      const auto answer = peer.receive(5s);
      if (answer && answer->text.find("\"op\":\"attached\"") != std::string::npos) ++attached;
    }
  const auto list = peer.send(handshake::List{}) ? peer.receive_op("topics") : std::nullopt;
  const bool told = list && list->text.find('?') != std::string::npos;
  cardan::test::say("attached " + std::to_string(attached) + (told ? " and told" : ""));
  return 0;
}

/// Reads what the server publishes about its questions and answers.
CARDAN_ROLE(reads_events) {
  cardan::set_log([](auto, const auto&) {});
  const cardan::Observer events("/service/_service_event");
  const bool is_known = cardan::AnyType::of_topic("/service/_service_event").has_value();
  cardan::test::say("streams " + std::to_string(events.streams().size()) + (is_known ? " with a type" : ""));
  return 0;
}

CARDAN_ROLE(answers) {
  cardan::Server server{kService};
  cardan::test::say("ready");
  while (!cardan::test::heard())
    if (auto question = server.wait(10ms)) question.reply(Reply{question->number + 1});
  return 0;
}

CARDAN_ROLE(asks_once) {
  cardan::Client client{kService};
  const auto answer = client.call(Ask{1}, 30s);
  cardan::test::say(answer ? "got " + std::to_string(answer->number) : "failed: " + answer.text());
  return 0;
}

/// Asks overdue questions as fast as it can.
CARDAN_ROLE(asks_overdue) {
  cardan::set_log([](auto, const auto&) {});
  cardan::Client client{kService};
  if (!client.wait_for_server(30s)) return 1;
  cardan::test::say("asks");
  while (!cardan::test::heard())
    for (int i = 0; i < 1000; ++i) (void)client.ask(Ask{1}, 0ns);
  return 0;
}

namespace {

TEST_F(HostileServices, FalseRequestsAreRefused) {
  cardan::Server server{kService};
  const cardan::Publisher<Ask> own({"/own", {}});  // it must not be read as questions
  EXPECT_EQ(stranger("asks_falsely").expect("served"), "0 refused 9");
  EXPECT_EQ(server.clients(), 0U);
  cardan::Client client{kService};
  EXPECT_TRUE(client.has_server());
}

TEST_F(HostileServices, TwoOrdinaryUsersAskAndAnswer) {
  if (!cardan::test::is_root()) GTEST_SKIP() << "only root can be another user";
  Child server("answers", {}, cardan::test::as_stranger(1));
  server.expect("ready");
  EXPECT_EQ(Child("asks_once", {}, cardan::test::as_stranger(2)).expect("got"), "2");
}

TEST_F(HostileServices, ManyClientsOfOneUserLeaveRoomForOthers) {
  if (!cardan::test::is_root()) GTEST_SKIP() << "only root can be another user";
  cardan::Server server{kService};
  Child often = stranger("asks_often");
  const int served = std::stoi(often.expect("served"));
  EXPECT_GT(served, 0);
  EXPECT_LE(served, 16);
  cardan::Client client{kService};
  ASSERT_TRUE(client.has_server());
  auto ticket = client.ask(Ask{7}, kLong);
  auto question = server.wait(kLong);
  ASSERT_TRUE(question);
  EXPECT_TRUE(question.reply(Reply{question->number}));
  EXPECT_EQ(ticket.wait()->number, 7U);
  often.kill();
  EXPECT_TRUE(cardan::test::eventually([&] { return server.clients() == 1; })) << server.clients();
}

TEST_F(HostileServices, LargeAnswersHaveALimitForOtherUsers) {
  if (!cardan::test::is_root()) GTEST_SKIP() << "only root can be another user";
  cardan::Server server{kLarge};
  Child much = stranger("asks_for_much");
  const int served = std::stoi(much.expect("served"));
  EXPECT_GT(served, 0);
  EXPECT_LE(served, 7) << "256 MiB, and 9 slots of 4 MiB for each";
  cardan::Client client{kLarge};
  EXPECT_TRUE(client.has_server());
}

TEST_F(HostileServices, ARefusalByAnotherUserIsNotOurError) {
  if (!cardan::test::is_root()) GTEST_SKIP() << "only root can be another user";
  Child server("answers", {}, cardan::test::as_stranger(1));
  server.expect("ready");
  EXPECT_EQ(Child("asks_another_type", {}, cardan::test::as_stranger(2)).expect("client"), "without server");
  EXPECT_EQ(Child("asks_another_type", {}, cardan::test::as_stranger(1)).expect("client").substr(0, 5), "error");
}

TEST_F(HostileServices, NobodyElseAttachesToAnswers) {
  cardan::Server server{kService};
  cardan::Client client{kService};
  Child honest = stranger("asks_often");
  honest.expect("served");
  EXPECT_EQ(stranger("guesses").expect("attached"), "0");
}

TEST_F(HostileServices, NobodyElseReadsTheEvents) {
  if (!cardan::test::is_root()) GTEST_SKIP() << "only root can be another user";
  constexpr cardan::Service<Ask, Reply> kTold{
      "/service", {.pending = 2, .access = cardan::Access::Everyone, .introspection = cardan::Introspection::Contents}};
  cardan::Server server{kTold};
  EXPECT_EQ(stranger("reads_events").expect("streams"), "0");
  EXPECT_EQ(Child("reads_events").expect("streams"), "1 with a type") << "the server's own user";
}

TEST_F(HostileServices, OverdueQuestionsWithoutEndKeepNobodyWaiting) {
  cardan::Server server{kService};
  Child hostile = stranger("asks_overdue");
  hostile.expect("asks");
  cardan::Client client{kService};
  for (int i = 0; i < 20; ++i) {
    auto ticket = client.ask(Ask{7}, kLong);
    const auto question = [&] {
      for (;;)
        if (auto one = server.wait(10ms)) return one;
    };
    auto taken = question();
    EXPECT_TRUE(taken.reply(Reply{taken->number}));
    EXPECT_EQ(ticket.wait()->number, 7U);
  }
  EXPECT_FALSE(server.wait(1ms)) << "it returns in time";
}

}  // namespace
