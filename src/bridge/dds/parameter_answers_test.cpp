// SPDX-License-Identifier: Apache-2.0
#include "src/bridge/dds/parameter_answers.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <map>
#include <random>
#include <string_view>
#include <thread>

#include "cardan/cdr_reader.hpp"
#include "cardan/cdr_writer.hpp"

namespace cardan::bridge::dds {
namespace {

class FixedTable final : public ParameterTable {
 public:
  std::vector<RosParameter> all() override {
    std::vector<RosParameter> all{
        {.name = "detector.threshold", .value = 0.5, .description = "score", .min = config::Value(0.0)},
        {.name = "detector.model.name", .value = std::string("small"), .read_only = true},
        {.name = "detector.count", .value = std::int64_t{3}},
        {.name = "track", .value = true}};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
  std::string set(const std::string& name, const config::Value& value) override {
    if (name != "track") return "not this one";
    taken[name] = value;
    return {};
  }
  std::map<std::string, config::Value> taken{};
  std::vector<RosParameter> more{};
};

/// A request as rmw_cyclonedds writes it.
class Request {
 public:
  Request() {
    out.number(std::uint64_t{77});
    out.number(std::int64_t{5});
  }
  std::vector<std::byte> bytes{}, unused{};
  CdrWriter out{bytes, unused, nullptr};
  void names(const std::vector<std::string>& all) {
    out.count(all.size());
    for (const std::string& name : all) out.string(name);
  }
  void parameter(const std::string& name, std::uint8_t type, bool yes) {
    out.string(name);
    out.number(type);
    out.boolean(yes);
    out.number(std::int64_t{1});
    out.number(1.0);
    out.string("one");
    for (int i = 0; i < 5; ++i) out.count(0);
  }
};

CdrReader opened(const std::optional<std::vector<std::byte>>& reply) {
  CdrReader in(*reply);
  std::uint64_t client = 0;
  std::int64_t sequence = 0;
  EXPECT_TRUE(in.number(client) && in.number(sequence));
  EXPECT_EQ(client, 77U);
  EXPECT_EQ(sequence, 5);
  return in;
}

std::vector<std::string> texts(CdrReader& in) {
  std::size_t count = 0;
  EXPECT_TRUE(in.count(count, 4));
  std::vector<std::string> all(count);
  for (std::string& one : all) {
    std::string_view text;
    EXPECT_TRUE(in.string(text));
    one = text;
  }
  return all;
}

std::vector<std::string> listed(const std::vector<std::string>& prefixes, std::uint64_t depth) {
  FixedTable table;
  Request request;
  request.names(prefixes);
  request.out.number(depth);
  const auto reply = parameter_answer(ParameterService::List, request.bytes, table);
  EXPECT_TRUE(reply);
  CdrReader in = opened(reply);
  std::vector<std::string> names = texts(in);
  (void)texts(in);
  EXPECT_TRUE(in.finish());
  return names;
}

TEST(DdsParameters, AreListedAsRclcppListsThem) {
  const std::vector<std::string> all{"detector.threshold", "detector.model.name", "detector.count", "track"};
  EXPECT_EQ(listed({}, 0), all);
  EXPECT_EQ(listed({}, 1), std::vector<std::string>{"track"});
  EXPECT_EQ(listed({"detector"}, 1), (std::vector<std::string>{"detector.threshold", "detector.count"}));
  EXPECT_EQ(listed({"detector"}, 0).size(), 3U);
  EXPECT_EQ(listed({"detect"}, 0), std::vector<std::string>{});
}

TEST(DdsParameters, ValuesAndTypesAreGivenAndUnknownOnesAreNotSet) {
  FixedTable table;
  Request request;
  request.names({"track", "nothing"});
  const auto types = parameter_answer(ParameterService::Types, request.bytes, table);
  ASSERT_TRUE(types);
  CdrReader in = opened(types);
  std::size_t count = 0;
  std::array<std::uint8_t, 2> both{};
  ASSERT_TRUE(in.count(count, 1) && count == 2 && in.numbers(both.data(), 2));
  EXPECT_EQ(both, (std::array<std::uint8_t, 2>{1, 0}));
  const auto values = parameter_answer(ParameterService::Get, request.bytes, table);
  ASSERT_TRUE(values);
  CdrReader got = opened(values);
  std::uint8_t type = 9;
  bool yes = false;
  ASSERT_TRUE(got.count(count, 1) && count == 2 && got.number(type) && got.boolean(yes));
  EXPECT_EQ(type, 1);
  EXPECT_TRUE(yes);
  EXPECT_TRUE(parameter_answer(ParameterService::Describe, request.bytes, table));
}

/// Of a component that hangs.
class SlowTable final : public ParameterTable {
 public:
  std::vector<RosParameter> all() override { return {}; }
  std::string set(const std::string&, const config::Value&) override {
    ++asked;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    return "it does not answer";
  }
  int asked = 0;
};

TEST(DdsParameters, ARequestTakesOnlySoLong) {
  SlowTable table;
  Request request;
  request.out.count(1000);
  for (int i = 0; i < 1000; ++i) request.parameter("a", 1, true);
  const auto reply = parameter_answer(ParameterService::Set, request.bytes, table, std::chrono::milliseconds(50));
  ASSERT_TRUE(reply);
  EXPECT_LE(table.asked, 3);
  EXPECT_GE(table.asked, 1);
  CdrReader in = opened(reply);
  std::size_t count = 0;
  EXPECT_TRUE(in.count(count, 4));
  EXPECT_EQ(count, 1000U) << "each of them has its answer";
}

TEST(DdsParameters, ListsGoBothWays) {
  FixedTable table;
  table.more = {{.name = "b", .value = std::vector<bool>{true, false}},
                {.name = "i", .value = std::vector<std::int64_t>{1, -2}},
                {.name = "d", .value = std::vector<double>{0.5}},
                {.name = "s", .value = std::vector<std::string>{"x", "yy"}}};
  Request get;
  get.names({"b", "i", "d", "s"});
  const auto values = parameter_answer(ParameterService::Get, get.bytes, table);
  ASSERT_TRUE(values);
  // The values that were got are set: the bytes of a value are the same in both.
  CdrReader in = opened(values);
  std::size_t count = 0;
  ASSERT_TRUE(in.count(count, 1) && count == 4);
  for (const RosParameter& sent : table.more) {
    std::uint8_t type = 0;
    bool yes = false;
    std::int64_t whole = 0;
    double number = 0;
    std::string_view text;
    ASSERT_TRUE(in.number(type) && in.boolean(yes) && in.number(whole) && in.number(number) && in.string(text));
    EXPECT_EQ(type, sent.value.index() + 2) << sent.name;
    Request set;
    set.out.count(1);
    set.out.string("track");
    set.out.number(type);
    set.out.boolean(yes);
    set.out.number(whole);
    set.out.number(number);
    set.out.string(text);
    const auto list = [&]<class T>(T) {
      std::size_t size = 0;
      ASSERT_TRUE(in.count(size, sizeof(T)));
      std::vector<T> all(size);
      ASSERT_TRUE(in.numbers(all.data(), size));
      set.out.count(size);
      set.out.numbers(all.data(), size);
    };
    list(std::uint8_t{});
    list(std::uint8_t{});
    list(std::int64_t{});
    list(double{});
    ASSERT_TRUE(in.count(count, 4));
    set.out.count(count);
    for (; count > 0; --count) {
      ASSERT_TRUE(in.string(text));
      set.out.string(text);
    }
    ASSERT_TRUE(parameter_answer(ParameterService::Set, set.bytes, table));
    EXPECT_EQ(table.taken.at("track"), sent.value);
  }
}

TEST(DdsParameters, ASetIsAnsweredWithItsReason) {
  FixedTable table;
  Request request;
  request.out.count(4);
  request.parameter("track", 1, false);
  request.parameter("detector.count", 2, false);
  request.parameter("track", 5, false);  // bytes
  request.parameter("track", 0, false);  // as `ros2 param delete`
  const auto reply = parameter_answer(ParameterService::Set, request.bytes, table);
  ASSERT_TRUE(reply);
  CdrReader in = opened(reply);
  std::size_t count = 0;
  bool done = false;
  std::string_view reason;
  ASSERT_TRUE(in.count(count, 5) && count == 4 && in.boolean(done) && in.string(reason));
  EXPECT_TRUE(done);
  EXPECT_EQ(reason, "");
  ASSERT_TRUE(in.boolean(done) && in.string(reason));
  EXPECT_FALSE(done);
  EXPECT_EQ(reason, "not this one");
  ASSERT_TRUE(in.boolean(done) && in.string(reason));
  EXPECT_FALSE(done);
  EXPECT_NE(reason.find("of this type"), reason.npos) << reason;
  ASSERT_TRUE(in.boolean(done) && in.string(reason));
  EXPECT_FALSE(done);
  EXPECT_NE(reason.find("cannot be deleted"), reason.npos) << reason;
  EXPECT_EQ(table.taken.size(), 1U);
  EXPECT_EQ(table.taken["track"], config::Value(false));
  const auto at_once = parameter_answer(ParameterService::SetAtomically, request.bytes, table);
  ASSERT_TRUE(at_once);
  CdrReader all = opened(at_once);
  ASSERT_TRUE(all.boolean(done));
  EXPECT_FALSE(done) << "half of it might be refused";
}

TEST(DdsParameters, MalformedRequestsAndOtherFormsGetNoAnswer) {
  FixedTable table;
  for (const ParameterServiceName& one : kParameterServices) {
    EXPECT_FALSE(parameter_answer(one.service, {}, table));
    // As rmw_fastrtps sends "list all": without client and number.
    std::vector<std::byte> bare;
    std::vector<std::byte> unused;
    CdrWriter out(bare, unused, nullptr);
    out.count(0);
    out.number(std::uint64_t{0});
    EXPECT_FALSE(parameter_answer(one.service, bare, table));
  }
  Request good;
  good.out.count(1);
  good.parameter("track", 1, true);
  for (std::size_t cut = 0; cut < good.bytes.size(); ++cut)
    EXPECT_FALSE(parameter_answer(ParameterService::Set, std::span(good.bytes).first(cut), table)) << cut;
  EXPECT_TRUE(table.taken.empty()) << "a request that is cut sets nothing";
  Request many;
  many.out.count(0xffffffff);
  EXPECT_FALSE(parameter_answer(ParameterService::Get, many.bytes, table));
  Request repeated;
  repeated.names(std::vector<std::string>(4096, "long"));
  table.more.push_back({.name = "long", .value = std::string(16U << 10U, 'x')});
  EXPECT_FALSE(parameter_answer(ParameterService::Get, repeated.bytes, table)) << "a reply of 64 MiB";
  EXPECT_TRUE(parameter_answer(ParameterService::Types, repeated.bytes, table));
  std::mt19937 random(1);
  for (int i = 0; i < 20000; ++i) {
    std::vector<std::byte> noise = good.bytes;
    for (int k = 0; k < 4; ++k) noise[4 + random() % (noise.size() - 4)] = static_cast<std::byte>(random());
    for (const ParameterServiceName& one : kParameterServices) (void)parameter_answer(one.service, noise, table);
  }
}

}  // namespace
}  // namespace cardan::bridge::dds
