// SPDX-License-Identifier: Apache-2.0
#include "bench/results/page/svg.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "bench/results/page/axis.hpp"
#include "bench/results/words.hpp"
#include "cardan/base/xml_text.hpp"

namespace cardan::bench {
namespace {

using detail::xml_text;

constexpr double kWidth = 860;
constexpr double kLabels = 200;  // the column of names
constexpr double kRight = 24;
constexpr double kRow = 20;
constexpr double kTop = 8;
constexpr double kFoot = 44;
constexpr double kLinesHeight = 300;
constexpr double kLegendColumn = 215;
constexpr double kCloseTicks = 34;
constexpr double kSectionGap = 6;
constexpr double kTallRows = 12;
constexpr double kWidthOfCharacter = 8;  // bold, at most in the mean
constexpr std::size_t kMostLabel = 30;   // characters in its column

// No half of a UTF-8 character.
std::string fitted(const std::string& text) {
  std::size_t characters = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if ((static_cast<unsigned char>(text[i]) & 0xC0U) == 0x80U) continue;
    if (++characters > kMostLabel) return text.substr(0, i) + "…";
  }
  return text;
}

int series_class(int series) { return ((series % kSeries) + kSeries) % kSeries; }

std::string line_element(double x1, double y1, double x2, double y2, const std::string& classes) {
  return fmt::format("<line class=\"{}\" x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\"/>", classes, x1, y1,
                     x2, y2);
}
std::string text_element(double x, double y, const std::string& classes, const std::string& text) {
  return fmt::format("<text class=\"{}\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>", classes, x, y, xml_text(text));
}

std::string open_svg(const PlotFrame& frame, double height) {
  const std::string id = xml_text(frame.id);
  return fmt::format(
      "<svg role=\"img\" viewBox=\"0 0 {:.0f} {:.0f}\" aria-labelledby=\"{}-t {}-d\"><title id=\"{}-t\">{}</title>"
      "<desc id=\"{}-d\">{}</desc>\n",
      kWidth, height, id, id, id, xml_text(frame.title), id, xml_text(frame.description));
}

/// The ticks' values in a row. Right of `from` only: on the left is something else.
std::string tick_names(const Axis& axis, const std::vector<double>& ticks, double y, double closest, double from = 0) {
  std::string out;
  double last = from - closest;
  for (const double tick : ticks) {
    const double x = axis.at(tick);
    if (x - last < closest) continue;  // names would overlap
    out += text_element(x, y, "tick", name_of_tick(tick));
    last = x;
  }
  return out;
}

std::string value_axis(const Axis& axis, double top, double bottom, const std::string& name) {
  std::string out;
  const std::vector<double> ticks = axis.ticks();
  for (const double tick : ticks) out += line_element(axis.at(tick), top, axis.at(tick), bottom, "grid");
  out += tick_names(axis, ticks, bottom + 15, kCloseTicks);
  return out + text_element((kLabels + kWidth - kRight) / 2, bottom + 34, "axis", name) + "\n";
}

/// Rows with headings from above; `draw` gives what is in a row.
template <class Item, class Draw>
std::string rows_of(const PlotFrame& frame, const std::vector<Item>& items, const Axis& axis, Draw draw) {
  double height = kTop;
  std::string body;
  const std::string* section = nullptr;
  // The axis is at the foot; a tall plot repeats its values where a section starts.
  double values_at = kTop - kTallRows * kRow;
  double end = kTop;
  for (std::size_t i = 0; i < items.size(); ++i)
    end += kRow + (i == 0 || items[i].section != items[i - 1].section ? kRow + kSectionGap : 0);
  for (const Item& item : items) {
    if (!item.section.empty() && (section == nullptr || *section != item.section)) {
      height += kSectionGap;
      body += text_element(4, height + 14, "section", item.section);
      if (height - values_at >= kTallRows * kRow && end - height >= kTallRows * kRow) {
        body += tick_names(axis, axis.ticks(), height + 14, kCloseTicks,
                           4 + kWidthOfCharacter * static_cast<double>(item.section.size()) + kCloseTicks / 2);
        values_at = height;
      }
      height += kRow;
    }
    section = &item.section;
    const double middle = height + kRow / 2;
    body += text_element(kLabels - 8, middle + 4, "label", fitted(item.label));
    body += draw(item, middle) + "\n";
    height += kRow;
  }
  return open_svg(frame, height + kFoot) + value_axis(axis, kTop, height + 2, frame.axis) + body + "</svg>\n";
}

}  // namespace

std::string name_of_tick(double value) {
  const double size = std::fabs(value);
  if (size >= 1e6) return fmt::format("{:.4g} M", value / 1e6);
  if (size >= 1e4) return fmt::format("{:.4g} k", value / 1e3);
  return fmt::format("{:.4g}", value + 0.0);  // not "-0"
}

std::string box_plot(const PlotFrame& frame, const std::vector<Box>& boxes) {
  std::vector<double> values;
  for (const Box& b : boxes) values.insert(values.end(), {b.p5, b.p25, b.p50, b.p75, b.p95, b.p99});
  const Axis axis(values, true, kLabels, kWidth - kRight);
  return rows_of(frame, boxes, axis, [&](const Box& b, double y) {
    const int s = series_class(b.series);
    std::string out = line_element(axis.at(b.p5), y, axis.at(b.p95), y, fmt::format("whisker s{}", s));
    for (const double end : {b.p5, b.p95})
      out += line_element(axis.at(end), y - 4, axis.at(end), y + 4, fmt::format("whisker s{}", s));
    const double left = axis.at(b.p25);
    out += fmt::format("<rect class=\"box s{}\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"12\"/>", s, left,
                       y - 6, std::max(1.5, axis.at(b.p75) - left));
    out += line_element(axis.at(b.p50), y - 7, axis.at(b.p50), y + 7, "median");
    return out + fmt::format("<circle class=\"far s{}\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"2.5\"/>", s, axis.at(b.p99), y);
  });
}

std::string bar_plot(const PlotFrame& frame, const std::vector<Bar>& bars) {
  std::vector<double> values{0};
  for (const Bar& b : bars) values.insert(values.end(), {b.value, b.high});
  const Axis axis(values, false, kLabels, kWidth - kRight, true);
  return rows_of(frame, bars, axis, [&](const Bar& b, double y) {
    const double left = axis.at(0);
    std::string out = fmt::format("<rect class=\"box s{}\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"12\"/>",
                                  series_class(b.series), left, y - 6, std::max(1.0, axis.at(b.value) - left));
    if (b.high > b.low) {
      out += line_element(axis.at(b.low), y, axis.at(b.high), y, "median");
      for (const double end : {b.low, b.high}) out += line_element(axis.at(end), y - 4, axis.at(end), y + 4, "median");
    }
    return out;
  });
}

std::string line_plot(const PlotFrame& frame, const std::vector<Line>& lines, const LineAxes& axes) {
  constexpr double kLeft = 64;
  constexpr double kFrom = kTop + 18;  // below the name of the vertical axis
  const double bottom = kFrom + kLinesHeight;
  std::vector<double> xs;
  std::vector<double> ys;
  for (const Line& line : lines)
    for (const auto& [x, y] : line.points) {
      xs.push_back(x);
      ys.push_back(y);
    }
  const Axis x_axis(xs, axes.log_x, kLeft, kWidth - kRight);
  const Axis y_axis(ys, axes.log_y, bottom, kFrom, true);

  const auto columns = static_cast<std::size_t>((kWidth - kLeft) / kLegendColumn);
  const std::size_t legend_rows = (lines.size() + columns - 1) / columns;
  std::string out = open_svg(frame, bottom + kFoot + 8 + kRow * static_cast<double>(legend_rows));
  std::vector<double> x_ticks = x_axis.ticks();
  const auto is_whole = [](double x) { return x == std::floor(x); };
  if (std::all_of(xs.begin(), xs.end(), is_whole))  // counts have no fractions
    x_ticks.erase(std::remove_if(x_ticks.begin(), x_ticks.end(), std::not_fn(is_whole)), x_ticks.end());
  for (const double tick : x_ticks) out += line_element(x_axis.at(tick), kFrom, x_axis.at(tick), bottom, "grid");
  out += tick_names(x_axis, x_ticks, bottom + 15, 42);
  for (const double tick : y_axis.ticks()) {
    out += line_element(kLeft, y_axis.at(tick), kWidth - kRight, y_axis.at(tick), "grid");
    out += text_element(kLeft - 6, y_axis.at(tick) + 4, "label", name_of_tick(tick));
  }
  out += text_element((kLeft + kWidth - kRight) / 2, bottom + 34, "axis", axes.x);
  out += text_element(4, kTop + 8, "side", frame.axis) + "\n";
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const Line& line = lines[i];
    const std::string classes = fmt::format("line s{} d{}", series_class(line.series), line.dash % 4);
    std::string path;
    for (const auto& [x, y] : line.points)
      path += fmt::format("{}{:.1f} {:.1f}", path.empty() ? "M" : "L", x_axis.at(x), y_axis.at(y));
    out += fmt::format("<path class=\"{}\" d=\"{}\"/>", classes, path);
    if (line.points.size() <= 16)
      for (const auto& [x, y] : line.points)
        out += fmt::format("<circle class=\"far s{}\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3\"/>", series_class(line.series),
                           x_axis.at(x), y_axis.at(y));
    const double x = kLeft + kLegendColumn * static_cast<double>(i % columns);
    const std::size_t row = i / columns;
    const double y = bottom + kFoot + kRow * static_cast<double>(row) + 8;
    out += line_element(x, y, x + 30, y, classes);
    out += text_element(x + 36, y + 4, "legend", fitted(line.label)) + "\n";
  }
  return out + "</svg>\n";
}

}  // namespace cardan::bench
