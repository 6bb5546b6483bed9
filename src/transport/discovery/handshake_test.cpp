// SPDX-License-Identifier: Apache-2.0
#include "src/transport/discovery/handshake.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <vector>

namespace cardan::detail::handshake {
namespace {

using nlohmann::json;

struct Sent {
  Message message;
  std::string text;  ///< on the wire
};

Publication publication() {
  Publication p{.access = Access::Group, .report = {}};
  auto& r = p.report;
  r.topic = "/t";
  r.type = "a/msg/T";
  r.layout = "0123456789abcdef";
  r.serial = 1;
  r.depth = 2;
  r.max_bytes = 3;
  r.reliable = true;
  r.via = "dds:0";
  r.deadline_ns = -4;
  r.slots = 5;
  r.area_bytes = 6;
  r.published = 7;
  r.bytes = 8;
  r.longest_gap_ns = -9;
  r.heartbeat_ns = -10;
  r.wakes = 11;
  r.prewakes = 12;
  r.reliable_timeouts = 13;
  r.latency = {{14, 15}, {16, 17}};
  r.age = {{33, 34}};
  r.subscribers = {SubscriberReport{.name = "s",
                                    .pid = -18,
                                    .uid = 19,
                                    .reliable = true,
                                    .demoted = true,
                                    .received = 20,
                                    .missed = 21,
                                    .bad = 22,
                                    .spin_ns = -23,
                                    .sleeps = 24,
                                    .announced = 25,
                                    .depth = 26,
                                    .latency = {{27, 28}},
                                    .age = {{29, 30}},
                                    .greatest_age_ns = 31,
                                    .unknown_ages = 32}};
  r.left_out = 29;
  return p;
}

/// Every message, with values that differ from those of a field that is missing.
std::vector<Sent> all_messages() {
  return {
      {Hello{.pid = -2, .name = "n", .clock_offset = -3},
       R"({"clock_offset":-3,"name":"n","op":"hello","pid":-2,"version":1})"},
      {Attach{.id = 1,
              .serial = 2,
              .topic = "/t",
              .type = "a/msg/T",
              .hash = "0123456789abcdef",
              .not_via = "dds:0",
              .announced = Announcement{.holds = 3,
                                        .threads = 4,
                                        .depth = 5,
                                        .background = true,
                                        .reliable = true,
                                        .prewake = true,
                                        .follows = true}},
       R"({"background":true,"depth":5,"follows":true,"hash":"0123456789abcdef","holds":3,"id":1,"not_via":"dds:0","op":)"
       R"("attach","prewake":true,"reliable":true,"serial":2,"threads":4,"topic":"/t","type":"a/msg/T"})"},
      {Attach{.id = 1, .serial = 2, .topic = "/t", .observer = true},
       R"({"id":1,"observer":true,"op":"attach","serial":2,"topic":"/t"})"},
      {Attached{.id = 1, .bytes = 2, .bell = 3, .bell_bytes = 4, .cursor = 5, .owed_from = 6},
       R"({"bell":3,"bell_bytes":4,"bytes":2,"cursor":5,"id":1,"op":"attached","owed_from":6})"},
      {Attached{.id = 1, .bytes = 2, .access = Access::Policy}, R"({"access":3,"bytes":2,"id":1,"op":"attached"})"},
      {Refused{.id = 1, .code = Reason::Memory, .why = "w", .remedy = "r"},
       R"({"code":"memory","id":1,"op":"refused","remedy":"r","why":"w"})"},
      {Refused{.id = 1, .code = Reason::Via}, R"({"code":"via","id":1,"op":"refused"})"},
      {SentAway{.gone = false, .code = Reason::Access, .why = "w", .remedy = "r"},
       R"({"code":"access","id":0,"op":"refused","remedy":"r","why":"w"})"},
      {SentAway{.gone = true, .code = Reason::Access, .why = "w", .remedy = "r"},
       R"({"code":"access","id":0,"op":"gone","remedy":"r","why":"w"})"},
      {Gone{1}, R"({"id":1,"op":"gone"})"},
      {Ended{1}, R"({"id":1,"op":"ended"})"},
      {Demoted{1}, R"({"id":1,"op":"demoted"})"},
      {Detach{1}, R"({"id":1,"op":"detach"})"},
      {Notify{1}, R"({"id":1,"op":"notify"})"},
      {List{.topic = "/t", .from = 1}, R"({"from":1,"op":"list","topic":"/t"})"},
      {Topics{.topics = {publication()}, .next = 1, .pid = -2, .name = "n"},
       R"({"name":"n","next":1,"op":"topics","pid":-2,"topics":[{"access":1,"age":[[33,34]],"area_bytes":6,"bytes":8,"deadline_ns":-4,)"
       R"("depth":2,"hash":"0123456789abcdef","heartbeat_ns":-10,"latency":[[14,15],[16,17]],"left_out":29,)"
       R"("longest_gap_ns":-9,"max_bytes":3,"prewakes":12,"published":7,"reliable":true,"reliable_timeouts":13,)"
       R"("serial":1,"slots":5,"subscribers":[{"age":[[29,30]],"announced":25,"bad":22,"demoted":true,"depth":26,)"
       R"("greatest_age_ns":31,"latency":[[27,28]],"missed":21,"name":"s","pid":-18,"received":20,"reliable":true,)"
       R"("sleeps":24,"spin_ns":-23,"uid":19,"unknown_ages":32}],)"
       R"("topic":"/t","type":"a/msg/T","via":"dds:0","wakes":11}]})"},
      {Trace{.id = 1, .from = 2}, R"({"from":2,"id":1,"op":"trace"})"},
      {Traced{.id = 1,
              .bytes = 2,
              .threads = {{.ring = 3, .owner = 4, .thread = -5, .name = "n"}},
              .names = {{.number = 6, .stream = true, .of = 7, .text = "t"}},
              .next = 8},
       R"({"bytes":2,"id":1,"names":[{"number":6,"of":7,"stream":true,"text":"t"}],"next":8,"op":"traced",)"
       R"("threads":[{"name":"n","owner":4,"ring":3,"thread":-5}]})"},
      {Ask{.id = 1,
           .serial = 2,
           .topic = "/s?",
           .process = "0123456789abcdef",
           .questions = 3,
           .name = "/s?q",
           .type = "a/msg/Q",
           .hash = "h",
           .answer_type = "a/msg/A",
           .answer_hash = "i",
           .pending = 4},
       R"({"answer_hash":"i","answer_type":"a/msg/A","hash":"h","id":1,"name":"/s?q","op":"ask","pending":4,)"
       R"("process":"0123456789abcdef","questions":3,"serial":2,"topic":"/s?","type":"a/msg/Q"})"},
      {Served{.id = 1, .answers = 2, .name = "/s?a"}, R"({"answers":2,"id":1,"name":"/s?a","op":"served"})"},
      {Declined{.id = 1, .sequence = 2, .why = "w"}, R"({"id":1,"op":"declined","sequence":2,"why":"w"})"},
      {Cancel{.id = 1, .sequence = 2}, R"({"id":1,"op":"cancel","sequence":2})"},
      {Other{.op = "unheard", .id = 1}, R"({"id":1,"op":"unheard"})"},
  };
}

template <class M>
M read(const json& j) {
  const auto message = decode(j.dump());
  EXPECT_TRUE(message) << j;
  EXPECT_TRUE(message && std::holds_alternative<M>(*message)) << j;
  return message && std::holds_alternative<M>(*message) ? std::get<M>(*message) : M{};
}

/// As the peer understands it, and would say it itself.
json understood(const json& j) {
  const auto message = decode(j.dump());
  EXPECT_TRUE(message) << j;
  return message ? json::parse(encode(*message)) : json();
}

TEST(Handshake, EachMessageHasTheTextOfVersion1) {
  for (const Sent& sent : all_messages()) EXPECT_EQ(encode(sent.message), sent.text);
}

TEST(Handshake, EachMessageArrivesAsItWasSent) {
  for (const Sent& sent : all_messages()) {
    const auto message = decode(sent.text);
    ASSERT_TRUE(message) << sent.text;
    EXPECT_EQ(message->index(), sent.message.index()) << sent.text;
    EXPECT_EQ(encode(*message), sent.text);
  }
}

TEST(Handshake, TheIdIsThatOfTheAttachment) {
  for (const Sent& sent : all_messages()) {
    const json j = json::parse(sent.text);
    EXPECT_EQ(id_of(sent.message), j.value("id", 0U)) << sent.text;
  }
}

TEST(Handshake, ASizeIsThatOfTheText) {
  const Publication p = publication();
  const json whole = json::parse(encode(Topics{.topics = {p}}));
  EXPECT_EQ(encoded_size(p), whole["topics"][0].dump().size() + 1);
  EXPECT_EQ(encoded_size(p.report.subscribers[0]), whole["topics"][0]["subscribers"][0].dump().size() + 1);
}

/// The value that a field has for the receiver if the sender leaves it out. Empty: the receiver would leave it out,
/// too.
json without(const std::string& key, const json& value) {
  if (key == "bell") return layout::kBells;
  if (key == "code") return "other";
  if (key == "why" || key == "remedy" || key == "not_via" || key == "observer") return {};
  if (value.is_number()) return 0;
  if (value.is_boolean()) return false;
  return value.is_string() ? json("") : json::array();
}

std::vector<json> mistyped(const json& value) {
  std::vector<json> all{nullptr, json::object(), json{{"a", 1}}};
  if (!value.is_string()) all.emplace_back("1");
  if (!value.is_boolean()) all.emplace_back(true);
  if (!value.is_array()) all.push_back(json::array({1}));
  if (!value.is_number()) all.emplace_back(1);
  all.emplace_back(1.5);
  if (value.is_number_unsigned()) all.emplace_back(-1);
  return all;
}

/// Whether a field with a sign is meant: -1 is then a value like any other.
bool has_a_sign(const std::string& key) { return key == "pid" || key == "clock_offset" || key.ends_with("_ns"); }

/// `object`: part of `whole`, which is a message.
void spoil_each_field(const json& whole, const json::json_pointer& part) {
  for (const auto& [key, value] : whole.at(part).items()) {
    if (key == "op") continue;
    // Without them the message means something else. Tests of their own are below.
    if (key == "observer" || key == "holds" || key == "threads") continue;
    if (key == "id" && (whole["op"] == "refused" || whole["op"] == "gone")) continue;
    if (key == "access" && whole["op"] == "attached") continue;
    json expected = whole;
    json& there = expected.at(part);
    const json no = without(key, value);
    if (no.is_null())
      there.erase(key);
    else
      there[key] = no;
    json missing = whole;
    missing.at(part).erase(key);
    // The answer that sends a peer away always gives its reason.
    if (whole["op"] == "gone" || (whole["op"] == "refused" && whole["id"] == 0))
      if (no.is_null()) there[key] = "";
    EXPECT_EQ(understood(missing), expected) << key << " of " << whole;
    for (const json& wrong : mistyped(value)) {
      if (has_a_sign(key) && wrong == -1) continue;
      json spoilt = whole;
      spoilt.at(part)[key] = wrong;
      if (value.is_array() && wrong.is_array()) continue;
      EXPECT_EQ(understood(spoilt), expected) << key << " = " << wrong << " of " << whole;
    }
  }
}

TEST(Handshake, AFieldThatIsMissingOrMistypedMeansNo) {
  for (const Sent& sent : all_messages()) {
    const json whole = json::parse(sent.text);
    spoil_each_field(whole, json::json_pointer(""));
    if (whole["op"] != "topics") continue;
    spoil_each_field(whole, json::json_pointer("/topics/0"));
    spoil_each_field(whole, json::json_pointer("/topics/0/subscribers/0"));
  }
}

TEST(Handshake, ATextIsCutAndPrintable) {
  const std::string longest(5000, 'a');
  for (const Sent& sent : all_messages()) {
    const json whole = json::parse(sent.text);
    for (const auto& [key, value] : whole.items()) {
      if (!value.is_string() || key == "op" || key == "code") continue;
      json j = whole;
      j[key] = longest;
      const std::size_t most = whole["op"] == "hello" ? kLongestName : kLongestText;
      EXPECT_EQ(understood(j)[key], longest.substr(0, most)) << key << " of " << whole;
      j[key] = "no\ncardan: \x1b error\xc2\x9b";
      EXPECT_EQ(understood(j)[key], "no?cardan: ? error?") << key << " of " << whole;
    }
  }
  json list = json::parse(encode(Topics{.topics = {publication()}}));
  json& p = list["topics"][0];
  for (const char* key : {"topic", "type", "hash", "via"}) p[key] = longest + "\n";
  p["subscribers"][0]["name"] = "\n" + longest;
  const json got = understood(list)["topics"][0];
  for (const char* key : {"topic", "type", "hash", "via"}) EXPECT_EQ(got[key], longest.substr(0, kLongestText)) << key;
  EXPECT_EQ(got["subscribers"][0]["name"], "?" + longest.substr(0, kLongestText - 1));
}

TEST(Handshake, ATextIsCutBetweenTwoCharacters) {
  EXPECT_EQ(read<Refused>({{"op", "refused"}, {"id", 1}, {"why", std::string(1023, 'a') + "é"}}).why,
            std::string(1023, 'a'));
  const auto hello = read<Hello>({{"op", "hello"}, {"name", std::string(63, 'a') + "é"}});
  EXPECT_EQ(hello.name, std::string(63, 'a'));
  EXPECT_NO_THROW((void)json(hello.name).dump());
}

TEST(Handshake, ANameThatIsNotUtf8IsSentAllTheSame) {
  const auto got = decode(encode(Hello{.name = "a\xff"}));
  ASSERT_TRUE(got && std::holds_alternative<Hello>(*got));
  EXPECT_EQ(std::get<Hello>(*got).name, "a\xef\xbf\xbd");
}

TEST(Handshake, HoldsAndThreadsThatAreOutOfRangeAreNotAnnounced) {
  const json good = json::parse(encode(Attach{.id = 1, .announced = Announcement{}}));
  EXPECT_TRUE(read<Attach>(good).announced);
  const std::pair<const char*, std::uint32_t> both[] = {{"holds", layout::kMaxHolds}, {"threads", layout::kMaxThreads}};
  for (const auto& [key, most] : both) {
    json j = good;
    j[key] = most;
    EXPECT_TRUE(read<Attach>(j).announced) << j;
    for (const json& wrong : {json(0), json(most + 1), json(UINT64_MAX), json(std::uint64_t{1} << 32 | 1U), json(-1),
                              json(1.5), json("1"), json(true), json()}) {
      j[key] = wrong;
      EXPECT_FALSE(read<Attach>(j).announced) << j;
    }
    j.erase(key);
    EXPECT_FALSE(read<Attach>(j).announced) << j;
  }
}

TEST(Handshake, ANumberThatIsTooLargeIsTheLargest) {
  const json attach{{"op", "attach"}, {"holds", 1}, {"threads", 1}, {"depth", UINT64_MAX}, {"serial", 1ULL << 32 | 1U}};
  EXPECT_EQ(read<Attach>(attach).announced.value_or(Announcement{}).depth, layout::kMaxDepth);
  EXPECT_EQ(read<Attach>(attach).serial, UINT32_MAX);
  EXPECT_EQ(read<List>({{"op", "list"}, {"from", 1ULL << 32}}).from, UINT32_MAX);
  EXPECT_EQ(read<Attached>({{"op", "attached"}, {"bell", UINT64_MAX}}).bell, layout::kBells);
  for (const std::int64_t way : {-1, 1})
    EXPECT_EQ(read<Hello>({{"op", "hello"}, {"clock_offset", way * INT64_MAX}}).clock_offset, way * kFarthestClock);
  const auto topics = read<Topics>({{"op", "topics"}, {"topics", {{{"serial", UINT64_MAX}}}}}).topics;
  ASSERT_EQ(topics.size(), 1U);
  EXPECT_EQ(topics[0].report.serial, UINT32_MAX);
}

TEST(Handshake, AnAccessThatIsNotKnownIsTheStrictest) {
  EXPECT_EQ(read<Attached>({{"op", "attached"}, {"access", 2}}).access, Access::Everyone);
  for (const json& wrong : {json(4), json(UINT64_MAX), json(-1), json("2"), json()})
    EXPECT_FALSE(read<Attached>({{"op", "attached"}, {"access", wrong}}).access) << wrong;
  const auto topics = read<Topics>({{"op", "topics"}, {"topics", {{{"access", 4}}}}}).topics;
  ASSERT_EQ(topics.size(), 1U);
  EXPECT_EQ(topics[0].access, Access::Policy);
}

TEST(Handshake, ARefusalWithoutAnIdSendsAway) {
  for (const json& id : {json(0), json(-1), json("1"), json()}) {
    EXPECT_FALSE(read<SentAway>({{"op", "refused"}, {"id", id}}).gone) << id;
    EXPECT_TRUE(read<SentAway>({{"op", "gone"}, {"id", id}}).gone) << id;
  }
  EXPECT_FALSE(read<SentAway>({{"op", "refused"}}).gone);
}

TEST(Handshake, ListsAreBounded) {
  Publication p = publication();
  p.report.subscribers.assign(300, p.report.subscribers[0]);
  EXPECT_EQ(read<Topics>(json::parse(encode(Topics{.topics = {p}}))).topics.at(0).report.subscribers.size(), 256U);
  json latency = json::array();
  for (int i = 0; i < 300; ++i) latency.push_back({i % 128, 1});
  const json one{{"latency", latency}};
  EXPECT_EQ(read<Topics>({{"op", "topics"}, {"topics", {one}}}).topics.at(0).report.latency.size(), 128U);
  const json odd{{"latency", {{1, 2}, {1}, {1, 2, 3}, {-1, 2}, {1, -2}, {127, 1}, {UINT64_MAX, 1}, "x", {"a", 1}, 5}}};
  const auto buckets = read<Topics>({{"op", "topics"}, {"topics", {odd, 5, "x", json::array()}}}).topics;
  ASSERT_EQ(buckets.size(), 1U) << "only objects are publications";
  EXPECT_EQ(buckets[0].report.latency, (LatencyHistogram{{1, 2}}));
}

TEST(Handshake, AnythingElseIsNotTheHandshake) {
  for (const char* text : {"", "{", "[]", "null", "5", "\"hello\"", "{}", R"({"op":5})", R"({"op":null})",
                           R"({"op":["hello"]})", R"({"id":1})", R"({"op":"hello"}x)", "{\"op\":\"\xff\"}"})
    EXPECT_FALSE(decode(text)) << text;
  const auto deep = [](std::size_t levels) {  // with the object itself
    return R"({"op":"detach","x":)" + std::string(levels - 1, '[') + std::string(levels - 1, ']') + "}";
  };
  EXPECT_TRUE(decode(deep(16)));
  EXPECT_FALSE(decode(deep(18)));
  EXPECT_FALSE(decode(deep(30'000)));
}

TEST(Handshake, AKindThatIsNotKnownIsAnother) {
  for (const std::string op : {"", "Hello", "hello ", "attach\n", "hello\x1b"}) {
    const auto other = read<Other>({{"op", op}, {"id", 7}});
    EXPECT_EQ(other.id, 7U);
  }
  EXPECT_EQ(read<Other>({{"op", std::string(5000, 'a') + "\n"}}).op, std::string(kLongestText, 'a'));
}

}  // namespace
}  // namespace cardan::detail::handshake
