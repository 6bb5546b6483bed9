// SPDX-License-Identifier: Apache-2.0
#include "src/messages/ros2_definitions.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <string_view>
#include <vector>

#include "cardan/type_layout.hpp"

namespace cardan {
namespace {

struct StandardType {
  std::string_view name, fields;
};

/// As ROS 2 Humble has them, sorted by their names, without comments and default values. A test compares them with
/// those of PyPI's rosbags.
constexpr auto kStandard = std::to_array<StandardType>({
    {"action_msgs/GoalInfo", "unique_identifier_msgs/UUID goal_id\nbuiltin_interfaces/Time stamp\n"},
    {"action_msgs/GoalStatus",
     "int8 STATUS_UNKNOWN=0\nint8 STATUS_ACCEPTED=1\nint8 STATUS_EXECUTING=2\nint8 STATUS_CANCELING=3\nint8 "
     "STATUS_SUCCEEDED=4\nint8 STATUS_CANCELED=5\nint8 STATUS_ABORTED=6\naction_msgs/GoalInfo goal_info\nint8 "
     "status\n"},
    {"action_msgs/GoalStatusArray", "action_msgs/GoalStatus[] status_list\n"},
    {"actionlib_msgs/GoalID", "builtin_interfaces/Time stamp\nstring id\n"},
    {"actionlib_msgs/GoalStatus",
     "uint8 PENDING=0\nuint8 ACTIVE=1\nuint8 PREEMPTED=2\nuint8 SUCCEEDED=3\nuint8 ABORTED=4\nuint8 REJECTED=5\nuint8 "
     "PREEMPTING=6\nuint8 RECALLING=7\nuint8 RECALLED=8\nuint8 LOST=9\nactionlib_msgs/GoalID goal_id\nuint8 "
     "status\nstring text\n"},
    {"actionlib_msgs/GoalStatusArray", "std_msgs/Header header\nactionlib_msgs/GoalStatus[] status_list\n"},
    {"builtin_interfaces/Duration", "int32 sec\nuint32 nanosec\n"},
    {"builtin_interfaces/Time", "int32 sec\nuint32 nanosec\n"},
    {"diagnostic_msgs/DiagnosticArray", "std_msgs/Header header\ndiagnostic_msgs/DiagnosticStatus[] status\n"},
    {"diagnostic_msgs/DiagnosticStatus",
     "byte OK=0\nbyte WARN=1\nbyte ERROR=2\nbyte STALE=3\nbyte level\nstring name\nstring message\nstring "
     "hardware_id\ndiagnostic_msgs/KeyValue[] values\n"},
    {"diagnostic_msgs/KeyValue", "string key\nstring value\n"},
    {"geometry_msgs/Accel", "geometry_msgs/Vector3 linear\ngeometry_msgs/Vector3 angular\n"},
    {"geometry_msgs/AccelStamped", "std_msgs/Header header\ngeometry_msgs/Accel accel\n"},
    {"geometry_msgs/AccelWithCovariance", "geometry_msgs/Accel accel\nfloat64[36] covariance\n"},
    {"geometry_msgs/AccelWithCovarianceStamped", "std_msgs/Header header\ngeometry_msgs/AccelWithCovariance accel\n"},
    {"geometry_msgs/Inertia",
     "float64 m\ngeometry_msgs/Vector3 com\nfloat64 ixx\nfloat64 ixy\nfloat64 ixz\nfloat64 iyy\nfloat64 iyz\nfloat64 "
     "izz\n"},
    {"geometry_msgs/InertiaStamped", "std_msgs/Header header\ngeometry_msgs/Inertia inertia\n"},
    {"geometry_msgs/Point", "float64 x\nfloat64 y\nfloat64 z\n"},
    {"geometry_msgs/Point32", "float32 x\nfloat32 y\nfloat32 z\n"},
    {"geometry_msgs/PointStamped", "std_msgs/Header header\ngeometry_msgs/Point point\n"},
    {"geometry_msgs/Polygon", "geometry_msgs/Point32[] points\n"},
    {"geometry_msgs/PolygonStamped", "std_msgs/Header header\ngeometry_msgs/Polygon polygon\n"},
    {"geometry_msgs/Pose", "geometry_msgs/Point position\ngeometry_msgs/Quaternion orientation\n"},
    {"geometry_msgs/Pose2D", "float64 x\nfloat64 y\nfloat64 theta\n"},
    {"geometry_msgs/PoseArray", "std_msgs/Header header\ngeometry_msgs/Pose[] poses\n"},
    {"geometry_msgs/PoseStamped", "std_msgs/Header header\ngeometry_msgs/Pose pose\n"},
    {"geometry_msgs/PoseWithCovariance", "geometry_msgs/Pose pose\nfloat64[36] covariance\n"},
    {"geometry_msgs/PoseWithCovarianceStamped", "std_msgs/Header header\ngeometry_msgs/PoseWithCovariance pose\n"},
    {"geometry_msgs/Quaternion", "float64 x\nfloat64 y\nfloat64 z\nfloat64 w\n"},
    {"geometry_msgs/QuaternionStamped", "std_msgs/Header header\ngeometry_msgs/Quaternion quaternion\n"},
    {"geometry_msgs/Transform", "geometry_msgs/Vector3 translation\ngeometry_msgs/Quaternion rotation\n"},
    {"geometry_msgs/TransformStamped",
     "std_msgs/Header header\nstring child_frame_id\ngeometry_msgs/Transform transform\n"},
    {"geometry_msgs/Twist", "geometry_msgs/Vector3 linear\ngeometry_msgs/Vector3 angular\n"},
    {"geometry_msgs/TwistStamped", "std_msgs/Header header\ngeometry_msgs/Twist twist\n"},
    {"geometry_msgs/TwistWithCovariance", "geometry_msgs/Twist twist\nfloat64[36] covariance\n"},
    {"geometry_msgs/TwistWithCovarianceStamped", "std_msgs/Header header\ngeometry_msgs/TwistWithCovariance twist\n"},
    {"geometry_msgs/Vector3", "float64 x\nfloat64 y\nfloat64 z\n"},
    {"geometry_msgs/Vector3Stamped", "std_msgs/Header header\ngeometry_msgs/Vector3 vector\n"},
    {"geometry_msgs/Wrench", "geometry_msgs/Vector3 force\ngeometry_msgs/Vector3 torque\n"},
    {"geometry_msgs/WrenchStamped", "std_msgs/Header header\ngeometry_msgs/Wrench wrench\n"},
    {"lifecycle_msgs/State",
     "uint8 PRIMARY_STATE_UNKNOWN=0\nuint8 PRIMARY_STATE_UNCONFIGURED=1\nuint8 PRIMARY_STATE_INACTIVE=2\nuint8 "
     "PRIMARY_STATE_ACTIVE=3\nuint8 PRIMARY_STATE_FINALIZED=4\nuint8 TRANSITION_STATE_CONFIGURING=10\nuint8 "
     "TRANSITION_STATE_CLEANINGUP=11\nuint8 TRANSITION_STATE_SHUTTINGDOWN=12\nuint8 "
     "TRANSITION_STATE_ACTIVATING=13\nuint8 TRANSITION_STATE_DEACTIVATING=14\nuint8 "
     "TRANSITION_STATE_ERRORPROCESSING=15\nuint8 id\nstring label\n"},
    {"lifecycle_msgs/Transition",
     "uint8 TRANSITION_CREATE=0\nuint8 TRANSITION_CONFIGURE=1\nuint8 TRANSITION_CLEANUP=2\nuint8 "
     "TRANSITION_ACTIVATE=3\nuint8 TRANSITION_DEACTIVATE=4\nuint8 TRANSITION_UNCONFIGURED_SHUTDOWN=5\nuint8 "
     "TRANSITION_INACTIVE_SHUTDOWN=6\nuint8 TRANSITION_ACTIVE_SHUTDOWN=7\nuint8 TRANSITION_DESTROY=8\nuint8 "
     "TRANSITION_ON_CONFIGURE_SUCCESS=10\nuint8 TRANSITION_ON_CONFIGURE_FAILURE=11\nuint8 "
     "TRANSITION_ON_CONFIGURE_ERROR=12\nuint8 TRANSITION_ON_CLEANUP_SUCCESS=20\nuint8 "
     "TRANSITION_ON_CLEANUP_FAILURE=21\nuint8 TRANSITION_ON_CLEANUP_ERROR=22\nuint8 "
     "TRANSITION_ON_ACTIVATE_SUCCESS=30\nuint8 TRANSITION_ON_ACTIVATE_FAILURE=31\nuint8 "
     "TRANSITION_ON_ACTIVATE_ERROR=32\nuint8 TRANSITION_ON_DEACTIVATE_SUCCESS=40\nuint8 "
     "TRANSITION_ON_DEACTIVATE_FAILURE=41\nuint8 TRANSITION_ON_DEACTIVATE_ERROR=42\nuint8 "
     "TRANSITION_ON_SHUTDOWN_SUCCESS=50\nuint8 TRANSITION_ON_SHUTDOWN_FAILURE=51\nuint8 "
     "TRANSITION_ON_SHUTDOWN_ERROR=52\nuint8 TRANSITION_ON_ERROR_SUCCESS=60\nuint8 "
     "TRANSITION_ON_ERROR_FAILURE=61\nuint8 TRANSITION_ON_ERROR_ERROR=62\nuint8 TRANSITION_CALLBACK_SUCCESS=97\nuint8 "
     "TRANSITION_CALLBACK_FAILURE=98\nuint8 TRANSITION_CALLBACK_ERROR=99\nuint8 id\nstring label\n"},
    {"lifecycle_msgs/TransitionDescription",
     "lifecycle_msgs/Transition transition\nlifecycle_msgs/State start_state\nlifecycle_msgs/State goal_state\n"},
    {"lifecycle_msgs/TransitionEvent",
     "uint64 timestamp\nlifecycle_msgs/Transition transition\nlifecycle_msgs/State start_state\nlifecycle_msgs/State "
     "goal_state\n"},
    {"nav_msgs/GridCells",
     "std_msgs/Header header\nfloat32 cell_width\nfloat32 cell_height\ngeometry_msgs/Point[] cells\n"},
    {"nav_msgs/MapMetaData",
     "builtin_interfaces/Time map_load_time\nfloat32 resolution\nuint32 width\nuint32 height\ngeometry_msgs/Pose "
     "origin\n"},
    {"nav_msgs/OccupancyGrid", "std_msgs/Header header\nnav_msgs/MapMetaData info\nint8[] data\n"},
    {"nav_msgs/Odometry",
     "std_msgs/Header header\nstring child_frame_id\ngeometry_msgs/PoseWithCovariance "
     "pose\ngeometry_msgs/TwistWithCovariance twist\n"},
    {"nav_msgs/Path", "std_msgs/Header header\ngeometry_msgs/PoseStamped[] poses\n"},
    {"rcl_interfaces/FloatingPointRange", "float64 from_value\nfloat64 to_value\nfloat64 step\n"},
    {"rcl_interfaces/IntegerRange", "int64 from_value\nint64 to_value\nuint64 step\n"},
    {"rcl_interfaces/ListParametersResult", "string[] names\nstring[] prefixes\n"},
    {"rcl_interfaces/Log",
     "byte DEBUG=10\nbyte INFO=20\nbyte WARN=30\nbyte ERROR=40\nbyte FATAL=50\nbuiltin_interfaces/Time stamp\nuint8 "
     "level\nstring name\nstring msg\nstring file\nstring function\nuint32 line\n"},
    {"rcl_interfaces/Parameter", "string name\nrcl_interfaces/ParameterValue value\n"},
    {"rcl_interfaces/ParameterDescriptor",
     "string name\nuint8 type\nstring description\nstring additional_constraints\nbool read_only\nbool "
     "dynamic_typing\nrcl_interfaces/FloatingPointRange[<=1] floating_point_range\nrcl_interfaces/IntegerRange[<=1] "
     "integer_range\n"},
    {"rcl_interfaces/ParameterEvent",
     "builtin_interfaces/Time stamp\nstring node\nrcl_interfaces/Parameter[] "
     "new_parameters\nrcl_interfaces/Parameter[] changed_parameters\nrcl_interfaces/Parameter[] deleted_parameters\n"},
    {"rcl_interfaces/ParameterEventDescriptors",
     "rcl_interfaces/ParameterDescriptor[] new_parameters\nrcl_interfaces/ParameterDescriptor[] "
     "changed_parameters\nrcl_interfaces/ParameterDescriptor[] deleted_parameters\n"},
    {"rcl_interfaces/ParameterType",
     "uint8 PARAMETER_NOT_SET=0\nuint8 PARAMETER_BOOL=1\nuint8 PARAMETER_INTEGER=2\nuint8 PARAMETER_DOUBLE=3\nuint8 "
     "PARAMETER_STRING=4\nuint8 PARAMETER_BYTE_ARRAY=5\nuint8 PARAMETER_BOOL_ARRAY=6\nuint8 "
     "PARAMETER_INTEGER_ARRAY=7\nuint8 PARAMETER_DOUBLE_ARRAY=8\nuint8 PARAMETER_STRING_ARRAY=9\n"},
    {"rcl_interfaces/ParameterValue",
     "uint8 type\nbool bool_value\nint64 integer_value\nfloat64 double_value\nstring string_value\nbyte[] "
     "byte_array_value\nbool[] bool_array_value\nint64[] integer_array_value\nfloat64[] double_array_value\nstring[] "
     "string_array_value\n"},
    {"rcl_interfaces/SetParametersResult", "bool successful\nstring reason\n"},
    {"rosgraph_msgs/Clock", "builtin_interfaces/Time clock\n"},
    {"sensor_msgs/BatteryState",
     "uint8 POWER_SUPPLY_STATUS_UNKNOWN=0\nuint8 POWER_SUPPLY_STATUS_CHARGING=1\nuint8 "
     "POWER_SUPPLY_STATUS_DISCHARGING=2\nuint8 POWER_SUPPLY_STATUS_NOT_CHARGING=3\nuint8 "
     "POWER_SUPPLY_STATUS_FULL=4\nuint8 POWER_SUPPLY_HEALTH_UNKNOWN=0\nuint8 POWER_SUPPLY_HEALTH_GOOD=1\nuint8 "
     "POWER_SUPPLY_HEALTH_OVERHEAT=2\nuint8 POWER_SUPPLY_HEALTH_DEAD=3\nuint8 POWER_SUPPLY_HEALTH_OVERVOLTAGE=4\nuint8 "
     "POWER_SUPPLY_HEALTH_UNSPEC_FAILURE=5\nuint8 POWER_SUPPLY_HEALTH_COLD=6\nuint8 "
     "POWER_SUPPLY_HEALTH_WATCHDOG_TIMER_EXPIRE=7\nuint8 POWER_SUPPLY_HEALTH_SAFETY_TIMER_EXPIRE=8\nuint8 "
     "POWER_SUPPLY_TECHNOLOGY_UNKNOWN=0\nuint8 POWER_SUPPLY_TECHNOLOGY_NIMH=1\nuint8 "
     "POWER_SUPPLY_TECHNOLOGY_LION=2\nuint8 POWER_SUPPLY_TECHNOLOGY_LIPO=3\nuint8 "
     "POWER_SUPPLY_TECHNOLOGY_LIFE=4\nuint8 POWER_SUPPLY_TECHNOLOGY_NICD=5\nuint8 "
     "POWER_SUPPLY_TECHNOLOGY_LIMN=6\nstd_msgs/Header header\nfloat32 voltage\nfloat32 temperature\nfloat32 "
     "current\nfloat32 charge\nfloat32 capacity\nfloat32 design_capacity\nfloat32 percentage\nuint8 "
     "power_supply_status\nuint8 power_supply_health\nuint8 power_supply_technology\nbool present\nfloat32[] "
     "cell_voltage\nfloat32[] cell_temperature\nstring location\nstring serial_number\n"},
    {"sensor_msgs/CameraInfo",
     "std_msgs/Header header\nuint32 height\nuint32 width\nstring distortion_model\nfloat64[] d\nfloat64[9] "
     "k\nfloat64[9] r\nfloat64[12] p\nuint32 binning_x\nuint32 binning_y\nsensor_msgs/RegionOfInterest roi\n"},
    {"sensor_msgs/ChannelFloat32", "string name\nfloat32[] values\n"},
    {"sensor_msgs/CompressedImage", "std_msgs/Header header\nstring format\nuint8[] data\n"},
    {"sensor_msgs/FluidPressure", "std_msgs/Header header\nfloat64 fluid_pressure\nfloat64 variance\n"},
    {"sensor_msgs/Illuminance", "std_msgs/Header header\nfloat64 illuminance\nfloat64 variance\n"},
    {"sensor_msgs/Image",
     "std_msgs/Header header\nuint32 height\nuint32 width\nstring encoding\nuint8 is_bigendian\nuint32 step\nuint8[] "
     "data\n"},
    {"sensor_msgs/Imu",
     "std_msgs/Header header\ngeometry_msgs/Quaternion orientation\nfloat64[9] "
     "orientation_covariance\ngeometry_msgs/Vector3 angular_velocity\nfloat64[9] "
     "angular_velocity_covariance\ngeometry_msgs/Vector3 linear_acceleration\nfloat64[9] "
     "linear_acceleration_covariance\n"},
    {"sensor_msgs/JointState",
     "std_msgs/Header header\nstring[] name\nfloat64[] position\nfloat64[] velocity\nfloat64[] effort\n"},
    {"sensor_msgs/Joy", "std_msgs/Header header\nfloat32[] axes\nint32[] buttons\n"},
    {"sensor_msgs/JoyFeedback",
     "uint8 TYPE_LED=0\nuint8 TYPE_RUMBLE=1\nuint8 TYPE_BUZZER=2\nuint8 type\nuint8 id\nfloat32 intensity\n"},
    {"sensor_msgs/JoyFeedbackArray", "sensor_msgs/JoyFeedback[] array\n"},
    {"sensor_msgs/LaserEcho", "float32[] echoes\n"},
    {"sensor_msgs/LaserScan",
     "std_msgs/Header header\nfloat32 angle_min\nfloat32 angle_max\nfloat32 angle_increment\nfloat32 "
     "time_increment\nfloat32 scan_time\nfloat32 range_min\nfloat32 range_max\nfloat32[] ranges\nfloat32[] "
     "intensities\n"},
    {"sensor_msgs/MagneticField",
     "std_msgs/Header header\ngeometry_msgs/Vector3 magnetic_field\nfloat64[9] magnetic_field_covariance\n"},
    {"sensor_msgs/MultiDOFJointState",
     "std_msgs/Header header\nstring[] joint_names\ngeometry_msgs/Transform[] transforms\ngeometry_msgs/Twist[] "
     "twist\ngeometry_msgs/Wrench[] wrench\n"},
    {"sensor_msgs/MultiEchoLaserScan",
     "std_msgs/Header header\nfloat32 angle_min\nfloat32 angle_max\nfloat32 angle_increment\nfloat32 "
     "time_increment\nfloat32 scan_time\nfloat32 range_min\nfloat32 range_max\nsensor_msgs/LaserEcho[] "
     "ranges\nsensor_msgs/LaserEcho[] intensities\n"},
    {"sensor_msgs/NavSatFix",
     "uint8 COVARIANCE_TYPE_UNKNOWN=0\nuint8 COVARIANCE_TYPE_APPROXIMATED=1\nuint8 "
     "COVARIANCE_TYPE_DIAGONAL_KNOWN=2\nuint8 COVARIANCE_TYPE_KNOWN=3\nstd_msgs/Header "
     "header\nsensor_msgs/NavSatStatus status\nfloat64 latitude\nfloat64 longitude\nfloat64 altitude\nfloat64[9] "
     "position_covariance\nuint8 position_covariance_type\n"},
    {"sensor_msgs/NavSatStatus",
     "int8 STATUS_NO_FIX=-1\nint8 STATUS_FIX=0\nint8 STATUS_SBAS_FIX=1\nint8 STATUS_GBAS_FIX=2\nuint16 "
     "SERVICE_GPS=1\nuint16 SERVICE_GLONASS=2\nuint16 SERVICE_COMPASS=4\nuint16 SERVICE_GALILEO=8\nint8 status\nuint16 "
     "service\n"},
    {"sensor_msgs/PointCloud",
     "std_msgs/Header header\ngeometry_msgs/Point32[] points\nsensor_msgs/ChannelFloat32[] channels\n"},
    {"sensor_msgs/PointCloud2",
     "std_msgs/Header header\nuint32 height\nuint32 width\nsensor_msgs/PointField[] fields\nbool is_bigendian\nuint32 "
     "point_step\nuint32 row_step\nuint8[] data\nbool is_dense\n"},
    {"sensor_msgs/PointField",
     "uint8 INT8=1\nuint8 UINT8=2\nuint8 INT16=3\nuint8 UINT16=4\nuint8 INT32=5\nuint8 UINT32=6\nuint8 "
     "FLOAT32=7\nuint8 FLOAT64=8\nstring name\nuint32 offset\nuint8 datatype\nuint32 count\n"},
    {"sensor_msgs/Range",
     "uint8 ULTRASOUND=0\nuint8 INFRARED=1\nstd_msgs/Header header\nuint8 radiation_type\nfloat32 "
     "field_of_view\nfloat32 min_range\nfloat32 max_range\nfloat32 range\n"},
    {"sensor_msgs/RegionOfInterest",
     "uint32 x_offset\nuint32 y_offset\nuint32 height\nuint32 width\nbool do_rectify\n"},
    {"sensor_msgs/RelativeHumidity", "std_msgs/Header header\nfloat64 relative_humidity\nfloat64 variance\n"},
    {"sensor_msgs/Temperature", "std_msgs/Header header\nfloat64 temperature\nfloat64 variance\n"},
    {"sensor_msgs/TimeReference", "std_msgs/Header header\nbuiltin_interfaces/Time time_ref\nstring source\n"},
    {"shape_msgs/Mesh", "shape_msgs/MeshTriangle[] triangles\ngeometry_msgs/Point[] vertices\n"},
    {"shape_msgs/MeshTriangle", "uint32[3] vertex_indices\n"},
    {"shape_msgs/Plane", "float64[4] coef\n"},
    {"shape_msgs/SolidPrimitive",
     "uint8 BOX=1\nuint8 SPHERE=2\nuint8 CYLINDER=3\nuint8 CONE=4\nuint8 PRISM=5\nuint8 BOX_X=0\nuint8 BOX_Y=1\nuint8 "
     "BOX_Z=2\nuint8 SPHERE_RADIUS=0\nuint8 CYLINDER_HEIGHT=0\nuint8 CYLINDER_RADIUS=1\nuint8 CONE_HEIGHT=0\nuint8 "
     "CONE_RADIUS=1\nuint8 PRISM_HEIGHT=0\nuint8 type\nfloat64[<=3] dimensions\ngeometry_msgs/Polygon polygon\n"},
    {"statistics_msgs/MetricsMessage",
     "string measurement_source_name\nstring metrics_source\nstring unit\nbuiltin_interfaces/Time "
     "window_start\nbuiltin_interfaces/Time window_stop\nstatistics_msgs/StatisticDataPoint[] statistics\n"},
    {"statistics_msgs/StatisticDataPoint", "uint8 data_type\nfloat64 data\n"},
    {"statistics_msgs/StatisticDataType",
     "uint8 STATISTICS_DATA_TYPE_UNINITIALIZED=0\nuint8 STATISTICS_DATA_TYPE_AVERAGE=1\nuint8 "
     "STATISTICS_DATA_TYPE_MINIMUM=2\nuint8 STATISTICS_DATA_TYPE_MAXIMUM=3\nuint8 STATISTICS_DATA_TYPE_STDDEV=4\nuint8 "
     "STATISTICS_DATA_TYPE_SAMPLE_COUNT=5\n"},
    {"std_msgs/Bool", "bool data\n"},
    {"std_msgs/Byte", "byte data\n"},
    {"std_msgs/ByteMultiArray", "std_msgs/MultiArrayLayout layout\nbyte[] data\n"},
    {"std_msgs/Char", "char data\n"},
    {"std_msgs/ColorRGBA", "float32 r\nfloat32 g\nfloat32 b\nfloat32 a\n"},
    {"std_msgs/Empty", ""},
    {"std_msgs/Float32", "float32 data\n"},
    {"std_msgs/Float32MultiArray", "std_msgs/MultiArrayLayout layout\nfloat32[] data\n"},
    {"std_msgs/Float64", "float64 data\n"},
    {"std_msgs/Float64MultiArray", "std_msgs/MultiArrayLayout layout\nfloat64[] data\n"},
    {"std_msgs/Header", "builtin_interfaces/Time stamp\nstring frame_id\n"},
    {"std_msgs/Int16", "int16 data\n"},
    {"std_msgs/Int16MultiArray", "std_msgs/MultiArrayLayout layout\nint16[] data\n"},
    {"std_msgs/Int32", "int32 data\n"},
    {"std_msgs/Int32MultiArray", "std_msgs/MultiArrayLayout layout\nint32[] data\n"},
    {"std_msgs/Int64", "int64 data\n"},
    {"std_msgs/Int64MultiArray", "std_msgs/MultiArrayLayout layout\nint64[] data\n"},
    {"std_msgs/Int8", "int8 data\n"},
    {"std_msgs/Int8MultiArray", "std_msgs/MultiArrayLayout layout\nint8[] data\n"},
    {"std_msgs/MultiArrayDimension", "string label\nuint32 size\nuint32 stride\n"},
    {"std_msgs/MultiArrayLayout", "std_msgs/MultiArrayDimension[] dim\nuint32 data_offset\n"},
    {"std_msgs/String", "string data\n"},
    {"std_msgs/UInt16", "uint16 data\n"},
    {"std_msgs/UInt16MultiArray", "std_msgs/MultiArrayLayout layout\nuint16[] data\n"},
    {"std_msgs/UInt32", "uint32 data\n"},
    {"std_msgs/UInt32MultiArray", "std_msgs/MultiArrayLayout layout\nuint32[] data\n"},
    {"std_msgs/UInt64", "uint64 data\n"},
    {"std_msgs/UInt64MultiArray", "std_msgs/MultiArrayLayout layout\nuint64[] data\n"},
    {"std_msgs/UInt8", "uint8 data\n"},
    {"std_msgs/UInt8MultiArray", "std_msgs/MultiArrayLayout layout\nuint8[] data\n"},
    {"stereo_msgs/DisparityImage",
     "std_msgs/Header header\nsensor_msgs/Image image\nfloat32 f\nfloat32 t\nsensor_msgs/RegionOfInterest "
     "valid_window\nfloat32 min_disparity\nfloat32 max_disparity\nfloat32 delta_d\n"},
    {"tf2_msgs/TF2Error",
     "uint8 NO_ERROR=0\nuint8 LOOKUP_ERROR=1\nuint8 CONNECTIVITY_ERROR=2\nuint8 EXTRAPOLATION_ERROR=3\nuint8 "
     "INVALID_ARGUMENT_ERROR=4\nuint8 TIMEOUT_ERROR=5\nuint8 TRANSFORM_ERROR=6\nuint8 error\nstring error_string\n"},
    {"tf2_msgs/TFMessage", "geometry_msgs/TransformStamped[] transforms\n"},
    {"trajectory_msgs/JointTrajectory",
     "std_msgs/Header header\nstring[] joint_names\ntrajectory_msgs/JointTrajectoryPoint[] points\n"},
    {"trajectory_msgs/JointTrajectoryPoint",
     "float64[] positions\nfloat64[] velocities\nfloat64[] accelerations\nfloat64[] "
     "effort\nbuiltin_interfaces/Duration time_from_start\n"},
    {"trajectory_msgs/MultiDOFJointTrajectory",
     "std_msgs/Header header\nstring[] joint_names\ntrajectory_msgs/MultiDOFJointTrajectoryPoint[] points\n"},
    {"trajectory_msgs/MultiDOFJointTrajectoryPoint",
     "geometry_msgs/Transform[] transforms\ngeometry_msgs/Twist[] velocities\ngeometry_msgs/Twist[] "
     "accelerations\nbuiltin_interfaces/Duration time_from_start\n"},
    {"unique_identifier_msgs/UUID", "uint8[16] uuid\n"},
    {"visualization_msgs/ImageMarker",
     "int32 CIRCLE=0\nint32 LINE_STRIP=1\nint32 LINE_LIST=2\nint32 POLYGON=3\nint32 POINTS=4\nint32 ADD=0\nint32 "
     "REMOVE=1\nstd_msgs/Header header\nstring ns\nint32 id\nint32 type\nint32 action\ngeometry_msgs/Point "
     "position\nfloat32 scale\nstd_msgs/ColorRGBA outline_color\nuint8 filled\nstd_msgs/ColorRGBA "
     "fill_color\nbuiltin_interfaces/Duration lifetime\ngeometry_msgs/Point[] points\nstd_msgs/ColorRGBA[] "
     "outline_colors\n"},
    {"visualization_msgs/InteractiveMarker",
     "std_msgs/Header header\ngeometry_msgs/Pose pose\nstring name\nstring description\nfloat32 "
     "scale\nvisualization_msgs/MenuEntry[] menu_entries\nvisualization_msgs/InteractiveMarkerControl[] controls\n"},
    {"visualization_msgs/InteractiveMarkerControl",
     "uint8 INHERIT=0\nuint8 FIXED=1\nuint8 VIEW_FACING=2\nuint8 NONE=0\nuint8 MENU=1\nuint8 BUTTON=2\nuint8 "
     "MOVE_AXIS=3\nuint8 MOVE_PLANE=4\nuint8 ROTATE_AXIS=5\nuint8 MOVE_ROTATE=6\nuint8 MOVE_3D=7\nuint8 "
     "ROTATE_3D=8\nuint8 MOVE_ROTATE_3D=9\nstring name\ngeometry_msgs/Quaternion orientation\nuint8 "
     "orientation_mode\nuint8 interaction_mode\nbool always_visible\nvisualization_msgs/Marker[] markers\nbool "
     "independent_marker_orientation\nstring description\n"},
    {"visualization_msgs/InteractiveMarkerFeedback",
     "uint8 KEEP_ALIVE=0\nuint8 POSE_UPDATE=1\nuint8 MENU_SELECT=2\nuint8 BUTTON_CLICK=3\nuint8 MOUSE_DOWN=4\nuint8 "
     "MOUSE_UP=5\nstd_msgs/Header header\nstring client_id\nstring marker_name\nstring control_name\nuint8 "
     "event_type\ngeometry_msgs/Pose pose\nuint32 menu_entry_id\ngeometry_msgs/Point mouse_point\nbool "
     "mouse_point_valid\n"},
    {"visualization_msgs/InteractiveMarkerInit",
     "string server_id\nuint64 seq_num\nvisualization_msgs/InteractiveMarker[] markers\n"},
    {"visualization_msgs/InteractiveMarkerPose", "std_msgs/Header header\ngeometry_msgs/Pose pose\nstring name\n"},
    {"visualization_msgs/InteractiveMarkerUpdate",
     "uint8 KEEP_ALIVE=0\nuint8 UPDATE=1\nstring server_id\nuint64 seq_num\nuint8 "
     "type\nvisualization_msgs/InteractiveMarker[] markers\nvisualization_msgs/InteractiveMarkerPose[] poses\nstring[] "
     "erases\n"},
    {"visualization_msgs/Marker",
     "int32 ARROW=0\nint32 CUBE=1\nint32 SPHERE=2\nint32 CYLINDER=3\nint32 LINE_STRIP=4\nint32 LINE_LIST=5\nint32 "
     "CUBE_LIST=6\nint32 SPHERE_LIST=7\nint32 POINTS=8\nint32 TEXT_VIEW_FACING=9\nint32 MESH_RESOURCE=10\nint32 "
     "TRIANGLE_LIST=11\nint32 ADD=0\nint32 MODIFY=0\nint32 DELETE=2\nint32 DELETEALL=3\nstd_msgs/Header header\nstring "
     "ns\nint32 id\nint32 type\nint32 action\ngeometry_msgs/Pose pose\ngeometry_msgs/Vector3 scale\nstd_msgs/ColorRGBA "
     "color\nbuiltin_interfaces/Duration lifetime\nbool frame_locked\ngeometry_msgs/Point[] "
     "points\nstd_msgs/ColorRGBA[] colors\nstring texture_resource\nsensor_msgs/CompressedImage "
     "texture\nvisualization_msgs/UVCoordinate[] uv_coordinates\nstring text\nstring "
     "mesh_resource\nvisualization_msgs/MeshFile mesh_file\nbool mesh_use_embedded_materials\n"},
    {"visualization_msgs/MarkerArray", "visualization_msgs/Marker[] markers\n"},
    {"visualization_msgs/MenuEntry",
     "uint8 FEEDBACK=0\nuint8 ROSRUN=1\nuint8 ROSLAUNCH=2\nuint32 id\nuint32 parent_id\nstring title\nstring "
     "command\nuint8 command_type\n"},
    {"visualization_msgs/MeshFile", "string filename\nuint8[] data\n"},
    {"visualization_msgs/UVCoordinate", "float32 u\nfloat32 v\n"},
});

const StandardType* standard_type(std::string_view name) {
  const auto found = std::lower_bound(kStandard.begin(), kStandard.end(), name,
                                      [](const StandardType& t, std::string_view wanted) { return t.name < wanted; });
  return found != kStandard.end() && found->name == name ? found : nullptr;
}

}  // namespace

std::string short_ros2_name(const std::string& name) {
  const auto at = name.find("/msg/");
  return at == std::string::npos ? name : name.substr(0, at) + name.substr(at + 4);
}

std::string_view standard_ros2_fields(const std::string& short_name) {
  const StandardType* const type = standard_type(short_name);
  return type == nullptr ? std::string_view() : type->fields;
}

std::vector<std::string_view> standard_ros2_names() {
  std::vector<std::string_view> names;
  for (const StandardType& type : kStandard) names.push_back(type.name);
  return names;
}

std::optional<std::string> known_definition(const std::string& type_name) {
  if (const auto own = known_layout(type_name)) return std::string(own->schema);
  const StandardType* const root = standard_type(short_ros2_name(type_name));
  if (root == nullptr) return std::nullopt;
  std::string out(root->fields);
  std::set<std::string_view> known{root->name};
  std::vector<const StandardType*> open{root};
  while (!open.empty()) {
    std::string_view rest = open.back()->fields;
    open.pop_back();
    while (!rest.empty()) {
      const auto end = rest.find('\n');
      const std::string_view line = rest.substr(0, end);
      rest.remove_prefix(std::min(rest.size(), end == std::string_view::npos ? end : end + 1));
      const StandardType* const used = standard_type(line.substr(0, line.find_first_of(" [<")));
      if (used == nullptr || !known.insert(used->name).second) continue;
      out += std::string(80, '=') + "\nMSG: " + std::string(used->name) + "\n" + std::string(used->fields);
      open.push_back(used);
    }
  }
  return out;
}

}  // namespace cardan
