// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "src/config/graph.hpp"

namespace cardan::config {
namespace {

/// For a text in double quotes: Mermaid has its own entities, with '#' for '&'.
std::string mermaid_text(const std::string& text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '"':
        out += "#quot;";
        break;
      case '#':
        out += "#35;";
        break;
      case '<':
        out += "#lt;";
        break;
      case '>':
        out += "#gt;";
        break;
      case '&':
        out += "#amp;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::string label(const Graph::Topic& topic) {
  return topic.type.empty() ? mermaid_text(topic.name) : mermaid_text(topic.name) + "<br/>" + mermaid_text(topic.type);
}

}  // namespace

std::string mermaid(const Graph& graph) {
  std::string out = "flowchart LR\n";
  for (std::size_t p = 0; p < graph.processes.size(); ++p) {
    out += fmt::format("  subgraph p{}[\"{}\"]\n", p, mermaid_text(graph.processes[p]));
    for (std::size_t c = 0; c < graph.components.size(); ++c)
      if (graph.components[c].process == p)
        out += fmt::format("    c{}[\"{}<br/>{}\"]\n", c, mermaid_text(graph.components[c].name),
                           mermaid_text(graph.components[c].class_name));
    out += "  end\n";
  }
  for (std::size_t t = 0; t < graph.topics.size(); ++t) {
    const Graph::Topic& topic = graph.topics[t];
    const char* const arrow = topic.process_private ? "-.->" : "-->";
    if (topic.writers.size() == 1 && !topic.readers.empty()) {
      for (const std::size_t reader : topic.readers)
        out += fmt::format("  c{} {}|\"{}\"| c{}\n", topic.writers.front(), arrow, label(topic), reader);
      continue;
    }
    out += fmt::format("  t{}([\"{}\"])\n", t, label(topic));
    for (const std::size_t writer : topic.writers) out += fmt::format("  c{} {} t{}\n", writer, arrow, t);
    for (const std::size_t reader : topic.readers) out += fmt::format("  t{} {} c{}\n", t, arrow, reader);
  }
  return out;
}

}  // namespace cardan::config
