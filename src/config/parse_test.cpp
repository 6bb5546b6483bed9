// SPDX-License-Identifier: Apache-2.0
// The meaning of a valid file, and every mistake of keys, types and values.
#include <gtest/gtest.h>

#include "src/config/python_component.hpp"
#include "src/config/street_file_test.hpp"

namespace cardan::config {
namespace {

using namespace std::chrono_literals;
using std::chrono::nanoseconds;

Configuration parsed(std::string_view text, const std::string& file_name = "street.json") {
  std::vector<Problem> problems;
  Configuration configuration = parse_configuration(text, file_name, problems);
  EXPECT_TRUE(problems.empty()) << shown(problems);
  return configuration;
}

TEST(Parse, ReadsProcessesAndComponents) {
  const Configuration c = parsed(kStreet);
  EXPECT_EQ(c.name, "street");
  EXPECT_EQ(c.domain, "default");
  EXPECT_FALSE(c.realtime);
  ASSERT_EQ(c.processes.size(), 2U);
  EXPECT_EQ(c.processes[0].name, "sensors");  // the order of the file, not of the alphabet
  EXPECT_EQ(c.processes[0].memory_bytes, 128U << 20U);
  EXPECT_EQ(c.processes[0].restart, Restart{});
  EXPECT_EQ(c.processes[1].environment.at("OMP_NUM_THREADS"), "1");
  EXPECT_EQ(c.processes[1].restart, (Restart{RestartWhen::Always, 3, 30s, 10ms, 1s}));

  const Component* const lidar = c.component("lidar");
  ASSERT_NE(lidar, nullptr);
  EXPECT_EQ(lidar->library, "libstreet.so");
  EXPECT_EQ(lidar->class_name, "Lidar");
  EXPECT_EQ(lidar->group, "slow");
  EXPECT_EQ(lidar->priority, 3);
  EXPECT_FALSE(lidar->thread);
  EXPECT_EQ(c.component("camera")->group, "main");
  EXPECT_EQ(c.component("camera")->bus_name("/image"), "/street/image");
  EXPECT_EQ(c.component("camera")->bus_name("/other"), "/other");
  EXPECT_EQ(c.process_of("lidar"), c.process("sensors"));
  EXPECT_EQ(c.process_of("nobody"), nullptr);
  EXPECT_EQ(c.component("nobody"), nullptr);
}

TEST(Parse, ReadsWhatAComponentHas) {
  const Configuration c = parsed(kStreet);
  const Component& d = *c.component("detector");
  EXPECT_EQ(d.pointer, "/processes/perception/components/detector");
  EXPECT_EQ(d.parameters.at("threshold"), Value(0.5));
  EXPECT_EQ(d.parameters.at("people"), Value(std::int64_t{8}));
  EXPECT_EQ(d.parameters.at("model"), Value("small"));
  EXPECT_EQ(d.parameters.at("night"), Value(false));
  EXPECT_EQ(d.thread, (Thread{.cpus = {1}, .policy = Policy::Fifo, .priority = 50}));
  EXPECT_EQ(d.watchdog, 500ms);
  EXPECT_EQ(d.on_exception, OnException::Restart);
  EXPECT_EQ(d.cycle, (Cycle{"/image", 2.5}));
  EXPECT_FALSE(c.component("decision")->cycle);
  ASSERT_NE(d.callback("/image"), nullptr);
  EXPECT_EQ(d.callback("/image")->priority, 7);
  EXPECT_EQ(d.callback("/image")->watchdog, nanoseconds{100'500'000});
  EXPECT_FALSE(d.callback("/image")->thread);
  EXPECT_EQ(d.callback("/people"), nullptr);
  EXPECT_EQ(c.component("decision")->thread, (Thread{.policy = Policy::Deadline, .runtime = 500us, .period = 10ms}));
}

TEST(Parse, ReadsListsOfParameters) {
  const Configuration c =
      parsed(edited(R"("people": 8)",
                    R"("people": 8, "b": [true, false], "i": [1, -2], "d": [1, 0.5], "s": ["x", "x"], "none": [])"));
  const auto& p = c.component("detector")->parameters;
  EXPECT_EQ(p.at("b"), Value(std::vector<bool>{true, false}));
  EXPECT_EQ(p.at("i"), Value(std::vector<std::int64_t>{1, -2}));
  EXPECT_EQ(p.at("d"), Value(std::vector<double>{1.0, 0.5}));
  EXPECT_EQ(p.at("s"), Value(std::vector<std::string>{"x", "x"}));
  EXPECT_TRUE(is_empty_list(p.at("none")));
  EXPECT_EQ(as_type_of(p.at("s"), p.at("none")), Value(std::vector<std::string>{}));
  EXPECT_EQ(text(p.at("d")), "[1.0, 0.5]");
  EXPECT_EQ(text(p.at("s")), "[\"x\", \"x\"]");
  EXPECT_EQ(type_of(p.at("b")), "bool[]");
}

TEST(Parse, ReadsRecordersAndProgramsNextToTheFile) {
  std::vector<Problem> problems;
  const Configuration c = parse_configuration(R"({"processes": {
    "all": {"record": {"output": "/var/recordings"}},
    "events": {"record": {"topics": ["/camera/*", "/imu"], "exclude": "*/debug", "output": "events/", "compression": "zstd", "causes": false, "last_s": 60, "after_s": 2.5,
                          "on": {"state": "safe_stop", "silent": ["/imu"], "for_ms": 500, "message": "/alarm"}}},
    "gui": {"command": ["./gui", "-v", "-v"], "environment": {"DISPLAY": ":0"}},
    "here": {"command": ["bin/x"]},
    "named": {"command": ["python3", "gui.py"]},
    "absolute": {"command": ["/usr/bin/env"]}}})",
                                              "system/x.json", problems);
  EXPECT_TRUE(problems.empty()) << shown(problems);
  ASSERT_EQ(c.processes.size(), 6U);
  EXPECT_EQ(c.processes[0].record, (Record{.output = "/var/recordings", .pointer = "/processes/all/record"}));
  const Record& events = c.processes[1].record.value();
  EXPECT_EQ(events.topics, (std::vector<std::string>{"/camera/*", "/imu"}));
  EXPECT_EQ(events.exclude, std::vector<std::string>{"*/debug"});
  EXPECT_EQ(events.output, "system/events/");
  EXPECT_EQ(events.compression, "zstd");
  EXPECT_FALSE(events.causes);
  EXPECT_EQ(events.last, std::chrono::seconds(60));
  EXPECT_EQ(events.after, std::chrono::milliseconds(2500));
  ASSERT_TRUE(events.on);
  EXPECT_EQ(events.on->states, std::vector<State>{State::SafeStop});
  EXPECT_EQ(events.on->silent, std::vector<std::string>{"/imu"});
  EXPECT_EQ(events.on->lasting, std::chrono::milliseconds(500));
  EXPECT_EQ(events.on->messages, std::vector<std::string>{"/alarm"});
  EXPECT_EQ(c.processes[2].command, (std::vector<std::string>{"system/./gui", "-v", "-v"}));
  EXPECT_FALSE(c.processes[2].has_host());
  EXPECT_EQ(c.processes[3].command, std::vector<std::string>{"system/bin/x"});
  EXPECT_EQ(c.processes[4].command, (std::vector<std::string>{"python3", "gui.py"}));
  EXPECT_EQ(c.processes[5].command, std::vector<std::string>{"/usr/bin/env"});
}

TEST(Parse, ReadsBridgesWhoseRulesAreNextToTheFile) {
  std::vector<Problem> problems;
  const Configuration c = parse_configuration(R"({"variables": {"kind": "foxglove"}, "processes": {
    "ros": {"bridge": {"kind": "dds", "file": "rules/ros.json"}, "restart": {"when": "always"}},
    "browser": {"bridge": {"kind": "${kind}", "file": "/etc/view.json"}},
    "bare": {"bridge": {"kind": "dds"}}}})",
                                              "system/car.json", problems);
  EXPECT_TRUE(problems.empty()) << shown(problems);
  ASSERT_EQ(c.processes.size(), 3U);
  EXPECT_EQ(c.processes[0].bridge, (Bridge{"dds", "system/rules/ros.json", "/processes/ros/bridge"}));
  EXPECT_EQ(c.processes[0].restart.when, RestartWhen::Always);
  EXPECT_EQ(c.processes[1].bridge, (Bridge{"foxglove", "/etc/view.json", "/processes/browser/bridge"}));
  EXPECT_EQ(c.processes[2].bridge->file, "");
}

TEST(Parse, ReadsNice) {
  const Configuration c = parsed(edited(R"("policy": "fifo", "priority": 10)", R"("nice": 10)"));
  EXPECT_EQ(c.process("sensors")->group("slow")->nice, 10);
  const Configuration d = parsed(edited(R"("priority": 50)", R"("priority": 50, "nice": -5)"));
  EXPECT_EQ(d.component("detector")->thread, (Thread{.cpus = {1}, .policy = Policy::Fifo, .priority = 50, .nice = -5}));
  EXPECT_FALSE(parsed(kStreet).process("sensors")->group("slow")->nice);
}

TEST(Parse, ReadsGroupsTopicsNeedsAndStates) {
  const Configuration c = parsed(kStreet);
  const Group* const slow = c.process("sensors")->group("slow");
  ASSERT_NE(slow, nullptr);
  EXPECT_EQ(slow->workers, 2);
  EXPECT_EQ(slow->cpus, (std::vector{0, 1}));
  EXPECT_EQ(slow->affinity, Affinity::OneToOne);
  EXPECT_EQ(slow->policy, Policy::Fifo);
  EXPECT_EQ(slow->priority, 10);
  EXPECT_FALSE(slow->spin);
  EXPECT_EQ(c.process("sensors")->group("main"), nullptr);

  const TopicSettings& image = c.topics.at("/street/image");
  EXPECT_EQ(image.depth, 1U);
  EXPECT_EQ(image.reliable, false);
  EXPECT_EQ(image.deadline, nanoseconds{33'300'000});
  EXPECT_EQ(image.process_private, false);
  EXPECT_EQ(image.writers, 1);
  EXPECT_FALSE(image.max_bytes);
  EXPECT_FALSE(image.waiting);
  EXPECT_EQ(c.needs, (Needs{.cpus = 2, .memory_bytes = 256U << 20U}));

  ASSERT_EQ(c.transitions.size(), 5U);
  EXPECT_EQ(c.transitions[0].when, (Condition{Condition::Kind::Down, {"perception"}, 300ms}));
  EXPECT_EQ(c.transitions[1].when, (Condition{Condition::Kind::Up, {"perception", "sensors"}, 0ms}));
  EXPECT_EQ(c.transitions[2].from, (std::vector{State::Starting, State::Running, State::Degraded}));
  EXPECT_EQ(c.transitions[3].from, (std::vector{State::Running, State::Degraded}));
  EXPECT_EQ(c.transitions[3].to, State::SafeStop);
}

TEST(Parse, AppliesTopicsToTheCodesOptions) {
  const Configuration c = parsed(kStreet);
  const TopicOptions code{.max_bytes = 100, .depth = 9, .reliable = true, .deadline = 1s};
  const TopicOptions image = c.options_of("/street/image", code);
  EXPECT_EQ(image.depth, 1U);
  EXPECT_FALSE(image.reliable);
  EXPECT_EQ(image.deadline, nanoseconds{33'300'000});
  EXPECT_EQ(image.max_bytes, 100U);
  EXPECT_TRUE(image.exclusive);
  EXPECT_EQ(c.options_of("/other", code).depth, 9U);
  const TopicOptions people = c.options_of("/street/people", code);
  EXPECT_EQ(people.waiting.kind, Waiting::Kind::Prewake);
  EXPECT_EQ(people.waiting.limit, 500us);
  EXPECT_TRUE(people.reliable);
  EXPECT_EQ(apply({.waiting = Waiting::Kind::Anticipate}, {}).waiting.limit, anticipate().limit);
  EXPECT_EQ(apply({.waiting = Waiting::Kind::Block}, {.waiting = prewake()}).waiting.kind, Waiting::Kind::Block);
  EXPECT_FALSE(apply({.writers = 2}, {.exclusive = true}).exclusive);
}

TEST(Parse, KnowsPlaces) {
  const Configuration c = parsed(kStreet);
  const std::string thread = "/processes/perception/components/detector/thread";
  EXPECT_EQ(c.source.key(thread), (Place{22, 11}));
  EXPECT_EQ(c.source.value(thread), (Place{22, 11}));  // of an object: its key
  EXPECT_EQ(c.source.value(thread + "/priority"), (Place{22, 65}));
  EXPECT_EQ(c.source.value(thread + "/cpus/0"), (Place{22, 31}));
  EXPECT_EQ(c.source.value(thread + "/nothing/here"), (Place{22, 11}));
  EXPECT_EQ(c.source.key("/topics/~1street~1image/depth").line, 37);
  EXPECT_EQ(c.source.value("/nothing"), (Place{1, 1}));
  const Problem p = problem_at(c, "/processes/sensors/components/camera/library", Severity::Error, "a", "b");
  EXPECT_EQ(text(p, "street.json"), "street.json:9:31: error: a — b");
}

TEST(Parse, CountsCharactersAsEditorsDo) {
  const Configuration c = parsed(R"({"processes": {"a": {"environment": {"X": "größer"}, "memory_mib": 1, "components":
    {"b": {"library": "l", "class": "c"}}}}})");
  EXPECT_EQ(c.source.key("/processes/a/memory_mib"), (Place{1, 54}));
}

TEST(Parse, TakesTheNameFromTheFile) {
  constexpr std::string_view kLeast = R"({"processes": {"a": {"components": {"b": {"library": "l", "class": "c"}}}}})";
  EXPECT_EQ(parsed(kLeast, "config/my street.v2.json").name, "my_street.v2");
  EXPECT_EQ(parsed(kLeast, "").name, "system");
  EXPECT_EQ(parsed(kLeast, "config/.json").domain, "default");
}

TEST(Parse, CountsWorkers) {
  EXPECT_EQ(Group{}.worker_count(), 1);
  EXPECT_EQ((Group{.workers = 3, .cpus = {0, 1}}.worker_count()), 3);
  EXPECT_EQ((Group{.cpus = {0, 1}}.worker_count()), 1);
  EXPECT_EQ((Group{.cpus = {0, 1}, .affinity = Affinity::OneToOne}.worker_count()), 2);
}

TEST(Parse, WritesValuesAsJson) {
  EXPECT_EQ(text(Value(true)), "true");
  EXPECT_EQ(text(Value(std::int64_t{-3})), "-3");
  EXPECT_EQ(text(Value(0.1)), "0.1");
  EXPECT_EQ(text(Value(2.0)), "2.0");
  EXPECT_EQ(text(Value("a \"b\"\n")), R"("a \"b\"\n")");
  EXPECT_EQ(type_of(Value("")), "string");
  EXPECT_EQ(name_of(State::SafeStop), "safe_stop");
  EXPECT_EQ(name_of(Policy::RoundRobin), "rr");
}

class Mistakes : public testing::TestWithParam<Mistake> {};

TEST_P(Mistakes, IsToldWithLineAndRemedy) {
  const std::string file = edited(GetParam().from, GetParam().to);
  expect_the_one(problems_of(file), file, GetParam());
}

const Mistake kShapes[] = {
    {"unknown_key", R"("domain": )", R"("domian": )", 4, "/domian", "has no 'domian'", "did you mean 'domain'?"},
    {"unknown_key_of_process", R"("memory_mib": 128)", R"("memory": 128)", 13, "/processes/sensors/memory",
     "process 'sensors' has no 'memory'", "did you mean 'memory_mib'?"},
    {"unknown_key_of_component", R"("watchdog_ms": 500)", R"("watchdog": 500)", 23,
     "/processes/perception/components/detector/watchdog", "component 'detector' has no 'watchdog'", "'watchdog_ms'"},
    {"unknown_key_far_from_all", R"("memory_mib": 128)", R"("zzz": 128)", 13, "/processes/sensors/zzz", "has no 'zzz'",
     "there are 'components', 'bridge', 'record', 'command'"},
    {"unknown_key_of_thread", R"("cpus": [1])", R"("cpu": [1])", 22,
     "/processes/perception/components/detector/thread/cpu", "has no 'cpu'", "did you mean 'cpus'?"},
    {"unknown_key_of_callback", R"({"priority": 7, )", R"({"prio": 7, )", 25,
     "/processes/perception/components/detector/callbacks/~1image/prio", "callback '/image' has no 'prio'",
     "'priority'"},
    {"unknown_key_of_group", R"("workers": 2)", R"("worker": 2)", 12, "/processes/sensors/groups/slow/worker",
     "group 'slow' has no 'worker'", "did you mean 'workers'?"},
    {"unknown_key_of_restart", R"("backoff_ms")", R"("back_off_ms")", 33, "/processes/perception/restart/back_off_ms",
     "has no 'back_off_ms'", "did you mean 'backoff_ms'?"},
    {"unknown_key_of_topic", R"({"depth": 4)", R"({"dept": 4)", 38, "/topics/~1street~1people/dept",
     "topic '/street/people' has no 'dept'", "did you mean 'depth'?"},
    {"unknown_key_of_needs", R"("memory_mib": 256)", R"("memory_gib": 256)", 40, "/needs/memory_gib",
     "'needs' has no 'memory_gib'", "did you mean 'memory_mib'?"},
    {"unknown_key_of_states", R"("transitions": [)", R"("transition": [)", 42, "/states/transition",
     "'states' has no 'transition'", "'transitions'"},
    {"unknown_key_of_transition", R"({"from": "running")", R"({"form": "running")", 43, "/states/transitions/0/form",
     "transition 1 has no 'form'", "did you mean 'from'?"},
    {"unknown_key_of_condition", R"("for_ms": 300)", R"("for": 300)", 43, "/states/transitions/0/when/for",
     "has no 'for'", "'for_ms'"},
    {"missing_library", R"({"library": "libstreet.so", "class": "Lidar")", R"({"class": "Lidar")", 10,
     "/processes/sensors/components/lidar", "component 'lidar' has no 'library'", R"("library": )"},
    {"missing_class", R"("class": "Camera", )", "", 9, "/processes/sensors/components/camera",
     "component 'camera' has no 'class'", R"("class": )"},
    {"missing_to", R"(, "to": "degraded")", "", 43, "/states/transitions/0", "transition 1 has no 'to'",
     R"("to": one of)"},
    {"text_for_number", R"("memory_mib": 128)", R"("memory_mib": "128")", 13, "/processes/sensors/memory_mib",
     R"('memory_mib' of process 'sensors' is "128")", "without quotes"},
    {"text_for_boolean", R"("realtime": false,)", R"("realtime": "no",)", 5, "/realtime", R"(is "no")",
     "true or false"},
    {"number_for_text", R"("OMP_NUM_THREADS": "1")", R"("OMP_NUM_THREADS": 1)", 32,
     "/processes/perception/environment/OMP_NUM_THREADS",
     "'OMP_NUM_THREADS' in 'environment' of process 'perception' is 1", "double quotes"},
    {"list_for_object", R"("parameters": {"threshold": 0.5, "people": 8, "model": "small", "night": false})",
     R"("parameters": [])", 20, "/processes/perception/components/detector/parameters", "is a list", "an object"},
    {"object_for_list", R"([1], "policy")", R"({}, "policy")", 22,
     "/processes/perception/components/detector/thread/cpus", "is an object", "a list"},
    {"list_of_lists_for_parameter", R"("people": 8)", R"("people": [[8]])", 20,
     "/processes/perception/components/detector/parameters/people", "has a list in its list", "numbers or texts"},
    {"mixed_list_for_parameter", R"("people": 8)", R"("people": [8, "x"])", 20,
     "/processes/perception/components/detector/parameters/people", "has 8 and \"x\" in one list", "of one kind"},
    {"object_for_parameter", R"("people": 8)", R"("people": {})", 20,
     "/processes/perception/components/detector/parameters/people", "'people' in 'parameters' of component 'detector'",
     "or a list of one of these"},
    {"null_for_choice", R"("when": "always")", R"("when": null)", 33, "/processes/perception/restart/when", "is null",
     R"("crash", "always", "never")"},
    {"number_for_process", R"("sensors": {
      "components": {)",
     R"("more": 7, "sensors": {
      "components": {)",
     7, "/processes/more", "process 'more' is 7", "an object"},
    {"fraction_for_whole", R"("limit": 3)", R"("limit": 3.5)", 33, "/processes/perception/restart/limit", "is 3.5",
     "a whole number from 0"},
    {"negative_time", R"("watchdog_ms": 500)", R"("watchdog_ms": -1)", 23,
     "/processes/perception/components/detector/watchdog_ms", "is -1, out of range", "from 0 to"},
    {"depth_0", R"({"depth": 4)", R"({"depth": 0)", 38, "/topics/~1street~1people/depth",
     "'depth' of topic '/street/people' is 0", "from 1 to 1024"},
    {"depth_too_large", R"({"depth": 4)", R"({"depth": 1025)", 38, "/topics/~1street~1people/depth", "is 1025",
     "from 1 to 1024"},
    {"cycle_too_heavy", R"("weight": 2.5)", R"("weight": 1001)", 24,
     "/processes/perception/components/detector/cycle/weight", "is 1001, out of range", "from 0 to 1000"},
    {"larger_than_64_bits", R"({"depth": 4)", R"({"depth": 99999999999999999999)", 38, "/topics/~1street~1people/depth",
     "is 99999999999999999999", "a whole number from 1 to 1024"},
    {"workers_0", R"("workers": 2)", R"("workers": 0)", 12, "/processes/sensors/groups/slow/workers", "is 0",
     "from 1 to 256"},
    {"nice_of_group", R"("policy": "fifo", "priority": 10)", R"("nice": -21)", 12,
     "/processes/sensors/groups/slow/nice", "is -21", "from -20 to 19"},
    {"nice_of_thread", R"("policy": "fifo", "priority": 50)", R"("nice": 20)", 22,
     "/processes/perception/components/detector/thread/nice", "is 20", "from -20 to 19"},
    {"group_priority_of_component", R"("priority": 3)", R"("priority": 32)", 10,
     "/processes/sensors/components/lidar/priority", "'priority' of component 'lidar' is 32", "from 0 to 31"},
    {"unknown_choice", R"("always")", R"("alway")", 33, "/processes/perception/restart/when",
     R"('when' of 'restart' of process 'perception' is "alway")", "did you mean 'always'?"},
    {"unknown_policy", R"([1], "policy": "fifo")", R"([1], "policy": "FIFO!")", 22,
     "/processes/perception/components/detector/thread/policy", "FIFO!", "did you mean 'fifo'?"},
    {"deadline_for_group", R"("policy": "fifo", "priority": 10)", R"("policy": "deadline")", 12,
     "/processes/sensors/groups/slow/policy", "deadline", "there are 'other', 'fifo', 'rr'"},
    {"unknown_state", R"("to": "degraded")", R"("to": "degrade")", 43, "/states/transitions/0/to", "degrade",
     "did you mean 'degraded'?"},
    {"from_the_end", R"("from": "degraded")", R"("from": "stopped")", 44, "/states/transitions/1/from", "stopped",
     "'running'"},
    {"state_in_list", R"(["running", "degraded"])", R"(["running", "degradet"])", 46, "/states/transitions/3/from/1",
     "degradet", "did you mean 'degraded'?"},
    {"empty_from", R"("from": ["running", "degraded"])", R"("from": [])", 46, "/states/transitions/3/from",
     "an empty list", "name at least one"},
    {"same_cpu_twice", R"("cpus": [0, 1])", R"("cpus": [0, 1, 0])", 12, "/processes/sensors/groups/slow/cpus/2",
     "0 is listed twice", "remove one"},
    {"negative_cpu", R"("cpus": [0, 1])", R"("cpus": [0, -1])", 12, "/processes/sensors/groups/slow/cpus/1",
     "element 2 in 'cpus' of group 'slow' is -1", "from 0 to"},
    {"bad_component_name", R"("camera": {)", R"("cam/era": {)", 9, "/processes/sensors/components/cam~1era",
     "'cam/era' in 'components' of process 'sensors'", "64 letters"},
    {"bad_system_name", R"("name": "street")", R"("name": "the street")", 3, "/name", "the street", "64 letters"},
    {"bad_domain", R"("domain": "default")", R"("domain": "a/b")", 4, "/domain", "a/b", "48 letters"},
    {"topic_without_slash", R"("/people": "/street/people"})", R"("/people": "street/people"})", 21,
     "/processes/perception/components/detector/topics/~1people", "street/people", "start with '/'"},
    {"topic_with_space", R"("/people": "/street/people"})", R"("/people": "/street people"})", 21,
     "/processes/perception/components/detector/topics/~1people", "/street people", "without spaces"},
    {"topic_in_code", R"("/people": "/street/people"})", R"("people": "/street/people"})", 21,
     "/processes/perception/components/detector/topics/people", "'people' in 'topics' of component 'detector'",
     "start with '/'"},
    {"topic_of_the_file", R"("/street/people": {"depth")", R"("street/people": {"depth")", 38, "/topics/street~1people",
     "'street/people' in 'topics'", "start with '/'"},
    {"topic_watched", R"("silent": "/street/people")", R"("silent": "people")", 45, "/states/transitions/2/when/silent",
     "people", "start with '/'"},
    {"bad_variable", R"("OMP_NUM_THREADS")", R"("OMP=")", 32, "/processes/perception/environment/OMP=", "'OMP='",
     "letters"},
    {"empty_library", R"("library": "libstreet.so",
          "class")",
     R"("library": "",
          "class")",
     18, "/processes/perception/components/detector/library", R"(is "")", "at least one character"},
    {"duplicate_key", R"("watchdog_ms": 500)", R"("watchdog_ms": 500, "watchdog_ms": 600)", 23,
     "/processes/perception/components/detector/watchdog_ms", "'watchdog_ms' is given twice", "remove or rename"},
    {"duplicate_component", R"("decision": {)", R"("detector": {)", 27, "/processes/perception/components/detector",
     "'detector' is given twice here, first in line 17", "remove or rename one 'detector'"},
    {"duplicate_far_away", R"("needs": {)", R"("realtime": true, "needs": {)", 40, "/realtime", "first in line 5",
     "'realtime'"},
};

INSTANTIATE_TEST_SUITE_P(Shapes, Mistakes, testing::ValuesIn(kShapes),
                         [](const auto& mistake) { return mistake.param.name; });

TEST(Parse, TellsAllAtOnceInTheOrderOfTheText) {
  std::string file = edited(R"("needs": {"cpus": 2)", R"("needs": {"cpus": "two")");
  file = edited(R"("domain": )", R"("domian": )", file);
  file = edited(R"("workers": 2)", R"("workers": 1000)", file);
  file = edited(R"("to": "degraded")", R"("to": "sleeping")", file);
  file = edited(R"("threshold": 0.5, )", R"("threshold": null, )", file);
  const std::vector<Problem> problems = problems_of(file);
  ASSERT_EQ(problems.size(), 5U) << shown(problems);
  EXPECT_EQ(problems[0].line, 4);
  EXPECT_EQ(problems[1].line, 12);
  EXPECT_EQ(problems[2].line, 20);
  EXPECT_EQ(problems[3].line, 40);
  EXPECT_EQ(problems[4].line, 43);
  EXPECT_TRUE(has_errors(problems));
}

/// A process of these components.
std::string process_of(const std::string& components) {
  return R"({"processes": {"p": {"components": {)" + components + "}}}}";
}

TEST(Parse, ReadsAComponentInPython) {
  std::vector<Problem> problems;
  const Configuration c = parse_configuration(process_of(R"("c": {"python": "my.module_1:Class"})"), "x", problems);
  EXPECT_TRUE(problems.empty()) << shown(problems);
  EXPECT_EQ(c.component("c")->library, "python:my.module_1");
  EXPECT_EQ(c.component("c")->class_name, "my.module_1:Class");
  EXPECT_TRUE(is_python(c.processes.front()));
  EXPECT_FALSE(is_python(parsed(kStreet).processes.front()));
}

TEST(Parse, RefusesNamesThatAreNotClassesOfPython) {
  for (const char* const wrong :
       {"module", "module:", ":Class", "a..b:C", ".a:C", "1a:C", "a:b:c", "a:C()", "a b:C", ""}) {
    const std::vector<Problem> problems =
        problems_of(process_of(R"("c": {"python": ")" + std::string(wrong) + R"("})"));
    ASSERT_EQ(problems.size(), 1U) << wrong << shown(problems);
    EXPECT_EQ(problems[0].pointer, "/processes/p/components/c/python");
    EXPECT_NE(problems[0].remedy.find("module:Class"), std::string::npos);
  }
}

TEST(Parse, RefusesPythonTogetherWithALibrary) {
  std::vector<Problem> problems = problems_of(process_of(R"("c": {"python": "m:C", "library": "l.so"})"));
  ASSERT_EQ(problems.size(), 1U) << shown(problems);
  EXPECT_EQ(problems[0].cause, "component 'c' has 'python' and 'library'");
  problems = problems_of(process_of(R"("a": {"python": "m:C"}, "b": {"library": "l.so", "class": "B"})"));
  ASSERT_EQ(problems.size(), 1U) << shown(problems);
  EXPECT_NE(problems[0].cause.find("component 'b' is in C++"), std::string::npos);
}

TEST(Parse, KeepsWhatTheCallerFoundBefore) {
  std::vector<Problem> problems{{.cause = "before"}};
  (void)parse_configuration("[]", "x.json", problems);
  ASSERT_EQ(problems.size(), 2U);
  EXPECT_EQ(problems[0].cause, "before");
  EXPECT_NE(problems[1].cause.find("an object"), std::string::npos);
}

TEST(Parse, LeavesWhatIsWrongAtItsDefault) {
  std::vector<Problem> problems;
  const Configuration c = parse_configuration(edited(R"("watchdog_ms": 500)", R"("watchdog_ms": -5)"), "x", problems);
  EXPECT_EQ(c.component("detector")->watchdog, 0ms);
  EXPECT_EQ(c.component("detector")->on_exception, OnException::Restart);
}

}  // namespace
}  // namespace cardan::config
