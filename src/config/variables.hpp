// SPDX-License-Identifier: Apache-2.0
// Variables of a configuration: the values of `${name}`, and the conditions of `when`.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "src/config/document.hpp"

namespace cardan::config {

/// The variables of a file, or of one instance of a component. Their values are Booleans, numbers and texts.
class Scope {
 public:
  Scope() = default;
  /// One that has those of `outer`, which outlives it, and others before them.
  explicit Scope(const Scope* outer) : outer_(outer) {}
  [[nodiscard]] const Node* find(std::string_view name) const noexcept;
  void set(const std::string& name, Node value);
  [[nodiscard]] std::vector<std::string> names() const;

 private:
  const Scope* outer_ = nullptr;
  std::map<std::string, Node, std::less<>> values_;
};

/// A scalar's value in a text.
[[nodiscard]] std::string text_of(const Node& scalar);

/// Gives `value` the type of `like`, as far as it fits: a whole number is also a number. False: it does not fit.
[[nodiscard]] bool fits_as(const Node& like, Node& value) noexcept;

/// The value that a text from the command line has for a variable like this one; nothing: none.
[[nodiscard]] std::optional<Node> value_like(const Node& like, std::string_view text);
/// "true or false", "a whole number", "a number", "a text"
[[nodiscard]] std::string_view kind_of(const Node& scalar) noexcept;

/// Puts variables into the texts of a configuration, and bounds what they make in all.
class Substitution {
 public:
  Substitution(const Source& source, std::vector<Problem>& problems) : source_(source), problems_(problems) {}

  /// Replaces `${name}` in every text in `node`; a wrong one is reported, and becomes Bad.
  void apply(Node& node, const Scope& scope, const std::string& pointer);
  /// Whether a `when` holds; nothing: it is wrong, and was reported.
  [[nodiscard]] std::optional<bool> holds(const Node& when, const Scope& scope, const std::string& pointer);
  /// Takes that many bytes of what is left; false: nothing is left, which is reported once.
  bool spend(std::size_t bytes, const std::string& pointer, Place place);

 private:
  void text(Node& node, const Scope& scope, const std::string& pointer);
  const Node* variable(std::string_view name, const Scope& scope, const std::string& pointer, Place place);
  void add_problem(const std::string& pointer, Place place, std::string cause, std::string remedy);

  const Source& source_;
  std::vector<Problem>& problems_;
  std::size_t left_ = kMaxExpandedBytes;
  bool spent_ = false;
  /// Each compares the name with all that there are: a file of wrong ones must not take minutes.
  static constexpr std::size_t kMostSuggestions = 100;
  std::size_t suggestions_ = 0;
};

}  // namespace cardan::config
