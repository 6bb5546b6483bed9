// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "cardan/fixed_string.hpp"
#include "cardan/messages/geometry.hpp"
#include "cardan/shm_vector.hpp"

/// \file
/// The result of a detector. In ROS 2: vision_msgs (version 4, Humble and newer). There each detection has its own
/// header and a list of hypotheses, each with a pose and its covariance; here it has one label and one score. The
/// conversion to ROS loses nothing. The conversion from ROS takes the hypothesis with the highest score and drops the
/// others, the hypotheses' poses and the inner headers.

namespace cardan {

/// A box in an image, in pixels.
struct Detection2D {
  FixedString<60> label;  ///< class of the object, as "pedestrian"
  double score = 0;       ///< 0 to 1
  double center_x = 0;    ///< pixels from the left
  double center_y = 0;    ///< pixels from the top
  double theta = 0;       ///< rotation, rad
  double size_x = 0;      ///< width in pixels, before the rotation
  double size_y = 0;      ///< height in pixels, before the rotation
  FixedString<28> id;     ///< of the tracked object, the same in every frame; empty: not tracked
};

/// A box in space, in metres, in the header's frame.
struct Detection3D {
  FixedString<60> label;  ///< class of the object, as "pedestrian"
  double score = 0;       ///< 0 to 1
  Pose center;            ///< of the box, with its orientation
  Vector3 size;           ///< metres along the box's own x, y, z
  FixedString<28> id;     ///< of the tracked object; empty: not tracked
};

/// All boxes in one image; vision_msgs/msg/Detection2DArray in ROS 2. `header` is the image's header.
struct Detections2D {
  Header header;
  shm::vector<Detection2D> detections;
};

/// All boxes of one point cloud or fusion; vision_msgs/msg/Detection3DArray in ROS 2. `header` has the time of the
/// measurement and the frame of the boxes.
struct Detections3D {
  Header header;
  shm::vector<Detection3D> detections;
};

namespace detail {

void write_hypothesis(CdrWriter& writer, std::string_view label, double score);
[[nodiscard]] bool read_best_hypothesis(CdrReader& reader, FixedString<60>& label, double& score) noexcept;

void write_detection(CdrWriter& writer, const Header& header, const Detection2D& detection);
void write_detection(CdrWriter& writer, const Header& header, const Detection3D& detection);
[[nodiscard]] bool read_detection(CdrReader& reader, Detection2D& detection) noexcept;
[[nodiscard]] bool read_detection(CdrReader& reader, Detection3D& detection) noexcept;

template <class Array, std::size_t LeastBytes>
struct DetectionsCdr {
  static void write(CdrWriter& writer, const Array& array) {
    CdrForm<Header>::write(writer, array.header);
    writer.count(array.detections.size());
    for (const auto& detection : array.detections) write_detection(writer, array.header, detection);
  }
  static bool read(CdrReader& reader, Array& array) noexcept {
    reader.enter("header");
    std::size_t count = 0;
    if (!CdrForm<Header>::read(reader, array.header)) return false;
    reader.enter("detections");
    if (!reader.count(count, LeastBytes)) return false;
    array.detections.clear();
    if (!array.detections.try_resize(count)) return reader.fail(CdrError::NoRoom);
    for (std::size_t i = 0; i < count; ++i) {
      if (!read_detection(reader, array.detections[i])) return false;
    }
    return true;
  }
};

template <class Detection, std::size_t LeastBytes>
struct DetectionCdr {
  static constexpr std::size_t kLeastBytes = LeastBytes;
  static void write(CdrWriter& writer, const Detection& detection) { write_detection(writer, Header{}, detection); }
  static bool read(CdrReader& reader, Detection& detection) noexcept { return read_detection(reader, detection); }
};

}  // namespace detail

// Fewest bytes: stamp 8, two empty texts and one empty list 12, the box 40 or 80.
/// As vision_msgs/msg/Detection2DArray.
template <>
struct CdrForm<Detections2D> : detail::DetectionsCdr<Detections2D, 60> {};
/// As vision_msgs/msg/Detection3DArray.
template <>
struct CdrForm<Detections3D> : detail::DetectionsCdr<Detections3D, 100> {};
/// As vision_msgs/msg/Detection2D, with an empty header.
template <>
struct CdrForm<Detection2D> : detail::DetectionCdr<Detection2D, 60> {};
/// As vision_msgs/msg/Detection3D, with an empty header.
template <>
struct CdrForm<Detection3D> : detail::DetectionCdr<Detection3D, 100> {};

}  // namespace cardan

CARDAN_STANDARD_MESSAGE_(cardan::Detection2D, "vision_msgs/msg/Detection2D", label, score, center_x, center_y, theta,
                         size_x, size_y, id);
CARDAN_STANDARD_MESSAGE_(cardan::Detection3D, "vision_msgs/msg/Detection3D", label, score, center, size, id);
CARDAN_STANDARD_MESSAGE_(cardan::Detections2D, "vision_msgs/msg/Detection2DArray", header, detections);
CARDAN_STANDARD_MESSAGE_(cardan::Detections3D, "vision_msgs/msg/Detection3DArray", header, detections);
