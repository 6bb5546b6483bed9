// SPDX-License-Identifier: Apache-2.0
#include "demo/report/drawing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <opencv2/imgcodecs.hpp>
#include <opencv2/imgproc.hpp>
#include <string_view>
#include <utility>
#include <vector>

#include "demo/detector/coco.hpp"
#include "demo/opencv_picture.hpp"

namespace cardan::street {
namespace {

const cv::Scalar kGreen(80, 220, 80);
const cv::Scalar kRed(60, 60, 240);
const cv::Scalar kOrange(40, 160, 250);
const cv::Scalar kYellow(60, 220, 230);
const cv::Scalar kGrey(150, 150, 150);
const cv::Scalar kBlue(255, 170, 60);  // the LiDAR in the camera's picture
const cv::Scalar kDimBlue(160, 110, 60);

void caption(cv::Mat& picture, const std::string& text) {
  cv::rectangle(picture, cv::Rect(0, 0, picture.cols, 24), cv::Scalar::all(0), cv::FILLED);
  cv::putText(picture, text, cv::Point(8, 17), cv::FONT_HERSHEY_SIMPLEX, 0.5, cv::Scalar::all(255), 1, cv::LINE_AA);
}

cv::Scalar colour_of(SeenKind kind) {
  switch (kind) {
    case SeenKind::Person:
      return kGreen;
    case SeenKind::Vehicle:
      return kOrange;
    case SeenKind::Other:
      break;
  }
  return kYellow;
}

std::string several(std::string_view label, std::size_t count) {
  if (count == 1) return fmt::format("1 {}", label);
  if (label == "person") return fmt::format("{} people", count);
  return fmt::format("{} {}{}", count, label, label.ends_with('s') ? "es" : "s");
}

cv::Scalar colour_of(Obstacle::Kind kind) {
  switch (kind) {
    case Obstacle::Kind::Pedestrian:
      return kRed;
    case Obstacle::Kind::Vehicle:
      return kOrange;
    case Obstacle::Kind::Structure:
      return kGrey;
    case Obstacle::Kind::Object:
      break;
  }
  return kGreen;
}

/// "2 cars, 1 person"; "nothing".
std::string count_text(std::span<const Seen> seen) {
  std::vector<std::pair<std::string_view, std::size_t>> counts;  // in the order in which they were seen
  for (const Seen& s : seen) {
    const auto known = std::find_if(counts.begin(), counts.end(), [&](const auto& c) { return c.first == s.label; });
    if (known == counts.end())
      counts.emplace_back(s.label, 1);
    else
      ++known->second;
  }
  std::string text;
  for (const auto& [label, count] : counts) text += (text.empty() ? "" : ", ") + several(label, count);
  return text.empty() ? "nothing" : text;
}

void draw_lidar(cv::Mat& out, const LidarInPicture& lidar) {
  std::vector<const LidarInPicture::Box*> near_first;
  for (const auto& o : lidar.obstacles) near_first.push_back(&o);
  std::sort(near_first.begin(), near_first.end(),
            [](const auto* a, const auto* b) { return a->distance < b->distance; });
  const auto point = [](double x, double y) { return cv::Point(static_cast<int>(x), static_cast<int>(y)); };
  for (const auto* o : near_first) {
    const cv::Scalar& colour = o->kind == Obstacle::Kind::Structure ? kDimBlue : kBlue;
    for (const PictureLine& line : std::span(o->box.lines).first(o->box.count))
      cv::line(out, point(line.x0, line.y0), point(line.x1, line.y1), colour, 1, cv::LINE_AA);
  }
  constexpr double kScale = 0.4;
  std::vector<cv::Rect> taken;  // by the texts of nearer ones
  for (const auto* o : near_first) {
    if (o->kind == Obstacle::Kind::Structure) continue;
    const std::string text = fmt::format("{} {:.0f} m", kind_name(o->kind), o->distance);
    int below = 0;
    const cv::Size size = cv::getTextSize(text, cv::FONT_HERSHEY_SIMPLEX, kScale, 1, &below);
    const cv::Point at = point(std::clamp(o->box.left, 0.0, std::max(0.0, static_cast<double>(out.cols - size.width))),
                               std::min(o->box.bottom + size.height + 3, static_cast<double>(out.rows - below)));
    const cv::Rect plate(at.x, at.y - size.height - 1, size.width, size.height + below);
    if (std::any_of(taken.begin(), taken.end(), [&](const cv::Rect& other) { return (other & plate).area() > 0; }))
      continue;
    taken.push_back(plate);
    cv::rectangle(out, plate, cv::Scalar(40, 24, 8), cv::FILLED);
    cv::putText(out, text, at, cv::FONT_HERSHEY_SIMPLEX, kScale, kBlue, 1, cv::LINE_AA);
  }
}

}  // namespace

bool draw_seen(const std::string& file, const Picture& picture, std::span<const Seen> seen, const std::string& detector,
               const LidarInPicture* lidar) {
  cv::Mat out;
  if (picture.channels == 1)
    cv::cvtColor(mat_of(picture), out, cv::COLOR_GRAY2BGR);
  else
    out = mat_of(picture).clone();
  if (lidar != nullptr) draw_lidar(out, *lidar);
  for (const Seen& s : seen) {
    const cv::Rect box(static_cast<int>(s.x), static_cast<int>(s.y), static_cast<int>(s.width),
                       static_cast<int>(s.height));
    const cv::Scalar colour = colour_of(kind_of(s.label));
    cv::rectangle(out, box, colour, 2);
    cv::putText(out, fmt::format("{} {:.2f}", s.label, s.score), cv::Point(box.x, std::max(box.y - 4, 36)),
                cv::FONT_HERSHEY_SIMPLEX, 0.45, colour, 1, cv::LINE_AA);
  }
  std::string title = fmt::format("camera: {} ({})", count_text(seen), detector);
  if (lidar != nullptr)
    title += fmt::format("; blue: {} of the {}LiDAR", several("obstacle", lidar->obstacles.size()),
                         lidar->simulated ? "SIMULATED " : "");
  caption(out, title);
  return cv::imwrite(file, out);
}

bool draw_obstacles(const std::string& file, std::span<const Point> cloud, std::span<const Obstacle> obstacles,
                    bool simulated) {
  constexpr int kWidth = 480;
  constexpr int kHeight = 576;
  constexpr float kPixelsPerMetre = 16;
  constexpr float kFootOfCar = 480;  // row of the sensor
  const auto place = [&](float x, float y) {
    return cv::Point(static_cast<int>(kWidth / 2.0 - y * kPixelsPerMetre),
                     static_cast<int>(kFootOfCar - x * kPixelsPerMetre));
  };
  cv::Mat out(kHeight, kWidth, CV_8UC3, cv::Scalar(24, 24, 24));
  for (const Point& p : cloud) {
    if (!(std::abs(p.x) < 60 && std::abs(p.y) < 60)) continue;
    const cv::Point at = place(p.x, p.y);
    if (at.x < 0 || at.y < 0 || at.x >= kWidth || at.y >= kHeight) continue;
    const auto brightness = static_cast<unsigned char>(std::clamp(70 + p.z * 30 + 60, 50.0F, 220.0F));
    out.at<cv::Vec3b>(at) = cv::Vec3b(brightness, brightness, static_cast<unsigned char>(brightness / 2));
  }
  cv::line(out, place(0, 1.2F), place(60, 1.2F), cv::Scalar(120, 90, 20), 1);
  cv::line(out, place(0, -1.2F), place(60, -1.2F), cv::Scalar(120, 90, 20), 1);
  cv::rectangle(out, place(1.5F, 0.9F), place(-3, -0.9F), cv::Scalar(200, 200, 200), 1);
  std::size_t shown = 0;
  for (const Obstacle& o : obstacles) {
    const cv::Point a = place(o.x1, o.y1);
    const cv::Point b = place(o.x0, o.y0);
    if (b.x < 0 || a.x > kWidth || b.y < 0 || a.y > kHeight) continue;
    ++shown;
    cv::rectangle(out, a, b, colour_of(o.kind), o.kind == Obstacle::Kind::Pedestrian ? 2 : 1);
    if (o.kind == Obstacle::Kind::Pedestrian || o.kind == Obstacle::Kind::Vehicle) {
      cv::putText(out, fmt::format("{} {:.0f} m", kind_name(o.kind), std::hypot((o.x0 + o.x1) / 2, (o.y0 + o.y1) / 2)),
                  cv::Point(std::clamp(a.x, 2, kWidth - 110), std::max(a.y - 3, 36)), cv::FONT_HERSHEY_SIMPLEX, 0.38,
                  colour_of(o.kind), 1, cv::LINE_AA);
    }
  }
  caption(out, fmt::format("{}LiDAR from above: {} obstacles", simulated ? "SIMULATED " : "", shown));
  return cv::imwrite(file, out);
}

std::string side_by_side(const std::string& left_file, const std::string& right_file) {
  const cv::Mat left = cv::imread(left_file), right = cv::imread(right_file);
  cv::Mat out;
  if (left.empty() || right.empty()) {
    out = left.empty() ? right : left;
  } else {
    cv::Mat scaled;
    const double factor = static_cast<double>(left.rows) / right.rows;
    cv::resize(right, scaled, cv::Size(std::max(1, static_cast<int>(right.cols * factor)), left.rows), 0, 0,
               factor < 1 ? cv::INTER_AREA : cv::INTER_LINEAR);
    cv::hconcat(left, scaled, out);
  }
  std::vector<unsigned char> png;
  if (out.empty() || !cv::imencode(".png", out, png)) return {};
  return {png.begin(), png.end()};
}

}  // namespace cardan::street
