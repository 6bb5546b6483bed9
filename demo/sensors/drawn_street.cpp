// SPDX-License-Identifier: Apache-2.0
#include "demo/sensors/drawn_street.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <string_view>

#include "cardan/error.hpp"

namespace cardan::street {
namespace {

constexpr int kWidth = DrawnStreet::kWidth, kHeight = DrawnStreet::kHeight;

struct Colour {
  std::uint8_t blue, green, red;
};

/// A canvas of the street's size. Whatever is drawn outside of it is left out.
class Canvas {
 public:
  explicit Canvas(std::span<std::uint8_t> pixels) : pixels_(pixels) {}

  void dot(int x, int y, Colour c) {
    if (x < 0 || y < 0 || x >= kWidth || y >= kHeight) return;
    const std::size_t at = (static_cast<std::size_t>(y) * kWidth + static_cast<std::size_t>(x)) * 3;
    pixels_[at] = c.blue;
    pixels_[at + 1] = c.green;
    pixels_[at + 2] = c.red;
  }
  void box(int x, int y, int width, int height, Colour c) {
    for (int row = std::max(y, 0); row < std::min(y + height, kHeight); ++row)
      for (int column = std::max(x, 0); column < std::min(x + width, kWidth); ++column) dot(column, row, c);
  }
  /// A line with round ends; of no length: a disc.
  void stroke(float x0, float y0, float x1, float y1, float radius, Colour c) {
    const float dx = x1 - x0, dy = y1 - y0, length = dx * dx + dy * dy;
    const int top = std::max(0, static_cast<int>(std::min(y0, y1) - radius));
    const int bottom = std::min(kHeight - 1, static_cast<int>(std::max(y0, y1) + radius) + 1);
    const int left = std::max(0, static_cast<int>(std::min(x0, x1) - radius));
    const int right = std::min(kWidth - 1, static_cast<int>(std::max(x0, x1) + radius) + 1);
    for (int y = top; y <= bottom; ++y) {
      for (int x = left; x <= right; ++x) {
        const float px = static_cast<float>(x) - x0, py = static_cast<float>(y) - y0;
        const float along = length > 0 ? std::clamp((px * dx + py * dy) / length, 0.0F, 1.0F) : 0.0F;
        const float ox = px - along * dx, oy = py - along * dy;
        if (ox * ox + oy * oy <= radius * radius) dot(x, y, c);
      }
    }
  }
  void text(int x, int y, int scale, std::string_view words, Colour c);

 private:
  std::span<std::uint8_t> pixels_;
};

/// The letters of "DRAWN STREET", five columns of seven rows each, the uppermost row first.
struct Letter {
  char letter;
  std::array<std::uint8_t, 7> rows;
};
constexpr std::array<Letter, 8> kLetters = {{
    {'A', {0x0E, 0x11, 0x11, 0x1F, 0x11, 0x11, 0x11}},
    {'D', {0x1E, 0x11, 0x11, 0x11, 0x11, 0x11, 0x1E}},
    {'E', {0x1F, 0x10, 0x10, 0x1E, 0x10, 0x10, 0x1F}},
    {'N', {0x11, 0x19, 0x15, 0x13, 0x11, 0x11, 0x11}},
    {'R', {0x1E, 0x11, 0x11, 0x1E, 0x14, 0x12, 0x11}},
    {'S', {0x0F, 0x10, 0x10, 0x0E, 0x01, 0x01, 0x1E}},
    {'T', {0x1F, 0x04, 0x04, 0x04, 0x04, 0x04, 0x04}},
    {'W', {0x11, 0x11, 0x11, 0x15, 0x15, 0x1B, 0x11}},
}};

void Canvas::text(int x, int y, int scale, std::string_view words, Colour c) {
  const auto draw = [&](const Letter& l) {
    for (int row = 0; row < 7; ++row)
      for (int column = 0; column < 5; ++column)
        if ((l.rows[static_cast<std::size_t>(row)] >> (4 - column)) & 1)
          box(x + column * scale, y + row * scale, scale, scale, c);
  };
  for (const char letter : words) {
    for (const Letter& l : kLetters)
      if (l.letter == letter) draw(l);
    x += 6 * scale;
  }
}

struct Walker {
  float feet;    ///< row, pixels
  float height;  ///< pixels: a near walker is tall
  float speed;   ///< pixels a second; negative: to the left
  float begin;   ///< column at 0 s
  Colour coat, trousers;
};
// From the far pavement to the near one: near walkers are drawn over far ones.
constexpr std::array<Walker, DrawnStreet::kWalkers> kWalkerList = {{
    {322, 92, 38, 60, {40, 40, 150}, {60, 40, 30}},
    {326, 96, -46, 700, {120, 60, 30}, {30, 30, 40}},
    {410, 130, 60, 300, {30, 120, 150}, {70, 30, 20}},
    {520, 170, -64, 420, {50, 50, 50}, {100, 70, 50}},
    {526, 176, 72, 0, {140, 40, 120}, {30, 40, 60}},
}};
constexpr float kBeside = 120;  // pixels that a walker continues outside of the picture

float column_of(const Walker& w, double seconds) {
  const double around = kWidth + 2 * kBeside;
  double x = std::fmod(static_cast<double>(w.begin) + static_cast<double>(w.speed) * seconds + kBeside, around);
  if (x < 0) x += around;
  return static_cast<float>(x - kBeside);
}

void draw_walker(Canvas& canvas, const Walker& w, double seconds) {
  constexpr Colour kSkin{130, 160, 205}, kShoe{20, 20, 20};
  const float x = column_of(w, seconds), h = w.height, top = w.feet - h;
  // One step is half as long as the walker is tall.
  const auto swing = static_cast<float>(std::sin(seconds * std::abs(static_cast<double>(w.speed / h)) * 6.3));
  const float hip = top + 0.52F * h, shoulder = top + 0.22F * h;
  for (const float side : {-1.0F, 1.0F}) {
    const float foot = x + side * swing * 0.17F * h;
    canvas.stroke(x, hip, foot, w.feet - 0.03F * h, 0.055F * h, w.trousers);
    canvas.stroke(foot - 0.02F * h, w.feet - 0.02F * h, foot + 0.04F * h, w.feet - 0.02F * h, 0.025F * h, kShoe);
    canvas.stroke(x, shoulder, x - side * swing * 0.14F * h, top + 0.5F * h, 0.035F * h, w.coat);
  }
  canvas.stroke(x, shoulder + 0.02F * h, x, hip, 0.1F * h, w.coat);
  canvas.stroke(x, top + 0.075F * h, x, top + 0.075F * h, 0.075F * h, kSkin);
}

void draw_background(Canvas& canvas) {
  for (int y = 0; y < 180; ++y) {  // the sky
    const auto pale = static_cast<std::uint8_t>(y / 3);
    canvas.box(0, y, kWidth, 1, {static_cast<std::uint8_t>(190 + pale), static_cast<std::uint8_t>(150 + pale), 130});
  }
  canvas.box(0, 180, kWidth, 60, {100, 130, 110});  // hedges between the houses
  constexpr std::array<Colour, 4> kWalls = {{{150, 180, 205}, {120, 140, 190}, {165, 165, 175}, {140, 190, 200}}};
  for (int house = 0; house < 6; ++house) {
    const int left = house * 132 - 12, high = 60 + (house * 37) % 70;
    canvas.box(left, high, 130, 240 - high, kWalls[static_cast<std::size_t>(house) % kWalls.size()]);
    canvas.box(left, high - 8, 130, 8, {60, 60, 110});
    for (int row = high + 18; row < 215; row += 44)
      for (int column = 0; column < 3; ++column) canvas.box(left + 16 + column * 38, row, 22, 28, {90, 70, 60});
  }
  canvas.box(0, 240, kWidth, 90, {165, 165, 165});  // the far pavement, the road, the near pavement
  canvas.box(0, 330, kWidth, 6, {205, 205, 205});
  canvas.box(0, 336, kWidth, 130, {95, 95, 95});
  canvas.box(0, 466, kWidth, 6, {205, 205, 205});
  canvas.box(0, 472, kWidth, kHeight - 472, {160, 160, 160});
  for (int dash = 10; dash < kWidth; dash += 90) canvas.box(dash, 398, 50, 5, {225, 225, 225});
  for (int stripe = 336; stripe < 466; stripe += 26) canvas.box(330, stripe, 110, 14, {225, 225, 225});
  canvas.box(8, kHeight - 36, 12 * 6 * 3 + 12, 29, {0, 0, 0});
  canvas.text(14, kHeight - 32, 3, "DRAWN STREET", {255, 255, 255});
}

}  // namespace

DrawnStreet::DrawnStreet() : background_(kBytes) {
  Canvas canvas(background_);
  draw_background(canvas);
}

void DrawnStreet::draw(double seconds, std::span<std::uint8_t> out) const {
  if (out.size() != kBytes)
    throw Error(ErrorCode::InvalidArgument,
                fmt::format("a picture of the drawn street has {} bytes, not {}", kBytes, out.size()),
                "give room for one picture");
  std::copy(background_.begin(), background_.end(), out.begin());
  Canvas canvas(out);
  for (const Walker& w : kWalkerList) draw_walker(canvas, w, seconds);
}

DrawnStreet::Box DrawnStreet::walker(std::size_t index, double seconds) noexcept {
  const Walker& w = kWalkerList[index % kWalkers];
  return {column_of(w, seconds) - 0.2F * w.height, w.feet - w.height, 0.4F * w.height, w.height};
}

std::string DrawnCamera::describe() const {
  return fmt::format("drawn street, {} x {} at {} fps", DrawnStreet::kWidth, DrawnStreet::kHeight,
                     DrawnStreet::kRateHz);
}

bool DrawnCamera::wait(const std::function<bool()>& stopping) {
  return pace_.wait(std::chrono::milliseconds{1000 / DrawnStreet::kRateHz}, stopping);
}

void DrawnCamera::read(std::span<std::uint8_t> into) {
  street_.draw(static_cast<double>(pictures_++) / DrawnStreet::kRateHz, into);
}

std::unique_ptr<CameraSource> open_camera(const std::string& argument, const Beside& beside) {
  if (argument == kDrawn) return std::make_unique<DrawnCamera>();
  return open_video(argument, beside);
}

}  // namespace cardan::street
