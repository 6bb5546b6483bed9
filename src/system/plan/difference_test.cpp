// SPDX-License-Identifier: Apache-2.0
#include "src/system/plan/difference.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "cardan/error.hpp"
#include "src/system/plan/plan_parts.hpp"

namespace cardan::plan {
namespace {

config::Component component(const char* name) {
  return {.name = name, .library = "libnowhere.so", .class_name = "C", .parameters = {{"gain", 0.5}}};
}

Plan plan() {
  Plan plan;
  plan.folder = "/somewhere";
  plan.configuration.name = "s";
  plan.configuration.source.file_name = "s.json";
  plan.configuration.processes = {{.name = "a", .components = {component("x"), component("y")}},
                                  {.name = "b", .components = {component("z")}},
                                  {.name = "c", .bridge = config::Bridge{.kind = "dds", .file = "rules.json"}}};
  plan.declared = {{"x", {.topics = {"/t"}}}, {"y", {}}, {"z", {.topics = {"/u"}, .fixed = {"size"}}}};
  return plan;
}

Difference after(const std::function<void(Plan&)>& change) {
  Plan next = plan();
  change(next);
  const Difference found = difference(plan(), next);
  EXPECT_EQ(difference_from_json(to_json(found)), found);
  return found;
}

config::Process& process(Plan& p, std::size_t i) { return p.configuration.processes.at(i); }

TEST(Differences, ThereAreNoneInWhereThingsStand) {
  EXPECT_TRUE(after([](Plan&) {}).empty());
  EXPECT_TRUE(after([](Plan& p) {
                process(p, 0).pointer = process(p, 0).components[0].pointer = "/elsewhere";
                p.configuration.source.file_name = "/somewhere/./s.json";
                process(p, 2).bridge->file = "/somewhere/rules.json";
                p.configuration.source.keys["/x"] = {};
              }).empty());
}

TEST(Differences, NewAndRemovedProcesses) {
  const Difference d = after([](Plan& p) {
    process(p, 1).name = "d";
    process(p, 1).components[0].name = "w";
  });
  EXPECT_EQ(d.stop, std::vector<std::string>{"b"});
  EXPECT_EQ(d.start, std::vector<std::string>{"d"});
  EXPECT_TRUE(d.restart.empty() && d.set.empty() && d.others.empty());
}

TEST(Differences, ChangesThatRestartTheirProcess) {
  const auto why = [](const std::function<void(Plan&)>& change) {
    const Difference d = after(change);
    EXPECT_TRUE(d.start.empty() && d.stop.empty() && d.set.empty());
    EXPECT_EQ(d.restart.size(), 1U);
    return d.restart.empty() ? std::vector<std::string>() : d.restart[0].why;
  };
  using Words = std::vector<std::string>;
  EXPECT_EQ(why([](Plan& p) { process(p, 0).environment["A"] = "1"; }), Words{"environment"});
  EXPECT_EQ(why([](Plan& p) { process(p, 0).components[0].class_name = "D"; }), Words{"'class' of component 'x'"});
  EXPECT_EQ(why([](Plan& p) { process(p, 0).components.pop_back(); }), Words{"component 'y' is removed"});
  EXPECT_EQ(why([](Plan& p) { process(p, 1).components.push_back(component("v")); }), Words{"component 'v' is new"});
  EXPECT_EQ(why([](Plan& p) { std::swap(process(p, 0).components[0], process(p, 0).components[1]); }),
            Words{"the order of its components"});
  EXPECT_EQ(why([](Plan& p) { process(p, 0).components[0].parameters.clear(); }),
            Words{"parameter x/gain is left to the code"});
  EXPECT_EQ(why([](Plan& p) { process(p, 2).bridge->file = "others.json"; }), Words{"bridge"});
  EXPECT_EQ(why([](Plan& p) { process(p, 2).record = config::Record{.output = "o"}; }), Words{"record"});
  EXPECT_EQ(why([](Plan& p) { process(p, 2).command = {"./gui"}; }), Words{"command"});
  EXPECT_EQ(why([](Plan& p) {
              process(p, 0).memory_bytes = 1;
              process(p, 0).components[1].parameters["gain"] = 0.75;
            }),
            (Words{"memory", "parameter y/gain is 0.75"}));
  EXPECT_EQ(why([](Plan& p) { process(p, 1).components[0].parameters["size"] = std::int64_t{3}; }),
            Words{"parameter z/size is 3"})
      << "only a start sets it";
}

TEST(Differences, AParameterAloneIsSet) {
  const Difference d = after([](Plan& p) {
    process(p, 0).components[0].parameters["gain"] = 0.75;
    process(p, 1).components[0].parameters["new"] = std::string("t");
  });
  EXPECT_TRUE(d.restart.empty());
  ASSERT_EQ(d.set.size(), 2U);
  Difference::Set gain{.process = "a", .component = "x", .parameter = "gain"};
  gain.before.emplace(0.5);
  gain.after = 0.75;
  EXPECT_EQ(d.set[0], gain);
  Difference::Set other{.process = "b", .component = "z", .parameter = "new"};
  other.after = std::string("t");
  EXPECT_EQ(d.set[1], other);
}

TEST(Differences, ATopicsOptionsConcernThoseThatUseIt) {
  Difference d = after([](Plan& p) { p.configuration.topics["/t"].depth = 3; });
  ASSERT_EQ(d.restart.size(), 1U);
  EXPECT_EQ(d.restart[0], (Difference::Changed{"a", {"depth of topic /t"}}));
  d = after([](Plan& p) {
    p.configuration.topics["/other"].depth = 3;
    p.declared.clear();
  });
  EXPECT_TRUE(d.empty()) << "what runs was asked";
  Plan unknown = plan();
  unknown.declared.clear();
  Plan next = unknown;
  next.configuration.topics["/other"].depth = 3;
  d = difference(unknown, next);
  ASSERT_EQ(d.restart.size(), 2U) << "a component that was not asked may use it; a bridge does not";
  EXPECT_EQ(d.restart[1].process, "b");
}

TEST(Differences, ChainsConcernTheirEndsAndAnotherBeginningAllComponents) {
  using Names = std::vector<std::string>;
  Plan before = plan();
  before.configuration.chains = {{.name = "brake", .from = "/t", .to = "/u", .budget = std::chrono::milliseconds{60}}};
  const auto restarted = [&](const std::function<void(std::vector<config::Chain>&)>& change, const Names& others = {}) {
    Plan next = before;
    change(next.configuration.chains);
    const Difference d = difference(before, next);
    EXPECT_EQ(d.others, others);
    Names all;
    for (const Difference::Changed& one : d.restart) {
      all.push_back(one.process);
      EXPECT_EQ(one.why, Names{"the chains"});
    }
    return all;
  };
  using Chains = std::vector<config::Chain>;
  EXPECT_EQ(restarted([](Chains& c) { c[0].pointer = "/elsewhere"; }), Names{});
  EXPECT_EQ(restarted([](Chains& c) { c[0].budget *= 2; }), Names{"b"}) << "only z uses /u";
  EXPECT_EQ(restarted([](Chains& c) { c[0].to = "/t"; }), (Names{"a", "b"})) << "the old end and the new one";
  EXPECT_EQ(restarted([](Chains& c) { c[0].from = "/other"; }), (Names{"a", "b"})) << "not the bridge";
  EXPECT_EQ(restarted([](Chains& c) { c.clear(); }), (Names{"a", "b"}));
  EXPECT_EQ(restarted([](Chains& c) { c.push_back({.name = "new", .from = "/t", .to = "/w"}); }, {"the chains"}),
            Names{})
      << "nobody uses its end";
}

TEST(Differences, ChangesThatRestartNoProcess) {
  const Difference d = after([](Plan& p) {
    p.configuration.transitions.emplace_back();
    p.configuration.needs.cpus = 1;
  });
  EXPECT_EQ(d.others, (std::vector<std::string>{"the transitions between states", "'needs'"}));
  EXPECT_TRUE(d.restart.empty());
}

TEST(Differences, ChangedTransformsRestartNothing) {
  const auto placed = [](const std::string& child, double x = 0) {
    return config::FrameTransform{
        .parent = "base", .child = child, .place = {.translation = {x, 0, 0}, .rotation = {}}, .pointer = "/x"};
  };
  const auto told = [](std::vector<config::FrameTransform> from, std::vector<config::FrameTransform> to) {
    Plan now = plan(), next = plan();
    now.configuration.transforms = std::move(from);
    next.configuration.transforms = std::move(to);
    const Difference d = difference(now, next);
    EXPECT_TRUE(d.restart.empty() && d.start.empty() && d.stop.empty());
    return d.others;
  };
  using Words = std::vector<std::string>;
  EXPECT_EQ(told({placed("a")}, {placed("a")}), Words{});
  EXPECT_EQ(told({placed("a"), placed("b")}, {placed("a", 1), placed("c")}),
            Words{"the transforms: 'a' is moved, 'c' is new, 'b' is removed"});
  EXPECT_EQ(told({placed("a"), placed("b")}, {placed("b"), placed("a")}), Words{"the order of the transforms"});
  EXPECT_EQ(told({}, {placed("a"), placed("b"), placed("c"), placed("d"), placed("e"), placed("f"), placed("g")}),
            Words{"the transforms: 'a' is new, 'b' is new, 'c' is new, 'd' is new, 'e' is new, 2 more"});
  config::FrameTransform elsewhere = placed("a");
  elsewhere.pointer = "/transforms/7";
  EXPECT_EQ(told({placed("a")}, {elsewhere}), Words{});
}

TEST(Differences, ChangesThatNeedANewRun) {
  EXPECT_THROW((void)after([](Plan& p) { p.configuration.name = "t"; }), Error);
  EXPECT_THROW((void)after([](Plan& p) { p.configuration.domain = "d"; }), Error);
  EXPECT_THROW((void)after([](Plan& p) { p.configuration.realtime = true; }), Error);
}

TEST(Differences, NamesThatCannotBeAreRefused) {
  const auto refused = [](const std::function<void(Plan&)>& change) {
    Plan p = plan();
    change(p);
    EXPECT_THROW(refuse_unsound(p), Error);
  };
  EXPECT_NO_THROW(refuse_unsound(plan()));
  refused([](Plan& p) { p.configuration.name = "../s"; });
  refused([](Plan& p) { p.configuration.domain = "a/b"; });
  refused([](Plan& p) { p.configuration.processes.clear(); });
  refused([](Plan& p) { process(p, 0).name = "../a"; });
  refused([](Plan& p) { process(p, 0).name = "b"; });
  refused([](Plan& p) { process(p, 0).environment["A=B"] = "1"; });
  refused([](Plan& p) { process(p, 2).bridge->kind = "--help"; });
  refused([](Plan& p) { process(p, 2).record = config::Record{.output = "o", .compression = "--help"}; });
  refused([](Plan& p) { process(p, 2).command = {std::string("a\0b", 3)}; });
  refused([](Plan& p) { process(p, 0).components[0].name = "z"; });
  refused([](Plan& p) { process(p, 0).components[0].name = ""; });
  refused([](Plan& p) { p.configuration.chains = {{.name = "../c", .from = "/a", .to = "/b"}}; });
  refused([](Plan& p) { p.configuration.chains = {{.name = "c", .from = "a", .to = "/b"}}; });
  refused([](Plan& p) { p.configuration.chains.assign(2, {.name = "c", .from = "/a", .to = "/b"}); });
  refused([](Plan& p) {
    for (std::size_t i = 0; i <= config::kMaxChainBeginnings; ++i)
      p.configuration.chains.push_back({.name = std::to_string(i), .from = "/" + std::to_string(i), .to = "/b"});
  });
  refused([](Plan& p) { process(p, 0).components[0].parameters["gain"] = std::nan(""); });
  const config::FrameTransform right{.parent = "a", .child = "b"};
  Plan good = plan();
  good.configuration.transforms = {right};
  EXPECT_NO_THROW(refuse_unsound(good));
  const auto refused_transform = [&](const std::function<void(config::FrameTransform&)>& change) {
    refused([&](Plan& p) { change(p.configuration.transforms.emplace_back(right)); });
  };
  refused_transform([](config::FrameTransform& t) { t.parent = ""; });
  refused_transform([](config::FrameTransform& t) { t.child = std::string(61, 'x'); });
  refused_transform([](config::FrameTransform& t) { t.child = "a"; });
  refused_transform([](config::FrameTransform& t) { t.place.translation.y = std::nan(""); });
  refused_transform([](config::FrameTransform& t) { t.place.rotation.w = 2; });
  refused([&](Plan& p) { p.configuration.transforms.assign(config::kMaxTransforms + 1, right); });
}

TEST(Parts, ArriveInOrderOrNotAtAll) {
  std::string bytes(20000, '\0');
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<char>(i * 7);
  const std::vector<std::string> parts = parts_of(bytes);
  ASSERT_EQ(parts.size(), 4U);
  PartsOfAPlan whole;
  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(whole.add(9, i, 4, parts[i]), i == 3);
  EXPECT_EQ(whole.take(), bytes);
  EXPECT_EQ(whole.take(), "");

  EXPECT_THROW((void)whole.add(9, 1, 4, parts[1]), Error) << "the first is missing";
  EXPECT_FALSE(whole.add(9, 0, 4, parts[0]));
  EXPECT_THROW((void)whole.add(9, 2, 4, parts[2]), Error);
  EXPECT_THROW((void)whole.add(9, 1, 4, parts[1]), Error) << "the parts before are forgotten";
  EXPECT_FALSE(whole.add(9, 0, 4, parts[0]));
  EXPECT_FALSE(whole.add(8, 0, 4, parts[0])) << "another offer";
  EXPECT_THROW((void)whole.add(9, 1, 4, parts[1]), Error);
  for (const char* const digits : {"0", "0g", "0G", "  "})
    EXPECT_THROW((void)whole.add(9, 0, 1, digits), Error) << digits;
  EXPECT_THROW((void)whole.add(9, 0, 0, ""), Error);
  EXPECT_THROW((void)parts_of(std::string(kMaxOfferedBytes + 1, ' ')), Error);
}

TEST(Parts, AreBounded) {
  PartsOfAPlan whole;
  const std::string much(std::size_t{2} << 20U, '0');  // digits
  std::uint64_t part = 0;
  for (; part < kMaxOfferedBytes / (much.size() / 2); ++part) EXPECT_FALSE(whole.add(1, part, 1000, much));
  EXPECT_THROW((void)whole.add(1, part, 1000, "00"), Error);
  EXPECT_EQ(whole.take(), "");
}

}  // namespace
}  // namespace cardan::plan
