# SPDX-License-Identifier: Apache-2.0
"""Cardan: topics of one vehicle computer over shared memory, without a copy.

    front = cardan.Topic("/camera/front", cardan.Image, max_bytes=1920 * 1200 * 3)
    with front.subscriber() as sub:
        for frame in sub:
            detect(frame.mat)

Durations that are given are in seconds; points in time are in nanoseconds. See docs/python.md.
"""

from __future__ import annotations

import typing

from cardan._bag import Bag
from cardan._cardan import Event, FusionPolicy, Message, Records, request_stop, stop_on_signals, stopping
from cardan._cardan import __version__ as __version__
from cardan._classes import Info, Sample, from_ros2msg, info, structured, to_dict
from cardan._component import Component, Context, Latest, Output, Parameter, ServiceClient
from cardan._contract import Waiting, anticipate, block, follow, prewake, spin_then_block
from cardan._errors import Error, NoAnswer
from cardan._fusion import approximate, exact, primary
from cardan._messages import (
    CompressedImage,
    Detection2D,
    Detection3D,
    Detections2D,
    Detections3D,
    Header,
    Image,
    Imu,
    Point,
    PointCloud,
    PointField,
    Pose,
    PoseStamped,
    Quaternion,
    Vector3,
)
from cardan._publisher import Loan, Publisher
from cardan._recorded import Encoded, RecordingWarning
from cardan._recorder import Player, Recorder, play, record
from cardan._selection import BagTopic, Selection
from cardan._service import AnswerLoan, Client, Question, Server, Service, Ticket
from cardan._simulation import Simulation
from cardan._subscriber import Subscriber
from cardan._topic import Topic
from cardan._transforms import Frame, NoTransform, StaticTransform, TransformOutput, TransformProblem, Transforms
from cardan._types import (
    Length,
    MaxLength,
    float32,
    float64,
    int8,
    int16,
    int32,
    int64,
    message,
    uint8,
    uint16,
    uint32,
    uint64,
)
from cardan._wait import Timer, wait_any

if typing.TYPE_CHECKING:
    from cardan._cardan import AnyMessage
else:
    AnyMessage = Message

__all__ = [
    "AnswerLoan",
    "AnyMessage",
    "Bag",
    "BagTopic",
    "Client",
    "Component",
    "CompressedImage",
    "Context",
    "Detection2D",
    "Detection3D",
    "Detections2D",
    "Detections3D",
    "Encoded",
    "Error",
    "Event",
    "Frame",
    "FusionPolicy",
    "Header",
    "Image",
    "Imu",
    "Info",
    "Latest",
    "Length",
    "Loan",
    "MaxLength",
    "Message",
    "NoAnswer",
    "NoTransform",
    "Output",
    "Parameter",
    "Player",
    "Point",
    "PointCloud",
    "PointField",
    "Pose",
    "PoseStamped",
    "Publisher",
    "Quaternion",
    "Question",
    "Recorder",
    "RecordingWarning",
    "Records",
    "Sample",
    "Selection",
    "Server",
    "Service",
    "ServiceClient",
    "Simulation",
    "StaticTransform",
    "Subscriber",
    "Ticket",
    "Timer",
    "Topic",
    "TransformOutput",
    "TransformProblem",
    "Transforms",
    "Vector3",
    "Waiting",
    "anticipate",
    "approximate",
    "block",
    "exact",
    "float32",
    "float64",
    "follow",
    "from_ros2msg",
    "info",
    "int8",
    "int16",
    "int32",
    "int64",
    "message",
    "play",
    "prewake",
    "primary",
    "record",
    "request_stop",
    "spin_then_block",
    "stop_on_signals",
    "stopping",
    "structured",
    "to_dict",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "wait_any",
]
