// SPDX-License-Identifier: Apache-2.0
#include "src/config/graph.hpp"

#include <algorithm>
#include <filesystem>
#include <map>

namespace cardan::config {
namespace {

void add(std::vector<std::size_t>& list, std::size_t component) {
  if (std::find(list.begin(), list.end(), component) == list.end()) list.push_back(component);
}

}  // namespace

Graph make_graph(const Configuration& configuration, const Declarations& declared) {
  Graph graph{.name = configuration.name};
  std::map<std::string, std::size_t> by_name;
  for (const Process& process : configuration.processes) {
    for (const Component& component : process.components) {
      by_name.emplace(component.name, graph.components.size());
      graph.components.push_back({component.name, component.class_name, graph.processes.size()});
    }
    if (process.bridge)
      graph.components.push_back({process.name, "bridge " + process.bridge->kind, graph.processes.size()});
    if (process.record) graph.components.push_back({process.name, "recorder", graph.processes.size()});
    if (!process.command.empty())
      graph.components.push_back(
          {process.name, std::filesystem::path(process.command.front()).filename().string(), graph.processes.size()});
    graph.processes.push_back(process.name);
  }

  std::map<std::string, Graph::Topic> topics;
  for (const DeclaredEndpoint& e : declared.endpoints) {
    const auto found = by_name.find(e.component);
    if (found == by_name.end()) continue;
    const std::string bus = configuration.component(e.component)->bus_name(e.topic_in_code);
    Graph::Topic& topic = topics[bus];
    topic.name = bus;
    if (topic.type.empty() || e.output) topic.type = e.type_name;
    topic.process_private = topic.process_private || configuration.options_of(bus, e.options).process_private;
    add(e.output ? topic.writers : topic.readers, found->second);
  }
  for (auto& [name, topic] : topics) graph.topics.push_back(std::move(topic));
  return graph;
}

}  // namespace cardan::config
