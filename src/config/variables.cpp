// SPDX-License-Identifier: Apache-2.0
#include "src/config/variables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <initializer_list>

#include "src/config/json_text.hpp"
#include "src/config/shape.hpp"
#include "src/config/suggest.hpp"

namespace cardan::config {
namespace {

using Is = Node::Kind;

bool is_scalar(const Node& node) noexcept {
  return node.kind == Is::Boolean || node.kind == Is::Integer || node.kind == Is::Number || node.kind == Is::Text;
}

std::string_view trimmed(std::string_view text) noexcept {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

/// A number as JSON writes it.
std::optional<Node> number(std::string_view text) {
  if (!is_json_number(text)) return {};
  Node node = text_node(std::string(text));
  node.kind = Is::Number;
  const char* const end = text.data() + text.size();
  if (text.find_first_of(".eE") == std::string_view::npos &&
      std::from_chars(text.data(), end, node.integer).ec == std::errc{}) {
    node.kind = Is::Integer;
    node.number = static_cast<double>(node.integer);
    return node;
  }
  if (std::from_chars(text.data(), end, node.number).ec != std::errc{}) return {};
  return node;
}

constexpr const char* kForms = R"(write "name", "!name", "name == value" or "name != value")";

/// The remedy for a text that is neither of kForms; empty: it is one of them. `wanted`: after the operator, where there
/// is one.
std::string why_no_condition(std::string_view name, std::string_view wanted) {
  const auto has = [](std::string_view text, std::initializer_list<std::string_view> parts) {
    return std::any_of(parts.begin(), parts.end(),
                       [&](std::string_view part) { return text.find(part) != std::string_view::npos; });
  };
  const bool quoted =
      wanted.size() >= 2 && (wanted.front() == '\'' || wanted.front() == '"') && wanted.front() == wanted.back();
  if (quoted) return fmt::format("write the value without quotes: {}", wanted.substr(1, wanted.size() - 2));
  // A text may be compared with nearly anything, but not with what is meant as a second condition.
  if (has(wanted, {"==", "!=", "&&", "||"})) return fmt::format("a condition checks one variable: {}", kForms);
  if (!name.empty() && name.find_first_of(" \t=<>!&|") == std::string_view::npos)
    return {};  // a name, if perhaps a wrong one
  const std::size_t equals = name.find('=');
  const std::string_view left = trimmed(name.substr(0, std::min(equals, name.size())));
  if (equals != std::string_view::npos && fits(Format::Identifier, left))
    return fmt::format("write \"{} == {}\": the operators are == and !=", left, trimmed(name.substr(equals + 1)));
  return fmt::format("{}; the operators are == and !=", kForms);
}

}  // namespace

const Node* Scope::find(std::string_view name) const noexcept {
  const auto found = values_.find(name);
  if (found != values_.end()) return &found->second;
  return outer_ != nullptr ? outer_->find(name) : nullptr;
}

void Scope::set(const std::string& name, Node value) { values_.insert_or_assign(name, std::move(value)); }

std::vector<std::string> Scope::names() const {
  std::vector<std::string> names = outer_ != nullptr ? outer_->names() : std::vector<std::string>{};
  for (const auto& [name, value] : values_) names.push_back(name);
  return names;
}

std::string text_of(const Node& scalar) {
  if (scalar.kind == Is::Boolean) return scalar.boolean ? "true" : "false";
  return scalar.text;
}

bool fits_as(const Node& like, Node& value) noexcept {
  if (like.kind == Is::Number && value.kind == Is::Integer) value.kind = Is::Number;
  return value.kind == like.kind;
}

std::optional<Node> value_like(const Node& like, std::string_view text) {
  switch (like.kind) {
    case Is::Boolean: {
      if (text != "true" && text != "false") return {};
      Node value = node_of(Is::Boolean);
      value.boolean = text == "true";
      return value;
    }
    case Is::Integer:
    case Is::Number: {
      std::optional<Node> value = number(text);
      if (!value || !fits_as(like, *value)) return {};
      return value;
    }
    case Is::Text:
      return text_node(std::string(text));
    default:
      return {};
  }
}

std::string_view kind_of(const Node& scalar) noexcept {
  switch (scalar.kind) {
    case Is::Boolean:
      return "true or false";
    case Is::Integer:
      return "a whole number";
    case Is::Number:
      return "a number";
    default:
      return "a text";
  }
}

void Substitution::add_problem(const std::string& pointer, Place place, std::string cause, std::string remedy) {
  problems_.push_back(source_.problem(pointer, place, Severity::Error, std::move(cause), std::move(remedy)));
}

bool Substitution::spend(std::size_t bytes, const std::string& pointer, Place place) {
  if (!spent_ && bytes <= left_) {
    left_ -= bytes;
    return true;
  }
  if (!spent_)
    add_problem(
        pointer, place,
        fmt::format("variables and instances make the configuration larger than {} MiB", kMaxExpandedBytes >> 20U),
        "use fewer or shorter ones");
  spent_ = true;
  return false;
}

void Substitution::apply(Node& node, const Scope& scope, const std::string& pointer) {
  if (node.kind == Is::Text) return text(node, scope, pointer);
  for (std::size_t i = 0; i < node.elements.size(); ++i)
    apply(node.elements[i], scope, fmt::format("{}/{}", pointer, i));
  for (Member& member : node.members) apply(member.value, scope, join(pointer, member.name));
}

const Node* Substitution::variable(std::string_view name, const Scope& scope, const std::string& pointer, Place place) {
  const Node* const value = scope.find(name);
  if (value == nullptr)
    add_problem(pointer, place,
                fits(Format::Identifier, name)
                    ? fmt::format("there is no variable '{}' in 'variables' of the file", name)
                    : fmt::format("'{}' cannot be the name of a variable", name),
                suggestions_++ < kMostSuggestions
                    ? suggestion(std::string(name), scope.names(), R"(add "variables": {"name": value} to the file)")
                    : std::string("correct the ones above first"));
  return value;
}

void Substitution::text(Node& node, const Scope& scope, const std::string& pointer) {
  const std::string_view text = node.text;
  if (text.find("${") == std::string_view::npos) return;
  const auto bad = [&] { node.kind = Is::Bad; };
  std::string out;
  Place place = node.place;
  for (std::size_t at = 0; at < text.size();) {
    const std::string_view rest = text.substr(at);
    if (rest.starts_with("$${")) {
      out += "${";
      at += 3;
    } else if (rest.starts_with("${")) {
      const std::size_t end = rest.find('}');
      if (end == std::string_view::npos) {
        add_problem(pointer, node.place, "'${' has no '}'", "close it; for the two characters themselves write $${");
        return bad();
      }
      const Node* const value = variable(rest.substr(2, end - 2), scope, pointer, node.place);
      if (value == nullptr) return bad();
      if (at == 0 && end + 1 == text.size()) {  // alone: it keeps its type
        if (!spend(value->text.size(), pointer, node.place)) return bad();
        Node replaced = *value;
        if (value->place.line != 0) replaced.place = node.place;
        replaced.text = text_of(*value);
        replaced.from_variable = true;
        node = std::move(replaced);
        return;
      }
      const std::string words = text_of(*value);
      if (!spend(words.size(), pointer, node.place)) return bad();
      out += words;
      if (value->place.line == 0) place = value->place;
      at += end + 1;
    } else {
      out += text[at++];
    }
  }
  node.text = std::move(out);
  node.place = place;
}

std::optional<bool> Substitution::holds(const Node& when, const Scope& scope, const std::string& pointer) {
  if (when.kind == Is::Boolean) return when.boolean;
  if (when.kind != Is::Text) {
    if (when.kind != Is::Bad) add_problem(pointer, when.place, "'when' does not name a variable", kForms);
    return {};
  }
  if (when.text.find("${") != std::string::npos) {
    add_problem(pointer, when.place, "'when' names its variable without '${'", kForms);
    return {};
  }
  const std::string_view all = trimmed(when.text);
  std::size_t sign = all.find("==");
  if (sign == std::string_view::npos) sign = all.find("!=");
  const bool compares = sign != std::string_view::npos;
  const bool negated = compares ? all[sign] == '!' : all.starts_with('!');
  const std::string_view name = trimmed(compares ? all.substr(0, sign) : all.substr(negated ? 1 : 0));
  const std::string_view wanted = compares ? trimmed(all.substr(sign + 2)) : std::string_view();
  if (std::string remedy = why_no_condition(name, wanted); !remedy.empty()) {
    add_problem(pointer, when.place, fmt::format("'{}' is not a condition", all), std::move(remedy));
    return {};
  }
  const Node* const value = variable(name, scope, pointer, when.place);
  if (value == nullptr || !is_scalar(*value)) return {};
  if (!compares) {
    if (value->kind == Is::Boolean) return value->boolean != negated;
    add_problem(pointer, when.place, fmt::format("variable '{}' is {}, not true or false", name, kind_of(*value)),
                fmt::format("write \"{0} == value\" or \"{0} != value\"", name));
    return {};
  }
  Node like = *value;
  if (like.kind == Is::Integer) like.kind = Is::Number;  // 2 == 2.0
  const std::optional<Node> other = value_like(like, wanted);
  if (!other) {
    add_problem(pointer, when.place,
                fmt::format("variable '{}' is {}, but is compared with '{}'", name, kind_of(*value), wanted),
                fmt::format("compare it with {}", kind_of(*value)));
    return {};
  }
  const bool same = like.kind == Is::Text      ? like.text == other->text
                    : like.kind == Is::Boolean ? like.boolean == other->boolean
                                               : like.number == other->number;
  return same != negated;
}

}  // namespace cardan::config
