// SPDX-License-Identifier: Apache-2.0
// The files of `cardan new … --python`: the same systems with components in Python.
#include <array>

#include "apps/new/templates.hpp"

namespace cardan::apps {
namespace {

constexpr std::array kPythonComponentFiles{
    NewFile{"@name@_components.py", R"("""The message, the topic and the component of @name@."""

from dataclasses import dataclass

import cardan


@cardan.message("@name@/msg/State")
@dataclass
class State:
    count: int = 0


STATE = cardan.Topic("/@name@/state", State)


class @Class@Component(cardan.Component):
    """Counts, ten times a second."""

    def on_start(self, context: cardan.Context) -> None:
        self.count = 0
        self.step = context.parameter("step", 1.0, min=0.0, max=1000.0, description="what each turn adds")
        self.state = context.output(STATE)
        context.timer(0.1, self.turn)

    def turn(self) -> None:
        self.count += int(self.step.value)
        self.state.publish(State(count=self.count))
)"},
    NewFile{"@name@.json", R"({
@schema@  "name": "@name@",
  "processes": {
    "main": {
      "components": {
        "@name@": {"python": "@name@_components:@Class@Component", "parameters": {"step": 2.0}}
      }
    }
  }
}
)"},
    NewFile{"test_@name@.py",
            R"("""Runs the component on its own clock: no processes, no waiting, and the same result each time."""

import unittest

import cardan
from @name@_components import STATE, @Class@Component


class @Class@Test(unittest.TestCase):
    def test_it_counts_ten_times_a_second(self) -> None:
        with cardan.Simulation() as simulation:
            simulation.add("@name@", @Class@Component, {"step": 3.0})
            states = simulation.collect(STATE)
            simulation.start()
            simulation.run_for(1)
            self.assertEqual([state.count for state in states], list(range(3, 33, 3)))


if __name__ == "__main__":
    unittest.main()
)"},
};

constexpr std::array kPythonProjectFiles{
    NewFile{"@name@_components.py", R"("""The messages, the topics and the components of @name@."""

from dataclasses import dataclass

import cardan


@cardan.message("@name@/msg/Distance")
@dataclass
class Distance:
    metres: float = 0.0


@cardan.message("@name@/msg/Command")
@dataclass
class Command:
    brake: bool = False


DISTANCE = cardan.Topic("/@name@/distance", Distance)
COMMAND = cardan.Topic("/@name@/command", Command)


class Sensor(cardan.Component):
    """A component with a timer: a sensor that sees something come nearer, again and again."""

    def on_start(self, context: cardan.Context) -> None:
        self.metres = 20.0
        self.distance = context.output(DISTANCE)
        context.timer(0.05, self.look)

    def look(self) -> None:
        self.metres = 20.0 if self.metres < 1 else self.metres - 0.5
        self.distance.publish(Distance(metres=self.metres))


class Controller(cardan.Component):
    """A component with an input: brakes when something is near."""

    def on_start(self, context: cardan.Context) -> None:
        self.limit = context.parameter("limit_m", 8.0, min=0.0, max=100.0, description="brakes below, metres")
        self.command = context.output(COMMAND)
        context.input(DISTANCE, self.on_distance)

    def on_distance(self, distance: Distance) -> None:
        self.command.publish(Command(brake=distance.metres < self.limit.value))
)"},
    NewFile{"@name@.json", R"({
@schema@  "name": "@name@",
  "processes": {
    "sensing": {
      "components": {"sensor": {"python": "@name@_components:Sensor"}}
    },
    "driving": {
      "components": {
        "controller": {"python": "@name@_components:Controller", "parameters": {"limit_m": 6.0}, "watchdog_ms": 500}
      }
    }
  },
  "topics": {"/@name@/distance": {"deadline_ms": 500, "writers": 1}}
}
)"},
    NewFile{
        "test_@name@.py",
        R"("""Gives the controller messages, on its own clock: no processes, no waiting, and the same result each time."""

import unittest

import cardan
from @name@_components import COMMAND, DISTANCE, Controller


class ControllerTest(unittest.TestCase):
    def test_it_brakes_below_its_limit(self) -> None:
        with cardan.Simulation() as simulation:
            simulation.add("controller", Controller, {"limit_m": 5.0})
            commands = simulation.collect(COMMAND)
            simulation.start()
            for metres in (12.0, 4.9):
                simulation.push(DISTANCE, metres=metres)
                simulation.run()
            self.assertEqual([command.brake for command in commands], [False, True])


if __name__ == "__main__":
    unittest.main()
)"},
};

}  // namespace

std::span<const NewFile> python_component_files() noexcept { return kPythonComponentFiles; }
std::span<const NewFile> python_project_files() noexcept { return kPythonProjectFiles; }

}  // namespace cardan::apps
