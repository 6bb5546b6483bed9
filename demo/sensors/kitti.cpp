// SPDX-License-Identifier: Apache-2.0
#include "demo/sensors/kitti.hpp"

#include <algorithm>
#include <fstream>
#include <system_error>

#include "cardan/error.hpp"

namespace cardan::street {
namespace {
constexpr std::size_t kBytesPerPoint = 4 * sizeof(float);
}

KittiFolder::KittiFolder(const std::string& argument) : folder_(read_recorded_folder(argument, kScanFiles)) {
  for (const auto& file : folder_.files) {
    std::error_code failure;
    const auto bytes = std::filesystem::file_size(file, failure);
    if (failure)
      throw Error(ErrorCode::Unavailable, "cannot read " + file.string() + ": " + failure.message(),
                  "keep the folder while the demo runs");
    if (bytes == 0 || bytes % kBytesPerPoint != 0 || bytes / kBytesPerPoint > kMaxPoints) {
      throw Error(ErrorCode::InvalidArgument,
                  file.string() + " is not a KITTI scan: " + std::to_string(bytes) + " bytes",
                  "a scan is 1 to 200,000 points of 16 bytes (x, y, z, reflectance as floats)");
    }
    points_.push_back(bytes / kBytesPerPoint);
  }
}

std::size_t KittiFolder::read(std::size_t index, std::span<Point> out) {
  const auto& file = folder_.files[index % folder_.files.size()];
  std::ifstream in(file, std::ios::binary);
  buffer_.resize(kMaxPoints * 4);
  in.read(reinterpret_cast<char*>(buffer_.data()), static_cast<std::streamsize>(buffer_.size() * sizeof(float)));
  const auto points = static_cast<std::size_t>(std::max<std::streamsize>(in.gcount(), 0)) / kBytesPerPoint;
  if (points == 0) {
    throw Error(ErrorCode::Unavailable, "cannot read " + file.string() + " any more",
                "keep the folder while the demo runs");
  }
  const std::size_t count = std::min(points, out.size());
  for (std::size_t i = 0; i < count; ++i) {
    const float* p = buffer_.data() + i * 4;
    out[i] = Point{};
    out[i].x = p[0];
    out[i].y = p[1];
    out[i].z = p[2];
    out[i].intensity = p[3] * 255.0F;
  }
  return count;
}

}  // namespace cardan::street
