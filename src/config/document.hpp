// SPDX-License-Identifier: Apache-2.0
// JSON text as a tree in which every part knows its place. Our own reader, because a configuration is written by
// people: it continues after an error where it can, sees keys that occur twice, and says what was expected, none of
// which a general JSON library does.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "cardan/configuration.hpp"

namespace cardan::config {

struct Member;

struct Node {
  enum class Kind : std::uint8_t {
    Bad,  ///< already reported; not checked again
    Null,
    Boolean,
    Integer,
    Number,
    Text,
    Array,
    Object,
  };
  Kind kind = Kind::Bad;
  Place place{};
  bool boolean = false;
  bool from_variable = false;  ///< it replaces `${name}`
  std::int64_t integer = 0;
  double number = 0;   ///< also of an Integer
  std::string text{};  ///< of a number: as written
  std::vector<Node> elements;
  std::vector<Member> members;

  /// The first member of that name that is not Bad; null: no such member.
  [[nodiscard]] const Node* find(std::string_view name) const noexcept;
};

struct Member {
  std::string name{};
  Place place{};  ///< the key's
  bool duplicate = false;
  Node value{};
};

/// One without a value yet, or an empty list or object.
[[nodiscard]] Node node_of(Node::Kind kind, Place place = {});
[[nodiscard]] Node text_node(std::string text, Place place = {});

struct Document {
  Node root;
  bool well_formed = false;  ///< it is JSON, with comments
  bool complete = false;     ///< the tree is whole: what was wrong could be passed over
};

/// Reads JSON (RFC 8259) with comments; adds what is wrong with it, and every key that stands twice, to `problems`.
[[nodiscard]] Document read_document(std::string_view text, std::vector<Problem>& problems);

/// Where the parts of `root` are. Of containers that have a key it is the key's place, where people look for them.
void locate(const Node& root, Source& source);

}  // namespace cardan::config
