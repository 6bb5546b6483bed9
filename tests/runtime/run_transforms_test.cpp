// SPDX-License-Identifier: Apache-2.0
// `cardan run` and the transforms of its file.
#include <fmt/format.h>

#include <csignal>
#include <fstream>

#include "cardan/transforms.hpp"
#include "tests/runtime/host_support.hpp"

namespace cardan::test {
namespace {

using namespace std::chrono_literals;

class RunTransforms : public Hosts {
 protected:
  void SetUp() override {
    if (!kHasCommand) GTEST_SKIP() << "this build has no command";
  }
  std::string file(const std::string& x) {
    const std::string name = fmt::format("{}/{}.json", run_directory(), domain_);
    std::ofstream(name) << fmt::format(
        R"({{"domain": "{}", "transforms": [
             {{"parent": "base_link", "child": "roof", "xyz": [0.5, 0, 1.8]}},
             {{"parent": "roof", "child": "lidar", "xyz": [{}, 0, 0]}}],
             "processes": {{"p": {{"components": {{"measurer": {}}}}}}}}})",
        domain_, x, component("Measurer"));
    return name;
  }
};

TEST_F(RunTransforms, ProgramsAndComponentsKnowThoseOfTheFile) {
  const std::string name = file("0.7");
  const Outcome check = run({"check", name});
  EXPECT_EQ(check.code, 0) << check.text;
  EXPECT_TRUE(has(check.text, "1 process, 1 component, 2 transforms;")) << check.text;
  EXPECT_FALSE(has(check.text, "topic '/tf")) << "nobody has to publish it\n" << check.text;
  const Transforms before{TransformsOptions{}};
  Child child("cardan", {"run", name, "--no-view", "--reports", run_directory()});
  const auto x_of = [](const Transforms& tf) {
    const FoundTransform found = tf.lookup("base_link", "lidar");
    return found ? found->translation.x : 0;
  };
  ASSERT_TRUE(eventually([&] { return x_of(before) == 1.2; })) << before.lookup("base_link", "lidar").text();
  EXPECT_EQ(before.lookup("base_link", "lidar")->translation.z, 1.8);

  Publisher orders{kOrders};
  Subscriber said{kSaid};
  std::int64_t answer = 0;
  ASSERT_TRUE(eventually([&] {
    orders.publish({0});
    while (const auto one = said.wait(10ms)) answer = one->value;
    return answer != 0;
  }));
  EXPECT_EQ(answer, 1200);
  const Transforms late{TransformsOptions{}};
  EXPECT_EQ(x_of(late), 1.2) << late.lookup("base_link", "lidar").text();

  const Outcome applied = run({"run", "--apply", file("1.5"), "--yes"});
  EXPECT_EQ(applied.code, 0) << applied.text;
  EXPECT_TRUE(has(applied.text, "the transforms: 'lidar' is moved")) << applied.text;
  EXPECT_TRUE(eventually([&] { return x_of(before) == 2.0; }));
  ASSERT_TRUE(eventually([&] {
    orders.publish({0});
    while (const auto one = said.wait(10ms)) answer = one->value;
    return answer == 2000;
  })) << answer;
  EXPECT_TRUE(before.problems().empty()) << before.problems().front().text;
  child.signal(SIGTERM);
  const std::string log = rest(child);
  EXPECT_EQ(child.end(), 0) << log;
  EXPECT_FALSE(has(log, "'/tf")) << log;
}

TEST_F(RunTransforms, AFileThatPlacesAFrameTwiceDoesNotStart) {
  const std::string name = fmt::format("{}/{}.json", run_directory(), domain_);
  std::ofstream(name) << fmt::format(R"({{"transforms": [{{"parent": "a", "child": "b"}},
{{"parent": "c", "child": "b"}}],
"processes": {{"p": {{"components": {{"measurer": {}}}}}}}}})",
                                     component("Measurer"));
  const Outcome outcome = run({"run", name, "--no-view"});
  EXPECT_NE(outcome.code, 0);
  EXPECT_TRUE(has(outcome.text, ":2:1: error: frame 'b' has two parents, 'c' and 'a' (in line 1)")) << outcome.text;
}

}  // namespace
}  // namespace cardan::test
