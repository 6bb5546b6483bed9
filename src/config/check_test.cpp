// SPDX-License-Identifier: Apache-2.0
// The file against what its components declare, and against the computer.
#include "src/config/check.hpp"

#include <gtest/gtest.h>

#include <functional>

#include "src/config/street_file_test.hpp"

namespace cardan::config {
namespace {

constexpr Machine kLarge{.cpus = 8, .memory_bytes = std::uint64_t{16} << 30U, .realtime = true};
const std::string kImage = "sensor_msgs/msg/Image";
const std::string kCloud = "sensor_msgs/msg/PointCloud2";
const std::string kPeople = "cardan_msgs/msg/Detections";

/// The declarations of the file's components, with nothing wrong.
Declarations street_declarations() {
  Declarations d;
  d.endpoints = {
      {"camera", "/image", kImage, 1, true, {}},
      {"lidar", "/street/points", kCloud, 2, true, {}},
      {"detector", "/image", kImage, 1, false, {}},
      {"detector", "/people", kPeople, 3, true, {}},
      {"decision", "/street/people", kPeople, 3, false, {}},
      {"decision", "/street/points", kCloud, 2, false, {}},
      {"decision", "/street/decision", "std_msgs/msg/String", 4, true, {}},  // nobody reads it: no problem
  };
  d.parameters = {
      {"detector", "threshold", 0.25, Value(0.0), Value(std::int64_t{1}), "least confidence"},
      {"detector", "people", std::int64_t{4}, Value(std::int64_t{1}), {}, "most people"},
      {"detector", "model", "large", {}, {}, "network"},
      {"detector", "night", true, {}, {}, "more gain"},
  };
  d.callbacks = {{"decision", "tick"}};
  return d;
}

DeclaredEndpoint& endpoint(Declarations& d, const std::string& component, const std::string& topic) {
  for (DeclaredEndpoint& e : d.endpoints)
    if (e.component == component && e.topic_in_code == topic) return e;
  ADD_FAILURE() << component << topic;
  return d.endpoints.front();
}

std::vector<Problem> check_text(const std::string& text, const Declarations& declared,
                                const Machine& machine = kLarge) {
  std::vector<Problem> problems;
  const Configuration c = parse_configuration(text, "street.json", problems);
  EXPECT_TRUE(problems.empty()) << shown(problems);
  return check(c, declared, machine);
}

TEST(Check, LetsATypeWithoutCodecMoveWithinAProcess) {
  Declarations declared = street_declarations();
  declared.endpoints.push_back({"detector", "/own", "own::Frame", 0, true, {}, true});
  declared.endpoints.push_back({"decision", "/own", "own::Frame", 0, false, {}, true});
  declared.endpoints.push_back({"camera", "/unread", "own::Frame", 0, true, {}, true});
  const std::vector<Problem> problems = check_text(std::string(kStreet), declared);
  EXPECT_TRUE(problems.empty()) << shown(problems);
}

TEST(Check, FindsNothingInAGoodFile) {
  const std::vector<Problem> problems = check_text(std::string(kStreet), street_declarations());
  EXPECT_TRUE(problems.empty()) << shown(problems);
}

/// A mistake in the file, or in what the components declare, or in the computer.
struct Wrong {
  Mistake mistake;
  std::function<void(Declarations&)> declare = [](Declarations&) {};
  Machine machine = kLarge;
};

void PrintTo(const Wrong& wrong, std::ostream* out) { *out << wrong.mistake.name; }

class Checks : public testing::TestWithParam<Wrong> {};

TEST_P(Checks, TellWithLineAndRemedy) {
  const auto& [mistake, declare, machine] = GetParam();
  const std::string file = mistake.from.empty() ? std::string(kStreet) : edited(mistake.from, mistake.to);
  Declarations declared = street_declarations();
  declare(declared);
  expect_the_one(check_text(file, declared, machine), file, mistake);
}

#define CAMERA "/processes/sensors/components/camera"
#define DETECTOR "/processes/perception/components/detector"
#define DECISION "/processes/perception/components/decision"

const Wrong kTopics[] = {
    {{"types_differ", "", "", 27, DECISION,
      "topic '/street/people' is cardan_msgs/msg/Detections for component 'detector' (output '/people'), but "
      "sensor_msgs/msg/PointCloud2 for component 'decision' (input '/street/people')",
      "rename it in 'topics' of 'decision'; sensor_msgs/msg/PointCloud2 is on '/street/points'"},
     [](Declarations& d) {
       endpoint(d, "decision", "/street/people").type_name = kCloud;
       endpoint(d, "decision", "/street/people").type_hash = 2;
     }},
    {{"types_differ_at_the_rename", "", "", 21, DETECTOR "/topics/~1image",
      "but std_msgs/msg/Nothing for component 'detector'", "give one of them another topic"},
     [](Declarations& d) { endpoint(d, "detector", "/image").type_name = "std_msgs/msg/Nothing"; }},
    {{"layouts_differ", "", "", 21, DETECTOR "/topics/~1image",
      "topic '/street/image' is sensor_msgs/msg/Image for component 'camera' (output '/image') and for component "
      "'detector' "
      "(input '/image'), but their layouts differ",
      "build 'libstreet.so' and 'libstreet.so' against the same version of sensor_msgs/msg/Image"},
     [](Declarations& d) { endpoint(d, "detector", "/image").type_hash = 77; }},
    {{"two_writers_of_different_types", "", "", 21, DETECTOR "/topics/~1people",
      "topic '/street/people' is std_msgs/msg/Nothing for component 'lidar'", "give one of them"},
     [](Declarations& d) {
       d.endpoints[1] = {"lidar", "/street/people", "std_msgs/msg/Nothing", 9, true, {}};
       std::erase_if(d.endpoints, [](const auto& e) { return e.component == "decision"; });
     }},
    {{"no_writer", R"("topics": {"/image": "/street/image"}},)", R"("topics": {"/image": "/street/imaje"}},)", 21,
      DETECTOR "/topics/~1image",
      "no component of this file writes topic '/street/image', which component 'detector' (input '/image') reads",
      "did you mean '/street/imaje'?", Severity::Warning}},
    {{"no_writer_for_several", "", "", 9, CAMERA "/topics/~1image",
      "which component 'camera' (input '/image') and 1 more read", "start a program that publishes it",
      Severity::Warning},
     [](Declarations& d) { endpoint(d, "camera", "/image").output = false; }},
    {{"two_writers_of_the_file", "", "", 10, "/processes/sensors/components/lidar",
      "topic '/street/image' may have 1 writer, but it has 2: component 'camera' (output '/image'), component 'lidar' "
      "(output '/street/image')",
      "or raise 'writers' in line 37"},
     [](Declarations& d) { d.endpoints.push_back({"lidar", "/street/image", kImage, 1, true, {}}); }},
    {{"two_writers_of_the_code", "", "", 10, "/processes/sensors/components/lidar",
      "topic '/street/people' may have 1 writer, but it has 2", "the code allows '/street/people' only one writer"},
     [](Declarations& d) {
       endpoint(d, "detector", "/people").options.exclusive = true;
       d.endpoints.push_back({"lidar", "/street/people", kPeople, 3, true, {}});
     }},
    {{"private_between_processes", R"("private": false)", R"("private": true)", 37, "/topics/~1street~1image/private",
      "topic '/street/image' is private, but component 'camera' (output '/image') is in process 'sensors' and "
      "component "
      "'detector' (input '/image') in process 'perception'",
      "put both components into one process"}},
    {{"private_by_the_code", "", "", 27, DECISION, "topic '/street/points' is private, but component 'lidar'",
      "write \"private\": false for '/street/points'"},
     [](Declarations& d) { endpoint(d, "lidar", "/street/points").options.process_private = true; }},
    {{"private_without_writer", "", "", 27, DECISION, "no component of process 'perception' writes it",
      "add the component"},
     [](Declarations& d) { d.endpoints.push_back({"decision", "/own", kImage, 1, false, {.process_private = true}}); }},
    {{"no_codec_between_processes", "", "", 21, DETECTOR "/topics/~1image",
      "topic '/street/image' is own::Frame, which cannot leave its process (not a message, and without a codec): "
      "component "
      "'camera' (output '/image') is in process 'sensors' and component 'detector' (input '/image') in process "
      "'perception'",
      "put both components into one process, specialize cardan::codec<own::Frame>, or make own::Frame a message"},
     [](Declarations& d) {
       for (const char* const component : {"camera", "detector"})
         endpoint(d, component, "/image") = {component, "/image", "own::Frame", 0, std::string(component) == "camera",
                                             {},        true};
     }},
    {{"no_codec_and_no_writer", "", "", 27, DECISION,
      "no component of process 'perception' writes it for component 'decision' (input '/own')", "add the component"},
     [](Declarations& d) { d.endpoints.push_back({"decision", "/own", "own::Frame", 0, false, {}, true}); }},
    {{"depths_differ", "", "", 27, DECISION,
      "topic '/street/points' has depth 1 for component 'lidar' (output '/street/points'), but depth 8 for component "
      "'decision' (input '/street/points'): the writer's applies",
      "write 'depth' of '/street/points' in 'topics' of the file", Severity::Warning},
     [](Declarations& d) { endpoint(d, "decision", "/street/points").options.depth = 8; }},
    {{"reliability_differs", "", "", 27, DECISION,
      "has not reliable for component 'lidar' (output '/street/points'), but reliable for",
      "write 'reliable' of '/street/points'", Severity::Warning},
     [](Declarations& d) { endpoint(d, "decision", "/street/points").options.reliable = true; }},
    {{"topic_that_nobody_uses", R"("/street/people": {"depth")", R"("/street/peeple": {"depth")", 38,
      "/topics/~1street~1peeple", "no component uses topic '/street/peeple'", "did you mean '/street/people'?",
      Severity::Warning}},
    {{"topic_by_its_name_in_the_code", R"("/street/people": {"depth")", R"("/people": {"depth")", 38,
      "/topics/~1people", "no component uses topic '/people': 'detector' renames it to '/street/people'",
      "write '/street/people' here", Severity::Warning}},
    {{"way_back_after_one_message", R"({"publishing": "/street/people", "for_ms": 1000})", R"({"up": "perception"})",
      47, "/states/transitions/4/when",
      "after a silence of '/street/people' (line 45), one message is enough to lead back to 'running'",
      R"(write "publishing": "/street/people" with a 'for_ms')", Severity::Warning}},
    {{"one_condition_there_and_back", R"({"up": ["perception", "sensors"]})", R"({"down": "perception"})", 44,
      "/states/transitions/1/when",
      "the condition that leads from 'running' to 'degraded' in line 43 also leads back, so the system stays in",
      "write the opposite condition", Severity::Warning}},
    {{"no_way_out", R"({"from": "safe_stop", "when")", R"({"from": "degraded", "when")", 45, "/states/transitions/2/to",
      "no transition leads out of 'safe_stop': the system stays in it", R"(add a transition with "from": "safe_stop")",
      Severity::Warning}},
    {{"heard_topic_that_nobody_writes", R"("publishing": "/street/people")",
      R"("publishing": ["/street/people", "/street/poeple"])", 47, "/states/transitions/4/when/publishing/1",
      "no component of this file writes topic '/street/poeple', which a transition watches",
      "did you mean '/street/people'?", Severity::Warning}},
    {{"messages_larger_than_the_file_allows", R"("/street/image": {"depth": 1)",
      R"("/street/image": {"max_bytes": 100, "depth": 1)", 37, "/topics/~1street~1image/max_bytes",
      "messages of topic '/street/image' may have 100 bytes, but component 'camera' (output '/image') asks for 1000",
      "write at least 1000", Severity::Warning},
     [](Declarations& d) { endpoint(d, "camera", "/image").options.max_bytes = 1000; }},
    {{"a_topic_larger_than_the_computer", "", "", 37, "/topics/~1street~1image",
      "needs 24000 MiB (depth 1, 8388608000 bytes a message), but this computer has 16384", "lower 'depth'"},
     [](Declarations& d) {
       endpoint(d, "camera", "/image").options.max_bytes = std::size_t{8000} << 20U;
       endpoint(d, "camera", "/image").options.loans = 1;
       endpoint(d, "detector", "/image").options.max_bytes = std::size_t{8000} << 20U;
     }},
    {{"a_name_of_cardans", "", "", 27, DECISION,
      "component 'decision' (output '/cardan/log') writes topic '/cardan/log', but names below /cardan/ are Cardan's "
      "own",
      "give it another name"},
     [](Declarations& d) { d.endpoints.push_back({"decision", "/cardan/log", kPeople, 3, true, {}}); }},
    {{"a_spin_of_an_hour", R"("spin_us": 500)", R"("spin_us": 3600000000)", 38, "/topics/~1street~1people/spin_us",
      "may keep a CPU busy for 3600 s without a pause", "write microseconds", Severity::Warning}},
    {{"silence_that_nobody_breaks", R"("silent": "/street/people")",
      R"("silent": ["/street/people", "/street/poeple"])", 45, "/states/transitions/2/when/silent/1",
      "no component of this file writes topic '/street/poeple', which a transition watches",
      "did you mean '/street/people'?", Severity::Warning}},
};

const Wrong kNames[] = {
    {{"unknown_parameter", R"("threshold": 0.5)", R"("treshold": 0.5)", 20, DETECTOR "/parameters/treshold",
      "component 'detector' has no parameter 'treshold'", "did you mean 'threshold'?"}},
    {{"component_without_parameters", R"({"library": "libstreet.so", "class": "Camera", )",
      R"({"library": "libstreet.so", "class": "Camera", "parameters": {"gain": 1}, )", 9, CAMERA "/parameters/gain",
      "component 'camera' has no parameter 'gain'", "remove it"}},
    {{"text_for_double", R"("threshold": 0.5)", R"("threshold": "0.5")", 20, DETECTOR "/parameters/threshold",
      R"(parameter 'threshold' of component 'detector' is "0.5", but its type is double)",
      "write a number from 0.0 to 1"}},
    {{"double_for_int", R"("people": 8)", R"("people": 8.5)", 20, DETECTOR "/parameters/people",
      "parameter 'people' of component 'detector' is 8.5, but its type is int",
      "write a whole number of at least 1; without it, it is 4"}},
    {{"int_for_bool", R"("night": false)", R"("night": 0)", 20, DETECTOR "/parameters/night", "its type is bool",
      "true or false"}},
    {{"bool_for_string", R"("model": "small")", R"("model": true)", 20, DETECTOR "/parameters/model",
      "its type is string", R"(a text in double quotes; without it, it is "large")"}},
    {{"double_out_of_range", R"("threshold": 0.5)", R"("threshold": 1.5)", 20, DETECTOR "/parameters/threshold",
      "parameter 'threshold' of component 'detector' is 1.5, out of its range", "from 0.0 to 1"}},
    {{"int_out_of_range", R"("people": 8)", R"("people": 0)", 20, DETECTOR "/parameters/people",
      "is 0, out of its range", "of at least 1"}},
    {{"whole_number_for_double", R"("threshold": 0.5)", R"("threshold": 2)", 20, DETECTOR "/parameters/threshold",
      "is 2, out of its range", "from 0.0 to 1"}},
    {{"unknown_rename", R"("/people": "/street/people"})", R"("/people": "/street/people", "/peeple": "/x"})", 21,
      DETECTOR "/topics/~1peeple", "component 'detector' has no input, output or service '/peeple' in its code",
      "did you mean '/people'?"}},
    {{"unknown_callback", R"("callbacks": {"/image": {)", R"("callbacks": {"/imagr": {)", 25,
      DETECTOR "/callbacks/~1imagr", "component 'detector' has no callback '/imagr'", "did you mean '/image'?"}},
    {{"callback_of_an_output", R"("callbacks": {"/image": {)", R"("callbacks": {"/people": {)", 25,
      DETECTOR "/callbacks/~1people", "'/people' is an output of component 'detector'", "there is '/image'"}},
    {{"callback_by_its_name_on_the_bus", R"("callbacks": {"/image": {)", R"("callbacks": {"/street/image": {)", 25,
      DETECTOR "/callbacks/~1street~1image", "the name on the bus of an input of component 'detector'", "'/image'"}},
    {{"unknown_cycle", R"("cycle": {"callback": "/image")", R"("cycle": {"callback": "timer")", 24,
      DETECTOR "/cycle/callback", "component 'detector' has no callback 'timer'", "there is '/image'"}},
};

const Wrong kMachines[] = {
    {{"cpu_of_a_thread", R"("cpus": [1])", R"("cpus": [1, 8])", 22, DETECTOR "/thread/cpus/1",
      "component 'detector' must run on CPU 8, but this computer has 8 CPUs", "use 0 to 7"}},
    {{"cpu_of_a_group", R"("cpus": [0, 1])", R"("cpus": [64, 1])", 12, "/processes/sensors/groups/slow/cpus/0",
      "group 'slow' of process 'sensors' must run on CPU 64", "use 0 to 7"}},
    {{"cpu_of_a_callback", R"("priority": 7, )", R"("thread": {"cpus": [9]}, )", 25,
      DETECTOR "/callbacks/~1image/thread/cpus/0", "callback '/image' of component 'detector' must run on CPU 9",
      "use 0 to 7"}},
    {{"needs_cpus", R"("needs": {"cpus": 2)", R"("needs": {"cpus": 16)", 40, "/needs/cpus",
      "the system needs 16 CPUs, but this computer has 8", "lower 'cpus' of 'needs'"}},
    {{"needs_memory", R"("memory_mib": 256)", R"("memory_mib": 16385)", 40, "/needs/memory_mib",
      "the system needs 16385 MiB of memory, but this computer has 16384", "lower 'memory_mib' of 'needs'"}},
    {{"needs_rights", R"("memory_mib": 256, "realtime": false)", R"("memory_mib": 256, "realtime": true)", 40,
      "/needs/realtime", "the system needs real-time priorities", "LimitRTPRIO"},
     [](Declarations&) {},
     {.cpus = 8, .memory_bytes = kLarge.memory_bytes}},
    {{"asks_for_rights", "", "", 12, "/processes/sensors/groups/slow/policy",
      "group 'slow' of process 'sensors' asks for the policy fifo (as do 2 more)", "LimitRTPRIO", Severity::Warning},
     [](Declarations&) {},
     {.cpus = 8, .memory_bytes = kLarge.memory_bytes}},
    {{"memory_of_a_process", R"("memory_mib": 128)", R"("memory_mib": 20000)", 13, "/processes/sensors/memory_mib",
      "process 'sensors' may use 20000 MiB of memory, but this computer has 16384", "lower 'memory_mib'"}},
    {{"memory_together", R"("environment": {)", R"("memory_mib": 16300, "environment": {)", 6, "/processes",
      "the processes may use 16428 MiB of memory together", "lower a 'memory_mib'", Severity::Warning}},
    {{"deadlines_together", R"("priority": 7, "watchdog_ms": 100.5}}
        },
        "decision": {
          "library": "libstreet.so", "class": "Decision",
          "thread": {"policy": "deadline", "runtime_us": 500,)",
      R"("thread": {"policy": "deadline", "runtime_us": 950, "period_us": 1000}}}
        },
        "decision": {
          "library": "libstreet.so", "class": "Decision",
          "thread": {"policy": "deadline", "runtime_us": 10000,)",
      29, DECISION "/thread/runtime_us", "ask for 1.95 CPUs together, but the kernel grants 1.90 of 2",
      "lower a 'runtime_us'"},
     [](Declarations&) {},
     {.cpus = 2, .memory_bytes = kLarge.memory_bytes, .realtime = true}},
};

std::string name_of_wrong(const testing::TestParamInfo<Wrong>& info) { return info.param.mistake.name; }
DeclaredEnd end(const char* component, bool server, const char* name = "/map", std::uint64_t layout = 5) {
  return {component, name, server, "map_msgs/msg/Region", "map_msgs/msg/Map", layout, 6};
}

const Wrong kServices[] = {
    {{"two_servers", "", "", 10, "/processes/sensors/components/lidar",
      "service '/map' has two servers: component 'camera' (server of '/map') and component 'lidar' (server of '/map')",
      "or remove one"},
     [](Declarations& d) { d.ends = {end("camera", true), end("lidar", true)}; }},
    {{"no_server", "", "", 9, CAMERA, "no component of this file answers service '/map'", "did you mean '/mop'?",
      Severity::Warning},
     [](Declarations& d) { d.ends = {end("detector", true, "/mop"), end("camera", false)}; }},
    {{"service_types_differ", "", "", 10, "/processes/sensors/components/lidar",
      "service '/map' has a question map_msgs/msg/Region with an answer map_msgs/msg/Map for component 'camera'",
      "another service"},
     [](Declarations& d) {
       d.ends = {end("camera", true), end("lidar", false)};
       d.ends.back().answer = "map_msgs/msg/Tile";
     }},
    {{"service_layouts_differ", "", "", 10, "/processes/sensors/components/lidar", "but their layouts differ",
      "the same version of the messages"},
     [](Declarations& d) { d.ends = {end("camera", true), end("lidar", false, "/map", 77)}; }},
};

INSTANTIATE_TEST_SUITE_P(Services, Checks, testing::ValuesIn(kServices), name_of_wrong);
INSTANTIATE_TEST_SUITE_P(Topics, Checks, testing::ValuesIn(kTopics), name_of_wrong);
INSTANTIATE_TEST_SUITE_P(Names, Checks, testing::ValuesIn(kNames), name_of_wrong);
INSTANTIATE_TEST_SUITE_P(Machines, Checks, testing::ValuesIn(kMachines), name_of_wrong);

TEST(Check, TellsAllAtOnceInTheOrderOfTheText) {
  Declarations d = street_declarations();
  endpoint(d, "decision", "/street/people").type_hash = 99;
  std::string file = edited(R"("threshold": 0.5)", R"("threshold": 7.5)");
  file = edited(R"("cpus": [1])", R"("cpus": [8])", file);
  file = edited(R"("private": false)", R"("private": true)", file);
  const std::vector<Problem> problems = check_text(file, d);
  ASSERT_EQ(problems.size(), 4U) << shown(problems);
  EXPECT_EQ(problems[0].line, 20);
  EXPECT_EQ(problems[1].line, 22);
  EXPECT_EQ(problems[2].line, 27);
  EXPECT_EQ(problems[3].line, 37);
}

TEST(Check, SaysNothingOfComponentsThatCouldNotBeAsked) {
  Declarations d = street_declarations();
  for (const char* const name : {"camera", "detector"}) {
    std::erase_if(d.endpoints, [&](const auto& e) { return e.component == name; });
    std::erase_if(d.parameters, [&](const auto& p) { return p.component == name; });
    d.unknown.emplace_back(name);
  }
  const std::vector<Problem> problems = check_text(std::string(kStreet), d);
  EXPECT_TRUE(problems.empty()) << shown(problems);
}

TEST(Check, SettingsOfTheFileEndADifference) {
  Declarations d = street_declarations();
  endpoint(d, "decision", "/street/people").options.depth = 8;  // the file says 4 for both
  const std::vector<Problem> problems = check_text(std::string(kStreet), d);
  EXPECT_TRUE(problems.empty()) << shown(problems);
}

TEST(Check, AllowsAsManyWritersAsTheFileSays) {
  Declarations d = street_declarations();
  endpoint(d, "camera", "/image").options.exclusive = true;
  d.endpoints.push_back({"lidar", "/street/image", kImage, 1, true, {}});
  EXPECT_EQ(check_text(std::string(kStreet), d).size(), 1U);
  EXPECT_TRUE(check_text(edited(R"("writers": 1)", R"("writers": 2)"), d).empty());
}

TEST(Check, CallbacksMayBeTimers) {
  Declarations d = street_declarations();
  d.callbacks.push_back({"detector", "tick"});
  EXPECT_TRUE(check_text(edited(R"("callbacks": {"/image": {)", R"("callbacks": {"tick": {)"), d).empty());
}

TEST(Check, WarnsOfMemoryThatThreadsAloneNeed) {
  Declarations d = street_declarations();
  d.private_bytes["sensors"] = std::uint64_t{5} << 20U;  // it may use 128 MiB
  EXPECT_TRUE(check_text(std::string(kStreet), d).empty());
  const std::vector<Problem> problems = check_text(edited(R"("memory_mib": 128)", R"("memory_mib": 5)"), d);
  ASSERT_EQ(problems.size(), 1U) << shown(problems);
  EXPECT_EQ(problems[0].pointer, "/processes/sensors/memory_mib");
  EXPECT_NE(problems[0].cause.find("may use 5 MiB of memory, but needs about "), std::string::npos) << shown(problems);
  EXPECT_EQ(problems[0].severity, Severity::Warning);
}

TEST(Check, KnowsThisMachine) {
  const Machine machine = this_machine();
  EXPECT_GE(machine.cpus, 1);
  EXPECT_GT(machine.memory_bytes, 16U << 20U);
}

TEST(Check, ComparesLargeNumbersExactly) {
  Declarations d = street_declarations();
  d.parameters[1].max = Value(std::int64_t{9007199254740992});
  EXPECT_EQ(check_text(edited(R"("people": 8)", R"("people": 9007199254740993)"), d).size(), 1U);
  EXPECT_TRUE(check_text(edited(R"("people": 8)", R"("people": 9007199254740992)"), d).empty());
}

}  // namespace
}  // namespace cardan::config
