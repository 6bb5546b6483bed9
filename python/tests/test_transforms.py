# SPDX-License-Identifier: Apache-2.0
"""Transforms as 4 × 4 arrays: alone, in components, in a simulation, and what is refused."""

from __future__ import annotations

import threading

import numpy as np
import pytest

import cardan

LONG = 60.0


def place(x: float = 0.0, yaw: float = 0.0) -> np.ndarray:
    c, s = np.cos(yaw), np.sin(yaw)
    return np.array([[c, -s, 0, x], [s, c, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]])


def test_lookup_is_a_matrix() -> None:
    lidar = cardan.StaticTransform("base_link", "lidar", place(1.0, 0.5), domain="tf1")
    out = cardan.TransformOutput(domain="tf1")
    out.publish("map", "base_link", 100, place(10.0))
    out.publish("map", "base_link", 200, place(20.0, 1.0))
    tf = cardan.Transforms(domain="tf1")
    found = tf.wait("map", "lidar", 150, timeout=LONG)
    assert np.allclose(found, place(15.0, 0.5) @ place(1.0, 0.5), atol=1e-12)
    assert np.allclose(tf.lookup("lidar", "map", 150) @ found, np.eye(4), atol=1e-12)
    moved = tf.lookup_across("base_link", 200, "base_link", 100, "map")
    assert np.allclose(moved, np.linalg.inv(place(20.0, 1.0)) @ place(10.0), atol=1e-12)
    frames = {frame.name: frame for frame in tf.frames()}
    assert (frames["lidar"].parent, frames["lidar"].is_static, frames["map"].parent) == ("base_link", True, "")
    assert frames["base_link"].newest_stamp == 200
    assert tf.problems() == []
    tf.clear()
    with pytest.raises(cardan.NoTransform):
        tf.lookup("map", "lidar")
    del lidar


def test_the_reason_is_an_error() -> None:
    out = cardan.TransformOutput(domain="tf2")
    out.publish("map", "base_link", 1_000_000_000, place(1.0))
    tf = cardan.Transforms(domain="tf2")
    tf.wait("map", "base_link", timeout=LONG)
    with pytest.raises(cardan.NoTransform, match="did you mean 'base_link'") as error:
        tf.lookup("map", "base_lnik")
    assert (error.value.reason, error.value.frame) == ("unknown frame", "base_lnik")
    with pytest.raises(cardan.NoTransform, match="12 ms") as error:
        tf.wait("map", "base_link", 1_012_000_000, timeout=0.01)
    assert error.value.reason == "too new"
    assert error.value.beyond == pytest.approx(0.012)


def test_wrong_places_are_refused() -> None:
    out = cardan.TransformOutput(domain="tf3")
    for wrong in (np.eye(3), np.full((4, 4), np.nan), np.diag([1, 1, -1, 1]), np.diag([2, 1, 1, 1]), np.ones((4, 4))):
        with pytest.raises(cardan.Error):
            out.publish("map", "car", 1, wrong)
    with pytest.raises(cardan.Error, match="not valid"):
        out.publish("map", "map", 1, np.eye(4))
    with pytest.raises(cardan.Error, match="not valid"):
        cardan.StaticTransform("map", "x" * 61, np.eye(4))
    with pytest.raises(cardan.Error):
        cardan.Transforms(history=0.0)


def test_each_rotation_comes_back() -> None:
    random = np.random.default_rng(5)
    out = cardan.TransformOutput(domain="tf4")
    tf = cardan.Transforms(domain="tf4")
    for n in range(1, 200):
        q = random.normal(size=4)
        if n % 3 == 0:
            q[random.integers(4)] = 0  # half turns are the hard ones
        x, y, z, w = q / np.linalg.norm(q)
        m = np.eye(4)
        m[:3, :3] = [
            [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
            [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
            [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
        ]
        m[:3, 3] = random.normal(size=3)
        out.publish("map", "car", n, m)
        assert np.allclose(tf.wait("map", "car", n, timeout=LONG), m, atol=1e-12)


def test_other_threads_run_while_one_waits() -> None:
    tf = cardan.Transforms(domain="tf5")
    found: list[np.ndarray] = []
    waiting = threading.Thread(target=lambda: found.append(tf.wait("map", "car", 5, timeout=LONG)))
    waiting.start()
    out = cardan.TransformOutput(domain="tf5")
    out.publish("map", "car", 5, place(2.0))
    waiting.join(LONG)
    assert found[0][0, 3] == 2.0


class Localizer(cardan.Component):
    def on_start(self, context: cardan.Context) -> None:
        context.static_transform("base_link", "lidar", place(0.5))
        self.out = context.transform_output()
        self.n = 0
        context.timer(0.01, self.tick)

    def tick(self) -> None:
        self.n += 1
        self.out.publish("map", "base_link", self.n, place(float(self.n)))


class Asker(cardan.Component):
    def on_start(self, context: cardan.Context) -> None:
        self.tf = context.transforms()
        self.seen: list[float] = []
        context.timer(0.01, self.tick)

    def tick(self) -> None:
        self.seen.append(float(self.tf.lookup("map", "lidar")[0, 3]))


class Waiter(cardan.Component):
    def on_start(self, context: cardan.Context) -> None:
        self.tf = context.transforms()
        self.reasons: list[str] = []
        context.timer(0.01, self.tick)

    def tick(self) -> None:
        try:
            self.tf.wait("map", "lidar", timeout=600.0)
        except cardan.NoTransform as error:
            self.reasons.append(error.reason)


def test_a_simulation_does_not_wait() -> None:
    simulation = cardan.Simulation()
    waiter = simulation.add("waiter", Waiter)
    simulation.start()
    simulation.run_until(30_000_000)
    assert waiter.reasons == ["unknown frame"] * 3


def test_components_in_a_simulation() -> None:
    simulation = cardan.Simulation()
    simulation.add("localizer", Localizer)
    asker = simulation.add("asker", Asker)
    simulation.start()
    simulation.run_until(50_000_000)
    assert asker.seen == [1.5, 2.5, 3.5, 4.5, 5.5]
