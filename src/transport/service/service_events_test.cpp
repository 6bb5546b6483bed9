// SPDX-License-Identifier: Apache-2.0
#include "src/transport/service/service_events.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <mutex>

#include "cardan/error.hpp"
#include "cardan/local_message.hpp"
#include "cardan/log.hpp"
#include "cardan/observer.hpp"
#include "cardan/service.hpp"
#include "src/messages/layout_cdr.hpp"
#include "src/messages/layout_walk.hpp"
#include "src/messages/ros_schema.hpp"
#include "src/transport/service/found_service.hpp"
#include "tests/support/run_directory.hpp"

namespace cardan::service_events_test {

struct Sum {
  std::int64_t a, b;
};
struct Total {
  std::int64_t sum;
};
struct Region {
  shm::string name;
  std::int32_t cells;
};
struct Map {
  shm::vector<std::uint32_t> cells;
};

struct Name {
  FixedString<8> text;
};
struct Names {
  shm::vector<Name> names;
};

// As a ROS 2 program reads the events of Sum and Total.
struct Time {
  std::int32_t sec;
  std::uint32_t nanosec;
};
struct Info {
  std::uint8_t event_type;
  Time stamp;
  std::array<std::uint8_t, 16> client_gid;
  std::int64_t sequence_number;
};
struct Event {
  Info info;
  shm::vector<Sum> request;
  shm::vector<Total> response;
};

}  // namespace cardan::service_events_test

CARDAN_MESSAGE(cardan::service_events_test::Sum, "test_msgs/srv/Add_Request", a, b);
CARDAN_MESSAGE(cardan::service_events_test::Total, "test_msgs/srv/Add_Response", sum);
CARDAN_MESSAGE(cardan::service_events_test::Region, "test_msgs/msg/Region", name, cells);
CARDAN_MESSAGE(cardan::service_events_test::Map, "test_msgs/msg/Map", cells);
CARDAN_MESSAGE(cardan::service_events_test::Name, "test_msgs/msg/Name", text);
CARDAN_MESSAGE(cardan::service_events_test::Names, "test_msgs/msg/Names", names);
CARDAN_MESSAGE(cardan::service_events_test::Time, "builtin_interfaces/msg/Time", sec, nanosec);
CARDAN_MESSAGE(cardan::service_events_test::Info, "service_msgs/msg/ServiceEventInfo", event_type, stamp, client_gid,
               sequence_number);
CARDAN_MESSAGE(cardan::service_events_test::Event, "test_msgs/srv/Add_Event", info, request, response);

namespace cardan::service_events_test {
namespace {

using namespace std::chrono_literals;

constexpr auto kLong = 60s;
constexpr std::uint8_t kReceived = 1, kAnswered = 2;  // of ServiceEventInfo
constexpr Service<Sum, Total> kAdd{"/add", {.introspection = Introspection::Contents}};
constexpr Service<Region, Map> kMap{
    "/map", {.max_bytes = 64, .max_answer_bytes = 1 << 20, .pending = 1, .introspection = Introspection::Contents}};

class ServiceEventsTest : public test::OwnRunDirectory {};

/// The publications of a service, as CDR.
class Events {
 public:
  explicit Events(const std::string& topic)
      : type_(AnyType::of_topic(topic).value()), events_(topic, type_.message_type()), framer_(type_) {}
  /// Empty: none comes, or it is malformed.
  std::vector<std::byte> next() {
    const AnySample sample = events_.wait(kLong);
    payload_bytes = sample.payload().size();
    if (!sample || !framer_.frame(sample)) return {};
    return framer_.parts().joined();
  }
  std::size_t payload_bytes = 0;  ///< of the last one
  /// Of /add.
  bool next(LocalMessage<Event>& event) { return static_cast<bool>(from_cdr(next(), *event)); }

 private:
  AnyType type_;
  AnySubscriber events_;
  CdrFramer framer_;
};

/// Asks, and answers on the same thread.
void add(Server<Service<Sum, Total>>& server, Client<Service<Sum, Total>>& client, std::int64_t a, std::int64_t b) {
  auto ticket = client.ask({a, b}, kLong);
  auto question = server.wait(kLong);
  ASSERT_TRUE(question);
  ASSERT_TRUE(question.reply(Total{question->a + question->b}));
  ASSERT_TRUE(ticket.wait());
}

TEST_F(ServiceEventsTest, AreTheQuestionAndTheAnswerAsRos2HasThem) {
  Server server{kAdd};
  Events events("/add/_service_event");
  Client first{kAdd}, second{kAdd};
  const std::int64_t before = wall_now();
  add(server, first, 1, 2);
  add(server, second, 3, 4);
  add(server, first, 5, 6);
  std::vector<std::array<std::uint8_t, 16>> clients;
  for (const auto& [a, b, number] : {std::array{1, 2, 1}, std::array{3, 4, 1}, std::array{5, 6, 2}}) {
    LocalMessage<Event> asked(256), answered(256);
    ASSERT_TRUE(events.next(asked) && events.next(answered));
    EXPECT_EQ(asked->info.event_type, kReceived);
    EXPECT_EQ(answered->info.event_type, kAnswered);
    ASSERT_EQ(asked->request.size(), 1U);
    EXPECT_EQ(asked->request[0].a, a);
    EXPECT_EQ(asked->request[0].b, b);
    EXPECT_TRUE(asked->response.empty());
    EXPECT_TRUE(answered->request.empty());
    ASSERT_EQ(answered->response.size(), 1U);
    EXPECT_EQ(answered->response[0].sum, a + b);
    EXPECT_EQ(asked->info.sequence_number, number);
    EXPECT_EQ(answered->info.sequence_number, number);
    EXPECT_EQ(asked->info.client_gid, answered->info.client_gid);
    const std::int64_t stamp = asked->info.stamp.sec * std::int64_t{1'000'000'000} + asked->info.stamp.nanosec;
    EXPECT_GE(stamp, before);
    EXPECT_LE(stamp, wall_now());
    clients.push_back(asked->info.client_gid);
  }
  EXPECT_EQ(clients[0], clients[2]);
  EXPECT_NE(clients[0], clients[1]);
}

TEST_F(ServiceEventsTest, WithoutIntrospectionThereIsNoTopic) {
  constexpr Service<Sum, Total> kQuiet{"/add"};
  Server server{kQuiet};
  Client client{kQuiet};
  add(server, client, 1, 2);
  EXPECT_TRUE(Observer("/add/_service_event").streams().empty());
}

TEST_F(ServiceEventsTest, MetadataHasNoMessages) {
  constexpr Service<Sum, Total> kMetadata{"/add", {.introspection = Introspection::Metadata}};
  Server server{kMetadata};
  Events events("/add/_service_event");
  Client client{kMetadata};
  add(server, client, 1, 2);
  for (const std::uint8_t kind : {kReceived, kAnswered}) {
    LocalMessage<Event> event(256);
    ASSERT_TRUE(events.next(event));
    EXPECT_EQ(event->info.event_type, kind);
    EXPECT_EQ(event->info.sequence_number, 1);
    EXPECT_TRUE(event->request.empty());
    EXPECT_TRUE(event->response.empty());
  }
}

TEST_F(ServiceEventsTest, EndWithTheServer) {
  Question<Sum, Total> kept;
  {
    Server server{kAdd};
    Client client{kAdd};
    auto ticket = client.ask({1, 2}, kLong);
    kept = server.wait(kLong);
    ASSERT_TRUE(kept);
  }
  EXPECT_TRUE(Observer("/add/_service_event").streams().empty());
}

std::uint32_t word(const std::vector<std::byte>& cdr, std::size_t at) {
  std::uint32_t value = 0;
  if (at + sizeof value <= cdr.size()) std::memcpy(&value, &cdr[at], sizeof value);
  return value;
}

constexpr std::size_t kLists = 44;  ///< of the CDR form, where the lists begin

/// Asks for a map of `cells` numbers, and gets it.
void get_map(Server<Service<Region, Map>>& server, Client<Service<Region, Map>>& client, std::int32_t cells) {
  auto loan = client.loan();
  ASSERT_TRUE(loan);
  loan->name = "north";
  loan->cells = cells;
  auto ticket = client.ask(std::move(loan), kLong);
  auto question = server.wait(kLong);
  ASSERT_TRUE(question);
  auto answer = question.loan();
  ASSERT_TRUE(answer);
  answer->cells.resize(static_cast<std::size_t>(question->cells));
  for (std::uint32_t i = 0; i < answer->cells.size(); ++i) answer->cells[i] = i;
  ASSERT_TRUE(question.reply(std::move(answer)));
  ASSERT_TRUE(ticket.wait());
}

TEST_F(ServiceEventsTest, ListsAndTextsAreCopied) {
  Server server{kMap};
  Events events("/map/_service_event");
  Client client{kMap};
  get_map(server, client, 100'000);
  const auto asked = events.next(), answered = events.next();
  EXPECT_EQ(word(asked, kLists), 1U);
  EXPECT_EQ(word(asked, kLists + 4), 6U) << "north, and a NUL";
  EXPECT_EQ(std::memcmp(&asked[kLists + 8], "north", 6), 0);
  EXPECT_EQ(word(asked, kLists + 16), 100'000U);
  EXPECT_EQ(word(asked, kLists + 20), 0U) << "no answer";
  EXPECT_EQ(word(answered, kLists), 0U);
  EXPECT_EQ(word(answered, kLists + 4), 1U);
  EXPECT_EQ(word(answered, kLists + 8), 100'000U);
  EXPECT_EQ(word(answered, kLists + 12 + 4 * 99'999), 99'999U);
}

TEST_F(ServiceEventsTest, AnAnswerWithoutRoomIsPublishedWithoutItsContentsAndSaysSo) {
  // A name of 8 letters takes 12 bytes in an answer, and some 40 in a list of ROS 2's texts.
  constexpr std::size_t kNames = 20'000;
  constexpr Service<Region, Names> kNamesOf{
      "/map", {.max_bytes = 64, .max_answer_bytes = 12 * kNames, .introspection = Introspection::Contents}};
  std::mutex mutex;
  std::string logged;
  set_log([&](LogLevel, const std::string& text) {
    const std::lock_guard lock(mutex);
    logged += text;
  });
  {
    Server server{kNamesOf};
    Events events("/map/_service_event");
    Client client{kNamesOf};
    for (const std::size_t names : {kNames, std::size_t{1}}) {
      auto loan = client.loan();
      ASSERT_TRUE(loan);
      auto ticket = client.ask(std::move(loan), kLong);
      auto question = server.wait(kLong);
      ASSERT_TRUE(question);
      auto answer = question.loan();
      ASSERT_TRUE(answer);
      answer->names.resize(names);
      ASSERT_TRUE(question.reply(std::move(answer)));
      ASSERT_TRUE(ticket.wait());
      EXPECT_EQ(word(events.next(), kLists), 1U);
      const auto answered = events.next();
      EXPECT_EQ(answered.at(4), std::byte{kAnswered});
      EXPECT_EQ(word(answered, kLists + 4), names == 1 ? 1U : 0U);
    }
  }
  set_log({});
  EXPECT_NE(logged.find("'/map/_service_event': a message of 240000 bytes has no room"), std::string::npos) << logged;
}

TEST_F(ServiceEventsTest, AQuestionBeyondTheBoundsOfItsTypeIsPublishedWithoutItsContents) {
  // Of a text of 16-bit letters, another form on the wire would be tried next: never in the middle of an event.
  const AnyType question =
      AnyType::of_definition("test_msgs/msg/Wide", "wstring name\nstring<=4 short\nuint32[] values\n");
  const AnyType answer = AnyType::of_definition("test_msgs/msg/Number", "int64 number\n");
  const ServiceOptions options{.max_bytes = 1 << 12, .introspection = Introspection::Contents};
  detail::ServerEnd server("/wide", detail::as_published(question.message_type()), nullptr, answer.message_type(),
                           options, {});
  Events events("/wide/_service_event");
  detail::ClientEnd client("/wide", question.message_type(), detail::as_published(answer.message_type()), nullptr,
                           options, {});
  for (const std::size_t letters : {std::size_t{10}, std::size_t{4}}) {
    AnyLoan loan = detail::untyped(client.loan(), question.message_type());
    ASSERT_TRUE(loan);
    bind(question.layout(), loan.message(), *loan.arena());
    const auto fill = [&](std::size_t field, std::size_t count) {
      const TypeLayout::Field& f = question.layout().fields[field];
      auto& list = *reinterpret_cast<shm::VectorBase*>(loan.message() + f.offset);
      ASSERT_TRUE(detail::make_room(*f.type, list, count, false));
      std::memset(list.elements(), 'A', count * detail::element_bytes(*f.type));
    };
    fill(0, 40);
    fill(1, letters);
    fill(2, 100);
    ASSERT_NE(client.ask(detail::take_out(loan), kLong).number, 0U);
    const detail::TakenQuestion taken = server.wait(kLong);
    ASSERT_NE(taken.block, nullptr);
    const auto asked = events.next();
    EXPECT_EQ(word(asked, kLists), letters == 4 ? 1U : 0U);
    EXPECT_GE(events.payload_bytes, question.layout().size + 40 * sizeof(char16_t))
        << "the texts were put over the question that they belong to";
    if (letters == 4) {
      EXPECT_EQ(word(asked, kLists + 4), 40U);
    }
    taken.end.decline(taken.block->sequence, "for the test");
    detail::drop(taken.block);
  }
}

TEST_F(ServiceEventsTest, TheTypeHasTheNameOfTheServiceOrOfItsQuestion) {
  const detail::MessageType sum = detail::message_type_of<Sum>(), total = detail::message_type_of<Total>();
  const detail::MessageType region = detail::message_type_of<Region>(), map = detail::message_type_of<Map>();
  EXPECT_EQ(detail::events_type(sum, total), "test_msgs/srv/Add_Event");
  EXPECT_EQ(detail::events_type(region, map), "test_msgs/srv/Region_Event");
  EXPECT_EQ(detail::events_type(sum, map), "test_msgs/srv/Add_Request_Event");
  EXPECT_EQ(detail::ros_service_type("pkg/msg/Map_Request", "pkg/srv/Map_Response"), "pkg/srv/Map");
  for (const auto& [question, answer] : {std::pair{"pkg/msg/Region", "pkg/msg/Map"},
                                         {"pkg/srv/Map_Request", "pkg/srv/Mop_Response"},
                                         {"pkg/srv/Map_Request", "other/srv/Map_Response"},
                                         {"pkg/srv/Map_Request", "pkg/srv/Map_Request"},
                                         {"pkg/srv/_Request", "pkg/srv/_Response"},
                                         {"_Request", "_Response"},
                                         {"", ""}})
    EXPECT_EQ(detail::ros_service_type(question, answer), "") << question << " " << answer;
  // Both sides may be of one type, or use the same one: its definition is there once.
  const std::string both = detail::events_definition(map, map);
  EXPECT_EQ(both.find("MSG: test_msgs/Map"), both.rfind("MSG: test_msgs/Map"));
  const RosSchema schema("test_msgs/srv/Map_Event", both);
  ASSERT_EQ(schema.root().fields.size(), 3U);
  EXPECT_EQ(schema.root().fields[1].type.message, schema.root().fields[2].type.message);
}

}  // namespace
}  // namespace cardan::service_events_test
