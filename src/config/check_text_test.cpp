// SPDX-License-Identifier: Apache-2.0
// The relations of fields: groups, threads, names, restarts, transitions.
#include <gtest/gtest.h>

#include "src/config/street_file_test.hpp"

namespace cardan::config {
namespace {

class CheckText : public testing::TestWithParam<Mistake> {};

TEST_P(CheckText, ReportsAProblemWithLineAndRemedy) {
  const std::string file = edited(GetParam().from, GetParam().to);
  expect_the_one(problems_of(file), file, GetParam());
}

#define DETECTOR "/processes/perception/components/detector"
#define DECISION "/processes/perception/components/decision"
#define SLOW "/processes/sensors/groups/slow"

const Mistake kProcesses[] = {
    {"same_component_in_two_processes", R"("decision": {
          "library")",
     R"("lidar": {
          "library")",
     27, "/processes/perception/components/lidar", "component 'lidar' is in process 'sensors' too (line 10)",
     "rename one 'lidar'"},
    {"unknown_group", R"("group": "slow")", R"("group": "slwo")", 10, "/processes/sensors/components/lidar/group",
     "component 'lidar' is in group 'slwo', which process 'sensors' does not have", "did you mean 'slow'?"},
    {"group_of_another_process", R"("class": "Decision",
          "thread": {"policy": "deadline", "runtime_us": 500, "period_us": 10000})",
     R"("class": "Decision",
          "group": "slow")",
     29, DECISION "/group", "which process 'perception' does not have", "there is 'main'"},
    {"group_and_thread", R"("watchdog_ms": 500)", R"("group": "main")", 23, DETECTOR "/group",
     "component 'detector' has both a 'group' and its own 'thread'", "remove 'group' or 'thread'"},
    {"priority_with_thread", R"("watchdog_ms": 500)", R"("priority": 5)", 23, DETECTOR "/priority",
     "'priority' of component 'detector'", "'priority' of 'thread'", Severity::Warning},
    {"nobody_in_group", R"("group": "slow", "priority": 3)", R"("priority": 3)", 12, SLOW,
     "no component is in group 'slow' of process 'sensors'", R"("group": "slow")", Severity::Warning},
    {"process_without_components",
     R"("camera": {"library": "libstreet.so", "class": "Camera", "topics": {"/image": "/street/image"}},
        "lidar": {"library": "libstreet.so", "class": "Lidar", "group": "slow", "priority": 3}
      },
      "groups": {"slow": {"workers": 2, "cpus": [0, 1], "affinity": "one_to_one", "policy": "fifo", "priority": 10}},)",
     "},", 8, "/processes/sensors/components", "process 'sensors' has no component", "add one"},
    {"backoff_longer_than_its_longest", R"("backoff_max_ms": 1000)", R"("backoff_max_ms": 5)", 33,
     "/processes/perception/restart/backoff_max_ms",
     "'backoff_ms' of process 'perception' is 10, which is more than its 'backoff_max_ms', 5",
     "raise 'backoff_max_ms'"},
    {"backoff_longer_than_the_default", R"("backoff_ms": 10, "backoff_max_ms": 1000)", R"("backoff_ms": 3000)", 33,
     "/processes/perception/restart/backoff_ms", "is 3000, which is more than its 'backoff_max_ms', 2000", "raise"},
    {"same_topic_under_two_names", R"("/people": "/street/people"})", R"("/people": "/street/image"})", 21,
     DETECTOR "/topics/~1people", "component 'detector' uses '/street/image' under two names (also in line 21)",
     "another topic than '/street/image'"},
    {"later_one_is_told", R"({"/image": "/street/image", "/people": "/street/people"})", R"({"/z": "/x",
          "/a": "/x"})",
     22, DETECTOR "/topics/~1a", "under two names (also in line 21)", "another topic than '/x'"},
    {"spin_for_how_long", R"("waiting": "prewake", "spin_us": 500)", R"("waiting": "spin")", 38,
     "/topics/~1street~1people/waiting", "topic '/street/people'", "add \"spin_us\""},
    {"spin_while_blocked", R"("waiting": "prewake")", R"("waiting": "block")", 38, "/topics/~1street~1people/spin_us",
     "topic '/street/people' block", "remove it", Severity::Warning},
};

const Mistake kThreads[] = {
    {"fifo_without_priority", R"("cpus": [1], "policy": "fifo", "priority": 50)", R"("policy": "fifo")", 22,
     DETECTOR "/thread/policy", "the policy fifo of component 'detector' has no 'priority'", "1 to 99"},
    {"fifo_with_priority_0", R"("priority": 50)", R"("priority": 0)", 22, DETECTOR "/thread/priority",
     "'priority' of component 'detector' is 0, and the policy fifo takes 1 to 99", "write 1 to 99"},
    {"rr_with_priority_0", R"("policy": "fifo", "priority": 50)", R"("policy": "rr", "priority": 0)", 22,
     DETECTOR "/thread/priority", "the policy rr takes 1 to 99", "write 1 to 99"},
    {"priority_100", R"("priority": 50)", R"("priority": 100)", 22, DETECTOR "/thread/priority", "is 100",
     "from 0 to 99"},
    {"priority_without_policy", R"("policy": "fifo", "priority": 50)", R"("priority": 50)", 22,
     DETECTOR "/thread/priority", "is 50, and the policy other takes none", R"(add "policy": "fifo")"},
    {"deadline_with_priority", R"("runtime_us": 500, )", R"("priority": 1, "runtime_us": 500, )", 29,
     DECISION "/thread/priority", "'priority' of component 'decision' is 1, and the policy deadline takes none",
     "remove"},
    {"deadline_without_period", R"(, "period_us": 10000)", "", 29, DECISION "/thread/policy",
     "the policy deadline of component 'decision' has no 'period_us'", R"(add "period_us")"},
    {"deadline_without_runtime", R"("runtime_us": 500, )", "", 29, DECISION "/thread/policy", "has no 'runtime_us'",
     R"(add "runtime_us")"},
    {"runtime_longer_than_period", R"("runtime_us": 500)", R"("runtime_us": 10001)", 29, DECISION "/thread/runtime_us",
     "'runtime_us' of component 'decision' is longer than its period, 10000 µs", "lower 'runtime_us'"},
    {"runtime_below_the_kernels", R"("runtime_us": 500)", R"("runtime_us": 1)", 29, DECISION "/thread/runtime_us",
     "less than the kernel's least, 2 µs", "raise 'runtime_us'"},
    {"period_below_the_kernels", R"("runtime_us": 500, "period_us": 10000)", R"("runtime_us": 50, "period_us": 99)", 29,
     DECISION "/thread/period_us", "'period_us' of component 'decision' is 99 µs", "change 'period_us'"},
    {"period_above_the_kernels", R"("period_us": 10000)", R"("period_us": 5000000)", 29, DECISION "/thread/period_us",
     "is 5000000 µs, and the kernel takes 100 µs to 4194304 µs", "fifo"},
    {"deadline_with_cpus", R"({"policy": "deadline")", R"({"cpus": [0], "policy": "deadline")", 29,
     DECISION "/thread/cpus", "the kernel refuses to pin component 'decision'", "remove 'cpus'", Severity::Warning},
    {"period_without_deadline", R"("policy": "fifo", "priority": 50)",
     R"("policy": "fifo", "priority": 50, "period_us": 100)", 22, DETECTOR "/thread/period_us",
     "'period_us' of component 'detector' is only for the policy deadline", "remove 'period_us'"},
    {"thread_of_a_callback", R"("priority": 7, )", R"("thread": {"policy": "rr"}, )", 25,
     DETECTOR "/callbacks/~1image/thread/policy",
     "the policy rr of callback '/image' of component 'detector' has no 'priority'", "1 to 99"},
    {"group_fifo_without_priority", R"("policy": "fifo", "priority": 10)", R"("policy": "fifo")", 12, SLOW "/policy",
     "the policy fifo of group 'slow' of process 'sensors' has no 'priority'", "1 to 99"},
    {"group_priority_without_policy", R"("policy": "fifo", "priority": 10)", R"("priority": 10)", 12, SLOW "/priority",
     "the policy other takes none", R"(add "policy": "fifo")"},
    {"one_to_one_without_cpus", R"("cpus": [0, 1], )", "", 12, SLOW "/affinity",
     "group 'slow' of process 'sensors' must have one worker per CPU, but has no 'cpus'", R"(add "cpus")"},
    {"one_to_one_with_more_workers", R"("workers": 2)", R"("workers": 3)", 12, SLOW "/workers",
     "has 3 workers for 2 CPUs, one per CPU", "lower 'workers'"},
};

#define T "/states/transitions/"
const Mistake kTransitions[] = {
    {"unknown_process", R"("down": "perception")", R"("down": "preception")", 43, T "0/when/down",
     "'down' of the transition names 'preception', which is not a process or component", "did you mean 'perception'?"},
    {"unknown_in_a_list", R"(["perception", "sensors"])", R"(["perception", "sensor"])", 44, T "1/when/up/1",
     "'up' of the transition names 'sensor'", "did you mean 'sensors'?"},
    {"unknown_process_given_up", R"("given_up": "perception")", R"("given_up": "nobody")", 46, T "3/when/given_up",
     "names 'nobody', which is not a process", "there are 'sensors', 'perception'"},
    {"component_given_up", R"("given_up": "perception")", R"("given_up": "detector")", 46, T "3/when/given_up",
     "'detector' is a component", "write its process, 'perception'"},
    {"when_says_nothing", R"({"down": "perception", "for_ms": 300})", R"({"for_ms": 300})", 43, T "0/when",
     "'when' is empty", "add one of 'down', 'up', 'silent', 'given_up'"},
    {"when_says_two_things", R"({"down": "perception", )", R"({"down": "perception", "up": "sensors", )", 43,
     T "0/when/up", "'down' and 'up' together", "a transition for each"},
    {"silent_for_how_long", R"(, "for_ms": 500})", "}", 45, T "2/when/silent",
     "'silent' of '/street/people' has no duration", R"(add "for_ms")"},
    {"silent_for_0_ms", R"("for_ms": 500)", R"("for_ms": 0)", 45, T "2/when/for_ms", "'for_ms' is 0", "'for_ms'"},
    {"from_itself", R"("to": "degraded")", R"("to": "running")", 43, T "0/to", "leads from 'running' to 'running'",
     "remove 'running' from 'from'"},
    {"nothing_leads_there", R"("to": "degraded")", R"("to": "stopped")", 44, T "1/from",
     "no transition leads to the state 'degraded'", "add a transition to 'degraded'", Severity::Warning},
    {"conflict", R"("from": "degraded", "when": {"up": ["perception", "sensors"]}, "to": "running")",
     R"("from": ["running", "safe_stop"], "when": {"down": ["perception"], "for_ms": 300}, "to": "stopped")", 44,
     T "1/to", "on the same condition 'running' goes to 'stopped' here and to 'degraded' in line 43",
     "different 'from' or 'for_ms'"},
    {"same_again", R"({"from": "degraded", "when": {"up": ["perception", "sensors"]}, "to": "running"})",
     R"({"from": "running", "when": {"down": "perception", "for_ms": 300}, "to": "degraded"})", 44, T "1",
     "is already in line 43", "remove one", Severity::Warning},
    {"never_happens", R"({"from": "degraded", "when": {"up": ["perception", "sensors"]}, "to": "running"})",
     R"({"from": "running", "when": {"down": "perception", "for_ms": 1000}, "to": "safe_stop"})", 44, T "1",
     "to 'safe_stop' never happens", "'from'", Severity::Warning},
};
#undef T

std::string name_of_mistake(const testing::TestParamInfo<Mistake>& info) { return info.param.name; }
INSTANTIATE_TEST_SUITE_P(Processes, CheckText, testing::ValuesIn(kProcesses), name_of_mistake);
INSTANTIATE_TEST_SUITE_P(Threads, CheckText, testing::ValuesIn(kThreads), name_of_mistake);
INSTANTIATE_TEST_SUITE_P(Transitions, CheckText, testing::ValuesIn(kTransitions), name_of_mistake);

TEST(CheckTextAlone, AFileNeedsAProcess) {
  const Mistake none{"", "", "", 1, "", "the file has no 'processes'", R"(add "processes")"};
  expect_the_one(problems_of("{}"), "{}", none);
  const Mistake empty{"", "", "", 2, "/processes", "the file has no process", "add one"};
  expect_the_one(problems_of("{\n\"processes\": {}}"), "{\n\"processes\": {}}", empty);
}

TEST(CheckTextAlone, AProcessIsOfComponentsOrABridge) {
  const auto with = [](const std::string& process) { return "{\"processes\": {\n\"ros\": {" + process + "}}}"; };
  const std::string bridge = R"("bridge": {"kind": "dds"})";
  EXPECT_TRUE(problems_of(with(bridge)).empty()) << shown(problems_of(with(bridge)));
  for (const auto& [process, mistake] :
       {std::pair{std::string(), Mistake{"", "", "", 2, "/processes/ros",
                                         "neither components nor a bridge, a recorder or a command", "\"kind\""}},
        {bridge + ", " + kOneComponent,
         Mistake{"", "", "", 2, "/processes/ros/components", "is a bridge, and has components", "a separate process"}},
        {bridge + R"(, "groups": {})",
         Mistake{"", "", "", 2, "/processes/ros/groups", "is a bridge, which has no groups", "remove 'groups'"}},
        {R"("bridge": {"kind": "dbus"})", Mistake{"", "", "", 2, "/processes/ros/bridge/kind", "\"dbus\"", "foxglove"}},
        {R"("bridge": {})", Mistake{"", "", "", 2, "/processes/ros/bridge", "'kind'", "add"}}})
    expect_the_one(problems_of(with(process)), with(process), mistake);
}

TEST(CheckTextAlone, ARecorderOrAProgramIsAWholeProcess) {
  const auto with = [](const std::string& process) { return "{\"processes\": {\n\"p\": {" + process + "}}}"; };
  const std::string record = R"("record": {"output": "events/")";
  for (const std::string& good :
       {record + "}", record + R"(, "last_s": 1, "on": {"state": ["safe_stop", "degraded"]}})",
        std::string(R"("command": ["a", "", "b", "b"])")})
    EXPECT_TRUE(problems_of(with(good)).empty()) << shown(problems_of(with(good)));
  for (const auto& [process, mistake] :
       {std::pair{record + "}, " + kOneComponent, Mistake{"", "", "", 2, "/processes/p/components",
                                                          "is a recorder, and has components", "a separate process"}},
        {record + R"(}, "command": ["a"])",
         Mistake{"", "", "", 2, "/processes/p/command", "is a recorder, and a program too", "two processes"}},
        {R"("command": ["a"], "groups": {})",
         Mistake{"", "", "", 2, "/processes/p/groups", "is a program, which has no groups", "remove"}},
        {R"("command": [])", Mistake{"", "", "", 2, "/processes/p/command", "names no program", "its path or name"}},
        {R"("command": [""])", Mistake{"", "", "", 2, "/processes/p/command", "names no program", "its path or name"}},
        {R"("command": "a b")", Mistake{"", "", "", 2, "/processes/p/command", "is \"a b\"", "a list"}},
        {R"("record": {})", Mistake{"", "", "", 2, "/processes/p/record", "'output'", "add"}},
        {record + R"(, "last_s": 0})", Mistake{"", "", "", 2, "/processes/p/record/last_s", "is 0", "seconds"}},
        {record + R"(, "last_s": 1, "after_s": 0})",
         Mistake{"", "", "", 2, "/processes/p/record/after_s", "is 0", "seconds"}},
        {record + R"(, "after_s": 1})",
         Mistake{"", "", "", 2, "/processes/p/record/after_s", "not only events", "last_s"}},
        {record + R"(, "last_s": 1, "on": {}})",
         Mistake{"", "", "", 2, "/processes/p/record/on", "names nothing", "--tell trigger"}},
        {record + R"(, "last_s": 1, "on": {"silent": "/a"}})",
         Mistake{"", "", "", 2, "/processes/p/record/on/silent", "has no duration", "for_ms"}},
        {record + R"(, "last_s": 1, "on": {"message": "/a", "for_ms": 5}})",
         Mistake{"", "", "", 2, "/processes/p/record/on/for_ms", "of 'silent'", "add 'silent'"}},
        {record + R"(, "last_s": 1, "on": {"state": "stopped"}})",
         Mistake{"", "", "", 2, "/processes/p/record/on/state", "not allowed", "safe_stop"}}})
    expect_the_one(problems_of(with(process)), with(process), mistake);
}

TEST(CheckTextAlone, OneMistakeIsToldOnce) {
  // The policy reads as "other" then, which allows no priority: no second problem.
  for (const char* const policy : {"\"fiffo\"", "7", "null", "[]"}) {
    const std::string file =
        edited(R"("cpus": [1], "policy": "fifo")", std::string(R"("cpus": [1], "policy": )") + policy);
    const std::vector<Problem> problems = problems_of(file);
    EXPECT_EQ(problems.size(), 1U) << shown(problems);
  }
  const std::vector<Problem> problems = problems_of(edited(R"("cpus": [0, 1])", R"("cpus": [0, "1"])"));
  EXPECT_EQ(problems.size(), 1U) << shown(problems);
}

TEST(CheckTextAlone, AcceptsWhatIsAllowed) {
  // A longer silence may lead on from the state that the shorter one led to.
  const std::string further = edited(R"("when": {"up": ["perception", "sensors"]}, "to": "running")",
                                     R"("when": {"down": "perception", "for_ms": 1000}, "to": "safe_stop")");
  EXPECT_TRUE(problems_of(further).empty()) << shown(problems_of(further));
  const std::string component = edited(R"("down": "perception")", R"("down": ["detector", "camera"])");
  EXPECT_TRUE(problems_of(component).empty()) << shown(problems_of(component));
  const std::string own = edited(R"(, "group": "slow", "priority": 3)", R"(, "group": "main")");
  EXPECT_EQ(problems_of(own).size(), 1U);  // nobody in 'slow'; but 'main' needs no mention
}

}  // namespace
}  // namespace cardan::config
