// SPDX-License-Identifier: Apache-2.0
// The parts that a `when` has left out of a configuration, by name: transitions forget it.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "src/config/document.hpp"

namespace cardan::config {

/// The names of processes, components, chains and namespaces that are not in a composed configuration. One thread.
class LeftOut {
 public:
  /// The text of an included file, of at most `bytes`. Throws Error.
  using Read = std::function<std::string(const std::string& path, std::size_t most)>;
  explicit LeftOut(Read read) : read_(std::move(read)) {}

  /// A process or a component, with its namespace.
  void add(const std::string& name) { names_.insert(name); }
  /// A chain, with its namespace.
  void add_chain(const std::string& name) { chains_.insert(name); }
  /// All names of a namespace.
  void add_namespace(const std::string& name_space) { spaces_.insert(name_space); }
  /// Names and namespaces so far: grows with each.
  [[nodiscard]] std::size_t size() const { return names_.size() + chains_.size() + spaces_.size(); }
  /// All names of a file that would be included without its own namespace. Problems of the file do not
  /// matter: it may also be absent. Bounded as what is included.
  void add_file(const std::string& path, const std::string& name_space);

  /// Conditions lose the names that are left out and not in `root`; a transition that asks for nothing else goes with
  /// them. Of topics those below a namespace that is left out, and which no component in `root` names as its own. A
  /// chain that begins or ends on such a topic is left out.
  void forget_in(Node& root);

 private:
  void add_file(const std::string& path, const std::string& name_space, int depth);
  void add_processes(const Node& processes, const std::string& name_space);
  [[nodiscard]] bool has(const std::set<std::string>& names, const std::string& name) const;

  Read read_;
  std::set<std::string> names_, chains_, spaces_;
  std::size_t files_ = 0, bytes_ = 0;
};

}  // namespace cardan::config
