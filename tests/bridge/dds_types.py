# SPDX-License-Identifier: Apache-2.0
"""ROS 2's messages for PyPI's cyclonedds, by the names and in the wire form that ROS 2 uses."""
from dataclasses import dataclass

import cyclonedds.idl.annotations as annotate
from cyclonedds.idl import IdlStruct
from cyclonedds.idl.types import array, float32, float64, int32, sequence, uint8, uint32
from cyclonedds.qos import Policy, Qos
from cyclonedds.util import duration


def qos(reliable=True, depth=10, transient_local=False):
    return Qos(
        Policy.Reliability.Reliable(duration(seconds=1)) if reliable else Policy.Reliability.BestEffort,
        Policy.History.KeepLast(depth),
        Policy.Durability.TransientLocal if transient_local else Policy.Durability.Volatile,
        Policy.DataRepresentation(use_cdrv0_representation=True),
        Policy.DurabilityService(0, Policy.History.KeepLast(depth), -1, -1, -1),
    )


@dataclass
@annotate.final
class Time(IdlStruct, typename="builtin_interfaces::msg::dds_::Time_"):
    sec: int32
    nanosec: uint32


@dataclass
@annotate.final
class Header(IdlStruct, typename="std_msgs::msg::dds_::Header_"):
    stamp: Time
    frame_id: str


@dataclass
@annotate.final
class Image(IdlStruct, typename="sensor_msgs::msg::dds_::Image_"):
    header: Header
    height: uint32
    width: uint32
    encoding: str
    is_bigendian: uint8
    step: uint32
    data: sequence[uint8]


@dataclass
@annotate.final
class PointField(IdlStruct, typename="sensor_msgs::msg::dds_::PointField_"):
    name: str
    offset: uint32
    datatype: uint8
    count: uint32


@dataclass
@annotate.final
class PointCloud2(IdlStruct, typename="sensor_msgs::msg::dds_::PointCloud2_"):
    header: Header
    height: uint32
    width: uint32
    fields: sequence[PointField]
    is_bigendian: bool
    point_step: uint32
    row_step: uint32
    data: sequence[uint8]
    is_dense: bool


@dataclass
@annotate.final
class String(IdlStruct, typename="std_msgs::msg::dds_::String_"):
    data: str


@dataclass
@annotate.final
class Vector3(IdlStruct, typename="geometry_msgs::msg::dds_::Vector3_"):
    x: float64
    y: float64
    z: float64


@dataclass
@annotate.final
class Quaternion(IdlStruct, typename="geometry_msgs::msg::dds_::Quaternion_"):
    x: float64
    y: float64
    z: float64
    w: float64


@dataclass
@annotate.final
class Transform(IdlStruct, typename="geometry_msgs::msg::dds_::Transform_"):
    translation: Vector3
    rotation: Quaternion


@dataclass
@annotate.final
class TransformStamped(IdlStruct, typename="geometry_msgs::msg::dds_::TransformStamped_"):
    header: Header
    child_frame_id: str
    transform: Transform


@dataclass
@annotate.final
class TFMessage(IdlStruct, typename="tf2_msgs::msg::dds_::TFMessage_"):
    transforms: sequence[TransformStamped]


@dataclass
@annotate.final
class Clock(IdlStruct, typename="rosgraph_msgs::msg::dds_::Clock_"):
    clock: Time


@dataclass
@annotate.final
class NotAnImage(IdlStruct, typename="sensor_msgs::msg::dds_::Image_"):
    """Bytes that are not an image, under its name."""
    numbers: sequence[float64]


@dataclass
@annotate.final
class Wheel(IdlStruct, typename="my_msgs::msg::dds_::Wheel_"):
    speed: float32
    name: str


@dataclass
@annotate.final
class Axle(IdlStruct, typename="my_msgs::msg::dds_::Axle_"):
    header: Header
    wheels: sequence[Wheel]


@dataclass
@annotate.final
class Unknown(IdlStruct, typename="my_msgs::msg::dds_::Unknown_"):
    number: uint32


@dataclass
@annotate.final
class Gid24(IdlStruct, typename="rmw_dds_common::msg::dds_::Gid_"):
    data: array[uint8, 24]


@dataclass
@annotate.final
class Node24(IdlStruct, typename="rmw_dds_common::msg::dds_::NodeEntitiesInfo_"):
    node_namespace: str
    node_name: str
    readers: sequence[Gid24]
    writers: sequence[Gid24]


@dataclass
@annotate.final
class Info24(IdlStruct, typename="rmw_dds_common::msg::dds_::ParticipantEntitiesInfo_"):
    """As in ROS 2 Humble and older."""
    gid: Gid24
    nodes: sequence[Node24]


@dataclass
@annotate.final
class Gid16(IdlStruct, typename="rmw_dds_common::msg::dds_::Gid_"):
    data: array[uint8, 16]


@dataclass
@annotate.final
class Node16(IdlStruct, typename="rmw_dds_common::msg::dds_::NodeEntitiesInfo_"):
    node_namespace: str
    node_name: str
    readers: sequence[Gid16]
    writers: sequence[Gid16]


@dataclass
@annotate.final
class Info16(IdlStruct, typename="rmw_dds_common::msg::dds_::ParticipantEntitiesInfo_"):
    """As from ROS 2 Iron on."""
    gid: Gid16
    nodes: sequence[Node16]


@dataclass
@annotate.final
class Log(IdlStruct, typename="rcl_interfaces::msg::dds_::Log_"):
    stamp: Time
    level: uint8
    name: str
    msg: str
    file: str
    function: str
    line: uint32


@dataclass
@annotate.final
class KeyValue(IdlStruct, typename="diagnostic_msgs::msg::dds_::KeyValue_"):
    key: str
    value: str


@dataclass
@annotate.final
class DiagnosticStatus(IdlStruct, typename="diagnostic_msgs::msg::dds_::DiagnosticStatus_"):
    level: uint8
    name: str
    message: str
    hardware_id: str
    values: sequence[KeyValue]


@dataclass
@annotate.final
class DiagnosticArray(IdlStruct, typename="diagnostic_msgs::msg::dds_::DiagnosticArray_"):
    header: Header
    status: sequence[DiagnosticStatus]
