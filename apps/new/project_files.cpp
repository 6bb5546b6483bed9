// SPDX-License-Identifier: Apache-2.0
// The files of `cardan new project`: a sensor and a controller in two processes, their configuration and a test.
#include <array>

#include "apps/new/templates.hpp"

namespace cardan::apps {
namespace {

constexpr std::array kProjectFiles{
    NewFile{"CMakeLists.txt", R"(cmake_minimum_required(VERSION 3.22)
project(@name@ CXX)
find_package(cardan REQUIRED)
# As fast as it will run, unless -DCMAKE_BUILD_TYPE says otherwise.
if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Debug, Release or RelWithDebInfo" FORCE)
endif()

# Loaded at run time: a module, not a library to link with.
add_library(@name@_components MODULE sensor.cpp controller.cpp)
target_link_libraries(@name@_components PRIVATE cardan::cardan)
# `cardan` looks for libraries next to the configuration.
set_target_properties(@name@_components PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR})

enable_testing()
add_executable(controller_test controller_test.cpp controller.cpp)
target_link_libraries(controller_test PRIVATE cardan::cardan)
add_test(NAME controller COMMAND controller_test)
)"},
    NewFile{"topics.hpp", R"(// The messages and topics of @name@. Publishers and subscribers include this file.
#pragma once

#include "cardan/message.hpp"
#include "cardan/topic.hpp"

struct Distance {
  double metres = 0;
};
CARDAN_MESSAGE(Distance, "@name@/msg/Distance", metres);

struct Command {
  bool brake = false;
};
CARDAN_MESSAGE(Command, "@name@/msg/Command", brake);

inline constexpr cardan::Topic<Distance> kDistance{"/@name@/distance"};
inline constexpr cardan::Topic<Command> kCommand{"/@name@/command"};
)"},
    NewFile{"sensor.cpp", R"(// A component with a timer: a sensor that sees something come nearer, again and again.
#include <chrono>

#include "cardan/component.hpp"
#include "topics.hpp"

class Sensor : public cardan::Component {
  void on_start(cardan::Context& context) override {
    using namespace std::chrono_literals;
    out_ = context.output(kDistance);
    context.timer(50ms, [this] {
      metres_ = metres_ < 1 ? 20 : metres_ - 0.5;
      out_.publish({.metres = metres_});
    });
  }
  cardan::Output<Distance> out_;
  double metres_ = 20;
};
CARDAN_COMPONENT(Sensor)
)"},
    NewFile{"controller.cpp", R"(// A component with an input: brakes when something is near.
#include "cardan/component.hpp"
#include "topics.hpp"

class Controller : public cardan::Component {
  void on_start(cardan::Context& context) override {
    limit_ = context.parameter("limit_m", 8.0, {.min = 0.0, .max = 100.0, .description = "brakes below, metres"});
    command_ = context.output(kCommand);
    context.input(kDistance, [this](const cardan::Sample<Distance>& distance) {
      command_.publish({.brake = distance->metres < *limit_});
    });
  }
  cardan::Parameter<double> limit_;
  cardan::Output<Command> command_;
};
CARDAN_COMPONENT(Controller)
)"},
    NewFile{"@name@.json", R"({
@schema@  "name": "@name@",
  "processes": {
    "sensing": {
      "components": {"sensor": {"library": "lib@name@_components.so", "class": "Sensor"}}
    },
    "driving": {
      "components": {
        "controller": {"library": "lib@name@_components.so", "class": "Controller", "parameters": {"limit_m": 6.0}, "watchdog_ms": 500}
      }
    }
  },
  "topics": {"/@name@/distance": {"deadline_ms": 500, "writers": 1}}
}
)"},
    NewFile{
        "controller_test.cpp",
        R"(// Gives the component samples, on its own clock: no processes, no waiting, and the same result each time.
#include <cstdio>

#include "cardan/simulation.hpp"
#include "topics.hpp"

int main() {
  cardan::Simulation simulation;
  simulation.add({.name = "controller", .class_name = "Controller", .parameters = {{"limit_m", 5.0}}});
  const auto& commands = simulation.collect(kCommand);
  simulation.start();
  for (const double metres : {12.0, 4.9}) {
    simulation.push(kDistance, {.metres = metres});
    simulation.run();
  }
  if (commands.size() != 2 || commands[0]->brake || !commands[1]->brake) {
    std::fprintf(stderr, "got %zu commands\n", commands.size());
    return 1;
  }
  std::puts("the controller brakes below its limit");
}
)"},
};

}  // namespace

std::span<const NewFile> project_files() noexcept { return kProjectFiles; }

}  // namespace cardan::apps
