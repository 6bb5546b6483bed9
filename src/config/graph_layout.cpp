// SPDX-License-Identifier: Apache-2.0
#include "src/config/graph_layout.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace cardan::config {
namespace {

constexpr double kMargin = 24;
constexpr double kTitle = 34;       // above everything
constexpr double kProcessPad = 14;  // around the components of a process
constexpr double kProcessTitle = 26;
constexpr double kBetween = 18;  // two boxes, one above the other
constexpr double kRowGap = 26;   // two processes, one above the other
constexpr double kPort = 34;     // a topic with its type
constexpr double kBend = 80;     // for arrows to go up and down
constexpr double kLane = 14;     // between lines side by side
constexpr std::size_t kNone = ~std::size_t{0};

/// A component, or a topic from outside.
struct Item {
  std::size_t component = kNone;
  std::size_t topic = kNone;
  std::size_t layer = 0;
  std::size_t block = 0;
  std::vector<std::size_t> out{};  ///< topics
  std::vector<std::size_t> in{};
  Box box{};
};

/// Boxes that belong together: a process, or a single topic from outside.
struct Block {
  std::size_t process = kNone;
  std::size_t first = kNone;  ///< layers
  std::size_t last = 0;
  std::size_t row = 0;
  double height = 0;
};

class Placer {
 public:
  explicit Placer(const Graph& graph) : g_(graph) {
    collect();
    columns();
    rows();
    for (std::size_t layer = 0; layer < left_.size(); ++layer) place(layer);
    draw();
  }

  Layout take() { return std::move(out_); }

 private:
  void collect() {
    std::vector<std::pair<std::size_t, std::size_t>> back;
    const std::vector<std::size_t> layer = layers(g_, back);
    back_.insert(back.begin(), back.end());
    for (std::size_t c = 0; c < g_.components.size(); ++c)
      items_.push_back({.component = c, .layer = layer[c], .block = g_.components[c].process});
    for (std::size_t p = 0; p < g_.processes.size(); ++p) blocks_.push_back({.process = p});
    bool before_all = false;
    for (std::size_t t = 0; t < g_.topics.size(); ++t) {
      const Graph::Topic& topic = g_.topics[t];
      for (const std::size_t c : topic.writers) items_[c].out.push_back(t);
      for (const std::size_t c : topic.readers) items_[c].in.push_back(t);
      if (!topic.writers.empty() || topic.readers.empty()) continue;
      std::size_t first = layer[topic.readers.front()];
      for (const std::size_t c : topic.readers) first = std::min(first, layer[c]);
      before_all = before_all || first == 0;
      items_.push_back({.topic = t, .layer = first, .block = blocks_.size(), .out = {t}});  // one less, below
      blocks_.push_back({});
    }
    for (Item& item : items_) {
      if (item.component != kNone && before_all) ++item.layer;
      if (item.component == kNone && !before_all) --item.layer;
      Block& block = blocks_[item.block];
      block.first = std::min(block.first, item.layer);
      block.last = std::max(block.last, item.layer);
    }
  }

  /// Boxes' sizes, and from them where each layer starts.
  void columns() {
    std::size_t count = 1;
    for (const Item& item : items_) count = std::max(count, item.layer + 1);
    left_.resize(count);
    right_.resize(count);
    bend_.resize(count);
    std::vector<double> width(count);
    std::vector<double> label(count);
    for (Item& item : items_) {
      const bool component = item.component != kNone;
      const std::string& name = component ? g_.components[item.component].name : g_.topics[item.topic].name;
      const std::string& below = component ? g_.components[item.component].class_name : g_.topics[item.topic].type;
      item.box.width =
          28 + std::max(text_width(name, component ? kNameSize : kSmallSize), text_width(below, kSmallSize));
      if (component)  // and its process is as narrow where it has one layer
        item.box.width = std::max(item.box.width, text_width(g_.processes[blocks_[item.block].process], kSmallSize));
      item.box.height = std::max({48.0, component ? static_cast<double>(item.out.size()) * kPort + 8 : 0.0,
                                  static_cast<double>(item.in.size()) * kLane + 16});
      width[item.layer] = std::max(width[item.layer], item.box.width);
      if (!component) continue;
      for (const std::size_t t : item.out)
        label[item.layer] = std::max(
            {label[item.layer], text_width(g_.topics[t].name, kSmallSize), text_width(g_.topics[t].type, kSmallSize)});
    }
    double x = kMargin + kProcessPad;
    for (std::size_t l = 0; l < count; ++l) {
      left_[l] = x;
      right_[l] = x + width[l];
      bend_[l] = right_[l] + label[l] + 2 * kProcessPad;
      x = bend_[l] + kBend;
    }
    out_.width = x - kBend + kMargin + (back_.empty() ? 0 : kBend / 2);
    for (Item& item : items_) {
      item.box.x = left_[item.layer];
      item.box.width = width[item.layer];
    }
  }

  /// Processes that share no layer may share a row.
  void rows() {
    std::vector<std::vector<const Block*>> rows;
    std::vector<double> heights;
    std::vector<std::size_t> order(blocks_.size());
    for (std::size_t b = 0; b < order.size(); ++b) order[b] = b;
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return std::pair(blocks_[a].first, a) < std::pair(blocks_[b].first, b);
    });
    for (const std::size_t b : order) {
      Block& block = blocks_[b];
      if (block.first == kNone) block.first = block.last = 0;  // a process without components
      std::map<std::size_t, double> stacked;
      for (const Item& item : items_)
        if (item.block == b) stacked[item.layer] += item.box.height + kBetween;
      for (const auto& [layer, height] : stacked) block.height = std::max(block.height, height - kBetween);
      if (block.process != kNone) block.height += kProcessTitle + 2 * kProcessPad;
      const auto free = [&](const std::vector<const Block*>& row) {
        return std::none_of(row.begin(), row.end(),
                            [&](const Block* o) { return o->first <= block.last && block.first <= o->last; });
      };
      block.row = static_cast<std::size_t>(std::find_if(rows.begin(), rows.end(), free) - rows.begin());
      if (block.row == rows.size()) {
        rows.emplace_back();
        heights.push_back(0);
      }
      rows[block.row].push_back(&block);
      heights[block.row] = std::max(heights[block.row], block.height);
    }
    double y = kMargin + kTitle;
    for (const double height : heights) {
      middle_.push_back(y + height / 2);
      y += height + kRowGap;
    }
    bottom_ = y - kRowGap;
  }

  /// The items of a layer, in each block in the order of what they read.
  void place(std::size_t layer) {
    std::map<std::size_t, std::vector<Item*>> by_block;
    for (Item& item : items_)
      if (item.layer == layer) by_block[item.block].push_back(&item);
    for (auto& [b, items] : by_block) {
      const Block& block = blocks_[b];
      std::map<const Item*, double> wish;
      for (const Item* item : items) wish[item] = mean_of_sources(*item, middle_[block.row]);
      std::sort(items.begin(), items.end(), [&](const Item* a, const Item* c) {
        return std::pair(wish[a], a->component) < std::pair(wish[c], c->component);
      });
      double height = -kBetween;
      for (const Item* item : items) height += item->box.height + kBetween;
      double y = middle_[block.row] - height / 2 + (block.process != kNone ? kProcessTitle / 2 : 0);
      for (Item* item : items) {
        item->box.y = y;
        y += item->box.height + kBetween;
      }
    }
  }

  [[nodiscard]] double mean_of_sources(const Item& item, double otherwise) const {
    double sum = 0;
    int count = 0;
    for (const std::size_t t : item.in)
      for (const std::size_t writer : g_.topics[t].writers) {
        if (items_[writer].layer >= item.layer) continue;
        sum += port(items_[writer], t).y;
        ++count;
      }
    return count > 0 ? sum / count : otherwise;
  }

  /// Where a topic leaves an item.
  static Point port(const Item& item, std::size_t topic) {
    const auto n = static_cast<double>(item.out.size());
    const auto i = static_cast<double>(std::find(item.out.begin(), item.out.end(), topic) - item.out.begin());
    const double step = item.component != kNone ? kPort : 0;
    return {item.box.x + item.box.width, item.box.y + item.box.height / 2 + (i - (n - 1) / 2) * step};
  }

  void draw() {
    out_.processes.resize(g_.processes.size());
    out_.components.resize(g_.components.size());
    for (const Block& block : blocks_) {
      if (block.process == kNone) continue;
      out_.processes[block.process] = {left_[block.first] - kProcessPad, middle_[block.row] - block.height / 2,
                                       right_[block.last] - left_[block.first] + 2 * kProcessPad, block.height};
    }
    for (const Item& item : items_) {
      if (item.component != kNone)
        out_.components[item.component] = item.box;
      else
        out_.outside.push_back({item.topic, item.box});
    }
    for (Item& item : items_) entries(item);
    lanes_.resize(left_.size());
    for (const Item& item : items_)
      for (const std::size_t t : item.out) {
        const Point from = port(item, t);
        out_.stems.push_back({t, from, bend_[item.layer]});
        for (const std::size_t reader : g_.topics[t].readers)
          arrow(item, t, {bend_[item.layer], from.y}, items_[reader]);
      }
    out_.height = bottom_ + kMargin;
  }

  /// Inputs from top to bottom as their sources are, so that arrows do not cross just before they arrive.
  void entries(Item& item) {
    std::map<std::size_t, double> source;
    for (const std::size_t t : item.in) {
      double y = 1e9;
      for (const Item& other : items_)
        if (std::find(other.out.begin(), other.out.end(), t) != other.out.end() && other.layer < item.layer)
          y = std::min(y, port(other, t).y);
      source[t] = y;
    }
    std::sort(item.in.begin(), item.in.end(),
              [&](std::size_t a, std::size_t b) { return std::pair(source[a], a) < std::pair(source[b], b); });
  }

  static Point entry(const Item& item, std::size_t topic) {
    const auto n = static_cast<double>(item.in.size());
    const auto i = static_cast<double>(std::find(item.in.begin(), item.in.end(), topic) - item.in.begin());
    return {item.box.x, item.box.y + item.box.height / 2 + (i - (n - 1) / 2) * kLane};
  }

  void arrow(const Item& writer, std::size_t topic, Point from, const Item& reader) {
    Arrow arrow{.topic = topic, .points = {from}};
    const Point to = entry(reader, topic);
    if (writer.component != kNone && back_.contains({writer.component, reader.component})) {
      bottom_ += kLane;
      arrow.below = bottom_;
    } else {
      for (std::size_t layer = writer.layer + 1; layer < reader.layer; ++layer) {
        const double part = (left_[layer] - from.x) / (to.x - from.x);
        const double y = lane(layer, from.y + (to.y - from.y) * part);
        arrow.points.push_back({left_[layer] - kProcessPad, y});
        arrow.points.push_back({bend_[layer], y});
      }
    }
    arrow.points.push_back(to);
    out_.arrows.push_back(std::move(arrow));
  }

  /// The height nearest to `wish` at which a line can pass the boxes of a layer, and other lines that do.
  double lane(std::size_t layer, double wish) {
    std::vector<std::pair<double, double>> taken;
    for (const Item& item : items_)
      if (item.layer == layer) taken.emplace_back(item.box.y - 8, item.box.y + item.box.height + 8);
    for (const double y : lanes_[layer]) taken.emplace_back(y - kLane / 2, y + kLane / 2);
    std::vector<double> candidates{wish};
    for (const auto& [top, end] : taken) {
      candidates.push_back(top);
      candidates.push_back(end);
    }
    double best = wish;
    double least = 1e18;
    for (const double y : candidates) {
      const bool hit = std::any_of(taken.begin(), taken.end(),
                                   [&](const auto& t) { return y > t.first + 0.01 && y < t.second - 0.01; });
      if (hit || y < kTitle || std::abs(y - wish) >= least) continue;
      best = y;
      least = std::abs(y - wish);
    }
    lanes_[layer].push_back(best);
    bottom_ = std::max(bottom_, best);
    return best;
  }

  const Graph& g_;
  Layout out_;
  std::vector<Item> items_;  ///< the components, in their order, then what comes from outside
  std::vector<Block> blocks_;
  std::set<std::pair<std::size_t, std::size_t>> back_;
  std::vector<double> left_;  ///< of each layer's boxes
  std::vector<double> right_;
  std::vector<double> bend_;    ///< where the names end and the arrows start
  std::vector<double> middle_;  ///< of each row
  std::vector<std::vector<double>> lanes_;
  double bottom_ = 0;
};

}  // namespace

double text_width(const std::string& text, double size) {
  const auto letters =
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0U) != 0x80U; });
  return static_cast<double>(letters) * size * 0.602;  // as DejaVu Sans Mono and its like
}

Layout lay_out(const Graph& graph) { return Placer(graph).take(); }

}  // namespace cardan::config
