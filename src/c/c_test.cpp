// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "cardan/cardan.h"
#include "cardan/cdr.hpp"
#include "cardan/local_message.hpp"
#include "cardan/messages.hpp"
#include "cardan/publisher.hpp"
#include "cardan/stop.hpp"
#include "cardan/subscriber.hpp"
#include "tests/support/run_directory.hpp"

extern "C" int c_program(const char* topic, char* seen, size_t room);

namespace cardan {
namespace {

constexpr std::size_t kPixels = 480UL * 640 * 3;
constexpr Topic<Image> kCamera{"/camera", {.max_bytes = kPixels, .depth = 4}};

class CInterface : public test::OwnRunDirectory {
 protected:
  static void publish(Publisher<Image>& out, std::uint8_t first) {
    auto loan = out.loan();
    ASSERT_TRUE(loan);
    (void)loan->resize(480, 640, "bgr8");
    loan->data[0] = first;
    out.publish(std::move(loan));
  }
  static bool says(const std::string& words) { return std::string(cardan_error()).find(words) != std::string::npos; }
};

TEST_F(CInterface, AProgramInC) {
  char seen[16] = "";
  ASSERT_EQ(c_program("/text", seen, sizeof(seen)), 7) << cardan_error();
  EXPECT_STREQ(seen, "hello");
}

TEST_F(CInterface, AnImageOfACppPublisherIsNotCopied) {
  Publisher<Image> camera{kCamera};
  cardan_subscriber_options options{};
  options.struct_size = sizeof(options);
  options.holds = 2;
  cardan_subscriber* const in = cardan_subscribe("/camera", &options);
  ASSERT_NE(in, nullptr) << cardan_error();
  EXPECT_STREQ(cardan_type(in), "sensor_msgs/msg/Image");
  EXPECT_NE(std::string(cardan_definition(in)).find("uint8[] data"), std::string::npos);
  EXPECT_EQ(cardan_publishers(in), 1U);
  for (std::uint8_t i = 1; i <= 4; ++i) publish(camera, i);
  cardan_sample *a = nullptr, *b = nullptr, *c = nullptr, *d = nullptr;
  ASSERT_EQ(cardan_take(in, &a), CARDAN_SAMPLE);
  ASSERT_EQ(cardan_wait(in, 1'000'000'000, &b), CARDAN_SAMPLE);
  ASSERT_EQ(cardan_take(in, &c), CARDAN_SAMPLE);
  EXPECT_EQ(cardan_take(in, &d), CARDAN_LIMIT) << "two are held, and one by the thread that takes";
  EXPECT_EQ(d, nullptr);
  cardan_frame frame{};
  EXPECT_EQ(cardan_sample_frame(b, &frame), -1) << "without struct_size";
  EXPECT_TRUE(says("struct_size of the frame")) << cardan_error();
  frame.struct_size = sizeof(frame);
  EXPECT_EQ(cardan_sample_frame(b, &frame), 0) << cardan_error();
  EXPECT_EQ(frame.sequence, 2U);
  EXPECT_NE(frame.publisher, 0U);
  cardan_frame first{};
  first.struct_size = sizeof(first);
  EXPECT_EQ(cardan_sample_frame(a, &first), 0) << cardan_error();
  EXPECT_EQ(first.publisher, frame.publisher) << "one publisher, one number";
  EXPECT_EQ(frame.payload_size, kPixels);
  EXPECT_EQ(frame.payload[0], 2);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(frame.payload) % 4096, 0U) << "where the publisher put it";
  std::vector<std::byte> all;
  for (const auto& [at, size] : {std::pair{frame.prefix, frame.prefix_size},
                                 {frame.payload, frame.payload_size},
                                 {frame.suffix, frame.suffix_size}})
    all.insert(all.end(), reinterpret_cast<const std::byte*>(at), reinterpret_cast<const std::byte*>(at) + size);
  LocalMessage<Image> image(kPixels);
  EXPECT_TRUE(from_cdr(all, *image));
  EXPECT_EQ(image->width, 640U);
  cardan_release(a);
  EXPECT_EQ(cardan_take(in, &d), CARDAN_SAMPLE);
  cardan_unsubscribe(in);
  EXPECT_EQ(cardan_sample_frame(d, &frame), 0) << cardan_error();
  EXPECT_EQ(frame.payload[0], 4) << "a sample outlives its subscriber";
  cardan_release(b);
  cardan_release(c);
  cardan_release(d);
  cardan_release(nullptr);
  cardan_unsubscribe(nullptr);
}

TEST_F(CInterface, ItsMessagesAreReadAsTheType) {
  cardan_publisher_options options{};
  options.struct_size = sizeof(options);
  options.type = "rosgraph_msgs/msg/Clock";
  options.max_bytes = 64;
  options.depth = 4;
  cardan_publisher* const out = cardan_advertise("/clock", &options);
  ASSERT_NE(out, nullptr) << cardan_error();
  Subscriber<Clock> in{Topic<Clock>{"/clock", {}}};
  EXPECT_EQ(cardan_subscribers(out), 1U);
  const std::vector<std::uint8_t> cdr{0, 1, 0, 0, 5, 0, 0, 0, 6, 0, 0, 0};
  EXPECT_EQ(cardan_publish(out, cdr.data(), cdr.size(), 9), 0) << cardan_error();
  const auto sample = in.wait(std::chrono::seconds(10));
  ASSERT_TRUE(sample);
  EXPECT_EQ(sample.source_time(), 9);
  EXPECT_EQ(cardan_publish(out, cdr.data(), 7, 0), -1);
  EXPECT_TRUE(says("not a rosgraph_msgs/msg/Clock")) << cardan_error();
  EXPECT_EQ(cardan_publish(out, nullptr, 0, 0), -1);
  cardan_unadvertise(out);
  cardan_unadvertise(nullptr);
}

TEST_F(CInterface, AMessageIsAsOldAsTheOldestThatItRestsOn) {
  Publisher<Image> camera{kCamera};
  cardan_subscriber_options from{};
  from.struct_size = sizeof(from);
  from.holds = 2;
  cardan_subscriber* const in = cardan_subscribe("/camera", &from);
  ASSERT_NE(in, nullptr) << cardan_error();
  cardan_publisher_options options{};
  options.struct_size = sizeof(options);
  options.type = "rosgraph_msgs/msg/Clock";
  options.max_bytes = 64;
  cardan_publisher* const out = cardan_advertise("/clock", &options);
  ASSERT_NE(out, nullptr) << cardan_error();
  Subscriber<Clock> clock{Topic<Clock>{"/clock", {}}, SubscriberOptions{.holds = 4}};
  cardan_sample *first = nullptr, *second = nullptr;
  publish(camera, 1);
  ASSERT_EQ(cardan_wait(in, 10'000'000'000, &first), CARDAN_SAMPLE);
  publish(camera, 2);
  ASSERT_EQ(cardan_wait(in, 10'000'000'000, &second), CARDAN_SAMPLE);
  cardan_frame frame{};
  frame.struct_size = sizeof(frame);
  ASSERT_EQ(cardan_sample_frame(first, &frame), 0);
  EXPECT_EQ(frame.origin_ns, frame.publish_ns);
  cardan_rests_on(out, second);
  cardan_rests_on(out, first);
  const std::vector<std::uint8_t> cdr{0, 1, 0, 0, 5, 0, 0, 0, 6, 0, 0, 0};
  ASSERT_EQ(cardan_publish(out, cdr.data(), cdr.size(), 0), 0);
  const auto old = clock.wait(std::chrono::seconds(10));
  ASSERT_TRUE(old);
  EXPECT_EQ(old.origin_time(), frame.publish_ns);
  ASSERT_EQ(cardan_publish(out, cdr.data(), cdr.size(), 0), 0);
  const auto fresh = clock.wait(std::chrono::seconds(10));
  ASSERT_TRUE(fresh);
  EXPECT_EQ(fresh.origin_time(), fresh.publish_time()) << "what was named holds for one message";
  const std::int64_t before = steady_now();
  cardan_arrived_with_age(out, 5'000'000'000);
  ASSERT_EQ(cardan_publish(out, cdr.data(), cdr.size(), 0), 0);
  const auto far = clock.wait(std::chrono::seconds(10));
  ASSERT_TRUE(far);
  EXPECT_GE(far.origin_time(), before - 5'000'000'000);
  EXPECT_LE(far.origin_time(), far.publish_time() - 5'000'000'000);
  for (const std::int64_t age : {std::int64_t{-1}, INT64_MIN, INT64_MAX}) {
    cardan_arrived_with_age(out, age);
    ASSERT_EQ(cardan_publish(out, cdr.data(), cdr.size(), 0), 0);
    const auto unknown = clock.wait(std::chrono::seconds(10));
    ASSERT_TRUE(unknown);
    EXPECT_FALSE(unknown.origin_age()) << age;
  }
  cardan_release(first);
  cardan_release(second);
  cardan_unsubscribe(in);
  cardan_unadvertise(out);
}

TEST_F(CInterface, AMessageThatCouldGrowBeyondItsLimitIsRefused) {
  cardan_publisher_options options{};
  options.struct_size = sizeof(options);
  options.type = "example_msgs/msg/Words";
  options.definition = "string[] words\n";  // of an empty one there are four bytes as CDR
  options.max_bytes = 1U << 20U;
  options.max_memory = 4U << 20U;
  EXPECT_EQ(cardan_advertise("/words", &options), nullptr);
  EXPECT_NE(std::string(cardan_error()).find("a message of 1048576 bytes could need "), std::string::npos);
  options.max_memory = 0;
  cardan_publisher* const any = cardan_advertise("/words", &options);
  EXPECT_NE(any, nullptr) << cardan_error();
  cardan_unadvertise(any);
  options.definition = "uint8[] words\n";
  options.max_memory = 4U << 20U;
  cardan_publisher* const flat = cardan_advertise("/words", &options);
  EXPECT_NE(flat, nullptr) << cardan_error();
  cardan_unadvertise(flat);
}

TEST_F(CInterface, ErrorsNameCauseAndRemedy) {
  EXPECT_EQ(cardan_subscribe("/nobody", nullptr), nullptr);
  EXPECT_TRUE(says("nobody publishes '/nobody'")) << cardan_error();
  EXPECT_EQ(cardan_subscribe(nullptr, nullptr), nullptr);
  EXPECT_FALSE(std::string(cardan_error()).empty());
  EXPECT_EQ(cardan_advertise("/x", nullptr), nullptr);
  EXPECT_TRUE(says("without a type")) << cardan_error();
  cardan_publisher_options options{};
  options.type = "sensor_msgs/msg/Image";
  EXPECT_EQ(cardan_advertise("/x", &options), nullptr);
  EXPECT_TRUE(says("struct_size")) << cardan_error();
  options.struct_size = sizeof(options);
  options.type = "no/msg/Such";
  EXPECT_EQ(cardan_advertise("/x", &options), nullptr);
  EXPECT_TRUE(says("give its definition")) << cardan_error();
  options.type = "sensor_msgs/msg/Image";
  EXPECT_EQ(cardan_advertise("no slash", &options), nullptr);
  EXPECT_TRUE(says("starts with '/'")) << cardan_error();
}

TEST_F(CInterface, TheDomainAsJson) {
  Publisher<Image> camera{kCamera};
  const Subscriber<Image> in{kCamera};
  char* const words = cardan_topics_json(nullptr);
  ASSERT_NE(words, nullptr) << cardan_error();
  const auto all = nlohmann::json::parse(words);
  cardan_free(words);
  ASSERT_EQ(all["topics"].size(), 1U);
  EXPECT_EQ(all["topics"][0]["topic"], "/camera");
  EXPECT_EQ(all["topics"][0]["publishers"], 1);
  EXPECT_EQ(all["topics"][0]["subscribers"], 1);
  EXPECT_EQ(all["topics"][0]["depth"], 4);
  EXPECT_EQ(all["topics"][0]["max_bytes"], kPixels);
  EXPECT_FALSE(all["topics"][0]["reliable"].get<bool>());
  EXPECT_TRUE(all["topics"][0]["owner"].get<bool>()) << "the usual access";
  EXPECT_TRUE(all["topics"][0]["via"].empty());
  EXPECT_TRUE(all["run_directory"].get<std::string>().starts_with(std::getenv("CARDAN_RUN_DIR")));
}

TEST_F(CInterface, ATopicIsItsOwnersAsLongAsOneOfItsPublicationsIs) {
  const auto is_owners = [] {
    char* const words = cardan_topics_json(nullptr);
    const auto all = nlohmann::json::parse(words);
    cardan_free(words);
    return all["topics"][0]["owner"].get<bool>();
  };
  const Publisher<Clock> open{Topic<Clock>{"/clock", {.access = Access::Everyone}}};
  EXPECT_FALSE(is_owners());
  {
    const Publisher<Clock> own{Topic<Clock>{"/clock", {}}};
    EXPECT_TRUE(is_owners());
  }
  EXPECT_FALSE(is_owners());
}

TEST_F(CInterface, ABridgeDoesNotGetItsOwnMessagesBack) {
  cardan_publisher_options out_options{};
  out_options.struct_size = sizeof(out_options);
  out_options.type = "rosgraph_msgs/msg/Clock";
  out_options.max_bytes = 64;
  out_options.via = "zenoh dds:0";
  cardan_publisher* const out = cardan_advertise("/clock", &out_options);
  ASSERT_NE(out, nullptr) << cardan_error();
  cardan_subscriber_options own{}, other{};
  own.struct_size = other.struct_size = sizeof(own);
  own.not_via = "zenoh";
  other.not_via = "zenoh2";
  cardan_subscriber* const mine = cardan_subscribe("/clock", &own);
  cardan_subscriber* const others = cardan_subscribe("/clock", &other);
  ASSERT_NE(mine, nullptr) << cardan_error();
  ASSERT_NE(others, nullptr) << cardan_error();
  const std::vector<std::uint8_t> cdr{0, 1, 0, 0, 5, 0, 0, 0, 6, 0, 0, 0};
  ASSERT_EQ(cardan_publish(out, cdr.data(), cdr.size(), 0), 0) << cardan_error();
  cardan_sample *sample = nullptr, *none = nullptr;
  EXPECT_EQ(cardan_wait(others, 10'000'000'000, &sample), CARDAN_SAMPLE);
  EXPECT_EQ(cardan_take(mine, &none), CARDAN_NOTHING);
  char* const words = cardan_topics_json(nullptr);
  ASSERT_NE(words, nullptr);
  const auto all = nlohmann::json::parse(words);
  cardan_free(words);
  EXPECT_EQ(all["topics"][0]["via"], nlohmann::json::parse(R"(["dds:0", "zenoh"])"));
  cardan_release(sample);
  cardan_unsubscribe(mine);
  cardan_unsubscribe(others);
  cardan_unadvertise(out);
}

TEST_F(CInterface, OptionsOfAnOlderProgramAreShorter) {
  Publisher<Image> camera{kCamera};
  cardan_subscriber_options old{};
  old.struct_size = offsetof(cardan_subscriber_options, access);
  old.access = 99;  // bytes after its struct are not read
  cardan_subscriber* const in = cardan_subscribe("/camera", &old);
  EXPECT_NE(in, nullptr) << cardan_error();
  old.struct_size = sizeof(old);
  EXPECT_EQ(cardan_subscribe("/camera", &old), nullptr);
  EXPECT_TRUE(says("`access`")) << cardan_error();
  cardan_unsubscribe(in);
}

/// The structs of a program that was built with a later header.
struct LaterOptions {
  cardan_subscriber_options known{};
  const char* later = nullptr;
};
struct LaterFrame {
  cardan_frame known{};
  std::uint64_t later = 7;
};

TEST_F(CInterface, ANewerProgramAsksForNothingThatThisLibraryDoesNotKnow) {
  Publisher<Image> camera{kCamera};
  LaterOptions options;
  options.known.struct_size = sizeof(options);
  cardan_subscriber* const in = cardan_subscribe("/camera", &options.known);
  ASSERT_NE(in, nullptr) << cardan_error();
  options.later = "wanted";
  EXPECT_EQ(cardan_subscribe("/camera", &options.known), nullptr);
  EXPECT_TRUE(says("does not know")) << cardan_error();
  publish(camera, 1);
  cardan_sample* sample = nullptr;
  ASSERT_EQ(cardan_wait(in, 10'000'000'000, &sample), CARDAN_SAMPLE);
  LaterFrame frame;
  frame.known.struct_size = sizeof(frame);
  EXPECT_EQ(cardan_sample_frame(sample, &frame.known), 0) << cardan_error();
  EXPECT_EQ(frame.known.payload_size, kPixels);
  EXPECT_EQ(frame.known.struct_size, sizeof(frame)) << "for the next call";
  EXPECT_EQ(frame.later, 0U) << "not what lay there";
  frame.known.struct_size = std::size_t{1} << 20U;
  EXPECT_EQ(cardan_sample_frame(sample, &frame.known), -1) << "no struct is so large";
  cardan_release(sample);
  cardan_unsubscribe(in);
}

TEST_F(CInterface, ATypeIsDescribedAsRos2Does) {
  const auto described = [](const char* name, const char* definition) {
    char* const words = cardan_type_description(name, definition);
    std::string copy = words == nullptr ? "" : words;
    cardan_free(words);
    return copy;
  };
  EXPECT_EQ(described("std_msgs/msg/String", "string data\n"),
            R"({"type_description": {"type_name": "std_msgs/msg/String", "fields": [{"name": "data", "type": )"
            R"({"type_id": 17, "capacity": 0, "string_capacity": 0, "nested_type_name": ""}}]}, )"
            R"("referenced_type_descriptions": []})");
  EXPECT_NE(described("sensor_msgs/msg/Image", nullptr).find(R"("type_name": "std_msgs/msg/Header")"),
            std::string::npos);
  EXPECT_EQ(described("std_msgs/msg/String", nullptr), described("std_msgs/msg/String", "string data\n"));
  EXPECT_NE(described("std_msgs/msg/Empty", nullptr), "");
  EXPECT_EQ(described("no/msg/Such", nullptr), "");
  EXPECT_TRUE(says("give its definition")) << cardan_error();
  EXPECT_EQ(described("a/msg/B", "string \"x"), "");
  EXPECT_TRUE(says("no description")) << cardan_error();
  EXPECT_EQ(described(nullptr, nullptr), "");
}

TEST_F(CInterface, AStopEndsAWait) {
  Publisher<Image> camera{kCamera};
  cardan_subscriber* const in = cardan_subscribe("/camera", nullptr);
  ASSERT_NE(in, nullptr) << cardan_error();
  EXPECT_EQ(cardan_stopping(), 0);
  std::thread stopper([] { cardan_request_stop(); });
  cardan_sample* sample = nullptr;
  EXPECT_EQ(cardan_wait(in, -1, &sample), CARDAN_STOPPED);
  stopper.join();
  EXPECT_EQ(cardan_stopping(), 1);
  detail::clear_stop();
  cardan_unsubscribe(in);
}

cardan_service_options sums(std::uint32_t pending = 0) {
  cardan_service_options options{};
  options.struct_size = sizeof(options);
  options.type = "test_msgs/msg/Sum";
  options.definition = "int64 a\nint64 b\n";
  options.answer_type = "test_msgs/msg/Total";
  options.answer_definition = "int64 sum\n";
  options.max_bytes = options.max_answer_bytes = 64;
  options.pending = pending;
  return options;
}

std::vector<std::uint8_t> cdr_of(const std::vector<std::int64_t>& numbers) {
  std::vector<std::uint8_t> bytes{0, 1, 0, 0};
  for (const std::int64_t number : numbers)
    for (int i = 0; i < 8; ++i)
      bytes.push_back(static_cast<std::uint8_t>(static_cast<std::uint64_t>(number) >> (8 * i)));
  return bytes;
}

std::int64_t number_in(const cardan_frame& frame, std::size_t index) {
  std::vector<std::uint8_t> bytes(frame.prefix, frame.prefix + frame.prefix_size);
  bytes.insert(bytes.end(), frame.payload, frame.payload + frame.payload_size);
  bytes.insert(bytes.end(), frame.suffix, frame.suffix + frame.suffix_size);
  std::uint64_t number = 0;
  for (std::size_t i = 0; i < 8; ++i) number |= std::uint64_t{bytes.at(4 + 8 * index + i)} << (8 * i);
  return static_cast<std::int64_t>(number);
}

constexpr std::int64_t kLong = 60'000'000'000;

TEST_F(CInterface, AQuestionGetsItsAnswer) {
  cardan_service_options options = sums();
  options.introspection = 3;
  EXPECT_EQ(cardan_serve("/add", &options), nullptr);
  EXPECT_TRUE(says("introspection is 3")) << cardan_error();
  options.introspection = 2;
  cardan_server* const server = cardan_serve("/add", &options);
  ASSERT_NE(server, nullptr) << cardan_error();
  char* const topics = cardan_topics_json(nullptr);
  EXPECT_NE(std::string(topics).find("test_msgs/srv/Sum_Event"), std::string::npos) << topics;
  cardan_free(topics);
  cardan_client* const client = cardan_open_client("/add", &options);
  ASSERT_NE(client, nullptr) << cardan_error();
  const auto asked = cdr_of({2, 3});
  const std::uint64_t number = cardan_ask(client, asked.data(), asked.size(), kLong);
  ASSERT_NE(number, 0U) << cardan_error();
  cardan_sample* answer = nullptr;
  EXPECT_EQ(cardan_answer(client, number, 0, &answer), CARDAN_NOTHING);
  cardan_question* question = nullptr;
  ASSERT_EQ(cardan_wait_question(server, kLong, &question), CARDAN_SAMPLE) << cardan_error();
  cardan_frame frame{};
  frame.struct_size = sizeof(frame);
  ASSERT_EQ(cardan_question_frame(question, &frame), 0);
  const auto sum = cdr_of({number_in(frame, 0) + number_in(frame, 1)});
  EXPECT_EQ(cardan_reply(question, sum.data(), 3), -1) << "too short";
  EXPECT_EQ(cardan_question_cancelled(question), 0);
  EXPECT_EQ(cardan_reply(question, sum.data(), sum.size()), 0) << cardan_error();
  EXPECT_EQ(cardan_reply(question, sum.data(), sum.size()), -1);
  EXPECT_TRUE(says("answered or declined")) << cardan_error();
  cardan_free_question(question);
  ASSERT_EQ(cardan_answer(client, number, 1, &answer), CARDAN_SAMPLE) << cardan_error();
  ASSERT_EQ(cardan_sample_frame(answer, &frame), 0);
  EXPECT_EQ(number_in(frame, 0), 5);
  EXPECT_EQ(cardan_wait_question(server, 0, &question), CARDAN_NOTHING);
  cardan_close_client(client);
  EXPECT_EQ(number_in(frame, 0), 5) << "it stays valid until it is released";
  cardan_release(answer);
  cardan_stop_serving(server);
}

TEST_F(CInterface, TheReasonOfAMissingAnswerIsReported) {
  const cardan_service_options options = sums(1);
  cardan_client* const client = cardan_open_client("/add", &options);
  ASSERT_NE(client, nullptr) << cardan_error();
  const auto asked = cdr_of({2, 3});
  cardan_sample* answer = nullptr;
  EXPECT_EQ(cardan_call(client, asked.data(), asked.size(), 1'000'000, &answer), CARDAN_ERROR);
  EXPECT_TRUE(says("no server")) << cardan_error();
  cardan_server* server = cardan_serve("/add", &options);
  ASSERT_NE(server, nullptr) << cardan_error();
  EXPECT_EQ(cardan_serve("/add", &options), nullptr);
  EXPECT_TRUE(says("already serves")) << cardan_error();
  std::uint64_t overdue = 0;
  while ((overdue = cardan_ask(client, asked.data(), asked.size(), 1)) == 0)
    ASSERT_TRUE(says("no server")) << cardan_error();
  cardan_cancel(client, overdue);
  std::thread serving([&] {
    cardan_question* question = nullptr;
    ASSERT_EQ(cardan_wait_question(server, kLong, &question), CARDAN_SAMPLE) << cardan_error();
    EXPECT_EQ(cardan_decline(question, "not today"), 0);
    cardan_free_question(question);
    ASSERT_EQ(cardan_wait_question(server, kLong, &question), CARDAN_SAMPLE) << cardan_error();
    cardan_free_question(question);
    ASSERT_EQ(cardan_wait_question(server, kLong, &question), CARDAN_SAMPLE) << cardan_error();
    cardan_stop_serving(server);
    EXPECT_EQ(cardan_question_cancelled(question), 1);
    cardan_free_question(question);
  });
  for (const char* why : {"not today", "dropped", "has ended"}) {
    int result = CARDAN_ERROR;
    do {
      result = cardan_call(client, asked.data(), asked.size(), kLong, &answer);
    } while (result == CARDAN_ERROR && says("too many questions"));  // the one that was overdue is not taken yet
    EXPECT_EQ(result, CARDAN_ERROR);
    EXPECT_TRUE(says(why)) << cardan_error();
  }
  serving.join();
  cardan_close_client(client);
}

TEST_F(CInterface, AServiceWithoutItsTypesIsRefused) {
  cardan_service_options options = sums();
  options.answer_type = nullptr;
  EXPECT_EQ(cardan_serve("/add", &options), nullptr);
  EXPECT_TRUE(says("answer_type")) << cardan_error();
  options = sums();
  options.struct_size = 3;
  EXPECT_EQ(cardan_open_client("/add", &options), nullptr);
  EXPECT_TRUE(says("struct_size")) << cardan_error();
  EXPECT_EQ(cardan_serve("add", nullptr), nullptr);
  cardan_stop_serving(nullptr);
  cardan_close_client(nullptr);
  cardan_free_question(nullptr);
}

}  // namespace
}  // namespace cardan
