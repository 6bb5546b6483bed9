// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string_view>
#include <type_traits>
#include <utility>

#include "src/messages/standard_messages.hpp"

// One message of every type, no two of its numbers alike, for checks of their wire form.

namespace samples {

enum class Mode : std::int16_t { Manual = -2, Auto = 7 };

struct Corner {
  float x = 0, y = 0, z = 0;
  cardan::FixedString<8> label;
};

/// Our own message with every kind of field, and odd sizes between them so that every gap shows.
struct Own {
  std::uint8_t first = 0;
  double number = 0;
  bool flag = false;
  std::int16_t small = 0;
  Mode mode = Mode::Manual;
  std::int8_t tiny = 0;
  std::uint64_t large = 0;
  char letter = 0;
  cardan::FixedString<12> name;
  double matrix[3][2] = {};
  std::array<Corner, 2> corners{};
  std::array<cardan::FixedString<4>, 2> words{};
  std::array<bool, 3> bits{};
  cardan::FixedVector<Corner, 4> few;
  cardan::FixedVector<double, 3> numbers;
  cardan::Header header;
  cardan::shm::vector<std::uint16_t> ranges;
  std::uint8_t between = 0;
  cardan::shm::vector<double> nothing;
  std::uint8_t after_nothing = 0;
  cardan::shm::vector<float> weights;
  cardan::shm::vector<Corner> points;
  cardan::shm::vector<cardan::FixedString<8>> labels;
  cardan::shm::vector<bool> valid;
  cardan::shm::string remark;
  cardan::Pose pose;
  std::uint32_t last = 0;
};

CARDAN_MESSAGE(Corner, "cardan_test_msgs/msg/Corner", x, y, z, label);
CARDAN_MESSAGE(Own, "cardan_test_msgs/msg/Own", first, number, flag, small, mode, tiny, large, letter, name, matrix,
               corners, words, bits, few, numbers, header, ranges, between, nothing, after_nothing, weights, points,
               labels, valid, remark, pose, last);

/// Room for the lists of the largest sample.
inline constexpr std::size_t kRoom = 16384;

// Counts up, so that a field in the wrong place has the wrong value.
class Numbers {
 public:
  double next() { return value_ += 0.75; }
  void fill(auto& list) {
    for (auto& value : list) value = next();
  }
  void fill(cardan::Vector3& v) { v = {next(), next(), next()}; }
  void fill(cardan::Pose& pose) {
    pose.position = {next(), next(), next()};
    pose.orientation = {next(), next(), next(), next()};
  }
  void fill(cardan::Twist& twist) {
    fill(twist.linear);
    fill(twist.angular);
  }

 private:
  double value_ = 0.125;
};

inline cardan::Header header(const char (&frame)[6]) {
  cardan::Header out;
  out.stamp = 1'700'000'000'123'456'789;
  out.sequence = 41;
  out.frame_id = frame;
  return out;
}

inline void fill(cardan::Header& m) { m = header("base0"); }
inline void fill(cardan::Clock& m) { m.clock = 1'700'000'000'123'456'789; }
inline void fill(cardan::Pose& m) { Numbers().fill(m); }

inline void fill(cardan::Image& m) {
  m.header = header("front");
  auto pixels = m.resize(7, 5, "bgr8");
  std::iota(pixels.begin(), pixels.end(), std::uint8_t{1});
}

inline void fill(cardan::CompressedImage& m) {
  m.header = header("front");
  m.format = "bgr8; jpeg compressed bgr8";
  m.data = {0xff, 0xd8, 0xff, 0xe0, 1, 2, 3};
}

inline void fill(cardan::PointCloud& m) {
  m.header = header("lidar");
  auto points = m.resize_points<cardan::PointXYZI>(6, 2);
  Numbers numbers;
  for (auto& p : points) {
    p.x = static_cast<float>(numbers.next());
    p.y = static_cast<float>(numbers.next());
    p.z = static_cast<float>(numbers.next());
    p.intensity = static_cast<float>(numbers.next());
  }
  m.is_dense = true;
}

inline void fill(cardan::Imu& m) {
  m.header = header("imu_0");
  Numbers numbers;
  m.orientation = {numbers.next(), numbers.next(), numbers.next(), numbers.next()};
  numbers.fill(m.orientation_covariance);
  numbers.fill(m.angular_velocity);
  numbers.fill(m.angular_velocity_covariance);
  numbers.fill(m.linear_acceleration);
  numbers.fill(m.linear_acceleration_covariance);
}

inline void fill(cardan::NavSatFix& m) {
  m.header = header("gps_0");
  m.status.status = cardan::NavSatStatus::Fix::Gbas;
  m.status.service = cardan::NavSatStatus::kGps | cardan::NavSatStatus::kGalileo;
  m.latitude = 52.5163;
  m.longitude = -13.3777;
  m.altitude = 34.5;
  Numbers().fill(m.position_covariance);
  m.position_covariance_type = cardan::NavSatFix::CovarianceType::Known;
}

inline void fill(cardan::Odometry& m) {
  m.header = header("odom0");
  m.child_frame_id = "base_link";
  Numbers numbers;
  numbers.fill(m.pose.pose);
  numbers.fill(m.pose.covariance);
  numbers.fill(m.twist.twist);
  numbers.fill(m.twist.covariance);
}

inline void fill(cardan::PoseStamped& m) {
  m.header = header("map_0");
  Numbers().fill(m.pose);
}

inline void fill(cardan::TwistStamped& m) {
  m.header = header("base0");
  Numbers().fill(m.twist);
}

inline void fill(cardan::TransformStamped& m) {
  m.header = header("map_0");
  m.child_frame_id = "odom";
  Numbers numbers;
  numbers.fill(m.transform.translation);
  m.transform.rotation = {numbers.next(), numbers.next(), numbers.next(), numbers.next()};
}

inline void fill(cardan::CanFrame& m) {
  m.header = header("can_0");
  m.id = 0x18fef100;
  m.is_extended = true;
  m.dlc = 6;
  m.data = {1, 2, 3, 4, 5, 6, 0, 0};
}

inline void fill(cardan::Transform& m) {
  Numbers numbers;
  numbers.fill(m.translation);
  m.rotation = {numbers.next(), numbers.next(), numbers.next(), numbers.next()};
}

inline void fill(cardan::Detection2D& m) {
  Numbers numbers;
  m.label = "pedestrian";
  m.score = numbers.next();
  m.center_x = numbers.next();
  m.center_y = numbers.next();
  m.theta = numbers.next();
  m.size_x = numbers.next();
  m.size_y = numbers.next();
  m.id = "abc";
}

inline void fill(cardan::Detection3D& m) {
  Numbers numbers;
  m.label = "car";
  m.score = numbers.next();
  numbers.fill(m.center);
  numbers.fill(m.size);
  m.id = "car17";
}

// Three of each, with names of different lengths, so that every gap before the next one's numbers shows.
inline void fill(cardan::Detections2D& m) {
  m.header = header("front");
  for (const char* id : {"a", "bcd", ""}) {
    cardan::Detection2D d;
    fill(d);
    d.id = cardan::FixedString<28>(std::string_view(id));
    m.detections.push_back(d);
  }
}

inline void fill(cardan::Detections3D& m) {
  m.header = header("lidar");
  for (const char* label : {"", "car", "motorcycle"}) {
    cardan::Detection3D d;
    fill(d);
    d.label = cardan::FixedString<60>(std::string_view(label));
    m.detections.push_back(d);
  }
}

inline void fill(Own& m) {
  Numbers numbers;
  m.first = 201;
  m.number = numbers.next();
  m.flag = true;
  m.small = -1234;
  m.mode = Mode::Auto;
  m.tiny = -5;
  m.large = 0xfedcba9876543210U;
  m.letter = 'z';
  m.name = "d\xc3\xbcrer";
  for (auto& row : m.matrix) numbers.fill(row);
  m.corners = {Corner{1, 2, 3, "left"}, Corner{4, 5, 6, "right"}};
  m.words = {"ab", "cde"};
  m.bits = {true, false, true};
  static_cast<void>(m.few.push_back({7, 8, 9, ""}));
  static_cast<void>(m.numbers.push_back(numbers.next()));
  static_cast<void>(m.numbers.push_back(numbers.next()));
  m.header = header("own_0");
  m.ranges = {100, 200, 65535};
  m.between = 4;
  m.after_nothing = 6;
  m.weights = {0.5F, 0.25F, 0.125F};
  m.points = {Corner{10, 11, 12, "a"}, Corner{13, 14, 15, "bcdefgh"}};
  m.labels = {"", "x", "yyyyyyyy"};
  m.valid = {true, false, true, true};
  m.remark = "a remark that is longer than any fixed string of this type";
  numbers.fill(m.pose);
  m.last = 0xdeadbeef;
}

template <class T>
void count_through(Numbers& numbers, T& value) {
  using cardan::detail::Kind;
  constexpr Kind kind = cardan::detail::kind_of<T>();
  if constexpr (std::is_same_v<T, cardan::Header>) {
    value = header("count");
  } else if constexpr (kind == Kind::Message) {
    cardan::message_traits<T>::for_each_field(value,
                                              [&](std::string_view, auto& field) { count_through(numbers, field); });
  } else if constexpr (kind == Kind::Array) {
    for (auto& element : value) count_through(numbers, element);
  } else if constexpr (kind == Kind::Vector || kind == Kind::FixedVector) {
    for (int i = 0; i < 2; ++i) {
      typename T::value_type element{};
      count_through(numbers, element);
      static_cast<void>(value.push_back(element));
    }
  } else if constexpr (kind == Kind::String || kind == Kind::FixedString) {
    value = "t";
  } else if constexpr (kind == Kind::Bool) {
    value = true;
  } else if constexpr (kind == Kind::Float) {
    value = static_cast<T>(numbers.next());
  } else {
    value = static_cast<T>(static_cast<int>(4 * numbers.next()) % 128);
  }
}

/// A type that nobody filled above: every field has a value.
template <class T>
void fill(T& m) {
  Numbers numbers;
  count_through(numbers, m);
}

/// Calls `f.template operator()<T>()` for every message type.
template <class F>
void for_each_type(F&& f) {
  const auto all = [&]<class... T>(cardan::detail::MessageList<T...>) { (f.template operator()<T>(), ...); };
  all(cardan::detail::StandardMessages{});
  all(cardan::detail::MessageList<Own>{});
}

/// A filled message of type T.
template <class T>
[[nodiscard]] cardan::LocalMessage<T> make() {
  cardan::LocalMessage<T> m(kRoom);
  fill(*m);
  return m;
}

}  // namespace samples
