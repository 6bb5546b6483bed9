// SPDX-License-Identifier: Apache-2.0
// Variables, conditions, instances and included files: what a composed configuration says, and what it is told where.
#include "src/config/compose.hpp"

#include <gtest/gtest.h>

#include "cardan/error.hpp"
#include "src/config/check.hpp"
#include "src/config/graph.hpp"
#include "src/config/street_file_test.hpp"

namespace cardan::config {
namespace {

using Files = std::map<std::string, std::string>;

/// The first file is read, the others are there to be included.
Configuration read(const std::string& text, std::vector<Problem>& problems, const Files& files = {},
                   std::vector<std::string> variables = {}, const std::string& name = "car.json") {
  return parse_configuration(text, name, problems,
                             {.variables = std::move(variables), .read = [&](const std::string& path, std::size_t) {
                                const auto found = files.find(path);
                                if (found == files.end())
                                  throw Error(ErrorCode::InvalidArgument, "cannot read " + path, "");
                                return found->second;
                              }});
}

Configuration whole(const std::string& text, const Files& files = {}, std::vector<std::string> variables = {},
                    const std::string& name = "car.json") {
  std::vector<Problem> problems;
  Configuration c = read(text, problems, files, std::move(variables), name);
  EXPECT_TRUE(problems.empty()) << shown(problems);
  return c;
}

void expect_problem(const std::string& text, const std::string& place, const std::string& cause,
                    const std::string& remedy, const Files& files = {}) {
  std::vector<Problem> problems;
  (void)read(text, problems, files);
  ASSERT_EQ(problems.size(), 1U) << shown(problems);
  const std::string line = config::text(problems[0], "car.json");
  EXPECT_TRUE(line.starts_with(place + ":")) << line;
  EXPECT_NE(problems[0].cause.find(cause), std::string::npos) << line;
  EXPECT_NE(problems[0].remedy.find(remedy), std::string::npos) << line;
}

std::vector<std::string> names(const Configuration& c) {
  std::vector<std::string> all;
  for (const Process& process : c.processes)
    for (const Component& component : process.components) all.push_back(process.name + "/" + component.name);
  return all;
}

using Names = std::vector<std::string>;

TEST(Variables, StandInTextsAndKeepTheirTypeAlone) {
  const std::string file = R"({
    "variables": {"workers": 2, "on": true, "rate": 12.5, "device": "video0", "path": "/dev/${device}"},
    "name": "car-${workers}",
    "processes": {"p": {
      "groups": {"main": {"workers": "${workers}"}},
      "environment": {"THREADS": "${workers}", "HOME": "$${HOME}", "DOLLAR": "a$b"},
      "components": {"c": {"library": "lib${device}.so", "class": "C", "watchdog_ms": "${rate}",
        "parameters": {"rate": "${rate}", "on": "${on}", "path": "${path}", "text": "${on}-${rate}"}}}}},
    "topics": {"/t": {"reliable": "${on}", "depth": "${workers}"}}
  })";
  const Configuration c = whole(file);
  EXPECT_EQ(c.name, "car-2");
  const Process& p = c.processes.at(0);
  EXPECT_EQ(p.groups.at(0).workers, 2);
  EXPECT_EQ(p.environment.at("THREADS"), "2");
  EXPECT_EQ(p.environment.at("HOME"), "${HOME}");
  EXPECT_EQ(p.environment.at("DOLLAR"), "a$b");
  const Component& component = p.components.at(0);
  EXPECT_EQ(component.library, "libvideo0.so");
  EXPECT_EQ(component.watchdog, std::chrono::microseconds{12500});
  EXPECT_EQ(component.parameters.at("rate"), Value(12.5));
  EXPECT_EQ(component.parameters.at("on"), Value(true));
  EXPECT_EQ(component.parameters.at("path"), Value("/dev/video0"));
  EXPECT_EQ(component.parameters.at("text"), Value("true-12.5"));
  EXPECT_EQ(c.topics.at("/t").depth, 2U);
  EXPECT_EQ(c.topics.at("/t").reliable, true);

  const Configuration other = whole(file, {}, {"workers=7", "rate=3", "device=video1", "on=false"});
  EXPECT_EQ(other.processes[0].groups.at(0).workers, 7);
  EXPECT_EQ(other.processes[0].components[0].parameters.at("rate"), Value(3.0));
  EXPECT_EQ(other.processes[0].components[0].parameters.at("path"), Value("/dev/video1"));
  EXPECT_EQ(other.topics.at("/t").reliable, false);
}

TEST(Variables, FromTheCommandLineMustBeThereAndFit) {
  const std::string file = R"({"variables": {"workers": 2, "on": true}, "processes": {"p": {)" + kOneComponent + "}}}";
  const auto told = [&](const std::string& variable) {
    std::vector<Problem> problems;
    try {
      (void)read(file, problems, {}, {variable});
    } catch (const Error& e) {
      return std::string(e.what());
    }
    return std::string("nothing");
  };
  EXPECT_EQ(told("workers=3"), "nothing");
  EXPECT_EQ(told("worker=3"), "car.json has no variable 'worker' — did you mean 'workers'?");
  EXPECT_EQ(told("workers=2.5"), "variable 'workers' cannot be '2.5' — give a whole number: without it, it is 2");
  EXPECT_EQ(told("on=yes"), "variable 'on' cannot be 'yes' — give true or false: without it, it is true");
  EXPECT_EQ(told("workers"), "'workers' does not set a variable — write name=value");
}

TEST(Variables, AWrongValueOfTheCommandLineNamesItsOption) {
  const std::string file = R"({"variables": {"workers": 2, "name": "n"}, "processes": {"p": {
    "groups": {"g": {"workers": "${workers}", "policy": "${name}"}},
    "components": {"c": {"library": "l.so", "class": "C", "group": "g", "topics": {"/a": "/b ${name}"}}}}}})";
  const auto told = [&](const std::vector<std::string>& variables) {
    std::vector<Problem> problems;
    (void)read(file, problems, {}, variables);
    std::vector<std::string> texts;
    for (const Problem& problem : problems) texts.push_back(config::text(problem, "car.json"));
    return texts;
  };
  const std::vector<std::string> of_file = told({});
  ASSERT_EQ(of_file.size(), 2U);
  EXPECT_TRUE(of_file[0].starts_with("car.json:2:")) << of_file[0];
  const std::vector<std::string> of_workers = told({"workers=999", "name=rr"});
  ASSERT_EQ(of_workers.size(), 3U);
  EXPECT_EQ(std::count_if(of_workers.begin(), of_workers.end(),
                          [](const std::string& text) {
                            return text.starts_with("--var workers=999: error: 'workers' of group 'g' is 999, out of");
                          }),
            1);
  EXPECT_EQ(std::count_if(of_workers.begin(), of_workers.end(),
                          [](const std::string& text) { return text.starts_with("--var name=rr: "); }),
            2)
      << "the policy, and a name that contains the variable";
}

TEST(Variables, ErrorsHaveTheirLine) {
  const std::string head = "{\"variables\": {\"rate\": 5},\n\"processes\": {\"p\": {\n";
  const std::string tail = kOneComponent + "}}}";
  expect_problem(head + R"("memory_mib": "${rat}",)" + "\n" + tail, "car.json:3:15", "there is no variable 'rat'",
                 "did you mean 'rate'?");
  expect_problem(head + R"("environment": {"A": "${rate"},)" + "\n" + tail, "car.json:3:22", "'${' has no '}'", "$${");
  expect_problem(head + R"("memory_mib": "${}",)" + "\n" + tail, "car.json:3", "'' cannot be the name", "");
  expect_problem(head + R"("restart": {"when": "${rate}"},)" + "\n" + tail, "car.json:3:21",
                 R"('when' of 'restart' of process 'p' is "5", which is not allowed)", "crash");
  expect_problem(head + R"("memory_mib": "${rate}0",)" + "\n" + tail, "car.json:3", "'memory_mib'", "without quotes");
  expect_problem(R"({"variables": {"a-b": 1}, "processes": {"p": {)" + tail, "car.json:1",
                 "'a-b' in 'variables' of the file is not a valid name of a variable", "no digit first");
  expect_problem(R"({"variables": {"namespace": "x"}, "processes": {"p": {)" + tail, "car.json:1",
                 "'namespace' is predefined", "another name");
  expect_problem(R"({"variables": {"a": "${b}", "b": 1}, "processes": {"p": {)" + tail, "car.json:1:21",
                 "there is no variable 'b'", "");
  expect_problem(R"({"variables": {"a": [1]}, "processes": {"p": {)" + tail, "car.json:1:21", "'a' in 'variables'",
                 "true, false, a number or a text");
}

TEST(When, LeavesOutProcessesAndComponentsAndWhatAsksForThem) {
  const std::string file = R"({
    "variables": {"lidar": false, "mode": "sim", "cameras": 2},
    "processes": {
      "sensors": {"components": {
        "camera": {"library": "l.so", "class": "C", "when": "cameras == 2"},
        "lidar": {"library": "l.so", "class": "C", "when": "lidar"}}},
      "drivers": {"when": "mode != sim", "components": {"bus": {"library": "l.so", "class": "C"}}},
      "only": {"components": {"radar": {"library": "l.so", "class": "C", "when": "mode == real"}}},
      "rest": {"when": true, "components": {"brake": {"library": "l.so", "class": "C", "when": "!lidar"}}}
    },
    "states": {"transitions": [
      {"when": {"down": ["camera", "lidar"]}, "to": "degraded"},
      {"when": {"down": "bus"}, "to": "degraded"},
      {"from": "degraded", "when": {"up": ["lidar", "drivers", "only"]}, "to": "running"},
      {"when": {"given_up": "rest"}, "to": "safe_stop"}]}
  })";
  const Configuration sim = whole(file);
  EXPECT_EQ(names(sim), (Names{"sensors/camera", "rest/brake"}));
  ASSERT_EQ(sim.transitions.size(), 2U);
  EXPECT_EQ(sim.transitions[0].when.names, Names{"camera"});
  EXPECT_EQ(sim.transitions[1].when.names, Names{"rest"});

  const Configuration real = whole(file, {}, {"mode=real", "cameras=1"});
  EXPECT_EQ(names(real), (Names{"drivers/bus", "only/radar", "rest/brake"}));
  EXPECT_EQ(real.transitions.size(), 3U);
}

TEST(When, ErrorsHaveTheirLine) {
  const auto with = [](const char* when) {
    return std::string("{\"variables\": {\"n\": 2, \"on\": true, \"t\": \"a\"},\n\"processes\": {\"p\": {\"when\":\n") +
           when + ",\n" + kOneComponent + "}}}";
  };
  expect_problem(with(R"("m")"), "car.json:3:1", "there is no variable 'm'", "'n'");
  expect_problem(with(R"("n")"), "car.json:3:1", "variable 'n' is a whole number, not true or false", "n == value");
  expect_problem(with(R"("on == 1")"), "car.json:3:1", "variable 'on' is true or false, but is compared with '1'", "");
  expect_problem(with(R"("n != two")"), "car.json:3:1", "compared with 'two'", "a whole number");
  expect_problem(with(R"("${on}")"), "car.json:3:1", "names its variable without '${'", "!name");
  expect_problem(with("3"), "car.json:3:1", "'when' of process 'p' is 3", "of a variable");
  expect_problem(with(R"("on = true")"), "car.json:3:1", "'on = true' is not a condition", "write \"on == true\"");
  expect_problem(with(R"("n > 1")"), "car.json:3:1", "'n > 1' is not a condition", "the operators are == and !=");
  expect_problem(with(R"("on and n == 2")"), "car.json:3:1", "is not a condition", "the operators are == and !=");
  expect_problem(with(R"("t == a && on")"), "car.json:3:1", "is not a condition", "checks one variable");
  expect_problem(with(R"("t == 'a'")"), "car.json:3:1", "is not a condition", "without quotes: a");
  expect_problem(with(R"("")"), "car.json:3:1", "", "\"!name\"");
}

TEST(Instances, AreComponentsWithNamesTopicsAndVariablesOfTheirOwn) {
  const Configuration c = whole(R"({
    "variables": {"device": 0, "wide": false},
    "processes": {"p": {"components": {
      "camera": {"library": "l.so", "class": "Camera", "when": "!wide",
        "instances": {"front": {}, "rear": {"device": 2}, "roof": {"wide": true}},
        "parameters": {"device": "/dev/video${device}", "name": "${instance}"},
        "topics": {"/tf": "/tf", "/points": "/${instance}/cloud"}},
      "detector": {"library": "l.so", "class": "Detector"}}}},
    "states": {"transitions": [{"when": {"down": ["front.camera", "roof.camera"]}, "to": "degraded"}]}
  })");
  EXPECT_EQ(names(c), (Names{"p/front.camera", "p/rear.camera", "p/detector"}));
  const Component& front = *c.component("front.camera");
  const Component& rear = *c.component("rear.camera");
  EXPECT_EQ(front.class_name, "Camera");
  EXPECT_EQ(front.parameters.at("device"), Value("/dev/video0"));
  EXPECT_EQ(rear.parameters.at("device"), Value("/dev/video2"));
  EXPECT_EQ(rear.parameters.at("name"), Value("rear"));
  EXPECT_EQ(front.bus_name("/image"), "/front/image");
  EXPECT_EQ(rear.bus_name("/image"), "/rear/image");
  EXPECT_EQ(rear.bus_name("/points"), "/rear/cloud");
  EXPECT_EQ(rear.bus_name("/tf"), "/tf");
  EXPECT_EQ(rear.bus_name("/cardan/state"), "/cardan/state");
  EXPECT_EQ(c.component("detector")->bus_name("/image"), "/image");
  EXPECT_EQ(c.transitions.at(0).when.names, Names{"front.camera"});
}

TEST(Instances, ErrorsHaveTheirLine) {
  const auto with = [](const char* instances) {
    return std::string(
               R"({"variables": {"device": 0}, "processes": {"p": {"components": {"c": {"library": "l.so", "class": "C", "instances":)") +
           "\n" + instances + "}, \"d\": {\"library\": \"l.so\", \"class\": \"D\"}}}}}";
  };
  expect_problem(with(R"({"front": {"devise": 1}})"), "car.json:2:12", "there is no variable 'devise'",
                 "did you mean 'device'?");
  expect_problem(with(R"({"front": {"device": "x"}})"), "car.json:2:22", "variable 'device' is a whole number, not x",
                 "write a whole number");
  expect_problem(with("{}"), "car.json:1", "'instances' of component 'c' has no instance", "add one");
  expect_problem(with(R"({"front left": {}})"), "car.json:2:2", "'front left' in 'instances'", "letters");
  expect_problem(with(R"({"front": 1})"), "car.json:2:11", "'front' in 'instances' of component 'c' is 1", "an object");
}

const Files kCorner = {{"parts/corner.json", R"({
  "variables": {"limit": 6.0, "watched": true},
  "processes": {
    "sensors": {"components": {"radar": {"library": "./radar.so", "class": "Radar"}}},
    "driving": {"when": "watched", "components": {"brake": {"library": "b.so", "class": "Brake",
      "parameters": {"limit": "${limit}", "name": "${namespace}"}, "topics": {"/command": "/brake"}}}}
  },
  "topics": {"/distance": {"depth": 4, "writers": 1}},
  "needs": {"cpus": 4, "memory_mib": 10},
  "states": {"transitions": [
    {"when": {"down": "sensors"}, "to": "degraded"},
    {"when": {"silent": "/distance", "for_ms": 100}, "to": "safe_stop"}]}
})"}};

TEST(Include, PutsNamesTopicsAndStatesIntoItsNamespace) {
  const Configuration c = whole(R"({
    "variables": {"limit": 5},
    "include": [
      {"file": "parts/corner.json", "namespace": "front", "variables": {"limit": "${limit}"}},
      {"file": "parts/corner.json", "namespace": "rear", "variables": {"watched": false},
       "topics": {"/distance": "/rear_distance"}}],
    "processes": {"main": {"components": {"view": {"library": "v.so", "class": "View"}}}},
    "topics": {"/front/distance": {"depth": 9}},
    "needs": {"cpus": 2, "memory_mib": 20},
    "states": {"transitions": [{"when": {"given_up": "front.driving"}, "to": "safe_stop"}]}
  })",
                                kCorner);
  EXPECT_EQ(names(c),
            (Names{"front.sensors/front.radar", "front.driving/front.brake", "rear.sensors/rear.radar", "main/view"}));
  const Component& brake = *c.component("front.brake");
  EXPECT_EQ(brake.parameters.at("limit"), Value(5.0));  // of the type that the included file says
  EXPECT_EQ(brake.parameters.at("name"), Value("front"));
  EXPECT_EQ(brake.bus_name("/command"), "/front/brake");
  EXPECT_EQ(brake.bus_name("/distance"), "/front/distance");
  EXPECT_EQ(c.component("rear.radar")->bus_name("/distance"), "/rear_distance");
  EXPECT_EQ(c.component("view")->bus_name("/distance"), "/distance");
  EXPECT_EQ(c.topics.at("/front/distance").depth, 9U);  // the file that includes has the last word
  EXPECT_EQ(c.topics.at("/front/distance").writers, 1);
  EXPECT_EQ(c.topics.at("/rear_distance").depth, 4U);
  EXPECT_EQ(c.needs, (Needs{4, std::uint64_t{20} << 20U, false}));
  ASSERT_EQ(c.transitions.size(), 5U);
  EXPECT_EQ(c.transitions[0].when.names, Names{"front.driving"});  // its own come first
  EXPECT_EQ(c.transitions[1].when.names, Names{"front.sensors"});
  EXPECT_EQ(c.transitions[4].when.names, Names{"/rear_distance"});
  // Where its library is looked for, and where editors jump to.
  EXPECT_EQ(c.file_of(brake), "parts/corner.json");
  EXPECT_EQ(c.file_of(*c.component("view")), "car.json");
  EXPECT_EQ(c.source.line(c.source.key(brake.pointer)), "line 5 of parts/corner.json");
}

TEST(Include, RecordersAndProgramsAreOfTheirFile) {
  const Configuration c =
      whole(R"({"include": [{"file": "parts/box.json", "namespace": "front", "topics": {"/tf": "/tf"}}]})",
            {{"parts/box.json", R"({"processes": {
    "events": {"record": {"topics": ["/image", "/tf", "*/debug"], "exclude": "/raw", "output": "events", "last_s": 1, "on": {"message": "/alarm"}}},
    "gui": {"command": ["./gui"]}}})"}});
  ASSERT_EQ(c.processes.size(), 2U);
  const Record& record = c.processes[0].record.value();
  EXPECT_EQ(c.processes[0].name, "front.events");
  EXPECT_EQ(record.topics, (Names{"/front/image", "/tf", "*/debug"}));
  EXPECT_EQ(record.exclude, Names{"/front/raw"});
  EXPECT_EQ(record.on->messages, Names{"/front/alarm"});
  EXPECT_EQ(record.output, "parts/events");
  EXPECT_EQ(c.processes[1].command, Names{"parts/./gui"});
}

TEST(Include, NestsAndLooksFromItsOwnFolder) {
  const Files files = {
      {"config/a/side.json", R"({"include": [{"file": "../b/one.json", "namespace": "${namespace}"}], "name": "x"})"},
      {"config/b/one.json", R"({"processes": {"p": {)" + kOneComponent + R"(}}, "topics": {"/t": {"depth": 2}}})"}};
  const Configuration c =
      whole(R"({"include": [{"file": "a/side.json", "namespace": "left"}]})", files, {}, "config/car.json");
  EXPECT_EQ(c.name, "car");
  EXPECT_EQ(names(c), Names{"left.left.p/left.left.c"});
  EXPECT_EQ(c.processes[0].components[0].bus_name("/t"), "/left/left/t");
  EXPECT_EQ(c.topics.at("/left/left/t").depth, 2U);
  EXPECT_EQ(c.file_of(c.processes[0].components[0]), "config/b/one.json");
}

TEST(Include, ANameThatNothingInsideHasIsReported) {
  const std::string radar = R"("radar": {"class": "Radar", "library": "./a.so")";
  const Files files = {{"corner.json", R"({"variables": {"near": false}, "processes": {"p": {"components": {)" + radar +
                                           R"(, "topics": {"/out": "/points"}, "instances": {"left": {}}}}}}})"},
                       {"side.json", R"({"include": [{"file": "corner.json", "namespace": "corner",
                           "topics": {"/left/clock": "/clock", "/left/clok": "/clock"}}]})"}};
  const auto warnings = [&](const std::string& topics) {
    const Configuration c = whole(
        R"({"include": [{"file": "side.json", "namespace": "front",
        "topics": {)" +
            topics + "}}]}",
        files);
    Declarations declared;
    for (const char* topic : {"/out", "/clock"})
      declared.endpoints.push_back({"front.corner.left.radar", topic, "std_msgs/msg/String", 4, true, {}});
    std::vector<std::string> lines;
    for (const Problem& problem : check(c, declared, {.cpus = 8, .memory_bytes = std::uint64_t{16} << 30U}))
      lines.push_back(config::text(problem, "car.json"));
    return lines;
  };
  const std::string wrong_inside =
      "side.json:2:64: warning: no component of the included file uses topic '/left/clok' — did you mean "
      "'/left/clock'?";
  EXPECT_EQ(warnings(R"("/corner/points": "/points", "/clock": "/time")"), Names{wrong_inside});
  EXPECT_EQ(warnings(R"("/corner/poinst": "/points")"),
            (Names{"car.json:2:20: warning: no component of the included file uses topic '/corner/poinst' — did you "
                   "mean '/corner/points'?",
                   wrong_inside}));
}

TEST(Include, IsLeftOutByWhenWithItsNames) {
  const std::string file = R"({"variables": {"rear": false},
    "include": [{"file": "not-there.json", "namespace": "rear", "when": "rear"}],
    "processes": {"p": {)" +
                           kOneComponent + R"(}},
    "states": {"transitions": [{"when": {"down": ["p", "rear.p"]}, "to": "degraded"}]}})";
  EXPECT_EQ(whole(file).transitions.at(0).when.names, Names{"p"});
}

TEST(Include, TransitionsForgetTheSilenceOfANamespaceThatIsLeftOut) {
  const auto topics = [](const std::string& silent, const std::string& component = kOneComponent) {
    const std::string file = R"({"variables": {"rear": false},
      "include": [{"file": "not-there.json", "namespace": "rear", "when": "rear"}],
      "processes": {"p": {)" +
                             component +
                             R"(}},
      "states": {"transitions": [{"when": {"silent": )" +
                             silent + R"(, "for_ms": 100}, "to": "safe_stop"}]}})";
    const Configuration c = whole(file);
    return c.transitions.empty() ? Names{} : c.transitions[0].when.names;
  };
  EXPECT_EQ(topics(R"("/rear/points")"), Names{}) << "nobody is there to publish it";
  EXPECT_EQ(topics(R"(["/rear/points", "/front/points"])"), Names{"/front/points"});
  EXPECT_EQ(topics(R"("/rearview")"), Names{"/rearview"});
  EXPECT_EQ(topics(R"("/rear/points")",
                   R"("components": {"c": {"library": "l.so", "class": "C", "topics": {"/out": "/rear/points"}}})"),
            Names{"/rear/points"})
      << "another one publishes it there";
}

TEST(Include, AnIncludeThatIsLeftOutWithoutANamespaceIsKnownByItsNames) {
  const std::string lidar = R"({"variables": {"x": 1}, "include": [{"file": "more.json"},
    {"file": "no.json", "namespace": "deep"}], "processes": {"lidar": {"components": {
    "driver": {"library": "l.so", "class": "D", "instances": {"left": {}, "right": {}}},
    "one": {"library": "l.so", "class": "D"}}}}})";
  const Files files = {
      {"parts/lidar.json", lidar},
      {"parts/more.json", R"({"include": [{"file": "lidar.json"}], "processes": {"more": {)" + kOneComponent + "}}}"}};
  const std::string file = R"({"variables": {"lidar": false},
    "include": [{"file": "parts/lidar.json", "when": "lidar"}, {"file": "not-there.json", "when": "lidar"}],
    "processes": {"p": {"components": {"mine": {"library": "l.so", "class": "C"}}}},
    "states": {"transitions": [
      {"when": {"down": "lidar"}, "to": "safe_stop"},
      {"when": {"down": ["p", "lidar", "left.driver", "one", "more", "c", "deep.x"]}, "to": "degraded"}]}})";
  const Configuration c = whole(file, files);
  ASSERT_EQ(c.transitions.size(), 1U);
  EXPECT_EQ(c.transitions[0].when.names, Names{"p"});
  std::vector<Problem> problems;
  (void)read(R"({"variables": {"lidar": false}, "include": [{"file": "parts/lidar.json", "when": "lidar"}],
    "processes": {"p": {)" +
                 kOneComponent + R"(}}, "states": {"transitions": [{"when": {"down": "lidr"}, "to": "safe_stop"}]}})",
             problems, files);
  EXPECT_EQ(problems.size(), 1U) << "a name that is nobody's is still wrong\n" << shown(problems);
}

TEST(Include, WithoutNamespaceKeepsNames) {
  const Files files = {{"a.json", R"({"processes": {"a": {)" + kOneComponent + "}}}"}};
  EXPECT_EQ(names(whole(R"({"include": [{"file": "a.json"}]})", files)), Names{"a/c"});
  expect_problem(
      "{\"include\": [{\"file\": \"a.json\"}],\n\"processes\": {\"a\": {\"components\": {\"d\": {\"library\": \"l\", "
      "\"class\": \"D\"}}}}}",
      "car.json:2:15", "process 'a' already exists (line 1 of a.json)", "namespace", files);
  expect_problem("{\"include\": [{\"file\": \"a.json\"}],\n\"processes\": {\"b\": {" + kOneComponent + "}}}",
                 "car.json:2", "component 'c' is in process 'a' too (line 1 of a.json)", "rename one 'c'", files);
}

TEST(Include, ErrorsInAnIncludedFileHaveTheirFileAndLine) {
  const std::string car = "{\"include\": [\n{\"file\": \"a.json\", \"namespace\": \"x\"}]}";
  const auto in = [&](const std::string& text, const std::string& place, const std::string& cause,
                      const std::string& remedy) { expect_problem(car, place, cause, remedy, {{"a.json", text}}); };
  in("{\n\"processes\": {\"p\": {" + kOneComponent + ", \"memory_mb\": 1}}}", "a.json:2",
     "process 'x.p' has no 'memory_mb'", "memory_mib");
  in("{\n\"processes\": {\"p\": {" + kOneComponent + "}},\n}", "a.json:2", "the last ','", "remove");
  in("{\n\"processes\": {\"p\": {" + kOneComponent, "a.json:2", "the file ends", "");
  in("[1]", "car.json:2:10", "a.json does not hold an object", "processes");
  in("{\n\"domain\": \"other\", \"processes\": {\"p\": {" + kOneComponent + "}}}", "a.json:2:11",
     "the domain here is 'other'", "remove it here");
  in("{\n\"processes\": {\"p\": {" + kOneComponent + "}}, \"topic\": {}}", "a.json:2", "the file has no 'topic'",
     "topics");
  in("{\n\"processes\": {\"p\": {\"components\": {\"c\": {\"library\": \"l\", \"class\": \"C\", \"topics\": {\"/a\": "
     "\"b\"}}}}}}",
     "a.json:2", "", "start with '/'");
  expect_problem(car, "car.json:2:10", "cannot read a.json", "from the folder of car.json");
  expect_problem("{\"include\": [\n{\"file\": \"a.json\", \"variables\": {\"n\": 1}}]}", "car.json:2:34",
                 "a.json has no variable 'n'", "that file",
                 {{"a.json", "{\"processes\": {\"p\": {" + kOneComponent + "}}}"}});
  expect_problem("{\"include\": [\n{\"namespace\": \"a\"}]}", "car.json:2", "include 1 has no 'file'", "add \"file\"");
}

TEST(Include, TwoThatSetATopicDifferentlyMustBeReconciled) {
  const Files files = {{"a.json", R"({"processes": {"a": {)" + kOneComponent +
                                      R"(}}, "topics": {"/t": {"depth": 2, "reliable": true}}})"},
                       {"b.json", "{\"topics\": {\"/t\": {\n\"depth\": 3, \"reliable\": true}}}"}};
  const std::string includes = R"({"include": [{"file": "a.json"}, {"file": "b.json"}])";
  expect_problem(includes + "}", "b.json:2:10", "'depth' of topic '/t' has another value in line 1 of a.json",
                 "set it in 'topics' of car.json", files);
  EXPECT_EQ(whole(includes + R"(, "topics": {"/t": {"depth": 5}}})", files).topics.at("/t").depth, 5U);
}

TEST(Include, CheckAndGraphSeeTheWhole) {
  const Configuration c = whole(R"({"include": [{"file": "parts/corner.json", "namespace": "front"}]})", kCorner);
  Declarations d;
  d.endpoints = {{"front.radar", "/distance", "Distance", 1, true, {}},
                 {"front.brake", "/distance", "Distance", 2, false, {}}};
  d.parameters = {{"front.brake", "name", "", {}, {}, ""}};
  const std::vector<Problem> problems =
      check(c, d, {.cpus = 8, .memory_bytes = std::uint64_t{1} << 32U, .realtime = true});
  std::string all;
  for (const Problem& p : problems) all += text(p, "car.json") + "\n";
  EXPECT_NE(all.find("parts/corner.json:5:51: error: topic '/front/distance' is Distance for component 'front.radar'"),
            std::string::npos)
      << all;
  EXPECT_NE(all.find("parts/corner.json:6:22: error: component 'front.brake' has no parameter 'limit'"),
            std::string::npos)
      << all;
  const std::string drawn = mermaid(make_graph(c, d));
  EXPECT_NE(drawn.find("/front/distance"), std::string::npos) << drawn;
  EXPECT_NE(drawn.find("front.sensors"), std::string::npos) << drawn;
}

}  // namespace
}  // namespace cardan::config
