// SPDX-License-Identifier: Apache-2.0
// Transforms of a configuration: how they are read, composed and checked.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <map>
#include <numbers>

#include "cardan/error.hpp"
#include "src/config/check.hpp"
#include "src/config/street_file_test.hpp"

namespace cardan::config::transforms_test {
namespace {

/// A file whose transforms begin in line 3, one in each line.
std::string file(const std::string& transforms, const std::string& more = "") {
  return "{" + more + "\n\"transforms\": [\n" + transforms + "],\n\"processes\": {\"p\": {" + kOneComponent + "}}}";
}

struct Read {
  Configuration c;
  std::vector<std::string> problems;
};

Read read(const std::string& text, const std::map<std::string, std::string>& files = {},
          std::vector<std::string> variables = {}) {
  std::vector<Problem> problems;
  Read read;
  read.c = parse_configuration(text, "car.json", problems,
                               {.variables = std::move(variables), .read = [&](const std::string& path, std::size_t) {
                                  if (!files.contains(path))
                                    throw Error(ErrorCode::InvalidArgument, "cannot read " + path, "");
                                  return files.at(path);
                                }});
  for (const Problem& problem : problems) read.problems.push_back(config::text(problem, "car.json"));
  return read;
}

/// Without a mistake.
Configuration right(const std::string& text, const std::map<std::string, std::string>& files = {},
                    std::vector<std::string> variables = {}) {
  Read all = read(text, files, std::move(variables));
  EXPECT_TRUE(all.problems.empty()) << all.problems.front();
  return std::move(all.c);
}

std::vector<std::string> children(const Configuration& c) {
  std::vector<std::string> names;
  for (const FrameTransform& t : c.transforms) names.push_back(t.parent + " → " + t.child);
  return names;
}
using Names = std::vector<std::string>;

TEST(Transforms, AreReadWithTheirDefaults) {
  const Configuration c = right(file(R"({"parent": "base_link", "child": "lidar", "xyz": [1.2, 0, 1.8]},
    {"parent": "base_link", "child": "imu"},
    {"parent": "lidar", "child": "tag", "rpy": [0, 0, 1.5707963267948966]},
    {"parent": "base_link", "child": "camera", "xyz": [0, 1, 2], "quaternion": [-0.5, 0.5, -0.5, 0.5]})"));
  ASSERT_EQ(c.transforms.size(), 4U);
  EXPECT_EQ(c.transforms[0], (FrameTransform{.parent = "base_link",
                                             .child = "lidar",
                                             .place = {.translation = {1.2, 0, 1.8}, .rotation = {}},
                                             .pointer = "/transforms/0"}));
  EXPECT_EQ(c.transforms[1].place, Transform{});
  EXPECT_NEAR(c.transforms[2].place.rotation.z, std::numbers::sqrt2 / 2, 1e-15);
  EXPECT_NEAR(c.transforms[2].place.rotation.w, std::numbers::sqrt2 / 2, 1e-15);
  EXPECT_EQ(c.transforms[3].place.rotation, (Quaternion{-0.5, 0.5, -0.5, 0.5}));
  EXPECT_TRUE(right(file("")).transforms.empty());
}

TEST(Transforms, TurnAsURDFDoes) {
  // x = roll first, then pitch, then yaw, each about the parent's axis: R = Rz(yaw) Ry(pitch) Rx(roll).
  const double roll = 0.1, pitch = -0.4, yaw = 2.5;
  const Configuration c = right(file(R"({"parent": "a", "child": "b", "rpy": [0.1, -0.4, 2.5]})"));
  const Quaternion& q = c.transforms.at(0).place.rotation;
  const double to_x = std::cos(yaw) * std::cos(pitch), to_y = std::sin(yaw) * std::cos(pitch);
  EXPECT_NEAR(1 - 2 * (q.y * q.y + q.z * q.z), to_x, 1e-12);
  EXPECT_NEAR(2 * (q.x * q.y + q.z * q.w), to_y, 1e-12);
  EXPECT_NEAR(2 * (q.x * q.z - q.y * q.w), -std::sin(pitch), 1e-12);
  EXPECT_NEAR(2 * (q.y * q.z + q.x * q.w), std::cos(pitch) * std::sin(roll), 1e-12);
}

TEST(Transforms, AQuaternionIsNormalized) {
  const auto length = [](const std::string& w) {
    const Configuration c = right(file(R"({"parent": "a", "child": "b", "quaternion": [0, 0, 0.6, )" + w + "]}"));
    const Quaternion& q = c.transforms.at(0).place.rotation;
    EXPECT_NEAR(q.z / q.w, 0.6 / std::stod(w), 1e-15);
    return std::hypot(q.z, q.w);
  };
  EXPECT_NEAR(length("0.8"), 1, 1e-15);
  EXPECT_NEAR(length("0.8011"), 1, 1e-15);
  EXPECT_NEAR(length("0.7989"), 1, 1e-15);
}

TEST(Transforms, OfIncludedFilesAreAddedAndGetNoNamespace) {
  const std::map<std::string, std::string> files{{"corner.json",
                                                  R"({"variables": {"x": 1.5, "mounted": true}, "transforms": [
        {"parent": "base_link", "child": "${namespace}_radar", "xyz": ["${x}", 0, 0]},
        {"parent": "${namespace}_radar", "child": "${namespace}_cover", "when": "mounted"}],
        "processes": {"p": {)" + kOneComponent + "}}}"}};
  const std::string car = file(R"({"parent": "base_link", "child": "imu"})", R"("include": [
      {"file": "corner.json", "namespace": "front"},
      {"file": "corner.json", "namespace": "rear", "variables": {"x": -1, "mounted": false}}],)");
  const Configuration c = right(car, files);
  EXPECT_EQ(children(c), (Names{"base_link → imu", "base_link → front_radar", "front_radar → front_cover",
                                "base_link → rear_radar"}));
  EXPECT_EQ(c.transforms[1].place.translation.x, 1.5);
  EXPECT_EQ(c.transforms[3].place.translation.x, -1);
  EXPECT_EQ(c.transforms[3].pointer, "/transforms/3");
  const Component& inside = *c.component("front.c");
  EXPECT_EQ(inside.bus_name("/tf_static"), "/tf_static") << "the whole system has one tree";
  EXPECT_EQ(inside.bus_name("/tf"), "/tf");
  EXPECT_EQ(inside.bus_name("/tf2"), "/front/tf2");
}

TEST(Transforms, OfTwoFilesThatPlaceOneFrameNameBoth) {
  const std::map<std::string, std::string> files{
      {"radar.json",
       "{\n\"transforms\": [{\"parent\": \"base_link\", \"child\": \"radar\"}],\n\"processes\": {\"q\": {" +
           kOneComponent + "}}}"}};
  const Read both = read(
      "{\"include\": [{\"file\": \"radar.json\", \"namespace\": \"front\"}],\n\"transforms\": "
      "[{\"parent\": \"roof\", \"child\": \"radar\"}]}",
      files);
  EXPECT_EQ(both.problems,
            (Names{"radar.json:2:16: error: frame 'radar' has two parents, 'base_link' and 'roof' (in line 2) — remove "
                   "one of them: a frame has one parent, and is found from all other frames over it"}));
}

TEST(Transforms, AreLeftOutByTheirConditions) {
  const std::string car = file(
      R"({"parent": "base_link", "child": "lidar", "xyz": [1, 0, 0], "when": "mount == low"},
         {"parent": "base_link", "child": "lidar", "xyz": [1, 0, 2], "when": "mount == high"},
         {"parent": "lidar", "child": "tag"})",
      R"("variables": {"mount": "low"},)");
  EXPECT_EQ(children(right(car)), (Names{"base_link → lidar", "lidar → tag"}));
  const Configuration high = right(car, {}, {"mount=high"});
  EXPECT_EQ(high.transforms.at(0).place.translation.z, 2);
}

struct Wrong {
  const char* name;
  std::string transforms;
  Mistake mistake;
};

void PrintTo(const Wrong& wrong, std::ostream* out) { *out << wrong.name; }

class WrongTransforms : public testing::TestWithParam<Wrong> {};

TEST_P(WrongTransforms, AreReportedWithPlaceAndRemedy) {
  const std::string text = file(GetParam().transforms);
  expect_the_one(problems_of(text), text, GetParam().mistake);
}

Wrong wrong(const char* name, std::string transforms, int line, const char* pointer, const char* cause,
            const char* remedy) {
  return {name, std::move(transforms), {name, "", "", line, pointer, cause, remedy}};
}

std::string line_of(const std::string& parent, const std::string& child, const std::string& more = "") {
  return R"({"parent": ")" + parent + R"(", "child": ")" + child + "\"" + more + "}";
}

std::string many(std::size_t count) {
  std::string all;
  for (std::size_t i = 0; i < count; ++i) all += (i > 0 ? ",\n" : "") + line_of("base", "f" + std::to_string(i));
  return all;
}

INSTANTIATE_TEST_SUITE_P(
    All, WrongTransforms,
    testing::Values(
        wrong("no_child", R"({"parent": "a"})", 3, "/transforms/0", "transform 1 has no 'child', which it needs",
              R"(add "child")"),
        wrong("empty_name", line_of("", "b"), 3, "/transforms/0/parent",
              R"('parent' of transform 1 is "", which is not a valid name of a frame)", "use 1 to 60 characters"),
        wrong("long_name", line_of("a", std::string(61, 'x')), 3, "/transforms/0/child",
              "which is not a valid name of a frame", "use 1 to 60 characters"),
        wrong("name_of_61_bytes", line_of("a", std::string(59, 'x') + "ä"), 3, "/transforms/0/child",
              "which is not a valid name of a frame", "use 1 to 60 characters"),
        wrong("slash_first", line_of("a", "/b"), 3, "/transforms/0/child", "which is not a valid name of a frame",
              "no '/' first"),
        wrong("own_parent", line_of("a", "b") + ",\n" + line_of("c", "c"), 4, "/transforms/1/child",
              "frame 'c' is its own parent", "write the frame in which its place is given"),
        wrong("two_parents", line_of("a", "b") + ",\n" + line_of("c", "b"), 4, "/transforms/1",
              "frame 'b' has two parents, 'c' and 'a' (in line 3)", "remove one of them: a frame has one parent"),
        wrong("two_places", line_of("a", "b") + ",\n" + line_of("a", "b", R"(, "xyz": [1, 2, 3])"), 4, "/transforms/1",
              "frame 'b' has two places in 'a' (also in line 3)", "remove one of them, or rename"),
        wrong("circle_of_two", line_of("a", "b") + ",\n" + line_of("b", "a"), 4, "/transforms/1",
              "the frames 'a' → 'b' → 'a' are parents of each other in a circle", "remove one of these transforms"),
        wrong("circle_with_a_tail",
              line_of("b", "c") + ",\n" + line_of("a", "b") + ",\n" + line_of("c", "a") + ",\n" + line_of("c", "d"), 5,
              "/transforms/2", "the frames 'a' → 'c' → 'b' → 'a' are parents", "one frame of them has no parent here"),
        wrong("too_large", line_of("a", "b", R"(, "xyz": [1e400, 0, 0])"), 3, "/transforms/0/xyz/0",
              "1e400 is too large for a number", "write a smaller one"),
        wrong("far_away", line_of("a", "b", R"(, "xyz": [1e300, 0, 0])"), 3, "/transforms/0/xyz/0",
              "element 1 in 'xyz' of transform 1 is 1e300, out of range", "from -1000000000 to 1000000000"),
        wrong("two_numbers", line_of("a", "b", R"(, "xyz": [1, 2])"), 3, "/transforms/0/xyz",
              "'xyz' of frame 'b' has 2 numbers, not 3", "write [x, y, z]"),
        wrong("no_numbers", line_of("a", "b", R"(, "rpy": [])"), 3, "/transforms/0/rpy",
              "'rpy' of frame 'b' has 0 numbers, not 3", "write [x, y, z]"),
        wrong("degrees", line_of("a", "b", R"(, "rpy": [0, 0, 90])"), 3, "/transforms/0/rpy/2",
              "element 3 in 'rpy' of transform 1 is 90, out of range", "write a number from -6.2832 to 6.2832"),
        wrong("three_of_a_quaternion", line_of("a", "b", R"(, "quaternion": [0, 0, 1])"), 3, "/transforms/0/quaternion",
              "'quaternion' of frame 'b' has 3 numbers, not 4", "write [x, y, z, w]"),
        wrong("not_length_1", line_of("a", "b", R"(, "quaternion": [0, 0, 0.7, 0.7])"), 3, "/transforms/0/quaternion",
              "'quaternion' of frame 'b' has the length 0.9899, not 1", "write the quaternion of a rotation"),
        wrong("length_0", line_of("a", "b", R"(, "quaternion": [0, 0, 0, 0])"), 3, "/transforms/0/quaternion",
              "has the length 0, not 1", "write the quaternion of a rotation"),
        wrong("turned_twice", line_of("a", "b", R"(, "rpy": [0, 0, 1], "quaternion": [0, 0, 0, 1])"), 3,
              "/transforms/0/quaternion", "frame 'b' has 'rpy' and 'quaternion'", "remove one of them"),
        wrong("a_text", line_of("a", "b", R"(, "xyz": [1, "2", 3])"), 3, "/transforms/0/xyz/1",
              R"(element 2 in 'xyz' of transform 1 is "2")", "without quotes"),
        wrong("unknown_key", line_of("a", "b", R"(, "zxy": [0, 0, 1])"), 3, "/transforms/0/zxy",
              "transform 1 has no 'zxy'", "'xyz'"),
        wrong("too_many", many(901), 903, "/transforms/900", "the file has more than 900 transforms",
              "leave some out")),
    [](const testing::TestParamInfo<Wrong>& one) { return std::string(one.param.name); });

TEST(Transforms, NineHundredAreAllowed) { EXPECT_EQ(right(file(many(900))).transforms.size(), 900U); }

TEST(Transforms, TwoCirclesAreTwoErrors) {
  const Read two = read(file(line_of("a", "b") + ",\n" + line_of("b", "a") + ",\n" + line_of("d", "c") + ",\n" +
                             line_of("c", "d") + ",\n" + line_of("a", "e")));
  ASSERT_EQ(two.problems.size(), 2U);
  EXPECT_TRUE(two.problems[0].starts_with("car.json:4:1: error: the frames 'a' → 'b' → 'a'")) << two.problems[0];
  EXPECT_TRUE(two.problems[1].starts_with("car.json:6:1: error: the frames 'd' → 'c' → 'd'")) << two.problems[1];
}

TEST(Transforms, ALongCircleIsCutInItsWords) {
  std::string all;
  for (int i = 0; i < 500; ++i)
    all += (i > 0 ? ",\n" : "") + line_of("f" + std::to_string(i), "f" + std::to_string((i + 1) % 500));
  const Read long_one = read(file(all));
  ASSERT_EQ(long_one.problems.size(), 1U);
  EXPECT_NE(long_one.problems[0].find("the frames 'f0' → 'f499' → "), std::string::npos) << long_one.problems[0];
  EXPECT_NE(long_one.problems[0].find("→ '…' are parents"), std::string::npos) << long_one.problems[0];
}

TEST(Transforms, MustBeAList) {
  for (const char* const what : {"{}", "1", "null", "\"a\""}) {
    const Read one =
        read(R"({"transforms": )" + std::string(what) + R"(, "processes": {"p": {)" + kOneComponent + "}}}");
    ASSERT_EQ(one.problems.size(), 1U) << what;
    EXPECT_NE(one.problems[0].find("write a list, […]"), std::string::npos) << one.problems[0];
  }
}

TEST(Transforms, NeedATopicThatLeavesTheProcess) {
  const std::string topics = R"("topics": {"/tf_static": {"private": true}},)";
  const Read one = read(file(line_of("a", "b"), topics));
  ASSERT_EQ(one.problems.size(), 1U);
  EXPECT_NE(one.problems[0].find("topic '/tf_static' is private, but cardan run publishes the transforms"),
            std::string::npos);
  EXPECT_TRUE(read(file("", topics)).problems.empty());
}

std::vector<std::string> checked(const std::string& text, const std::vector<DeclaredEndpoint>& endpoints) {
  const Read file = read(text);
  EXPECT_TRUE(file.problems.empty()) << file.problems.front();
  Names all;
  for (const Problem& p : check(file.c, {.endpoints = endpoints}, {.cpus = 4, .memory_bytes = std::uint64_t{1} << 34U}))
    all.push_back(config::text(p, "car.json"));
  return all;
}

DeclaredEndpoint endpoint(const std::string& topic, bool output) {
  return {.component = "c",
          .topic_in_code = topic,
          .type_name = "tf2_msgs/msg/TFMessage",
          .type_hash = 1,
          .output = output,
          .options = {.max_bytes = 1000, .depth = 4},
          .rests_on = output};
}

TEST(Transforms, NobodyHasToPublishThemForAReader) {
  const std::vector<DeclaredEndpoint> readers{endpoint("/tf", false), endpoint("/tf_static", false)};
  EXPECT_EQ(checked(file(""), readers), Names{});
  EXPECT_EQ(checked(file(line_of("a", "b")), readers), Names{});
  EXPECT_EQ(checked(file(""), {endpoint("/tf2", false)}).size(), 1U) << "other topics are reported";
}

TEST(Transforms, ArePublishedByCardanRunAsTheChecksKnow) {
  const std::string one_writer = R"("topics": {"/tf_static": {"writers": 1}},)";
  EXPECT_EQ(checked(file("", one_writer), {endpoint("/tf_static", true)}), Names{});
  const Names two = checked(file(line_of("a", "b"), one_writer), {endpoint("/tf_static", true)});
  ASSERT_EQ(two.size(), 1U);
  EXPECT_NE(two[0].find("topic '/tf_static' may have 1 writer, but it has 2: cardan run ('transforms' of the file), "
                        "component 'c' (output '/tf_static')"),
            std::string::npos)
      << two[0];
  EXPECT_EQ(checked(file(line_of("a", "b"), one_writer), {endpoint("/tf_static", false)}), Names{});

  const std::string watched =
      R"("states": {"transitions": [{"when": {"silent": "/tf_static", "for_ms": 10}, "to": "stopped"}]},
         "topics": {"/tf_static": {"depth": 8}},)";
  EXPECT_EQ(checked(file("", watched), {}).size(), 2U) << "nobody uses it, and nobody publishes it";
  EXPECT_EQ(checked(file(line_of("a", "b"), watched), {}), Names{});
}

}  // namespace
}  // namespace cardan::config::transforms_test
