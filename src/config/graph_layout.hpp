// SPDX-License-Identifier: Apache-2.0
// The places of the boxes and arrows of a graph's picture, in pixels.
#pragma once

#include <string>
#include <vector>

#include "src/config/graph.hpp"

namespace cardan::config {

struct Box {
  double x = 0;
  double y = 0;
  double width = 0;
  double height = 0;
};

struct Point {
  double x = 0;
  double y = 0;
};

/// A topic as it leaves one of its writers: the line under its name, and from its end an arrow to each reader.
struct Stem {
  std::size_t topic = 0;
  Point from{};
  double end = 0;  ///< x
};

struct Arrow {
  std::size_t topic = 0;
  /// Pairs: a curve leads to the first of each, a straight line from there to the second; the last one is the head.
  std::vector<Point> points{};
  double below = 0;  ///< other than 0: it leads back, along this y
};

struct Layout {
  double width = 0;
  double height = 0;
  std::vector<Box> processes{};
  std::vector<Box> components{};
  struct Outside {
    std::size_t topic = 0;
    Box box{};
  };
  std::vector<Outside> outside{};  ///< topics that no component of the file writes
  std::vector<Stem> stems{};
  std::vector<Arrow> arrows{};
};

inline constexpr double kNameSize = 14;   ///< of letters
inline constexpr double kSmallSize = 11;  ///< of types and topics

/// Width of a text in a monospaced font.
[[nodiscard]] double text_width(const std::string& text, double size);

/// For each component, the number of topics on the longest way to it; `back` gets the arrows (writer, reader) that lead
/// against this order, because components read from each other.
[[nodiscard]] std::vector<std::size_t> layers(const Graph& graph,
                                              std::vector<std::pair<std::size_t, std::size_t>>& back);

[[nodiscard]] Layout lay_out(const Graph& graph);

}  // namespace cardan::config
