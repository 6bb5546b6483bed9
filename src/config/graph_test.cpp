// SPDX-License-Identifier: Apache-2.0
#include "src/config/graph.hpp"

#include <gtest/gtest.h>

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

TEST(Graphs, AreTextForGraphviz) {
  Graph g = street_graph();
  g.topics[3].readers.push_back(0);
  const std::string text = dot(g);
  EXPECT_EQ(text.substr(text.find("  subgraph")), R"(  subgraph cluster0 {
    graph [label="sensors" style="rounded,filled" fillcolor="#f3f5f8" color="#b8c2cc"]
    c0 [label="camera\nCamera"]
    c1 [label="lidar\nLidar"]
  }
  subgraph cluster1 {
    graph [label="perception" style="rounded,filled" fillcolor="#f3f5f8" color="#b8c2cc"]
    c2 [label="detector\nDetector"]
    c3 [label="decision\nDecision"]
  }
  t0 [label="/decision\nDecision" style=rounded color="#1f5fa8"]
  c3 -> t0 [color="#1f5fa8"]
  t1 [label="/odometry\nOdometry" style=rounded color="#b3541e"]
  t1 -> c3 [color="#b3541e"]
  c0 -> c2 [label="/street/image\nImage" color="#2c7a3f" style=dotted fontcolor="#2c7a3f"]
  t3 [label="/street/people\nDetections" style=rounded color="#7a3fa0"]
  c2 -> t3 [color="#7a3fa0"]
  t3 -> c3 [color="#7a3fa0"]
  t3 -> c0 [color="#7a3fa0"]
}
)");
}

TEST(Graphs, EscapeNames) {
  Graph g{.name = "a<b>&\"c\"", .processes = {"p\"#"}, .components = {{"c", "std::vector<int>", 0}}};
  g.topics.push_back({.name = "/<&>", .type = "T&U", .writers = {0}, .readers = {0}});
  EXPECT_NE(mermaid(g).find("p#quot;#35;"), std::string::npos);
  EXPECT_NE(mermaid(g).find("std::vector#lt;int#gt;"), std::string::npos);
  g.name += "\\";
  EXPECT_TRUE(dot(g).starts_with(R"(digraph "a<b>&amp;\"c\"\\" {)")) << dot(g);
  EXPECT_NE(dot(g).find(R"([label="/<&amp;>\nT&amp;U" )"), std::string::npos) << dot(g);
}

}  // namespace
}  // namespace cardan::config
