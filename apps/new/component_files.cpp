// SPDX-License-Identifier: Apache-2.0
// The files of `cardan new component`: one component that counts, its configuration and its test.
#include <array>

#include "apps/new/templates.hpp"

namespace cardan::apps {
namespace {

constexpr std::array kComponentFiles{
    NewFile{"CMakeLists.txt", R"(cmake_minimum_required(VERSION 3.22)
project(@name@ CXX)
find_package(cardan REQUIRED)
# As fast as it will run, unless -DCMAKE_BUILD_TYPE says otherwise.
if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Debug, Release or RelWithDebInfo" FORCE)
endif()

# Loaded at run time: a module, not a library to link with.
add_library(@name@_components MODULE @name@.cpp)
target_link_libraries(@name@_components PRIVATE cardan::cardan)
# `cardan` looks for libraries next to the configuration.
set_target_properties(@name@_components PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR})

enable_testing()
add_executable(@name@_test @name@_test.cpp @name@.cpp)
target_link_libraries(@name@_test PRIVATE cardan::cardan)
add_test(NAME @name@ COMMAND @name@_test)
)"},
    NewFile{"topics.hpp", R"(// The messages and topics of @name@. Publishers and subscribers include this file.
#pragma once

#include <cstdint>

#include "cardan/message.hpp"
#include "cardan/topic.hpp"

struct @Class@State {
  std::int64_t count = 0;
};
CARDAN_MESSAGE(@Class@State, "@name@/msg/State", count);

inline constexpr cardan::Topic<@Class@State> k@Class@State{"/@name@/state"};
)"},
    NewFile{"@name@.cpp", R"(// The component @Class@: counts, ten times a second.
#include <chrono>

#include "cardan/component.hpp"
#include "topics.hpp"

class @Class@ : public cardan::Component {
  void on_start(cardan::Context& context) override {
    using namespace std::chrono_literals;
    step_ = context.parameter("step", 1.0, {.min = 0.0, .max = 1000.0, .description = "what each turn adds"});
    state_ = context.output(k@Class@State);
    context.timer(100ms, [this] {
      count_ += static_cast<std::int64_t>(*step_);
      state_.publish({.count = count_});
    });
  }
  cardan::Parameter<double> step_;
  cardan::Output<@Class@State> state_;
  std::int64_t count_ = 0;
};
CARDAN_COMPONENT(@Class@)
)"},
    NewFile{"@name@.json", R"({
@schema@  "name": "@name@",
  "processes": {
    "main": {
      "components": {
        "@name@": {"library": "lib@name@_components.so", "class": "@Class@", "parameters": {"step": 2.0}}
      }
    }
  }
}
)"},
    NewFile{"@name@_test.cpp",
            R"(// Runs the component on its own clock: no processes, no waiting, and the same result each time.
#include <chrono>
#include <cstdio>

#include "cardan/simulation.hpp"
#include "topics.hpp"

int main() {
  using namespace std::chrono_literals;
  cardan::Simulation simulation;
  simulation.add({.name = "@name@", .class_name = "@Class@", .parameters = {{"step", 3.0}}});
  const auto& states = simulation.collect(k@Class@State);
  simulation.start();
  simulation.run_for(1s);
  if (states.size() < 10 || states[0]->count != 3 || states[1]->count != 6) {
    std::fprintf(stderr, "got %zu states\n", states.size());
    return 1;
  }
  std::puts("@Class@ counts in steps");
}
)"},
};

}  // namespace

std::span<const NewFile> component_files() noexcept { return kComponentFiles; }

}  // namespace cardan::apps
