// SPDX-License-Identifier: Apache-2.0
// Components asked in their own processes, among them some that crash, hang, throw and are not there.
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <map>
#include <set>
#include <stdexcept>
#include <thread>
#include <vector>

#include "cardan/cardan.hpp"
#include "cardan/component.hpp"
#include "src/system/launcher/child_process.hpp"
#include "src/system/launcher/declare.hpp"
#include "src/system/plan/plan.hpp"
#include "tests/runtime/fake_host.hpp"
#include "tests/support/child.hpp"

namespace asked {

using cardan::Context;

constexpr cardan::Topic<cardan::launcher::Beat> kIn{"/in", {.depth = 3}};
constexpr cardan::Topic<cardan::launcher::Beat> kOut{"/out", {.max_bytes = 7, .reliable = true}};

struct Good : cardan::Component {
  void on_start(Context& context) override {
    std::puts("printed to nobody's harm");
    out = context.output(kOut);
    gain = context.parameter<double>("gain", 0.5, {.min = 0, .max = 1, .description = "how much"});
    context.input(kIn, [](const cardan::Sample<cardan::launcher::Beat>&) {});
    context.timer(std::chrono::milliseconds(5), [] {}, {.name = "tick"});
  }
  cardan::Output<cardan::launcher::Beat> out;
  cardan::Parameter<double> gain;
};
struct Crashes : cardan::Component {
  void on_start(Context&) override {
    std::fputs("first words\nlast words\n", stderr);
    std::_Exit(41);
  }
};
struct Throws : cardan::Component {
  void on_start(Context&) override { throw std::runtime_error("no camera"); }
};
struct Hangs : cardan::Component {
  void on_start(Context&) override {
    for (;;) std::this_thread::sleep_for(std::chrono::seconds(1));
  }
};
struct Floods : cardan::Component {
  void on_start(Context&) override {
    const std::string much(65536, 'x');
    for (;;) (void)!::write(STDOUT_FILENO, much.data(), much.size());
  }
};
/// A driver: a separate thread, which must have ended before the component does.
struct Drives : cardan::Component {
  void on_start(Context& context) override {
    out = context.output(kOut);
    thread = std::thread([this] {
      while (!ends) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    });
  }
  void on_stop() override {
    ends = true;
    thread.join();
  }
  cardan::Output<cardan::launcher::Beat> out;
  std::atomic<bool> ends{false};
  std::thread thread;
};
/// Neither a message nor with a codec.
struct Plain {
  std::vector<int> numbers;
};
constexpr cardan::Topic<Plain> kPlain{"/plain"};
struct Tells : cardan::Component {
  void on_start(Context& context) override { out = context.output(kPlain); }
  cardan::Output<Plain> out;
};
struct Hears : cardan::Component {
  void on_start(Context& context) override {
    context.input(kPlain, [](const cardan::Sample<Plain>&) {});
  }
};
CARDAN_COMPONENT(asked::Tells)
CARDAN_COMPONENT(asked::Hears)
CARDAN_COMPONENT(asked::Good)
CARDAN_COMPONENT(asked::Crashes)
CARDAN_COMPONENT(asked::Throws)
CARDAN_COMPONENT(asked::Hangs)
CARDAN_COMPONENT(asked::Floods)
CARDAN_COMPONENT(asked::Drives)

}  // namespace asked

namespace cardan::launcher {
namespace {

using namespace std::chrono_literals;

config::Component component(const char* name, const char* class_name) {
  return {.name = name, .class_name = class_name, .pointer = std::string("/processes/p/components/") + name};
}

config::Configuration file() {
  config::Configuration c = file_of({fake("p", ""), fake("q", "")});
  c.processes[0].components = {component("good", "asked::Good"), component("crashes", "asked::Crashes"),
                               component("throws", "asked::Throws"), component("nowhere", "asked::Nowhere"),
                               component("refused", "asked::Good")};
  c.processes[0].components[4].parameters["gain"] = 2.5;
  c.processes[1].components = {component("library", "asked::Good"), component("last", "asked::Good")};
  c.processes[1].components[0].library = "libcardan-not-there.so";
  return c;
}

/// One writes what cannot leave its process, and the other reads it.
config::Configuration two_processes() {
  config::Configuration c = file_of({fake("p", ""), fake("q", "")});
  c.processes[0].components = {component("tells", "asked::Tells")};
  c.processes[1].components = {component("hears", "asked::Hears")};
  return c;
}

CARDAN_ROLE(declare) {
  if (args.at(0) != "--plan-fd" || args.at(2) != "--declare") return 2;
  return declare_components(plan::plan_of(std::stoi(args[1])).configuration, args.at(3), std::stoul(args.at(4)),
                            ChildProcess::kReportFd);
}

DeclareOptions asking() {
  DeclareOptions options;
  options.command = {"/proc/self/exe", "--role", "declare"};
  options.time_limit = 1min;
  return options;
}

TEST(Declare, EachComponentAnswersForItself) {
  const Asked asked = ask_components(file(), asking());
  std::map<std::string, int> endpoints;
  for (const auto& e : asked.declarations.endpoints) ++endpoints[e.component];
  EXPECT_EQ(endpoints, (std::map<std::string, int>{{"good", 2}, {"refused", 2}, {"last", 2}}));
  std::set<std::string> unknown(asked.declarations.unknown.begin(), asked.declarations.unknown.end());
  EXPECT_EQ(unknown, (std::set<std::string>{"crashes", "throws", "nowhere", "library"}));

  std::map<std::string, std::string> causes;
  for (const auto& p : asked.problems) {
    causes[p.pointer] = p.cause;
    if (p.pointer.ends_with("/crashes")) {
      EXPECT_EQ(p.remedy, "its last output: last words");
    }
  }
  const std::string at = "/processes/p/components/";
  EXPECT_EQ(causes.size(), 5U);
  EXPECT_EQ(causes[at + "crashes"],
            "component 'crashes' crashes in its constructor, on_start or on_stop: its process ended with exit code 41");
  EXPECT_EQ(causes[at + "throws"], "component 'throws' does not start: no camera");
  EXPECT_EQ(causes[at + "nowhere/class"], "unknown component class 'asked::Nowhere'");
  EXPECT_NE(causes[at + "refused"].find("gain"), std::string::npos);
  EXPECT_NE(causes[at + "library/library"].find("libcardan-not-there.so"), std::string::npos);
}

TEST(Declare, ItsDeclarationsArriveWhole) {
  const Asked asked = ask_components(file(), asking());
  for (const auto& e : asked.declarations.endpoints) {
    EXPECT_EQ(e.type_name, "test_msgs/msg/Beat");
    EXPECT_EQ(e.type_hash, message_traits<Beat>::type_hash());
    EXPECT_EQ(e.topic_in_code, e.output ? "/out" : "/in");
    EXPECT_EQ(e.options.depth, e.output ? 1U : 3U);
    EXPECT_EQ(e.options.max_bytes, e.output ? 7U : 0U);
    EXPECT_EQ(e.options.reliable, e.output);
  }
  ASSERT_FALSE(asked.declarations.parameters.empty());
  for (const auto& p : asked.declarations.parameters) {
    EXPECT_EQ(p.name, "gain");
    EXPECT_EQ(p.default_value, config::Value(0.5));
    EXPECT_EQ(p.min, config::Value(0.0));
    EXPECT_EQ(p.max, config::Value(1.0));
    EXPECT_EQ(p.description, "how much");
  }
  ASSERT_EQ(asked.declarations.callbacks.size(), 3U);
  EXPECT_EQ(asked.declarations.callbacks[0].name, "tick");
}

TEST(Declare, OneWithItsOwnThreadIsStoppedBeforeItEnds) {
  config::Configuration c = file_of({fake("p", "")});
  c.processes[0].components = {component("drives", "asked::Drives")};
  const Asked asked = ask_components(c, asking());
  EXPECT_TRUE(asked.problems.empty()) << asked.problems.front().cause;
  EXPECT_EQ(asked.declarations.endpoints.size(), 1U);
}

TEST(Declare, OneThatHangsIsCutOff) {
  config::Configuration c = file_of({fake("p", "")});
  c.processes[0].components = {component("hangs", "asked::Hangs")};
  DeclareOptions options = asking();
  options.time_limit = 300ms;
  options.slow = 20ms;
  std::vector<std::string> slow;
  options.on_slow = [&](const std::string& process, const std::string& name) { slow.push_back(process + "/" + name); };
  const Asked asked = ask_components(c, options);
  EXPECT_EQ(slow, std::vector<std::string>{"p/hangs"}) << "named once, before it is cut off";
  ASSERT_EQ(asked.problems.size(), 1U);
  EXPECT_EQ(asked.problems[0].severity, config::Severity::Error);
  EXPECT_EQ(asked.problems[0].cause,
            "component 'hangs' does not come back from on_start within 0.3 s: what it declares is not known");
}

TEST(Declare, ASlowOneDoesNotPreventTheStart) {
  config::Configuration c = file_of({fake("p", "")});
  c.processes[0].components = {component("hangs", "asked::Hangs")};
  DeclareOptions options = asking();
  options.time_limit = 100ms;
  options.late = config::Severity::Warning;  // as `cardan run` asks
  const auto problems = check_with_components(c, {}, {.cpus = 4}, options);
  ASSERT_EQ(problems.size(), 1U);
  EXPECT_EQ(problems[0].severity, config::Severity::Warning) << problems[0].cause;
  EXPECT_EQ(ask_components(c, options).declarations.unknown, std::vector<std::string>{"hangs"});
}

TEST(Declare, OneThatWritesWithoutEndIsCutOff) {
  config::Configuration c = file_of({fake("p", "")});
  c.processes[0].components = {component("floods", "asked::Floods")};
  DeclareOptions options = asking();
  options.time_limit = 100ms;
  const Asked asked = ask_components(c, options);
  ASSERT_EQ(asked.problems.size(), 1U);
  EXPECT_NE(asked.problems[0].cause.find("does not come back"), std::string::npos) << asked.problems[0].cause;
}

TEST(Declare, AnErrorThatTheFileCheckKnowsBetterIsReportedOnce) {
  const auto problems = check_with_components(file(), {}, {.cpus = 4}, asking());
  int about_refused = 0;
  for (const auto& p : problems)
    about_refused += p.pointer.starts_with("/processes/p/components/refused") && p.severity == config::Severity::Error;
  EXPECT_EQ(about_refused, 1);
}

TEST(Declare, ATypeWithoutCodecBetweenProcessesIsAnError) {
  config::Configuration c = two_processes();
  const auto problems = check_with_components(c, {}, {.cpus = 4}, asking());
  ASSERT_EQ(problems.size(), 1U);
  EXPECT_EQ(problems[0].severity, config::Severity::Error);
  EXPECT_NE(problems[0].cause.find("component 'tells' (output '/plain') is in process 'p' and component 'hears' (input "
                                   "'/plain') in process 'q'"),
            std::string::npos)
      << problems[0].cause;
  EXPECT_NE(problems[0].remedy.find("cardan::codec<asked::Plain>"), std::string::npos) << problems[0].remedy;
}

TEST(Declare, ErrorsInTheTextDoNotHideTheRest) {
  const config::Configuration c = file();
  const auto with_error_at = [&](const std::string& pointer) {
    return askable(c, {config::problem_at(c, pointer, config::Severity::Error, "", "")});
  };
  const std::string good = c.processes[0].components[0].pointer;
  for (const char* const part : {"", "/library", "/class", "/topics/~1in"}) {
    const config::Configuration rest = with_error_at(good + part);
    EXPECT_EQ(rest.component("good"), nullptr) << part;
    EXPECT_EQ(rest.processes[0].components.size(), c.processes[0].components.size() - 1);
    EXPECT_EQ(rest.processes[1].components.size(), c.processes[1].components.size());
  }
  EXPECT_EQ(with_error_at("/topics").processes[0].components.size(), c.processes[0].components.size());
  const config::Configuration rest = with_error_at(c.processes[0].components[4].pointer + "/watchdog_ms");
  ASSERT_NE(rest.component("refused"), nullptr);
  EXPECT_EQ(rest.component("refused")->class_name, "asked::Good");
  EXPECT_TRUE(rest.component("refused")->parameters.empty()) << "they may belong to what is wrong";
}

TEST(Declare, AComponentWithAnErrorInTheTextIsAskedAllTheSame) {
  const config::Configuration c = file();
  const std::string at = "/processes/p/components/";
  std::vector<config::Problem> in_text;
  for (const char* const name : {"good", "crashes", "throws", "nowhere", "refused"})
    in_text.push_back(config::problem_at(c, at + name + "/watchdog_ms", config::Severity::Error, "", ""));
  std::set<std::string> told;
  for (const auto& p : check_with_components(c, in_text, {.cpus = 4}, asking()))
    if (p.severity == config::Severity::Error) told.insert(p.pointer);
  EXPECT_EQ(told, (std::set<std::string>{at + "nowhere/class", at + "refused/parameters/gain", at + "library/library"}))
      << "that one does not start may come from what is wrong in its text";
}

TEST(Declare, AClassAndALibraryThatAreNearlyRightAreNamed) {
  config::Configuration c = file();
  c.processes.resize(1);
  c.processes[0].components = {component("class", "asked::Goof"), component("far", "other::Entirely")};
  DeclareOptions options = asking();
  std::map<std::string, std::string> remedies;
  for (const auto& p : ask_components(c, options).problems) remedies[p.pointer] = p.remedy;
  const std::string all =
      "asked::Crashes, asked::Drives, asked::Floods, asked::Good, asked::Hangs, asked::Hears, asked::Tells, "
      "asked::Throws";
  EXPECT_NE(remedies["/processes/p/components/class/class"].find("did you mean 'asked::Good'?"), std::string::npos)
      << remedies["/processes/p/components/class/class"];
  EXPECT_NE(remedies["/processes/p/components/far/class"].find(all), std::string::npos)
      << remedies["/processes/p/components/far/class"];
}

}  // namespace
}  // namespace cardan::launcher
