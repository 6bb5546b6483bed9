// SPDX-License-Identifier: Apache-2.0
#include "apps/bag/export/ros_views.hpp"

namespace cardan::apps {
namespace {

bool read_header(CdrReader& in, HeaderView& header) noexcept {
  return in.number(header.seconds) && in.number(header.nanoseconds) && in.string(header.frame_id);
}

/// A name's length, its end, three numbers.
constexpr std::size_t kLeastFieldBytes = 4 + 4 + 1 + 4;

bool read_fields(CdrReader& in, std::vector<CloudField>& fields) {
  std::size_t count = 0;
  if (!in.count(count, kLeastFieldBytes)) return false;
  fields.resize(count);
  for (CloudField& f : fields)
    if (!in.string(f.name) || !in.number(f.offset) || !in.number(f.datatype) || !in.number(f.count)) return false;
  return true;
}

}  // namespace

CdrResult read_message(std::span<const std::byte> cdr, ImageView& out) {
  CdrReader in(cdr);
  RawImage& image = out.image;
  std::uint8_t big = 0;
  if (read_header(in, out.header) && in.number(image.height) && in.number(image.width) && in.string(image.encoding) &&
      in.number(big) && in.number(image.step))
    in.bytes(image.data);
  image.is_bigendian = big != 0;
  return in.finish();
}

CdrResult read_message(std::span<const std::byte> cdr, CompressedImageView& out) {
  CdrReader in(cdr);
  if (read_header(in, out.header) && in.string(out.format)) in.bytes(out.data);
  return in.finish();
}

CdrResult read_message(std::span<const std::byte> cdr, CloudView& out) {
  CdrReader in(cdr);
  if (read_header(in, out.header) && in.number(out.height) && in.number(out.width) && read_fields(in, out.fields) &&
      in.boolean(out.is_bigendian) && in.number(out.point_step) && in.number(out.row_step) && in.bytes(out.data))
    in.boolean(out.is_dense);
  return in.finish();
}

}  // namespace cardan::apps
