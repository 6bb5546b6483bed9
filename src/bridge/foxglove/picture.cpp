// SPDX-License-Identifier: Apache-2.0
#include "src/bridge/foxglove/picture.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

namespace cardan::bridge::foxglove {
namespace {

enum class Form : std::uint8_t { Color, Grey, Grey16, Depth16, DepthFloat, Bayer, Yuv };

struct PixelLayout {
  std::string_view encoding;
  Form form = Form::Color;
  std::uint8_t bytes = 1;  ///< of a pixel
  /// Color: bytes within a pixel. Bayer: places within a block of two by two pixels. Yuv: of brightness and the two
  /// colors within a pair of pixels.
  std::array<std::uint8_t, 3> at{};
};

constexpr std::array kPixelLayouts{
    PixelLayout{"bgr8", Form::Color, 3, {2, 1, 0}},
    PixelLayout{"8UC3", Form::Color, 3, {2, 1, 0}},
    PixelLayout{"rgb8", Form::Color, 3, {0, 1, 2}},
    PixelLayout{"bgra8", Form::Color, 4, {2, 1, 0}},
    PixelLayout{"8UC4", Form::Color, 4, {2, 1, 0}},
    PixelLayout{"rgba8", Form::Color, 4, {0, 1, 2}},
    PixelLayout{"mono8", Form::Grey, 1, {}},
    PixelLayout{"8UC1", Form::Grey, 1, {}},
    PixelLayout{"mono16", Form::Grey16, 2, {}},
    PixelLayout{"16UC1", Form::Depth16, 2, {}},
    PixelLayout{"32FC1", Form::DepthFloat, 4, {}},
    PixelLayout{"bayer_rggb8", Form::Bayer, 1, {0, 1, 3}},
    PixelLayout{"bayer_bggr8", Form::Bayer, 1, {3, 1, 0}},
    PixelLayout{"bayer_gbrg8", Form::Bayer, 1, {2, 0, 1}},
    PixelLayout{"bayer_grbg8", Form::Bayer, 1, {1, 0, 2}},
    PixelLayout{"yuv422", Form::Yuv, 2, {1, 0, 2}},
    PixelLayout{"uyvy", Form::Yuv, 2, {1, 0, 2}},
    PixelLayout{"yuv422_yuy2", Form::Yuv, 2, {0, 1, 3}},
    PixelLayout{"yuyv", Form::Yuv, 2, {0, 1, 3}},
};

/// One cell of the picture: the pixels of the image that it covers begin here, and others are `dx`, `dy` further.
struct Cell {
  std::uint64_t x = 0, y = 0, dx = 0, dy = 0;
};

/// Calls `each(cell, number)` for the picture's cells, row by row.
template <class Each>
void for_cells(const ImageView& image, std::uint32_t n, const Picture& out, Each each) {
  std::size_t number = 0;
  for (std::uint32_t y = 0; y < out.height; ++y) {
    Cell cell{.y = std::uint64_t{y} * n};
    cell.dy = std::min<std::uint64_t>(n / 2, image.height - 1 - cell.y);
    for (std::uint32_t x = 0; x < out.width; ++x) {
      cell.x = std::uint64_t{x} * n;
      cell.dx = std::min<std::uint64_t>(n / 2, image.width - 1 - cell.x);
      each(cell, number++);
    }
  }
}

/// The mean of four places of each cell.
template <class Get>
void fill(const ImageView& image, std::uint32_t n, Picture& out, Get get) {
  for_cells(image, n, out, [&](const Cell& c, std::size_t number) {
    for (int channel = 0; channel < out.channels; ++channel) {
      const int sum = get(c.x, c.y, channel) + get(c.x + c.dx, c.y, channel) + get(c.x, c.y + c.dy, channel) +
                      get(c.x + c.dx, c.y + c.dy, channel);
      out.pixels[number * static_cast<std::size_t>(out.channels) + static_cast<std::size_t>(channel)] =
          static_cast<std::uint8_t>((sum + 2) / 4);
    }
  });
}

/// Depth has no white of its own: the farthest point is white. One place of each cell, because a mean of two depths is
/// a point that is not there.
template <class Get>
void fill_depth(const ImageView& image, std::uint32_t n, Picture& out, Get get) {
  std::vector<float> depths(out.pixels.size());
  float most = 0;
  for_cells(image, n, out, [&](const Cell& c, std::size_t number) {
    const float depth = get(c.x, c.y);
    depths[number] = std::isfinite(depth) && depth > 0 ? depth : 0;
    most = std::max(most, depths[number]);
  });
  out.brightest = static_cast<double>(most);
  for (std::size_t i = 0; i < depths.size() && most > 0; ++i)
    out.pixels[i] = static_cast<std::uint8_t>(depths[i] / most * 255);
}

int to_byte(int value) { return std::clamp(value, 0, 255); }

int red_green_blue(int y, int u, int v, int channel) {
  constexpr int kRed = 359, kGreenU = 88, kGreenV = 183, kBlue = 454;  // BT.601, of 256
  if (channel == 0) return to_byte(y + kRed * v / 256);
  if (channel == 1) return to_byte(y - (kGreenU * u + kGreenV * v) / 256);
  return to_byte(y + kBlue * u / 256);
}

class Pixels {
 public:
  Pixels(const ImageView& image, const PixelLayout& layout) : image_(image), layout_(layout) {}
  [[nodiscard]] const std::uint8_t* at(std::uint64_t x, std::uint64_t y) const noexcept {
    return reinterpret_cast<const std::uint8_t*>(image_.data.data()) + y * image_.step + x * layout_.bytes;
  }
  [[nodiscard]] std::uint16_t wide(std::uint64_t x, std::uint64_t y) const noexcept {
    const std::uint8_t* const p = at(x, y);
    return static_cast<std::uint16_t>(image_.big_endian ? p[0] << 8 | p[1] : p[1] << 8 | p[0]);
  }
  [[nodiscard]] float real(std::uint64_t x, std::uint64_t y) const noexcept {
    std::array<std::uint8_t, 4> bytes{};
    std::copy_n(at(x, y), 4, bytes.begin());
    if (image_.big_endian) std::reverse(bytes.begin(), bytes.end());
    float value = 0;
    std::memcpy(&value, bytes.data(), sizeof(value));
    return value;
  }

 private:
  const ImageView& image_;
  const PixelLayout& layout_;
};

void paint(const ImageView& image, const PixelLayout& layout, std::uint32_t n, Picture& out) {
  const Pixels pixels(image, layout);
  const auto place = [&](int channel) { return layout.at[static_cast<std::size_t>(channel)]; };
  switch (layout.form) {
    case Form::Color:
      return fill(image, n, out, [&](auto x, auto y, int channel) -> int { return pixels.at(x, y)[place(channel)]; });
    case Form::Grey:
      return fill(image, n, out, [&](auto x, auto y, int) -> int { return *pixels.at(x, y); });
    case Form::Grey16:
      return fill(image, n, out, [&](auto x, auto y, int) -> int { return pixels.wide(x, y) >> 8; });
    case Form::Depth16:
      return fill_depth(image, n, out, [&](auto x, auto y) { return static_cast<float>(pixels.wide(x, y)); });
    case Form::DepthFloat:
      return fill_depth(image, n, out, [&](auto x, auto y) { return pixels.real(x, y); });
    case Form::Bayer:
      return fill(image, n, out, [&](auto x, auto y, int channel) -> int {
        return *pixels.at((x & ~std::uint64_t{1}) + place(channel) % 2U, (y & ~std::uint64_t{1}) + place(channel) / 2U);
      });
    case Form::Yuv:
      return fill(image, n, out, [&](auto x, auto y, int channel) -> int {
        const std::uint8_t* const pair = pixels.at(x & ~std::uint64_t{1}, y);
        return red_green_blue(pair[layout.at[0] + 2 * (x & 1)], pair[layout.at[1]] - 128, pair[layout.at[2]] - 128,
                              channel);
      });
  }
}

}  // namespace

std::optional<Picture> picture_of(const ImageView& given, std::uint32_t most, std::string& why) {
  const auto* const layout = std::find_if(kPixelLayouts.begin(), kPixelLayouts.end(),
                                          [&](const PixelLayout& one) { return one.encoding == given.encoding; });
  if (layout == kPixelLayouts.end()) {
    why = fmt::format("images in '{}' are not shown", given.encoding.substr(0, 40));
    return std::nullopt;
  }
  ImageView image = given;
  if (layout->form == Form::Bayer) image.height &= ~1U;
  if (layout->form == Form::Bayer || layout->form == Form::Yuv) image.width &= ~1U;
  // The bytes must be there: what the sizes claim alone costs nothing.
  const std::uint64_t row = std::uint64_t{image.width} * layout->bytes;
  const auto beyond = image.height == 0 ? 0 : (std::uint64_t{image.height} - 1) * image.step + row;
  if (row == 0 || image.height == 0 || image.step < row || beyond > image.data.size()) {
    why = fmt::format("the image has {} bytes, which does not fit {} x {} pixels in '{}' and {} bytes a row",
                      given.data.size(), given.width, given.height, given.encoding.substr(0, 40), given.step);
    return std::nullopt;
  }
  const std::uint32_t longer = std::max(image.width, image.height);
  std::uint32_t n = longer / most + (longer % most != 0 ? 1 : 0);
  if (layout->form == Form::Bayer) n = std::max(2U, n + n % 2);
  Picture out{
      .width = image.width / n + (image.width % n != 0 ? 1 : 0),
      .height = image.height / n + (image.height % n != 0 ? 1 : 0),
      .channels = layout->form == Form::Color || layout->form == Form::Bayer || layout->form == Form::Yuv ? 3 : 1};
  out.pixels.resize(std::size_t{out.width} * out.height * static_cast<std::size_t>(out.channels));
  paint(image, *layout, n, out);
  return out;
}

}  // namespace cardan::bridge::foxglove
