// SPDX-License-Identifier: Apache-2.0
#include "src/config/graph.hpp"

#include <gtest/gtest.h>

#include <random>

#include "src/config/graph_layout.hpp"
#include "src/config/street_file_test.hpp"

namespace cardan::config {
namespace {

Graph street_graph() {
  std::vector<Problem> problems;
  const Configuration c =
      parse_configuration(edited(R"("private": false)", R"("private": true)"), "street.json", problems);
  EXPECT_TRUE(problems.empty()) << shown(problems);
  Declarations d;
  d.endpoints = {
      {"camera", "/image", "Image", 1, true, {}},
      {"detector", "/image", "Image", 1, false, {}},
      {"detector", "/people", "Detections", 3, true, {}},
      {"decision", "/street/people", "Detections", 3, false, {}},
      {"decision", "/odometry", "Odometry", 4, false, {}},
      {"decision", "/decision", "Decision", 5, true, {}},
      {"stranger", "/x", "X", 6, true, {}},  // not in the file
  };
  return make_graph(c, d);
}

TEST(Graphs, AreMadeOfWhatIsDeclared) {
  const Graph g = street_graph();
  EXPECT_EQ(g.name, "street");
  EXPECT_EQ(g.processes, (std::vector<std::string>{"sensors", "perception"}));
  ASSERT_EQ(g.components.size(), 4U);
  EXPECT_EQ(g.components[1].name, "lidar");
  EXPECT_EQ(g.components[3].process, 1U);
  ASSERT_EQ(g.topics.size(), 4U);
  EXPECT_EQ(g.topics[2].name, "/street/image");
  EXPECT_EQ(g.topics[2].writers, std::vector<std::size_t>{0});
  EXPECT_EQ(g.topics[2].readers, std::vector<std::size_t>{2});
  EXPECT_TRUE(g.topics[2].process_private);
  EXPECT_TRUE(g.topics[1].writers.empty());
}

TEST(Graphs, AreMermaidText) {
  EXPECT_EQ(mermaid(street_graph()), R"(flowchart LR
  subgraph p0["sensors"]
    c0["camera<br/>Camera"]
    c1["lidar<br/>Lidar"]
  end
  subgraph p1["perception"]
    c2["detector<br/>Detector"]
    c3["decision<br/>Decision"]
  end
  t0(["/decision<br/>Decision"])
  c3 --> t0
  t1(["/odometry<br/>Odometry"])
  t1 --> c3
  c0 -.->|"/street/image<br/>Image"| c2
  c2 -->|"/street/people<br/>Detections"| c3
)");
}

TEST(Graphs, EscapeNames) {
  Graph g{.name = "a<b>&\"c\"", .processes = {"p\"#"}, .components = {{"c", "std::vector<int>", 0}}};
  g.topics.push_back({.name = "/<&>", .type = "T&U", .writers = {0}, .readers = {0}});
  EXPECT_NE(mermaid(g).find("p#quot;#35;"), std::string::npos);
  EXPECT_NE(mermaid(g).find("std::vector#lt;int#gt;"), std::string::npos);
  const std::string picture = svg(g);
  EXPECT_NE(picture.find("<title>a&lt;b&gt;&amp;&quot;c&quot;</title>"), std::string::npos);
  EXPECT_NE(picture.find(">/&lt;&amp;&gt;</text>"), std::string::npos);
}

/// Each tag that opens is closed in its order; text has no naked '<' or '&'.
void expect_xml(const std::string& text) {
  std::vector<std::string> open;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '&') {
      ASSERT_LT(text.find(';', at) - at, 7U);
    }
    if (text[at] != '<') continue;
    const std::size_t end = text.find('>', at);
    ASSERT_NE(end, std::string::npos);
    const std::string tag = text.substr(at + 1, end - at - 1);
    const std::string name =
        tag.substr(tag.front() == '/' ? 1 : 0, tag.find_first_of(" /", 1) - (tag.front() == '/' ? 1 : 0));
    if (tag.front() == '/') {
      ASSERT_FALSE(open.empty());
      ASSERT_EQ(open.back(), name);
      open.pop_back();
    } else if (tag.back() != '/') {
      open.push_back(name);
    }
    at = end;
  }
  ASSERT_TRUE(open.empty()) << open.back();
}

bool overlap(const Box& a, const Box& b) {
  return a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height;
}

bool inside(const Box& in, const Box& out) {
  return in.x >= out.x && in.y >= out.y && in.x + in.width <= out.x + out.width &&
         in.y + in.height <= out.y + out.height;
}

/// Boxes stand apart and in their process, arrows lead to the right and through no box.
void expect_readable(const Graph& graph) {
  const Layout l = lay_out(graph);
  const Box sheet{0, 0, l.width, l.height};
  std::vector<Box> boxes = l.components;
  for (const Layout::Outside& outside : l.outside) boxes.push_back(outside.box);
  for (std::size_t i = 0; i < boxes.size(); ++i) {
    ASSERT_TRUE(inside(boxes[i], sheet));
    for (std::size_t k = 0; k < i; ++k) ASSERT_FALSE(overlap(boxes[i], boxes[k])) << i << " " << k;
    for (std::size_t p = 0; p < l.processes.size(); ++p) {
      if (i < graph.components.size() && graph.components[i].process == p)
        ASSERT_TRUE(inside(boxes[i], l.processes[p])) << i << " " << p;
      else
        ASSERT_FALSE(overlap(boxes[i], l.processes[p])) << i << " " << p;
    }
  }
  for (std::size_t p = 0; p < l.processes.size(); ++p)
    for (std::size_t q = 0; q < p; ++q) ASSERT_FALSE(overlap(l.processes[p], l.processes[q])) << p << " " << q;
  for (const Arrow& arrow : l.arrows) {
    ASSERT_EQ(arrow.points.size() % 2, 0U);
    if (arrow.below > 0) {
      ASSERT_LT(arrow.below, l.height);
      continue;
    }
    for (std::size_t i = 1; i < arrow.points.size(); ++i) {
      const Point a = arrow.points[i - 1];
      const Point b = arrow.points[i];
      ASSERT_LT(a.x, b.x);
      if (i % 2 == 1) continue;
      ASSERT_EQ(a.y, b.y);
      for (const Box& box : boxes) ASSERT_FALSE(overlap({a.x, a.y, b.x - a.x, 0.1}, box));
    }
  }
  const std::string picture = svg(graph);
  expect_xml(picture);
  for (const Graph::Component& component : graph.components)
    ASSERT_NE(picture.find(">" + component.name + "</text>"), std::string::npos);
  for (const Graph::Topic& topic : graph.topics)
    ASSERT_NE(picture.find(">" + topic.name + "</text>"), std::string::npos);
}

TEST(Graphs, AreDrawn) { expect_readable(street_graph()); }

TEST(Graphs, WithoutAnythingInThem) {
  expect_readable({});
  expect_readable({.name = "x", .processes = {"a", "b"}});
  expect_readable({.name = "x", .processes = {"a"}, .components = {{"c", "C", 0}}});
}

TEST(Graphs, PutReadersAfterWriters) {
  Graph g{.name = "chain", .processes = {"p"}};
  for (const char* const name : {"a", "b", "c", "d"}) g.components.push_back({name, "C", 0});
  g.topics = {{"/1", "T", {0}, {1, 3}, false}, {"/2", "T", {1}, {2}, false}, {"/3", "T", {2}, {3}, false}};
  std::vector<std::pair<std::size_t, std::size_t>> back;
  EXPECT_EQ(layers(g, back), (std::vector<std::size_t>{0, 1, 2, 3}));
  EXPECT_TRUE(back.empty());
  g.topics.push_back({"/4", "T", {3}, {1, 3}, false});  // back to b, and to itself
  EXPECT_EQ(layers(g, back), (std::vector<std::size_t>{0, 1, 2, 3}));
  EXPECT_EQ(back, (std::vector<std::pair<std::size_t, std::size_t>>{{3, 1}, {3, 3}}));
  expect_readable(g);
}

TEST(Graphs, OfAnyKindAreReadable) {
  std::mt19937 random(3);
  const auto below = [&](std::size_t n) { return static_cast<std::size_t>(random()) % n; };
  for (int round = 0; round < 300 && !testing::Test::HasFatalFailure(); ++round) {
    SCOPED_TRACE(round);
    Graph g{.name = "g" + std::to_string(round)};
    const std::size_t processes = 1 + below(5);
    for (std::size_t p = 0; p < processes; ++p) g.processes.push_back("process" + std::to_string(p));
    const std::size_t components = 1 + below(14);
    for (std::size_t c = 0; c < components; ++c)
      g.components.push_back({"component" + std::to_string(c), "Class", below(processes)});
    for (std::size_t t = below(20); t > 0; --t) {
      Graph::Topic topic{.name = "/topic" + std::to_string(t), .type = "T", .process_private = below(5) == 0};
      for (std::size_t i = below(3); i > 0; --i) topic.writers.push_back((below(components) + i) % components);
      for (std::size_t i = below(4); i > 0; --i) topic.readers.push_back(below(components));
      for (auto* list : {&topic.writers, &topic.readers}) {
        std::sort(list->begin(), list->end());
        list->erase(std::unique(list->begin(), list->end()), list->end());
      }
      if (!topic.writers.empty() || !topic.readers.empty()) g.topics.push_back(topic);
    }
    expect_readable(g);
  }
}

TEST(Graphs, OfALongChain) {
  Graph g{.name = "long", .processes = {"p"}};
  for (std::size_t c = 0; c < 2000; ++c) {
    g.components.push_back({"c" + std::to_string(c), "C", 0});
    if (c > 0) g.topics.push_back({"/t" + std::to_string(c), "T", {c - 1}, {c}, false});
  }
  std::vector<std::pair<std::size_t, std::size_t>> back;
  EXPECT_EQ(layers(g, back).back(), 1999U);
}

}  // namespace
}  // namespace cardan::config
