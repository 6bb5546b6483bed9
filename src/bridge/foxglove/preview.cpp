// SPDX-License-Identifier: Apache-2.0
#include "src/bridge/foxglove/preview.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>

#include "src/base/text_of_json.hpp"
#include "src/bridge/foxglove/picture.hpp"
#include "src/bridge/foxglove/sensor_views.hpp"

namespace cardan::bridge::foxglove {
namespace {

using Fields = nlohmann::ordered_json;  // the page shows them in the order of the message

constexpr std::array kPictureSizes{320U, 640U, 960U, 1280U, 1920U};
constexpr std::array kPointCounts{5'000U, 20'000U, 50'000U, 100'000U};
constexpr std::string_view kImageType = "sensor_msgs/msg/Image";
constexpr std::string_view kCloudType = "sensor_msgs/msg/PointCloud2";
constexpr int kQuality = 75;
constexpr std::size_t kShownText = 200;  ///< bytes of a text of the message

/// The smallest that is enough.
template <std::size_t N>
std::uint32_t enough(const std::array<std::uint32_t, N>& sizes, std::uint32_t wish) noexcept {
  const auto* const it = std::lower_bound(sizes.begin(), sizes.end(), wish);
  return it == sizes.end() ? sizes.back() : *it;
}

std::vector<std::byte> in_one(const Fields& head, std::span<const std::byte> bytes = {}) {
  const std::string text = text_of_json(head);
  const auto length = static_cast<std::uint32_t>(text.size());
  std::vector<std::byte> all(sizeof(length) + text.size() + bytes.size());
  std::memcpy(all.data(), &length, sizeof(length));
  std::memcpy(all.data() + sizeof(length), text.data(), text.size());
  std::copy(bytes.begin(), bytes.end(), all.begin() + static_cast<std::ptrdiff_t>(sizeof(length) + text.size()));
  return all;
}

std::vector<std::byte> problem(std::string_view why) { return in_one({{"problem", why}}); }

Fields shown_text(std::string_view text) { return std::string(text.substr(0, kShownText)); }

Fields header_json(const HeaderView& header) {
  return {{"stamp", {{"sec", header.sec}, {"nanosec", header.nanosec}}}, {"frame_id", shown_text(header.frame_id)}};
}

std::vector<std::byte> picture(const OutgoingFrame& frame, std::uint32_t most) {
  const auto image = image_view(frame);
  if (!image) return problem("the message is not an image");
  std::string why;
  const auto picture = picture_of(*image, most, why);
  if (!picture) return problem(why);
  const std::vector<std::byte> jpeg = jpeg_of(*picture, kQuality);
  if (jpeg.empty()) return problem("the image could not be coded");
  Fields shown{{"width", picture->width}, {"height", picture->height}};
  if (picture->brightest > 0) shown["white"] = picture->brightest;
  return in_one({{"header", header_json(image->header)},
                 {"height", image->height},
                 {"width", image->width},
                 {"encoding", shown_text(image->encoding)},
                 {"step", image->step},
                 {"bytes", image->data.size()},
                 {"shown", shown}},
                jpeg);
}

// ---- points

template <class Number>
float as_float(const std::byte* at, bool swapped) noexcept {
  std::array<std::byte, sizeof(Number)> bytes{};
  std::copy_n(at, sizeof(Number), bytes.begin());
  if (swapped) std::reverse(bytes.begin(), bytes.end());
  Number value{};
  std::memcpy(&value, bytes.data(), sizeof(value));
  return static_cast<float>(value);
}

constexpr std::array<std::uint8_t, 9> kFieldSizes{0, 1, 1, 2, 2, 4, 4, 4, 8};  // by PointField::Type

float field_value(const std::byte* point, const CloudView::Field& field, bool swapped) noexcept {
  const std::byte* const at = point + field.offset;
  switch (field.type) {
    case 1:
      return as_float<std::int8_t>(at, swapped);
    case 2:
      return as_float<std::uint8_t>(at, swapped);
    case 3:
      return as_float<std::int16_t>(at, swapped);
    case 4:
      return as_float<std::uint16_t>(at, swapped);
    case 5:
      return as_float<std::int32_t>(at, swapped);
    case 6:
      return as_float<std::uint32_t>(at, swapped);
    case 7:
      return as_float<float>(at, swapped);
    default:
      return as_float<double>(at, swapped);
  }
}

/// Null: the cloud has no such field, or it does not lie within a point.
const CloudView::Field* field_named(const CloudView& cloud, std::string_view name) noexcept {
  for (const CloudView::Field& field : cloud.fields)
    if (field.name == name && field.type >= 1 && field.type <= 8 &&
        std::uint64_t{field.offset} + kFieldSizes[field.type] <= cloud.point_step)
      return &field;
  return nullptr;
}

std::vector<std::byte> points(const OutgoingFrame& frame, std::uint32_t most) {
  const auto cloud = cloud_view(frame);
  if (!cloud) return problem("the message is not a point cloud");
  const std::array axes{field_named(*cloud, "x"), field_named(*cloud, "y"), field_named(*cloud, "z")};
  if (std::find(axes.begin(), axes.end(), nullptr) != axes.end())
    return problem("the cloud's points have no fields x, y and z");
  const std::uint64_t there = std::uint64_t{cloud->width} * cloud->height;
  const std::uint64_t rows = cloud->height, row_step = cloud->row_step, step = cloud->point_step;
  const std::uint64_t row_bytes = std::uint64_t{cloud->width} * step;  // both below 2^32
  if (there != 0 && (row_step < row_bytes || row_bytes > cloud->data.size() ||
                     (rows - 1) > (cloud->data.size() - row_bytes) / std::max<std::uint64_t>(row_step, 1)))
    return problem(fmt::format("the cloud has {} bytes, which does not fit {} x {} points of {} bytes",
                               cloud->data.size(), cloud->width, cloud->height, cloud->point_step));
  const CloudView::Field* colour = nullptr;
  for (const std::string_view name : {"intensity", "i", "reflectivity", "ring"})
    if (colour = field_named(*cloud, name); colour != nullptr) break;
  const std::uint64_t n = std::max<std::uint64_t>(1, there / most + (there % most != 0 ? 1 : 0));
  std::vector<float> numbers;
  numbers.reserve(static_cast<std::size_t>(there / n + 1) * 4);
  for (std::uint64_t i = 0; i < there; i += n) {
    const std::byte* const point = cloud->data.data() + i / cloud->width * row_step + i % cloud->width * step;
    std::array<float, 4> p{};
    for (std::size_t axis = 0; axis < 3; ++axis) p[axis] = field_value(point, *axes[axis], cloud->big_endian);
    if (!std::isfinite(p[0]) || !std::isfinite(p[1]) || !std::isfinite(p[2])) continue;  // ROS marks no echo like this
    p[3] = colour != nullptr ? field_value(point, *colour, cloud->big_endian) : p[2];
    numbers.insert(numbers.end(), p.begin(), p.end());
  }
  Fields fields = Fields::array();
  for (const CloudView::Field& field : cloud->fields) fields.push_back(shown_text(field.name));
  return in_one({{"header", header_json(cloud->header)},
                 {"height", cloud->height},
                 {"width", cloud->width},
                 {"fields", fields},
                 {"point_step", cloud->point_step},
                 {"bytes", cloud->data.size()},
                 {"shown", {{"points", numbers.size() / 4}, {"colour", shown_text(colour ? colour->name : "z")}}}},
                std::as_bytes(std::span(numbers)));
}

}  // namespace

std::optional<Preview> preview_named(std::string_view kind, std::uint32_t most) noexcept {
  if (kind == "picture") return Preview{Preview::Kind::Picture, enough(kPictureSizes, most)};
  if (kind == "points") return Preview{Preview::Kind::Points, enough(kPointCounts, most)};
  return std::nullopt;
}

bool has_preview(std::string_view type, Preview::Kind kind) noexcept {
  return kind == Preview::Kind::Picture ? type == kImageType && makes_pictures() : type == kCloudType;
}

bool has_preview(std::string_view type) noexcept {
  return has_preview(type, Preview::Kind::Picture) || has_preview(type, Preview::Kind::Points);
}

std::vector<std::byte> preview_of(const OutgoingFrame& frame, const Preview& preview) {
  return preview.kind == Preview::Kind::Picture ? picture(frame, preview.most) : points(frame, preview.most);
}

}  // namespace cardan::bridge::foxglove
