// SPDX-License-Identifier: Apache-2.0
#include "src/bridge/foxglove/sensor_views.hpp"

#include "cardan/cdr_reader.hpp"

namespace cardan::bridge::foxglove {
namespace {

constexpr std::size_t kMostFields = 64;
constexpr std::size_t kFieldBytes = 13;  ///< the fewest that a field of a cloud takes

bool read(CdrReader& in, HeaderView& out) {
  return in.number(out.sec) && in.number(out.nanosec) && in.string(out.frame_id);
}

/// The list of bytes. A large one is the frame's payload, after its count; a small one lies in the prefix.
bool read_data(CdrReader& in, const OutgoingFrame& frame, std::span<const std::byte>& out) {
  if (frame.cdr.payload.empty()) return in.bytes(out);
  std::uint32_t count = 0;
  out = frame.cdr.payload;
  return in.number(count) && in.left() == 0 && count == out.size();
}

}  // namespace

std::optional<ImageView> image_view(const OutgoingFrame& frame) {
  CdrReader in(frame.cdr.prefix);
  ImageView image;
  std::uint8_t big = 0;
  if (!read(in, image.header) || !in.number(image.height) || !in.number(image.width) || !in.string(image.encoding) ||
      !in.number(big) || !in.number(image.step) || !read_data(in, frame, image.data))
    return std::nullopt;
  image.big_endian = big != 0;
  return image;
}

std::optional<CloudView> cloud_view(const OutgoingFrame& frame) {
  CdrReader in(frame.cdr.prefix);
  CloudView cloud;
  std::size_t fields = 0;
  if (!read(in, cloud.header) || !in.number(cloud.height) || !in.number(cloud.width) ||
      !in.count(fields, kFieldBytes) || fields > kMostFields)
    return std::nullopt;
  for (std::size_t i = 0; i < fields; ++i) {
    CloudView::Field field;
    if (!in.string(field.name) || !in.number(field.offset) || !in.number(field.type) || !in.number(field.count))
      return std::nullopt;
    cloud.fields.push_back(field);
  }
  if (!in.boolean(cloud.big_endian) || !in.number(cloud.point_step) || !in.number(cloud.row_step) ||
      !read_data(in, frame, cloud.data))
    return std::nullopt;
  return cloud;
}

}  // namespace cardan::bridge::foxglove
