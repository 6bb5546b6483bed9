# SPDX-License-Identifier: Apache-2.0
"""Programs for type checkers, never run. Each line with the comment "wrong" is a mistake that they must find; all others are right."""

from dataclasses import dataclass

import numpy as np

import cardan


@cardan.message("my_msgs/msg/Car")
@dataclass
class Car:
    speed: float = 0.0


FRONT = cardan.Topic("/front", cardan.Image, max_bytes=3)
BOXES = cardan.Topic("/boxes", cardan.Detections2D, max_bytes=3)
CARS = cardan.Topic("/car", Car)
cardan.Topic("/front", cardan.Image, max_byte=3)  # wrong
cardan.Topic("/front", 5)  # wrong
cardan.Subscriber("/front")  # wrong
cardan.to_dict({})  # wrong


def images(frame: cardan.Image) -> float:
    frame.hieght  # wrong
    frame.header.stmap  # wrong
    frame.height.rows  # wrong
    frame.encoding + 1  # wrong
    frame.matt  # wrong
    return float(frame.mat.mean()) + frame.height + frame.header.stamp + len(frame.encoding) + int(frame.data[0]) + frame.age


def boxes(found: cardan.Detections2D) -> None:
    for box in found.detections:
        box.center  # wrong
        box.center_x + box.score + len(box.label)
    found.detections[0].labell  # wrong
    found.detections[0].label.upper()
    found.detection  # wrong


def poses(pose: cardan.PoseStamped, imu: cardan.Imu, cloud: cardan.PointCloud) -> float:
    pose.pose.position.w  # wrong
    imu.angular_velocity.yaw  # wrong
    cloud.fields[0].nam  # wrong
    return pose.pose.orientation.w + imu.angular_velocity.x + float(imu.orientation_covariance[0]) + cloud.fields[0].offset


def filled() -> None:
    with FRONT.publisher().loan() as frame:
        frame.height = "tall"  # wrong
        frame.hieght = 3  # wrong
        frame.encoding = 8  # wrong
        frame.height = np.uint32(3)
        frame.header = {"stamp": 1}
        frame.header.stamp = 1
        frame.data = [1, 2, 3]
        frame.mat = np.zeros((2, 2), np.uint8)
    with BOXES.publisher().loan() as found:
        found.detections = [{"label": "x"}]
        found.detections = 3  # wrong
        found.detections[0].score = 1


def received() -> None:
    for frame in FRONT.subscriber():
        frame.hieght  # wrong
    for car in CARS.subscriber():
        car.value.sped  # wrong
        car.value.speed + 1
        car.speed  # a Sample has the dataclass's fields; type checkers know them of `value` alone
    for other in cardan.Topic("/other").subscriber():
        other.whatever
    for some in cardan.Bag("drive.mcap").read("/front", type=cardan.Image):
        some.hieght  # wrong
    kind = cardan.from_ros2msg("my_msgs/msg/One", "int32 x")
    one = cardan.Topic("/one", kind).subscriber().take()
    one.x  # wrong
    if one is not None:
        one.x + 1


class Detector(cardan.Component):
    def on_start(self, context: cardan.Context) -> None:
        context.input(FRONT, self.on_image)
        context.input(BOXES, self.on_image)  # wrong
        self.limit = context.parameter("limit", 0.5)
        self.limit.valu  # wrong
        context.output(FRONT).publish(height=3)

    def on_image(self, frame: cardan.Image) -> None:
        frame.widht  # wrong
