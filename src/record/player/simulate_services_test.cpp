// SPDX-License-Identifier: Apache-2.0
// Services whose servers are left out of a replay: recorded answers.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "cardan/component.hpp"
#include "src/mcap/sample_file_test.hpp"
#include "src/record/player/bag_test.hpp"
#include "src/record/player/simulate.hpp"
#include "src/transport/service/service_events.hpp"

namespace cardan::record::simulate_services_test {

using namespace std::chrono_literals;

struct Sum {
  std::int64_t a, b;
};
struct Total {
  std::int64_t sum;
};
struct Other {
  std::int32_t a;
};
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

}  // namespace cardan::record::simulate_services_test

CARDAN_MESSAGE(cardan::record::simulate_services_test::Sum, "test_msgs/srv/Add_Request", a, b);
CARDAN_MESSAGE(cardan::record::simulate_services_test::Total, "test_msgs/srv/Add_Response", sum);
CARDAN_MESSAGE(cardan::record::simulate_services_test::Other, "test_msgs/srv/Add_Request", a);
CARDAN_MESSAGE(cardan::record::simulate_services_test::Time, "builtin_interfaces/msg/Time", sec, nanosec);
CARDAN_MESSAGE(cardan::record::simulate_services_test::Info, "service_msgs/msg/ServiceEventInfo", event_type, stamp,
               client_gid, sequence_number);
CARDAN_MESSAGE(cardan::record::simulate_services_test::Event, "test_msgs/srv/Add_Event", info, request, response);

namespace cardan::record::simulate_services_test {

constexpr Service<Sum, Total> kAdd{"/add"};
constexpr Topic<Total> kTick{"/tick"};
constexpr std::uint64_t kMs = 1'000'000;

/// The outcomes, each with its time in ms after the first message. 0: no answer.
std::vector<std::pair<std::int64_t, std::int64_t>> outcomes;
std::int64_t most_asked = 5;
bool asks_the_same = false;

/// Asks each 10 ms for n + 1.
class ServicesTestAsker : public Component {
  void on_start(Context& context) override {
    add_ = context.client(kAdd);
    context.input(kTick, [](const Sample<Total>&) {});  // what a recording is for
    context.timer(10ms, [this, &context] {
      if (asked_ == 0) begin_ = context.now();
      if (asked_ == most_asked) return;
      ++asked_;
      add_.ask({.a = asks_the_same ? 1 : asked_, .b = 1}, 35ms, [this, &context](const Answer<Total>& answer) {
        outcomes.emplace_back((context.now() - begin_) / 1'000'000, answer ? answer->sum : 0);
      });
    });
  }
  ServiceClient<Service<Sum, Total>> add_;
  std::int64_t asked_ = 0, begin_ = 0;
};
CARDAN_COMPONENT(ServicesTestAsker)

class ServicesTestAdder : public Component {
  void on_start(Context& context) override {
    context.service(kAdd, [](Question<Sum, Total> question) { question.reply(Total{question->a + question->b}); });
  }
};
CARDAN_COMPONENT(ServicesTestAdder)

namespace {

enum class What : std::uint8_t { Sent, Received, Answered, GotAnswer };

/// The events of a server.
class Recording {
 public:
  explicit Recording(const std::string& definition = definition_of_add(), std::uint64_t end = 100 * kMs) {
    channel_ = bag_.add("/add/_service_event", "test_msgs/srv/Add_Event", "ros2msg", definition, "cdr", {});
    const auto tick = bag_.add<Total>("/tick");
    for (const std::uint64_t at : {std::uint64_t{0}, end}) bag_.write(tick, at, Total{1});
  }
  static std::string definition_of_add() {
    return detail::events_definition(detail::message_type_of<Sum>(), detail::message_type_of<Total>());
  }
  void write(What what, std::uint64_t at, std::uint8_t client, std::int64_t number, std::int64_t value,
             bool contents = true) {
    LocalMessage<Event> event(1 << 10);
    event->info = {
        .event_type = static_cast<std::uint8_t>(what), .stamp = {}, .client_gid = {client}, .sequence_number = number};
    const bool asks = what == What::Sent || what == What::Received;
    if (contents && asks) event->request.push_back({value, 1});
    if (contents && !asks) event->response.push_back({value});
    messages_.emplace(at, to_cdr(*event));
  }
  void write_raw(std::uint64_t at, std::vector<std::byte> bytes) { messages_.emplace(at, std::move(bytes)); }
  SimulateReport run(const std::string& more = "") {
    for (const auto& [at, bytes] : messages_) bag_.write(channel_, at, bytes);
    const mcap::test::FileOnDisk file(bag_.bytes());
    config::Configuration c;
    c.name = "test";
    c.processes.push_back({.name = "all", .components = {{.name = "asker", .class_name = "ServicesTestAsker"}}});
    if (!more.empty()) c.processes[0].components.push_back({.name = "more", .class_name = more});
    outcomes.clear();
    return simulate(c, {file.path()}, {});
  }

 private:
  test::Bag bag_;
  std::uint16_t channel_ = 0;
  std::multimap<std::uint64_t, std::vector<std::byte>> messages_;
};

using Outcomes = std::vector<std::pair<std::int64_t, std::int64_t>>;

TEST(SimulatedServices, AreAnsweredAsTheyWereWhenTheFileWasRecorded) {
  Recording recording;
  // Two clients use the same numbers, and the answers come in another order.
  recording.write(What::Received, 11 * kMs, 1, 1, 1);
  recording.write(What::Received, 12 * kMs, 2, 1, 2);
  recording.write(What::Answered, 30 * kMs, 2, 1, 1002);
  recording.write(What::Answered, 33 * kMs, 1, 1, 1001);
  const SimulateReport report = recording.run();
  EXPECT_EQ(outcomes, (Outcomes{{20, 1002}, {23, 1001}, {55, 0}, {65, 0}, {75, 0}}));
  ASSERT_EQ(report.services.size(), 1U);
  EXPECT_EQ(report.services[0].service, "/add");
  EXPECT_EQ(report.services[0].asked, 5U);
  EXPECT_EQ(report.services[0].answered, 2U);
  EXPECT_EQ(report.services[0].recorded, 2U);
  EXPECT_EQ(report.services[0].malformed, 0U);
  EXPECT_TRUE(report.left_out.empty());
}

TEST(SimulatedServices, EqualQuestionsGetTheirAnswersInTheirOrder) {
  most_asked = 2;
  asks_the_same = true;
  Recording recording;
  recording.write(What::Received, 11 * kMs, 1, 1, 1);
  recording.write(What::Received, 21 * kMs, 1, 2, 1);
  recording.write(What::Answered, 24 * kMs, 1, 1, 1001);
  recording.write(What::Answered, 28 * kMs, 1, 2, 2001);
  const SimulateReport report = recording.run();
  most_asked = 5;
  asks_the_same = false;
  EXPECT_EQ(outcomes, (Outcomes{{14, 1001}, {18, 2001}}));
  EXPECT_EQ(report.services.at(0).answered, 2U);
}

TEST(SimulatedServices, AnEventOfTheClientAndOneOfTheServerAreOfOneQuestion) {
  Recording recording;
  recording.write(What::Sent, 11 * kMs, 1, 1, 1);
  recording.write(What::Received, 12 * kMs, 1, 1, 1);
  recording.write(What::Answered, 20 * kMs, 1, 1, 1001);
  recording.write(What::GotAnswer, 21 * kMs, 1, 1, 1001);
  const SimulateReport report = recording.run();
  EXPECT_EQ(outcomes.at(0), (std::pair<std::int64_t, std::int64_t>{10, 1001}));
  EXPECT_EQ(report.services.at(0).answered, 1U);
  EXPECT_EQ(report.services.at(0).recorded, 1U);
}

TEST(SimulatedServices, WithAServerTheRecordedAnswersAreNotUsed) {
  Recording recording;
  recording.write(What::Received, 11 * kMs, 1, 1, 1);
  recording.write(What::Answered, 20 * kMs, 1, 1, 1001);
  const SimulateReport report = recording.run("ServicesTestAdder");
  EXPECT_EQ(outcomes, (Outcomes{{0, 2}, {10, 3}, {20, 4}, {30, 5}, {40, 6}}));
  EXPECT_TRUE(report.services.empty());
}

TEST(SimulatedServices, WithoutContentsThereIsNothingToAnswer) {
  Recording recording;
  recording.write(What::Received, 11 * kMs, 1, 1, 1, false);
  recording.write(What::Answered, 20 * kMs, 1, 1, 1001, false);
  const SimulateReport report = recording.run();
  EXPECT_EQ(report.services.at(0).asked, 5U);
  EXPECT_EQ(report.services.at(0).recorded, 0U);
  EXPECT_EQ(report.services.at(0).answered, 0U);
}

TEST(SimulatedServices, OtherTypesAreLeftOutWithTheReason) {
  Recording recording(detail::events_definition(detail::message_type_of<Other>(), detail::message_type_of<Total>()));
  const SimulateReport report = recording.run();
  ASSERT_EQ(report.left_out.size(), 1U);
  EXPECT_EQ(report.left_out[0].topic, "/add/_service_event");
  EXPECT_NE(report.left_out[0].why.find("its request was test_msgs/Add_Request"), std::string::npos)
      << report.left_out[0].why;
  EXPECT_TRUE(report.services.empty());
  EXPECT_EQ(outcomes.at(0), (std::pair<std::int64_t, std::int64_t>{0, 0})) << "it has no server";
}

TEST(SimulatedServices, AMalformedEventIsCounted) {
  Recording recording;
  recording.write(What::Received, 11 * kMs, 1, 1, 1);
  recording.write_raw(15 * kMs, std::vector<std::byte>(20));
  recording.write(What::Answered, 20 * kMs, 1, 1, 1001);
  const SimulateReport report = recording.run();
  EXPECT_EQ(report.services.at(0).malformed, 1U);
  EXPECT_EQ(report.services.at(0).answered, 1U);
}

TEST(SimulatedServices, AServerThatBeganAgainCountsItsQuestionsFromOneAgain) {
  Recording recording;
  recording.write(What::Received, 1 * kMs, 1, 1, 77);  // it died before it answered
  recording.write(What::Received, 11 * kMs, 1, 1, 1);
  recording.write(What::Answered, 20 * kMs, 1, 1, 1001);
  const SimulateReport report = recording.run();
  EXPECT_EQ(report.services.at(0).answered, 1U);
  EXPECT_EQ(outcomes.at(0).second, 1001);
}

TEST(SimulatedServices, QuestionsWithoutARecordedAnswerLeaveRoomForOthers) {
  most_asked = 40;
  Recording recording(Recording::definition_of_add(), 500 * kMs);
  recording.write(What::Received, 395 * kMs, 1, 1, 39);
  recording.write(What::Answered, 396 * kMs, 1, 1, 1039);
  const SimulateReport report = recording.run();
  most_asked = 5;
  EXPECT_EQ(report.services.at(0).asked, 40U) << "none was refused";
  EXPECT_EQ(report.services.at(0).answered, 1U);
}

TEST(SimulatedServices, ADefinitionOfSomethingElseIsLeftOut) {
  Recording recording("int32 a\nint32 b\nint32 c\n");
  const SimulateReport report = recording.run();
  ASSERT_EQ(report.left_out.size(), 1U);
  EXPECT_NE(report.left_out[0].why.find("is not how ROS 2 records a service"), std::string::npos);
}

}  // namespace
}  // namespace cardan::record::simulate_services_test
