// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <array>
#include <iterator>

#include "src/base/xml_text.hpp"
#include "src/config/graph_layout.hpp"

namespace cardan::config {
namespace {

using detail::xml_text;

constexpr std::array kColours{"#1f5fa8", "#b3541e", "#2c7a3f", "#7a3fa0", "#a8323e", "#14808a", "#7d6a10", "#5a5f66"};

class Drawing {
 public:
  Drawing(const Graph& graph, const Layout& layout) : g_(graph), l_(layout) {}

  std::string text() {
    add(R"(<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {0:.0f} {1:.0f}" width="{0:.0f}" height="{1:.0f}" )"
        R"(role="img" font-family="DejaVu Sans Mono, Menlo, Consolas, monospace">)"
        "\n",
        l_.width, l_.height);
    add("<title>{}</title>\n", xml_text(g_.name));
    add("<style>.name{{font-size:{}px;font-weight:bold}}.small{{font-size:{}px}}.type{{fill:#6b7480}}"
        ".line{{fill:none;stroke-width:1.5}}.halo{{stroke:#fff;stroke-width:4px;stroke-linejoin:round}}</style>\n",
        kNameSize, kSmallSize);
    heads();
    add(R"(<rect width="100%" height="100%" fill="#fff"/>)"
        "\n");
    write(24, 34, "name", g_.name);
    for (std::size_t p = 0; p < g_.processes.size(); ++p) process(p);
    for (const Arrow& arrow : l_.arrows) this->arrow(arrow);
    for (std::size_t c = 0; c < g_.components.size(); ++c) component(c);
    for (const Layout::Outside& outside : l_.outside) topic_from_outside(outside);
    for (const Stem& stem : l_.stems) this->stem(stem);
    return out_ + "</svg>\n";
  }

 private:
  template <class... A>
  void add(fmt::format_string<A...> format, A&&... arguments) {
    fmt::format_to(std::back_inserter(out_), format, std::forward<A>(arguments)...);
  }
  void write(double x, double y, std::string_view style, const std::string& text, const std::string& more = {}) {
    add("<text x=\"{:.1f}\" y=\"{:.1f}\" class=\"{}\"{}>{}</text>\n", x, y, style, more, xml_text(text));
  }
  void rectangle(const Box& box, double radius, const char* fill, const char* stroke) {
    add(R"(<rect x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}" rx="{}" fill="{}" stroke="{}"/>)"
        "\n",
        box.x, box.y, box.width, box.height, radius, fill, stroke);
  }
  static const char* colour(std::size_t topic) { return kColours[topic % kColours.size()]; }
  [[nodiscard]] const char* dots(std::size_t topic) const {
    return g_.topics[topic].process_private ? R"( stroke-dasharray="2 4")" : "";
  }

  void heads() {
    for (std::size_t i = 0; i < kColours.size(); ++i)
      add(R"(<marker id="head{}" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7" markerHeight="7" orient="auto">)"
          R"(<path d="M0 0L8 4L0 8z" fill="{}"/></marker>)"
          "\n",
          i, kColours[i]);
  }

  void process(std::size_t p) {
    const Box& box = l_.processes[p];
    rectangle(box, 8, "#f3f5f8", "#b8c2cc");
    write(box.x + 12, box.y + 20, "small type", g_.processes[p]);
  }

  void component(std::size_t c) {
    const Box& box = l_.components[c];
    rectangle(box, 4, "#ffffff", "#33475b");
    write(box.x + 14, box.y + box.height / 2 - 3, "name", g_.components[c].name);
    write(box.x + 14, box.y + box.height / 2 + 14, "small type", g_.components[c].class_name);
  }

  void topic_from_outside(const Layout::Outside& outside) {
    const Box& box = outside.box;
    rectangle(box, box.height / 2, "#fffaf0", colour(outside.topic));
    write(box.x + 14, box.y + box.height / 2 - 3, "small", g_.topics[outside.topic].name);
    write(box.x + 14, box.y + box.height / 2 + 12, "small type", g_.topics[outside.topic].type);
  }

  void stem(const Stem& stem) {
    const Graph::Topic& topic = g_.topics[stem.topic];
    // Without readers in the file it ends in the open, with its own head.
    add("<path class=\"line\" stroke=\"{}\"{} d=\"M{:.1f} {:.1f}H{:.1f}\"{}/>\n", colour(stem.topic), dots(stem.topic),
        stem.from.x, stem.from.y, stem.end,
        topic.readers.empty() ? fmt::format(" marker-end=\"url(#head{})\"", stem.topic % kColours.size()) : "");
    if (topic.writers.empty()) return;  // its name is in the box
    const double x = stem.from.x + 18;
    // Lines of other topics may pass below: a light edge first, as not every program knows paint-order.
    for (const char* const halo : {" halo", ""}) {
      write(x, stem.from.y - 5, std::string("small") + halo, topic.name,
            fmt::format(" fill=\"{}\"", colour(stem.topic)));
      write(x, stem.from.y + 13, std::string("small type") + halo, topic.type);
    }
    // The halo has covered a little of its own line.
    add("<path class=\"line\" stroke=\"{}\"{} d=\"M{:.1f} {:.1f}H{:.1f}\"/>\n", colour(stem.topic), dots(stem.topic),
        stem.from.x, stem.from.y, stem.end - 8);
  }

  void arrow(const Arrow& arrow) {
    const Point from = arrow.points.front();
    std::string path = fmt::format("M{:.1f} {:.1f}", from.x, from.y);
    auto to = std::back_inserter(path);
    if (arrow.below > 0) {
      const Point end = arrow.points.back();
      const double out = from.x + 24;
      const double in = end.x - 34;
      fmt::format_to(to, "C{0:.1f} {1:.1f} {0:.1f} {2:.1f} {3:.1f} {2:.1f}", out + 16, from.y, arrow.below, from.x);
      fmt::format_to(to, "H{:.1f}", end.x);
      fmt::format_to(to, "C{0:.1f} {1:.1f} {0:.1f} {2:.1f} {3:.1f} {2:.1f}", in, arrow.below, end.y, end.x);
    } else {
      for (std::size_t i = 1; i < arrow.points.size(); ++i) {
        const Point a = arrow.points[i - 1];
        const Point b = arrow.points[i];
        const double half = (b.x - a.x) / 2;
        if (i % 2 == 1)
          fmt::format_to(to, "C{:.1f} {:.1f} {:.1f} {:.1f} {:.1f} {:.1f}", a.x + half, a.y, b.x - half, b.y, b.x, b.y);
        else
          fmt::format_to(to, "H{:.1f}", b.x);
      }
    }
    const Graph::Topic& topic = g_.topics[arrow.topic];
    add("<path class=\"line\" stroke=\"{}\"{} d=\"{}\" marker-end=\"url(#head{})\"><title>{} ({})</title></path>\n",
        colour(arrow.topic), arrow.below > 0 ? R"( stroke-dasharray="7 4")" : dots(arrow.topic), path,
        arrow.topic % kColours.size(), xml_text(topic.name), xml_text(topic.type));
  }

  const Graph& g_;
  const Layout& l_;
  std::string out_;
};

}  // namespace

std::string svg(const Graph& graph) {
  const Layout layout = lay_out(graph);
  return Drawing(graph, layout).text();
}

}  // namespace cardan::config
