# SPDX-License-Identifier: Apache-2.0
"""Definitions of ROS 2 messages as its recordings carry them, comments, constants and default values included, and a message of each."""
LINE = "=" * 80 + "\n"
TIME = LINE + "MSG: builtin_interfaces/Time\n# seconds of the epoch\nint32 sec\n\n# and the rest\nuint32 nanosec\n"
DURATION = LINE + "MSG: builtin_interfaces/Duration\nint32 sec\nuint32 nanosec\n"
HEADER = LINE + "MSG: std_msgs/Header\n# Two-integer timestamp\nbuiltin_interfaces/Time stamp\n\n# Transform frame\nstring frame_id\n"
POINT = LINE + "MSG: geometry_msgs/Point\n# This contains the position of a point in free space\nfloat64 x\nfloat64 y\nfloat64 z\n"
VECTOR3 = LINE + "MSG: geometry_msgs/Vector3\nfloat64 x\nfloat64 y\nfloat64 z\n"
QUATERNION = LINE + "MSG: geometry_msgs/Quaternion\nfloat64 x 0\nfloat64 y 0\nfloat64 z 0\nfloat64 w 1\n"
POSE = LINE + "MSG: geometry_msgs/Pose\nPoint position\nQuaternion orientation\n"

TEXTS = {
    "sensor_msgs/msg/Image": "std_msgs/Header header # stamp is acquisition time\nuint32 height\nuint32 width\nstring encoding\n"
                             "uint8 is_bigendian\nuint32 step\nuint8[] data\n" + HEADER + TIME,
    "sensor_msgs/msg/PointCloud2": "std_msgs/Header header\nuint32 height\nuint32 width\nPointField[] fields\nbool    is_bigendian\n"
                                   "uint32  point_step\nuint32  row_step\nuint8[] data\nbool is_dense\n" + HEADER + TIME + LINE +
                                   "MSG: sensor_msgs/PointField\nuint8 INT8    = 1\nuint8 FLOAT32 = 7\nstring name\nuint32 offset\nuint8  datatype\nuint32 count\n",
    "sensor_msgs/msg/NavSatFix": "std_msgs/Header header\nsensor_msgs/NavSatStatus status\nfloat64 latitude\nfloat64 longitude\nfloat64 altitude\n"
                                 "float64[9] position_covariance\nuint8 COVARIANCE_TYPE_UNKNOWN = 0\nuint8 position_covariance_type\n" + HEADER + TIME + LINE +
                                 "MSG: sensor_msgs/NavSatStatus\nint8 STATUS_NO_FIX =  -1\nint8 status -2\nuint16 SERVICE_GPS=1\nuint16 service\n",
    "tf2_msgs/msg/TFMessage": "geometry_msgs/TransformStamped[] transforms\n" + LINE + "MSG: geometry_msgs/TransformStamped\nstd_msgs/Header header\n"
                              "string child_frame_id\nTransform transform\n" + LINE + "MSG: geometry_msgs/Transform\nVector3 translation\nQuaternion rotation\n" +
                              HEADER + TIME + VECTOR3 + QUATERNION,
    "nav_msgs/msg/Odometry": "std_msgs/Header header\nstring child_frame_id\ngeometry_msgs/PoseWithCovariance pose\ngeometry_msgs/TwistWithCovariance twist\n" + HEADER +
                             TIME + LINE + "MSG: geometry_msgs/PoseWithCovariance\nPose pose\nfloat64[36] covariance\n" + POSE + POINT + QUATERNION + LINE +
                             "MSG: geometry_msgs/TwistWithCovariance\nTwist twist\nfloat64[36] covariance\n" + LINE +
                             "MSG: geometry_msgs/Twist\nVector3 linear\nVector3 angular\n" + VECTOR3,
    "diagnostic_msgs/msg/DiagnosticArray": "std_msgs/Header header # for timestamp\nDiagnosticStatus[] status # an array\n" + LINE +
                                           "MSG: diagnostic_msgs/DiagnosticStatus\nbyte OK=0\nbyte STALE=3\nbyte level\nstring name\nstring message\nstring hardware_id\n"
                                           "KeyValue[] values\n" + LINE + "MSG: diagnostic_msgs/KeyValue\nstring key\nstring value\n" + HEADER + TIME,
    "visualization_msgs/msg/MarkerArray": "Marker[] markers\n" + LINE + "MSG: visualization_msgs/Marker\nint32 ARROW=0\nint32 CUBE=1\nstd_msgs/Header header\nstring ns\nint32 id\n"
                                          "int32 type\nint32 action\ngeometry_msgs/Pose pose\ngeometry_msgs/Vector3 scale\nstd_msgs/ColorRGBA color\n"
                                          "builtin_interfaces/Duration lifetime\nbool frame_locked\ngeometry_msgs/Point[] points\nstd_msgs/ColorRGBA[] colors\n"
                                          "string texture_resource\nsensor_msgs/CompressedImage texture\nUVCoordinate[] uv_coordinates\nstring text\n"
                                          "string mesh_resource\nMeshFile mesh_file\nbool mesh_use_embedded_materials\n" + HEADER + TIME + DURATION + POSE + POINT + VECTOR3 +
                                          QUATERNION + LINE + "MSG: std_msgs/ColorRGBA\nfloat32 r\nfloat32 g\nfloat32 b\nfloat32 a\n" + LINE +
                                          "MSG: sensor_msgs/CompressedImage\nstd_msgs/Header header\nstring format\nuint8[] data\n" + LINE +
                                          "MSG: visualization_msgs/UVCoordinate\nfloat32 u\nfloat32 v\n" + LINE + "MSG: visualization_msgs/MeshFile\nstring filename\nuint8[] data\n",
    "std_msgs/msg/Empty": "",
    "own_msgs/msg/Bounds": "# bounds, defaults, and every number\nuint8 ON = 1\nstring GREETING=\"a # b\"\nstring<=8 name \"none\"\nuint16[<=4] few\nstring<=4[<=3] names\n"
                           "Nothing nothing\nNothing[] nothings\nbool[3] flags\nint8 a -1\nuint8 b\nint16 c\nuint16 d\nint32 e\nuint32 f\nint64 g\nuint64 h\nfloat32 i 0.5\nfloat64 j\n"
                           "char k\nbyte l\nstring[2] pair\nCell[2] cells\n" + LINE + "MSG: own_msgs/Nothing\nint8 ALONE=1\n" + LINE + "MSG: own_msgs/Cell\nstring name\nfloat32[] values\n",
}


def header(i, frame="base_link"):
    return {"stamp": {"sec": 1_700_000_000 + i, "nanosec": 999_999_999 - i}, "frame_id": frame}


def xyz(i):
    return {"x": 0.5 * i, "y": -i, "z": 1e9 + i}


def pose(i):
    return {"position": xyz(i), "orientation": {**xyz(i), "w": 1.0}}


def message(name, i):
    """The one with number i of this type."""
    if name == "sensor_msgs/msg/Image":
        return {"header": header(i, "camera"), "height": 3, "width": 40 * i, "encoding": "mono8", "is_bigendian": 0, "step": 40 * i, "data": bytes(range(120)) * i}
    if name == "sensor_msgs/msg/PointCloud2":
        fields = [{"name": n, "offset": 4 * at, "datatype": 7, "count": 1} for at, n in enumerate(("x", "y", "z", "intensity", "ring", "time"))]
        return {"header": header(i, "lidar"), "height": 1, "width": i, "fields": fields, "is_bigendian": False, "point_step": 24, "row_step": 24 * i, "data": bytes(range(24)) * i,
                "is_dense": True}
    if name == "sensor_msgs/msg/NavSatFix":
        return {"header": header(i), "status": {"status": -1, "service": 3}, "latitude": 48.1 + i, "longitude": 11.5, "altitude": 519.0,
                "position_covariance": [float(c) for c in range(9)], "position_covariance_type": 2}
    if name == "tf2_msgs/msg/TFMessage":
        return {"transforms": [{"header": header(n, "map" * n), "child_frame_id": f"frame {n}", "transform": {"translation": xyz(n), "rotation": {**xyz(n), "w": 0.1}}} for n in range(i)]}
    if name == "nav_msgs/msg/Odometry":
        covariance = [c / 7 for c in range(36)]
        return {"header": header(i), "child_frame_id": "base", "pose": {"pose": pose(i), "covariance": covariance},
                "twist": {"twist": {"linear": xyz(i), "angular": xyz(2 * i)}, "covariance": covariance}}
    if name == "diagnostic_msgs/msg/DiagnosticArray":
        return {"header": header(i), "status": [{"level": n % 4, "name": f"part {n}", "message": "", "hardware_id": "ü" * n,
                                                 "values": [{"key": f"key {v}", "value": "v" * v} for v in range(n)]} for n in range(3 * i)]}
    if name == "visualization_msgs/msg/MarkerArray":
        colour = {"r": 0.25, "g": 0.5, "b": 1.0, "a": 0.75}
        return {"markers": [{"header": header(n), "ns": "lane", "id": n, "type": 1, "action": 0, "pose": pose(n), "scale": xyz(n), "color": colour, "lifetime": {"sec": -n, "nanosec": n},
                             "frame_locked": n % 2 == 1, "points": [xyz(p) for p in range(n)], "colors": [colour] * n, "texture_resource": "",
                             "texture": {"header": header(n), "format": "png", "data": bytes(range(5 * n))}, "uv_coordinates": [{"u": 0.5, "v": 0.25}] * n, "text": "t" * n,
                             "mesh_resource": "", "mesh_file": {"filename": "f", "data": bytes(n)}, "mesh_use_embedded_materials": False} for n in range(4 * i)]}
    if name == "std_msgs/msg/Empty":
        return {}
    assert name == "own_msgs/msg/Bounds"
    return {"name": "n" * i, "few": list(range(min(i, 4))), "names": ["ab"] * min(i, 3), "nothing": {}, "nothings": [{}] * i, "flags": [True, False, True], "a": -i, "b": i, "c": -i, "d": i,
            "e": -i, "f": i, "g": -(2 ** 63), "h": 2 ** 64 - 1, "i": 0.5, "j": -0.1, "k": 65, "l": 255, "pair": ["one", ""],
            "cells": [{"name": "left", "values": [1.5] * i}, {"name": "right", "values": []}]}
