// SPDX-License-Identifier: Apache-2.0
// Pictures of a configuration: which component runs where, and which topics connect them.
#pragma once

#include <string>
#include <vector>

#include "src/config/check.hpp"

namespace cardan::config {

/// The data of the pictures.
struct Graph {
  struct Component {
    std::string name{};
    std::string class_name{};
    std::size_t process = 0;
  };
  struct Topic {
    std::string name{};  ///< on the bus
    std::string type{};
    std::vector<std::size_t> writers{};  ///< components; none: it comes from outside the file
    std::vector<std::size_t> readers{};  ///< none: no component of the file reads it
    bool process_private = false;
  };
  std::string name{};
  std::vector<std::string> processes{};
  std::vector<Component> components{};
  std::vector<Topic> topics{};  ///< by name
};

/// Of a component that declared nothing (it could not be loaded) only the box is drawn. Any thread; does not block.
[[nodiscard]] Graph make_graph(const Configuration& configuration, const Declarations& declared);

/// A Mermaid flowchart, which GitHub and many editors show: a subgraph for each process, a node for each component, an
/// arrow for each topic (dotted: private). A topic without a writer or reader in the file, or with several writers, is
/// a separate node. Any thread; does not block.
[[nodiscard]] std::string mermaid(const Graph& graph);

/// The same in the language of Graphviz, whose `dot` makes pictures of it. A topic with several readers is a node of
/// its own, too. Any thread; does not block.
[[nodiscard]] std::string dot(const Graph& graph);

}  // namespace cardan::config
