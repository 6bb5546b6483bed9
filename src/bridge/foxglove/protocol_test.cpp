// SPDX-License-Identifier: Apache-2.0
#include "src/bridge/foxglove/protocol.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <random>

namespace cardan::bridge::foxglove {
namespace {

using nlohmann::json;

TEST(FoxgloveProtocol, TheNewProtocolIsPreferred) {
  EXPECT_EQ(choose_protocol("foxglove.websocket.v1"), kOldProtocol);
  EXPECT_EQ(choose_protocol("foxglove.websocket.v1, foxglove.sdk.v1"), kNewProtocol);
  EXPECT_EQ(choose_protocol("a ,\tfoxglove.sdk.v1"), kNewProtocol);
  EXPECT_EQ(choose_protocol(""), "");
  EXPECT_EQ(choose_protocol("foxglove.sdk.v2,foxglove.sdk.v11"), "");
}

TEST(FoxgloveProtocol, TheServersMessagesAreJson) {
  const json info = json::parse(server_info_text({.name = "n\xff", .session = "s", .publish = true, .time = true}));
  EXPECT_EQ(info["op"], "serverInfo");
  EXPECT_EQ(info["sessionId"], "s");
  EXPECT_EQ(info["supportedEncodings"], json({"cdr"}));
  const auto& capabilities = info["capabilities"];
  EXPECT_NE(std::find(capabilities.begin(), capabilities.end(), "clientPublish"), capabilities.end());
  EXPECT_NE(std::find(capabilities.begin(), capabilities.end(), "time"), capabilities.end());
  EXPECT_FALSE(json::parse(server_info_text({})).contains("supportedEncodings"));

  const ChannelInfo channel{.id = 3, .topic = "/t", .type = "std_msgs/msg/String", .schema = "string data"};
  EXPECT_EQ(json::parse(advertise_text({&channel}))["channels"][0],
            json::parse(R"({"id":3,"topic":"/t","encoding":"cdr","schemaName":"std_msgs/msg/String",
                            "schema":"string data","schemaEncoding":"ros2msg"})"));
  EXPECT_EQ(json::parse(unadvertise_text({3, 4}))["channelIds"], json({3, 4}));
  EXPECT_EQ(json::parse(status_text(Level::Error, "x"))["level"], 2);
}

TEST(FoxgloveProtocol, ParametersKeepTheirTypes) {
  const json text = json::parse(parameters_text(
      {{"a/d", 1.0}, {"a/i", std::int64_t{1}}, {"a/b", true}, {"a/s", std::string("x")}, {"a/n", std::nan("")}}, "q"));
  EXPECT_EQ(text["id"], "q");
  ASSERT_EQ(text["parameters"].size(), 4U) << "JSON has no NaN";
  EXPECT_EQ(text["parameters"][1], json::parse(R"({"name":"a/d","value":1.0,"type":"float64"})"));
  EXPECT_FALSE(text["parameters"][2].contains("type"));
  const auto set = std::get<SetParameters>(parse_request(
      R"({"op":"setParameters","id":"q","parameters":[{"name":"d","value":1,"type":"float64"},{"name":"i","value":1},
          {"name":"b","value":true},{"name":"s","value":"x"},{"name":"e","value":0.5}]})"));
  EXPECT_EQ(set.parameters,
            (Parameters{{"d", 1.0}, {"i", std::int64_t{1}}, {"b", true}, {"s", std::string("x")}, {"e", 0.5}}));
}

TEST(FoxgloveProtocol, ListsOfParametersKeepTheirTypes) {
  const Parameters lists{{"b", std::vector<bool>{true, false}},
                         {"d", std::vector<double>{1.0, 0.5}},
                         {"i", std::vector<std::int64_t>{1, 2}},
                         {"s", std::vector<std::string>{"x"}}};
  json text = json::parse(parameters_text(lists, "q"));
  EXPECT_EQ(text["parameters"][1], json::parse(R"({"name":"d","value":[1.0,0.5],"type":"float64_array"})"));
  EXPECT_EQ(text["parameters"][2], json::parse(R"({"name":"i","value":[1,2]})"));
  text["op"] = "setParameters";
  EXPECT_EQ(std::get<SetParameters>(parse_request(text.dump())).parameters, lists);
  EXPECT_EQ(json::parse(parameters_text({{"n", std::vector<double>{1, std::nan("")}}}, "q"))["parameters"].size(), 0U);
  for (const char* const wrong : {"[1, \"a\"]", "[[1]]", "[null]", "{}", "null", "[18446744073709551615]"}) {
    text["parameters"] = json::array({{{"name", "x"}, {"value", json::parse(wrong)}}});
    EXPECT_TRUE(std::holds_alternative<Malformed>(parse_request(text.dump()))) << wrong;
  }
}

TEST(FoxgloveProtocol, TheGraphIsSentAsItsChanges) {
  const Graph before{.published = {{"/a", {"p"}}, {"/b", {"p"}}}, .subscribed = {{"/a", {"q"}}}};
  const Graph now{.published = {{"/b", {"p", "r"}}, {"/c", {"p"}}}, .subscribed = {}};
  EXPECT_EQ(graph_text(before, before), "");
  const json text = json::parse(graph_text(before, now));
  EXPECT_EQ(text["publishedTopics"], json::parse(R"([{"name":"/b","publisherIds":["p","r"]},
      {"name":"/c","publisherIds":["p"]},{"name":"/a","publisherIds":[]}])"));
  EXPECT_EQ(text["subscribedTopics"], json::parse(R"([{"name":"/a","subscriberIds":[]}])"));
  EXPECT_EQ(text["removedTopics"], json({"/a"}));
}

TEST(FoxgloveProtocol, Heads) {
  const auto head = message_head(0x01020304, 0x0102030405060708);
  const std::array<unsigned, 13> expected{1, 4, 3, 2, 1, 8, 7, 6, 5, 4, 3, 2, 1};
  for (std::size_t i = 0; i < head.size(); ++i) EXPECT_EQ(static_cast<unsigned>(head[i]), expected[i]);
  EXPECT_EQ(static_cast<unsigned>(time_message(5)[0]), 2U);
  EXPECT_EQ(static_cast<unsigned>(time_message(5)[1]), 5U);
  std::array<std::byte, 7> message{std::byte{1}, std::byte{2}, {}, {}, {}, std::byte{9}, std::byte{8}};
  const auto parsed = parse_binary(message);
  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed->channel, 2U);
  EXPECT_EQ(parsed->data.size(), 2U);
  EXPECT_FALSE(parse_binary(std::span(message).first(4)));
  EXPECT_FALSE(parse_binary({}));
  message[0] = std::byte{2};
  EXPECT_FALSE(parse_binary(message)) << "a call of a service";
}

TEST(FoxgloveProtocol, Requests) {
  const auto sub = std::get<Subscribe>(parse_request(R"({"op":"subscribe","subscriptions":[{"id":1,"channelId":2}]})"));
  ASSERT_EQ(sub.subscriptions.size(), 1U);
  EXPECT_EQ(sub.subscriptions[0].channel, 2U);
  const std::string ids = R"({"op":"unsubscribe","subscriptionIds":[4294967295]})";
  EXPECT_EQ(std::get<Unsubscribe>(parse_request(ids)).ids[0], 4294967295U);
  const auto out = std::get<Advertise>(parse_request(
      R"({"op":"advertise","channels":[{"id":1,"topic":"/t","encoding":"cdr","schemaName":"a/msg/B","schema":null}]})"));
  EXPECT_EQ(out.channels.at(0).type, "a/msg/B");
  EXPECT_TRUE(std::get<WatchGraph>(parse_request(R"({"op":"subscribeConnectionGraph"})")).on);
  EXPECT_EQ(std::get<GetParameters>(parse_request(R"({"op":"getParameters","parameterNames":["a"],"id":"x"})")).request,
            "x");
}

TEST(FoxgloveProtocol, MalformedMessagesAreRefusedInWords) {
  const auto why = [](std::string_view text) { return std::get<Malformed>(parse_request(text)).why; };
  for (const char* text : {"",
                           "x",
                           "[]",
                           "5",
                           "{}",
                           R"({"op":5})",
                           R"({"op":"nonsense"})",
                           R"({"op":"subscribe"})",
                           R"({"op":"subscribe","subscriptions":{}})",
                           R"({"op":"subscribe","subscriptions":[5]})",
                           R"({"op":"subscribe","subscriptions":[{"id":-1,"channelId":1}]})",
                           R"({"op":"subscribe","subscriptions":[{"id":4294967296,"channelId":1}]})",
                           R"({"op":"subscribe","subscriptions":[{"id":1.5,"channelId":1}]})",
                           R"({"op":"unsubscribe","subscriptionIds":["1"]})",
                           R"({"op":"advertise","channels":[{"id":1}]})",
                           R"({"op":"advertise","channels":[[]]})",
                           R"({"op":"setParameters","parameters":[{"name":"a"}]})",
                           R"({"op":"setParameters","parameters":[{"name":"a","value":[[1]]}]})",
                           R"({"op":"getParameters","parameterNames":[1]})",
                           "{\"op\":\"\xff\"}"})
    EXPECT_FALSE(why(text).empty()) << text;
  EXPECT_NE(why(std::string(100'000, '[')).find("nested"), std::string::npos);
  EXPECT_EQ(why(R"({"op":"[[[[[[[[[[[["})").find("nested"), std::string::npos) << "letters are not nesting";
  EXPECT_LT(why(R"({"op":")" + std::string(100'000, 'x') + "\"}").size(), 200U) << "the answer is short";
}

TEST(FoxgloveProtocol, RandomTextsEndNobody) {
  std::mt19937 random(5);
  const std::string good = R"({"op":"advertise","channels":[{"id":1,"topic":"/t","encoding":"cdr","schemaName":"a"}]})";
  for (int i = 0; i < 20'000; ++i) {
    std::string text = good;
    for (int n = 0; n < 3; ++n) text[random() % text.size()] = static_cast<char>(random());
    (void)parse_request(text);
    (void)parse_binary(std::as_bytes(std::span(text)));
  }
}

TEST(FoxgloveProtocol, CallsOfServices) {
  const auto bytes = [](std::initializer_list<int> all) {
    std::vector<std::byte> out;
    for (const int one : all) out.push_back(static_cast<std::byte>(one));
    return out;
  };
  const auto whole = bytes({2, 5, 0, 0, 0, 6, 0, 0, 0, 3, 0, 0, 0, 'c', 'd', 'r', 1, 2});
  const auto call = parse_service_call(whole);
  ASSERT_TRUE(call);
  EXPECT_EQ(call->service, 5U);
  EXPECT_EQ(call->number, 6U);
  EXPECT_EQ(call->encoding, "cdr");
  EXPECT_EQ(call->question.size(), 2U);
  for (std::size_t size = 0; size < 16; ++size) EXPECT_FALSE(parse_service_call(std::span(whole).first(size))) << size;
  EXPECT_FALSE(parse_service_call(bytes({1, 5, 0, 0, 0, 6, 0, 0, 0, 0, 0, 0, 0}))) << "a message of a channel";
  EXPECT_FALSE(parse_service_call(bytes({2, 5, 0, 0, 0, 6, 0, 0, 0, 255, 255, 255, 255}))) << "a long encoding";
  EXPECT_EQ(service_answer(5, 6, bytes({1, 2})), bytes({3, 5, 0, 0, 0, 6, 0, 0, 0, 3, 0, 0, 0, 'c', 'd', 'r', 1, 2}));
}

}  // namespace
}  // namespace cardan::bridge::foxglove
