// SPDX-License-Identifier: Apache-2.0
#include "cardan/type_layout.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "apps/decode.hpp"
#include "cardan/any_type.hpp"
#include "cardan/cardan.hpp"
#include "cardan/observer.hpp"
#include "tests/support/run_directory.hpp"

namespace {

enum class Gear : std::uint8_t { Park = 1, Drive = 7 };

struct Wheel {
  float speed = 0;
  std::uint16_t teeth = 0;
};
struct Own {
  cardan::Header header;
  bool on = false;
  std::int64_t big = 0;
  Gear gear = Gear::Park;
  char letter = 'a';
  std::array<Wheel, 4> wheels{};
  Wheel spare;
  cardan::FixedVector<double, 3> few;
  cardan::FixedString<5> name;
  cardan::shm::vector<Wheel> many;
  cardan::shm::string text;
};
struct alignas(32) Wide {
  std::uint64_t value = 0;
};

}  // namespace

CARDAN_MESSAGE(Wheel, "test_msgs/msg/Wheel", speed, teeth);
CARDAN_MESSAGE(Own, "test_msgs/msg/Own", header, on, big, gear, letter, wheels, spare, few, name, many, text);
CARDAN_MESSAGE(Wide, "test_msgs/msg/Wide", value);

namespace {

using namespace cardan;
using namespace cardan::apps;
using cardan::message_traits;

template <class T>
void knows() {
  SCOPED_TRACE(std::string(message_traits<T>::type_name()));
  EXPECT_EQ(layout_of<T>()->hash(), message_traits<T>::type_hash());
  EXPECT_NE(find_layout(std::string(message_traits<T>::type_name()), message_traits<T>::type_hash(), ""), nullptr);
}

TEST(TypeLayout, KnowsCardansOwnMessages) {
  knows<cardan::Image>();
  knows<cardan::CompressedImage>();
  knows<cardan::PointCloud>();
  knows<cardan::Imu>();
  knows<cardan::NavSatFix>();
  knows<cardan::Odometry>();
  knows<cardan::PoseStamped>();
  knows<cardan::TwistStamped>();
  knows<cardan::Transform>();
  knows<cardan::TransformStamped>();
  knows<cardan::CanFrame>();
  knows<cardan::Detections2D>();
  knows<cardan::Detections3D>();
  knows<cardan::Header>();
}

TEST(TypeLayout, FollowsFromTheSchemaOfAnUnknownType) {
  const auto layout =
      find_layout("test_msgs/msg/Own", message_traits<Own>::type_hash(), std::string(message_traits<Own>::schema()));
  ASSERT_NE(layout, nullptr);
  EXPECT_EQ(layout->size, sizeof(Own));
  EXPECT_EQ(layout->hash(), message_traits<Own>::type_hash());
}

TEST(TypeLayout, LayoutsThatDoNotFollowAreNotGuessed) {
  const std::string schema(message_traits<Own>::schema());
  EXPECT_EQ(find_layout("test_msgs/msg/Own", message_traits<Own>::type_hash() + 1, schema), nullptr);
  EXPECT_EQ(
      find_layout("test_msgs/msg/Wide", message_traits<Wide>::type_hash(), std::string(message_traits<Wide>::schema())),
      nullptr);
  EXPECT_EQ(find_layout("a/msg/B", 1, ""), nullptr);
  std::int64_t effort = 1'000;
  std::string many;
  for (int i = 0; i < 100; ++i) many += "uint8 f" + std::to_string(i) + "\n";
  EXPECT_EQ(find_layout("a/msg/B", 1, many, &effort), nullptr);
  EXPECT_LT(effort, 101) << "less than one more try";
  EXPECT_EQ(find_layout("a/msg/B", 1, many, &effort), nullptr);
  EXPECT_GE(effort, 0);
  EXPECT_EQ(find_layout("a/msg/B", 1, "a/B self\n" + std::string(80, '=') + "\nMSG: a/B\na/B self\n"), nullptr)
      << "a text that refers to itself";
  EXPECT_EQ(find_layout("a/msg/B", 1, "uint7 x\nint32[] \nfoo\nfloat32[0] y\nstring<=99999999999999999999 z\n"),
            nullptr);
}

class Decode : public cardan::test::OwnRunDirectory {};

TEST_F(Decode, ListsInListsOfATypeThatNobodyWasCompiledWith) {
  const std::string definition = "Part[] parts\nwstring wide\nNothing none\n" + std::string(80, '=') +
                                 "\nMSG: a/Part\nstring name\nuint16[] values\n" + std::string(80, '=') +
                                 "\nMSG: a/Nothing\n";
  const AnyType type = AnyType::of_definition("a/msg/A", definition);
  const std::string cdr(
      "\0\1\0\0\2\0\0\0\3\0\0\0ab\0\0\2\0\0\0\7\0\10\0\1\0\0\0\0\0\0\0\0\0\0\0\3\0\0\0\xe4\0\x3d\xd8\0\xde\0", 47);
  AnyPublisher out("/parts", type.message_type(), {.max_bytes = 4096});
  auto loan = out.loan();
  const auto result = type.fill(std::as_bytes(std::span(cdr)), loan);
  ASSERT_TRUE(result) << result.text();
  out.publish(std::move(loan));
  const cardan::Observer observer{"/parts"};
  const auto stream = observer.streams().at(0);
  cardan::ObservedSample sample;
  ASSERT_TRUE(stream->copy_latest(sample));
  const auto layout = find_layout(stream->type(), stream->type_hash(), stream->schema());
  ASSERT_NE(layout, nullptr);
  EXPECT_EQ(decode(*layout, sample, 8).dump(),
            "{\"parts\":[{\"name\":\"ab\",\"values\":[7,8]},{\"name\":\"\",\"values\":[]}],\"wide\":"
            "\"\xc3\xa4\xf0\x9f\x98\x80\","
            "\"none\":{}}");
}

TEST(ParseJson, GivesMessagesAndRefusesAllElse) {
  const auto parse = [](const std::string& text) { return parse_json(std::as_bytes(std::span(text))); };
  EXPECT_EQ(parse(R"({"a":[1,2]})"), nlohmann::ordered_json::parse(R"({"a":[1,2]})"));
  EXPECT_EQ(parse("false"), nlohmann::ordered_json(false));
  EXPECT_FALSE(parse(""));
  EXPECT_FALSE(parse("{\"a\":"));
  EXPECT_TRUE(parse(std::string(60, '[') + std::string(60, ']')));
  EXPECT_FALSE(parse(std::string(1'000'000, '[') + std::string(1'000'000, ']'))) << "would end the stack";
}

TEST(ParseJson, SaysWhereItIsWrong) {
  const auto why = [](const std::string& text) {
    std::string words;
    EXPECT_FALSE(parse_json(std::as_bytes(std::span(text)), &words)) << text;
    return words;
  };
  EXPECT_EQ(why(""), "it ends in the middle");
  EXPECT_EQ(why("{\"a\": [1,"), "it ends in the middle");
  EXPECT_EQ(why("{\"data\": }"), "near byte 10, in '{\"data\": }'");
  EXPECT_EQ(why("1e999"), "near byte 5, in '1e999'");
  EXPECT_EQ(why(std::string(100, '[') + std::string(100, ']')), kNotShownJson);
}

TEST(ParseJson, AnObjectOfManyKeysIsRefused) {
  const auto parse = [](const std::string& text) { return parse_json(std::as_bytes(std::span(text))); };
  const auto keys = [](std::size_t count) {
    std::string text;
    for (std::size_t i = 0; i < count; ++i) text += (i == 0 ? "{\"" : ",\"") + std::to_string(i) + "\":0";
    return text + "}";
  };
  const auto whole = parse("[" + keys(4096) + "," + keys(4096) + "]");
  ASSERT_TRUE(whole);
  EXPECT_EQ((*whole)[1].size(), 4096U);
  EXPECT_FALSE(parse("[" + keys(4097) + "]"));
  EXPECT_FALSE(parse(keys(100'000))) << "each key is compared with all before it";
  std::string zeros = "[0";
  for (int i = 0; i < 1'000'001; ++i) zeros += ",0";
  EXPECT_FALSE(parse(zeros + "]")) << "a value takes eight times the memory of its text";
  std::string objects = "[{}";
  for (int i = 0; i < 900'000; ++i) objects += ",{}";
  const auto many = parse(objects + "]");
  ASSERT_TRUE(many) << "in one pass, not one for each of them";
  EXPECT_EQ(many->size(), 900'001U);
}

TEST(Readable, TextThatOnlyLooksLikeACutListIsShown) {
  for (const char* text : {R"({"a":{"count":"x","first":[1]}})", R"({"a":{"count":1,"first":{"b":2}}})",
                           R"({"a":{"count":-1,"first":"text"}})", R"({"a":{"count":[],"first":[[1],[2]]}})"})
    EXPECT_FALSE(readable(nlohmann::ordered_json::parse(text)).empty()) << text;
}

TEST(Readable, AKeyCannotControlATerminal) {
  const std::string shown = readable({{"\x1b[2J", {{"\x1b]0;title\a", 1}}}});
  EXPECT_EQ(shown.find('\x1b'), std::string::npos) << shown;
}

TEST_F(Decode, EveryKindOfField) {
  const cardan::Topic<Own> topic{"/own", {.max_bytes = 4096}};
  cardan::Publisher out{topic};
  auto loan = out.loan();
  loan->header.stamp = 42;
  loan->header.frame_id = "base";
  loan->on = true;
  loan->big = -5;
  loan->gear = Gear::Drive;
  loan->wheels[2] = {0.1F, 9};
  ASSERT_TRUE(loan->few.push_back(1.5));
  loan->name = "wheel";
  loan->many = {{2.5F, 1}, {3.5F, 2}, {4.5F, 3}};
  loan->text = "long text";
  out.publish(std::move(loan));
  const cardan::Observer observer{"/own"};
  const auto stream = observer.streams().at(0);
  cardan::ObservedSample sample;
  ASSERT_TRUE(stream->copy_latest(sample));
  const auto layout = find_layout(stream->type(), stream->type_hash(), stream->schema());
  ASSERT_NE(layout, nullptr);
  const auto j = decode(*layout, sample, 8);
  EXPECT_EQ(j["header"]["stamp"], 42);
  EXPECT_EQ(j["header"]["frame_id"], "base");
  EXPECT_EQ(j["on"], true);
  EXPECT_EQ(j["big"], -5);
  EXPECT_EQ(j["gear"], 7);
  EXPECT_EQ(j["letter"], 'a');
  EXPECT_EQ(j["wheels"][2]["speed"].dump(), "0.1");
  EXPECT_EQ(j["wheels"][2]["teeth"], 9);
  EXPECT_EQ(j["few"].dump(), "[1.5]");
  EXPECT_EQ(j["name"], "wheel");
  EXPECT_EQ(j["many"].size(), 3U);
  EXPECT_EQ(j["many"][2]["teeth"], 3);
  EXPECT_EQ(j["text"], "long text");
  const auto cut = decode(*layout, sample, 2);
  EXPECT_EQ(cut["many"]["count"], 3);
  EXPECT_EQ(cut["many"]["first"].size(), 2U);
  EXPECT_EQ(pick_fields(j, {"header.stamp", "name"}).dump(), R"({"header.stamp":42,"name":"wheel"})");
  EXPECT_THROW(pick_fields(j, {"header.stampe"}), cardan::Error);
  EXPECT_NE(readable(cut).find("many: 3 elements"), std::string::npos) << readable(cut);
}

}  // namespace
