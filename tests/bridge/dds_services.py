# SPDX-License-Identifier: Apache-2.0
"""The parameter services of a ROS 2 node as rmw_cyclonedds has them on the wire: each request and reply begins with the client's
number and the request's."""
from dataclasses import dataclass

import cyclonedds.idl.annotations as annotate
from cyclonedds.idl import IdlStruct
from cyclonedds.idl.types import float64, int64, sequence, uint8, uint64

SRV = "rcl_interfaces::srv::dds_::"
MSG = "rcl_interfaces::msg::dds_::"


@dataclass
@annotate.final
class Value(IdlStruct, typename=MSG + "ParameterValue_"):
    type: uint8
    bool_value: bool
    integer_value: int64
    double_value: float64
    string_value: str
    byte_array_value: sequence[uint8]
    bool_array_value: sequence[bool]
    integer_array_value: sequence[int64]
    double_array_value: sequence[float64]
    string_array_value: sequence[str]

    @staticmethod
    def of(number):
        lists = {f"{kind}_array_value": [] for kind in ("byte", "bool", "integer", "double", "string")}
        return Value(type=3, bool_value=False, integer_value=0, double_value=number, string_value="", **lists)


@dataclass
@annotate.final
class Parameter(IdlStruct, typename=MSG + "Parameter_"):
    name: str
    value: Value


@dataclass
@annotate.final
class RealRange(IdlStruct, typename=MSG + "FloatingPointRange_"):
    from_value: float64
    to_value: float64
    step: float64


@dataclass
@annotate.final
class WholeRange(IdlStruct, typename=MSG + "IntegerRange_"):
    from_value: int64
    to_value: int64
    step: uint64


@dataclass
@annotate.final
class Descriptor(IdlStruct, typename=MSG + "ParameterDescriptor_"):
    name: str
    type: uint8
    description: str
    additional_constraints: str
    read_only: bool
    dynamic_typing: bool
    floating_point_range: sequence[RealRange]
    integer_range: sequence[WholeRange]


@dataclass
@annotate.final
class Result(IdlStruct, typename=MSG + "SetParametersResult_"):
    successful: bool
    reason: str


@dataclass
@annotate.final
class ListRequest(IdlStruct, typename=SRV + "ListParameters_Request_"):
    guid: uint64
    seq: int64
    prefixes: sequence[str]
    depth: uint64


@dataclass
@annotate.final
class ListReply(IdlStruct, typename=SRV + "ListParameters_Response_"):
    guid: uint64
    seq: int64
    names: sequence[str]
    prefixes: sequence[str]


@dataclass
@annotate.final
class GetRequest(IdlStruct, typename=SRV + "GetParameters_Request_"):
    guid: uint64
    seq: int64
    names: sequence[str]


@dataclass
@annotate.final
class GetReply(IdlStruct, typename=SRV + "GetParameters_Response_"):
    guid: uint64
    seq: int64
    values: sequence[Value]


@dataclass
@annotate.final
class TypesRequest(IdlStruct, typename=SRV + "GetParameterTypes_Request_"):
    guid: uint64
    seq: int64
    names: sequence[str]


@dataclass
@annotate.final
class TypesReply(IdlStruct, typename=SRV + "GetParameterTypes_Response_"):
    guid: uint64
    seq: int64
    types: sequence[uint8]


@dataclass
@annotate.final
class DescribeRequest(IdlStruct, typename=SRV + "DescribeParameters_Request_"):
    guid: uint64
    seq: int64
    names: sequence[str]


@dataclass
@annotate.final
class DescribeReply(IdlStruct, typename=SRV + "DescribeParameters_Response_"):
    guid: uint64
    seq: int64
    descriptors: sequence[Descriptor]


@dataclass
@annotate.final
class SetRequest(IdlStruct, typename=SRV + "SetParameters_Request_"):
    guid: uint64
    seq: int64
    parameters: sequence[Parameter]


@dataclass
@annotate.final
class SetReply(IdlStruct, typename=SRV + "SetParameters_Response_"):
    guid: uint64
    seq: int64
    results: sequence[Result]


@dataclass
@annotate.final
class BareRequest(IdlStruct, typename=SRV + "ListParameters_Request_"):
    """As rmw_fastrtps writes it: its numbers are not in the message."""
    prefixes: sequence[str]
    depth: uint64


SERVICES = {
    "list_parameters": (ListRequest, ListReply),
    "get_parameters": (GetRequest, GetReply),
    "get_parameter_types": (TypesRequest, TypesReply),
    "describe_parameters": (DescribeRequest, DescribeReply),
    "set_parameters": (SetRequest, SetReply),
}
