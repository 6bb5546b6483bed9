// SPDX-License-Identifier: Apache-2.0
#include "cardan/messages/detections.hpp"

#include <array>
#include <limits>

namespace cardan::detail {
namespace {

void write_pose(CdrWriter& writer, const Pose& pose) {
  for (const double value : {pose.position.x, pose.position.y, pose.position.z, pose.orientation.x, pose.orientation.y,
                             pose.orientation.z, pose.orientation.w}) {
    writer.number(value);
  }
}

bool read_pose(CdrReader& reader, Pose& pose) noexcept {
  for (double* value : {&pose.position.x, &pose.position.y, &pose.position.z, &pose.orientation.x, &pose.orientation.y,
                        &pose.orientation.z, &pose.orientation.w}) {
    if (!reader.number(*value)) return false;
  }
  return true;
}

constexpr std::array<double, 36> kNoCovariance{};

// Header, hypothesis: what both kinds of detection begin with.
template <class Detection>
void write_head(CdrWriter& writer, const Header& header, const Detection& detection) {
  CdrForm<Header>::write(writer, header);
  write_hypothesis(writer, detection.label, detection.score);
}

template <class Detection>
bool read_head(CdrReader& reader, Detection& detection) noexcept {
  Header dropped;
  return CdrForm<Header>::read(reader, dropped) && read_best_hypothesis(reader, detection.label, detection.score);
}

bool read_id(CdrReader& reader, FixedString<28>& id) noexcept {
  std::string_view text;
  return reader.string(text) && (id.assign(text) || reader.fail(CdrError::TooLong));
}

}  // namespace

void write_hypothesis(CdrWriter& writer, std::string_view label, double score) {
  writer.count(1);
  writer.string(label);
  writer.number(score);
  write_pose(writer, Pose{});
  writer.numbers(kNoCovariance.data(), kNoCovariance.size());
}

bool read_best_hypothesis(CdrReader& reader, FixedString<60>& label, double& score) noexcept {
  std::size_t count = 0;
  constexpr std::size_t kLeastBytes = 4 + 8 + 7 * 8 + 36 * 8;
  if (!reader.count(count, kLeastBytes)) return false;
  label.clear();
  score = 0;
  for (std::size_t i = 0; i < count; ++i) {
    std::string_view text;
    double value = 0;
    Pose pose;
    std::array<double, 36> covariance{};
    if (!reader.string(text) || !reader.number(value) || !read_pose(reader, pose) ||
        !reader.numbers(covariance.data(), covariance.size())) {
      return false;
    }
    if (i > 0 && !(value > score)) continue;
    if (!label.assign(text)) return reader.fail(CdrError::TooLong);
    score = value;
  }
  return true;
}

void write_detection(CdrWriter& writer, const Header& header, const Detection2D& detection) {
  write_head(writer, header, detection);
  for (const double value :
       {detection.center_x, detection.center_y, detection.theta, detection.size_x, detection.size_y}) {
    writer.number(value);
  }
  writer.string(detection.id);
}

void write_detection(CdrWriter& writer, const Header& header, const Detection3D& detection) {
  write_head(writer, header, detection);
  write_pose(writer, detection.center);
  for (const double value : {detection.size.x, detection.size.y, detection.size.z}) writer.number(value);
  writer.string(detection.id);
}

bool read_detection(CdrReader& reader, Detection2D& detection) noexcept {
  if (!read_head(reader, detection)) return false;
  for (double* value :
       {&detection.center_x, &detection.center_y, &detection.theta, &detection.size_x, &detection.size_y}) {
    if (!reader.number(*value)) return false;
  }
  return read_id(reader, detection.id);
}

bool read_detection(CdrReader& reader, Detection3D& detection) noexcept {
  if (!read_head(reader, detection) || !read_pose(reader, detection.center)) return false;
  for (double* value : {&detection.size.x, &detection.size.y, &detection.size.z}) {
    if (!reader.number(*value)) return false;
  }
  return read_id(reader, detection.id);
}

}  // namespace cardan::detail
