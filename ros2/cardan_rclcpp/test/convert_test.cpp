// SPDX-License-Identifier: Apache-2.0
// Every conversion, against the wire form: what to_ros() gives is what ROS 2 reads from Cardan's CDR, and from_ros() is
// its inverse.
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

#include "cardan_rclcpp/convert/cdr.hpp"
#include "environment.hpp"

namespace cardan::ros::test {
namespace {

class Filler {
 public:
  explicit Filler(unsigned seed) : random_(seed) {}

  std::uint64_t below(std::uint64_t end) { return std::uniform_int_distribution<std::uint64_t>(0, end - 1)(random_); }
  double real() { return std::uniform_real_distribution<double>(-1e6, 1e6)(random_); }
  std::string text(std::size_t most) {
    std::string out(below(most + 1), ' ');
    for (char& c : out) c = static_cast<char>('a' + below(26));
    return out;
  }
  void fill(Vector3& v) { v = {real(), real(), real()}; }
  void fill(Point& v) { v = {real(), real(), real()}; }
  void fill(Quaternion& q) { q = {real(), real(), real(), real()}; }
  void fill(Pose& p) { fill(p.position), fill(p.orientation); }
  void fill(Twist& t) { fill(t.linear), fill(t.angular); }
  void fill(Transform& t) { fill(t.translation), fill(t.rotation); }
  template <std::size_t N>
  void fill(std::array<double, N>& numbers) {
    for (double& number : numbers) number = real();
  }
  void fill(Header& h) {
    h.stamp = static_cast<std::int64_t>(below(4'000'000'000'000'000'000)) - 2'000'000'000'000'000'000;
    h.frame_id = FrameId(text(60));
  }
  void fill(Clock& c) { c.clock = static_cast<std::int64_t>(below(2'000'000'000'000'000'000)); }
  void fill(String& s) { s.data = text(100); }
  void fill(PoseWithCovariance& p) { fill(p.pose), fill(p.covariance); }
  void fill(TwistWithCovariance& t) { fill(t.twist), fill(t.covariance); }
  void fill(PoseStamped& p) { fill(p.header), fill(p.pose); }
  void fill(TwistStamped& t) { fill(t.header), fill(t.twist); }
  void fill(TransformStamped& t) {
    fill(t.header), fill(t.transform);
    t.child_frame_id = FrameId(text(60));
  }
  void fill(Odometry& o) {
    fill(o.header), fill(o.pose), fill(o.twist);
    o.child_frame_id = FrameId(text(60));
  }
  void fill(Imu& i) {
    fill(i.header), fill(i.orientation), fill(i.angular_velocity), fill(i.linear_acceleration);
    fill(i.orientation_covariance), fill(i.angular_velocity_covariance), fill(i.linear_acceleration_covariance);
  }
  void fill(NavSatStatus& s) {
    s.status = static_cast<NavSatStatus::Fix>(static_cast<std::int8_t>(below(5)) - 2);
    s.service = static_cast<std::uint16_t>(below(16));
  }
  void fill(NavSatFix& f) {
    fill(f.header), fill(f.status), fill(f.position_covariance);
    f.latitude = real(), f.longitude = real(), f.altitude = real();
    f.position_covariance_type = static_cast<NavSatFix::CovarianceType>(below(4));
  }
  void fill(shm::vector<std::uint8_t>& bytes) {
    bytes.resize(below(1000));
    for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(below(256));
  }
  void fill(Image& i) {
    fill(i.header), fill(i.data);
    i.height = static_cast<std::uint32_t>(below(5000)), i.width = static_cast<std::uint32_t>(below(5000));
    i.step = static_cast<std::uint32_t>(below(50000)), i.is_bigendian = static_cast<std::uint8_t>(below(2));
    i.encoding = ImageEncoding(text(28));
  }
  void fill(CompressedImage& i) {
    fill(i.header), fill(i.data);
    i.format = FixedString<124>(text(124));
  }
  void fill(PointField& f) {
    f.name = FixedString<28>(text(28));
    f.offset = static_cast<std::uint32_t>(below(100)), f.count = static_cast<std::uint32_t>(below(100));
    f.datatype = static_cast<PointField::Type>(1 + below(8));
  }
  void fill(PointCloud& c) {
    fill(c.header), fill(c.data);
    static_cast<void>(c.fields.resize(below(17)));
    for (PointField& field : c.fields) fill(field);
    c.height = static_cast<std::uint32_t>(below(100)), c.width = static_cast<std::uint32_t>(below(100));
    c.point_step = static_cast<std::uint32_t>(below(100)), c.row_step = static_cast<std::uint32_t>(below(10000));
    c.is_bigendian = below(2) != 0, c.is_dense = below(2) != 0;
  }

 private:
  std::mt19937_64 random_;
};

template <class T>
class EveryMessage : public testing::Test {};
using All = testing::Types<String, Header, Clock, Vector3, Point, Quaternion, Pose, Twist, Transform,
                           PoseWithCovariance, TwistWithCovariance, PoseStamped, TwistStamped, TransformStamped,
                           Odometry, Image, CompressedImage, PointField, PointCloud, Imu, NavSatStatus, NavSatFix>;
TYPED_TEST_SUITE(EveryMessage, All);

TYPED_TEST(EveryMessage, ConvertsAsItsWireFormDoesAndBack) {
  Filler filler(1);
  for (int round = 0; round < 50; ++round) {
    LocalMessage<TypeParam> message(4096);
    filler.fill(*message);
    RosMessage<TypeParam> direct;
    to_ros(*message, direct);
    RosMessage<TypeParam> by_wire;
    ByCdr<TypeParam, RosMessage<TypeParam>>::to(*message, by_wire);
    ASSERT_EQ(direct, by_wire);

    LocalMessage<TypeParam> back(bytes_of<TypeParam>(direct));
    from_ros(direct, *back);
    EXPECT_EQ(to_cdr(*back), to_cdr(*message)) << "round " << round;
    LocalMessage<TypeParam> back_by_wire(ByCdr<TypeParam, RosMessage<TypeParam>>::bytes(direct));
    ByCdr<TypeParam, RosMessage<TypeParam>>::from(direct, *back_by_wire);
    EXPECT_EQ(to_cdr(*back_by_wire), to_cdr(*message));
  }
}

TEST(Convert, ADefaultMessageIsARosDefault) {
  sensor_msgs::msg::Imu imu;
  to_ros(Imu{}, imu);
  EXPECT_EQ(imu, sensor_msgs::msg::Imu());
}

TEST(Convert, StampsBeyondRosBecomeTheNearest) {
  std_msgs::msg::Header header;
  to_ros(Header{.stamp = std::numeric_limits<std::int64_t>::max(), .frame_id = {}}, header);
  EXPECT_EQ(header.stamp.sec, std::numeric_limits<std::int32_t>::max());
  to_ros(Header{.stamp = -1, .frame_id = {}}, header);
  EXPECT_EQ(header.stamp.sec, -1);
  EXPECT_EQ(header.stamp.nanosec, 999'999'999u);
}

TEST(Convert, AFieldThatDoesNotFitIsReported) {
  std_msgs::msg::Header header;
  header.frame_id = std::string(61, 'x');
  Header into;
  try {
    from_ros(header, into);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::Limit);
    EXPECT_NE(std::string(error.what()).find("frame_id"), std::string::npos) << error.what();
  }
  sensor_msgs::msg::PointCloud2 cloud;
  cloud.fields.resize(17);
  LocalMessage<PointCloud> small(100);
  EXPECT_THROW(from_ros(cloud, *small), Error);
  cloud.fields.clear();
  cloud.data.resize(101);
  EXPECT_THROW(from_ros(cloud, *small), std::length_error);
}

}  // namespace
}  // namespace cardan::ros::test
