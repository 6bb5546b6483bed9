// SPDX-License-Identifier: Apache-2.0
// One tree of a configuration and the files that it includes: variables filled in, what a `when` leaves out gone,
// instances as separate components, names in their namespaces. Readers of the result see none of this.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "src/config/document.hpp"

namespace cardan::config {

struct Composed {
  Node root{};
  std::map<std::string, std::vector<Naming>> namings{};  ///< by component
  bool whole = false;  ///< the tree has all parts; else names in it may mean what is not there
};

/// Composes the tree of the file `source.file_name`; adds the included files to `source`, and what is wrong to
/// `problems`. `bytes`: of the file's text. Throws Error (InvalidArgument): `options` name a variable that it does not
/// have.
[[nodiscard]] Composed compose(Node root, std::size_t bytes, const ReadOptions& options, Source& source,
                               std::vector<Problem>& problems);

/// Puts the names of an included file's tree into a namespace: processes, components, topics, and where they are used.
/// Notes in `links` which names the tree has.
void rename(Composed& part, const std::string& name_space, IncludeLinks& links);

/// Adds an included file's tree to that of the file that includes it.
void merge(Node& root, Node part, Place include, const Source& source, std::vector<Problem>& problems);

/// The value of `name`; null: it has none.
[[nodiscard]] Node* find_part(Node& object, std::string_view name) noexcept;
/// The object or list of `name`, which is made if it is not there; null: it has another value.
[[nodiscard]] Node* part_of(Node& object, std::string_view name, Node::Kind kind, Place place);

}  // namespace cardan::config
