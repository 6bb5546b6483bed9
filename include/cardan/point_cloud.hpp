// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>

#include "cardan/fixed_string.hpp"
#include "cardan/fixed_vector.hpp"
#include "cardan/messages/header.hpp"
#include "cardan/shm_vector.hpp"

namespace cardan {

/// One named number of each point; sensor_msgs/msg/PointField in ROS 2.
struct PointField {
  /// The type of the number, with ROS's values.
  enum class Type : std::uint8_t { Int8 = 1, UInt8, Int16, UInt16, Int32, UInt32, Float32, Float64 };

  FixedString<28> name;      ///< "x", "intensity", "ring", …
  std::uint32_t offset = 0;  ///< bytes from the start of the point
  Type datatype = Type::Float32;
  std::uint32_t count = 1;  ///< numbers in the field; more than 1: an array

  friend bool operator==(const PointField&, const PointField&) = default;
};

/// A point in the layout of pcl::PointXYZ: 16 bytes, aligned to 16; the fourth number is 1.
struct alignas(16) PointXYZ {
  float x = 0, y = 0, z = 0;  ///< metres
  float one = 1;              ///< for arithmetic with 4×4 matrices, as in PCL
};

/// A point in the layout of pcl::PointXYZI: 32 bytes, aligned to 16.
struct alignas(16) PointXYZI {
  float x = 0, y = 0, z = 0;  ///< metres
  float one = 1;              ///< as PointXYZ::one
  float intensity = 0;        ///< of the return; its unit is the sensor's
  float unused[3] = {};       ///< fills the 32 bytes, as in PCL
};

/// The meaning of a point type's bytes: `fields`, an array of PointField. Specialize it to use your own point types
/// with `PointCloud::points<P>()`.
template <class P>
struct PointLayout;

/// Of a point without further numbers.
template <>
struct PointLayout<PointXYZ> {
  static constexpr auto fields =
      std::to_array<PointField>({{.name = "x", .offset = 0}, {.name = "y", .offset = 4}, {.name = "z", .offset = 8}});
};

/// Of a point with the intensity of its return.
template <>
struct PointLayout<PointXYZI> {
  static constexpr auto fields = std::to_array<PointField>({{.name = "x", .offset = 0},
                                                            {.name = "y", .offset = 4},
                                                            {.name = "z", .offset = 8},
                                                            {.name = "intensity", .offset = 16}});
};

/// A struct that PointCloud can take and give as a point: its PointLayout is specialized.
template <class P>
concept PointType = std::is_trivially_copyable_v<P> && requires { PointLayout<P>::fields.size(); };

/// A point cloud in PCL's layout; sensor_msgs/msg/PointCloud2 in ROS 2. An ordered cloud has rows (`height` rings of
/// `width` points), an unordered one a single row.
struct PointCloud {
  Header header;                       ///< time of the scan, and frame of the points
  std::uint32_t height = 0;            ///< rows
  std::uint32_t width = 0;             ///< points in a row
  FixedVector<PointField, 16> fields;  ///< the meaning of each point's bytes
  bool is_bigendian = false;           ///< true: the numbers are big-endian, and points() is empty
  std::uint32_t point_step = 0;        ///< bytes from one point to the next
  std::uint32_t row_step = 0;          ///< bytes from one row to the next
  shm::vector<std::uint8_t> data;      ///< the rows, `row_step` bytes each
  bool is_dense = true;                ///< no point is invalid (NaN)

  /// Makes room for `count` points (`rows` rows of `count / rows`) and returns them, as `P{}`, to be filled in place.
  /// For a loan. Throws `std::length_error` if the topic's `max_bytes` is too small or `count` is not a multiple of
  /// `rows`.
  template <PointType P>
  [[nodiscard]] std::span<P> resize_points(std::size_t count, std::size_t rows = 1) {
    const std::span<P> all = resize_points_for_overwrite<P>(count, rows);
    std::fill(all.begin(), all.end(), P{});
    return all;
  }

  /// The same without constructing each `P{}`. It saves that pass over the memory if the caller writes all points
  /// completely.
  template <PointType P>
  [[nodiscard]] std::span<P> resize_points_for_overwrite(std::size_t count, std::size_t rows = 1) {
    if (rows == 0 || count % rows != 0 || count > std::numeric_limits<std::uint32_t>::max() / sizeof(P)) {
      throw std::length_error("cardan::PointCloud: " + std::to_string(count) + " points in " + std::to_string(rows) +
                              " rows — give a multiple of the rows, and less than 4 GiB");
    }
    data.resize_for_overwrite(count * sizeof(P));
    fields.clear();
    for (const PointField& field : PointLayout<P>::fields) static_cast<void>(fields.push_back(field));
    static_assert(PointLayout<P>::fields.size() <= 16, "a cardan::PointCloud has at most 16 fields");
    height = static_cast<std::uint32_t>(rows);
    width = static_cast<std::uint32_t>(count / rows);
    is_bigendian = false;
    point_step = sizeof(P);
    row_step = static_cast<std::uint32_t>(width * sizeof(P));
    return {reinterpret_cast<P*>(data.data()), count};
  }

  /// The points over shared memory, without a copy. Empty if the cloud has no points, or is not in the layout of `P`
  /// (see `has_layout`).
  template <PointType P>
  [[nodiscard]] std::span<const P> points() const noexcept {
    if (!has_layout<P>()) return {};
    return {reinterpret_cast<const P*>(data.data()), std::size_t{height} * width};
  }
  /// The same, writable, for a loan.
  template <PointType P>
  [[nodiscard]] std::span<P> points() noexcept {
    if (!has_layout<P>()) return {};
    return {reinterpret_cast<P*>(data.data()), std::size_t{height} * width};
  }

  /// Whether the points are consecutive `P`s: all fields of `P` at their offsets, its size, no gaps between rows, all
  /// data present.
  template <PointType P>
  [[nodiscard]] bool has_layout() const noexcept {
    return !is_bigendian && point_step == sizeof(P) && row_step == std::uint64_t{width} * sizeof(P) && valid() &&
           reinterpret_cast<std::uintptr_t>(data.data()) % alignof(P) == 0 &&
           std::all_of(PointLayout<P>::fields.begin(), PointLayout<P>::fields.end(), [this](const PointField& wanted) {
             const PointField* field = find_field(wanted.name);
             return field != nullptr && *field == wanted;
           });
  }

  /// The field of that name. Null if there is none.
  [[nodiscard]] const PointField* find_field(std::string_view name) const noexcept {
    const auto* found =
        std::find_if(fields.begin(), fields.end(), [&](const PointField& field) { return field.name == name; });
    return found != fields.end() ? found : nullptr;
  }

  /// The offset of `name` in each point if it is a float and lies within the point; otherwise -1.
  [[nodiscard]] std::int64_t float_offset(std::string_view name) const noexcept {
    const PointField* field = find_field(name);
    if (field == nullptr || field->datatype != PointField::Type::Float32 || field->count != 1 || is_bigendian)
      return -1;
    const std::uint32_t offset = field->offset;  // read once, so that the checked value is the one that is used
    return std::uint64_t{offset} + sizeof(float) <= point_step ? std::int64_t{offset} : -1;
  }

  /// Whether `data` has all the bytes that `height`, `width` and the steps require.
  [[nodiscard]] bool valid() const noexcept {
    return row_step >= std::uint64_t{width} * point_step && (row_step == 0 || height <= data.size() / row_step);
  }
};

}  // namespace cardan

CARDAN_STANDARD_MESSAGE_(cardan::PointField, "sensor_msgs/msg/PointField", name, offset, datatype, count);
CARDAN_STANDARD_MESSAGE_(cardan::PointCloud, "sensor_msgs/msg/PointCloud2", header, height, width, fields, is_bigendian,
                         point_step, row_step, data, is_dense);

static_assert(sizeof(cardan::PointXYZ) == 16 && sizeof(cardan::PointXYZI) == 32, "PCL's layouts");
