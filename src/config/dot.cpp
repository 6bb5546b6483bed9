// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <array>

#include "src/config/graph.hpp"

namespace cardan::config {
namespace {

constexpr std::array kColours{"#1f5fa8", "#b3541e", "#2c7a3f", "#7a3fa0", "#a8323e", "#14808a", "#7d6a10", "#5a5f66"};

/// For a text in double quotes: Graphviz also reads escapes and entities there.
std::string dot_text(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
    if (c == '&') out += "amp;";
  }
  return out;
}

std::string two_lines(const std::string& first, const std::string& second) {
  return second.empty() ? dot_text(first) : dot_text(first) + "\\n" + dot_text(second);
}

}  // namespace

std::string dot(const Graph& graph) {
  std::string out = fmt::format(
      "digraph \"{0}\" {{\n"
      "  graph [label=\"{0}\" labelloc=t labeljust=l rankdir=LR fontname=\"DejaVu Sans Mono\" fontsize=14]\n"
      "  node [shape=box style=filled fillcolor=white color=\"#33475b\" fontname=\"DejaVu Sans Mono\" fontsize=12]\n"
      "  edge [fontname=\"DejaVu Sans Mono\" fontsize=11]\n",
      dot_text(graph.name));
  for (std::size_t p = 0; p < graph.processes.size(); ++p) {
    out += fmt::format(
        "  subgraph cluster{} {{\n"
        "    graph [label=\"{}\" style=\"rounded,filled\" fillcolor=\"#f3f5f8\" color=\"#b8c2cc\"]\n",
        p, dot_text(graph.processes[p]));
    for (std::size_t c = 0; c < graph.components.size(); ++c)
      if (graph.components[c].process == p)
        out += fmt::format("    c{} [label=\"{}\"]\n", c,
                           two_lines(graph.components[c].name, graph.components[c].class_name));
    out += "  }\n";
  }
  for (std::size_t t = 0; t < graph.topics.size(); ++t) {
    const Graph::Topic& topic = graph.topics[t];
    const std::string label = two_lines(topic.name, topic.type);
    const char* const colour = kColours[t % kColours.size()];
    const std::string look = fmt::format("color=\"{}\"{}", colour, topic.process_private ? " style=dotted" : "");
    if (topic.writers.size() == 1 && topic.readers.size() == 1) {
      out += fmt::format("  c{} -> c{} [label=\"{}\" {} fontcolor=\"{}\"]\n", topic.writers.front(),
                         topic.readers.front(), label, look, colour);
      continue;
    }
    out += fmt::format("  t{} [label=\"{}\" style=rounded color=\"{}\"]\n", t, label, colour);
    for (const std::size_t writer : topic.writers) out += fmt::format("  c{} -> t{} [{}]\n", writer, t, look);
    for (const std::size_t reader : topic.readers) out += fmt::format("  t{} -> c{} [{}]\n", t, reader, look);
  }
  return out + "}\n";
}

}  // namespace cardan::config
