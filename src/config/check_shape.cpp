// SPDX-License-Identifier: Apache-2.0
#include "src/config/check_shape.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "src/config/json_text.hpp"
#include "src/config/shape.hpp"
#include "src/config/suggest.hpp"

namespace cardan::config {
namespace {

using Kind = Field::Kind;
using Is = Node::Kind;

std::string_view noun(const Node& node) noexcept {
  switch (node.kind) {
    case Is::Null:
      return "null";
    case Is::Boolean:
      return node.boolean ? "true" : "false";
    case Is::Integer:
    case Is::Number:
    case Is::Text:
      return node.text;
    case Is::Array:
      return "a list";
    case Is::Object:
      return "an object";
    case Is::Bad:
      break;
  }
  return "wrong";
}

std::string shown(const Node& node) {
  constexpr std::size_t kMost = 60;
  if (node.kind != Is::Text) return std::string(noun(node));
  return json_quoted(node.text.size() > kMost ? node.text.substr(0, kMost) + "…" : node.text);
}

std::string limit(double value) {
  const bool whole = value < 1e15 && value == std::floor(value);
  return whole ? fmt::format("{}", static_cast<std::int64_t>(value)) : fmt::format("{:g}", value);
}

/// The expected value, for "write …".
std::string wanted(const Field& field) {
  switch (field.kind) {
    case Kind::Boolean:
      return "true or false";
    case Kind::Integer:
      return fmt::format("a whole number from {} to {}", limit(field.min), limit(field.max));
    case Kind::Number:
      return fmt::format("a number from {} to {}", limit(field.min), limit(field.max));
    case Kind::Text:
      return "a text in double quotes";
    case Kind::Choice:
      return fmt::format("one of \"{}\"", fmt::join(field.choices, "\", \""));
    case Kind::Scalar:
      return "true, false, a number or a text in double quotes";
    case Kind::ScalarOrList:
      return "true, false, a number, a text in double quotes, or a list of one of these";
    case Kind::Condition:
      return "\"name\", \"!name\", \"name == value\" or \"name != value\" of a variable";
    case Kind::Object:
    case Kind::Map:
      return "an object, {…}";
    case Kind::List:
      return "a list, […]";
    case Kind::OneOrMore:
      return wanted(*field.element) + ", or a list of such";
  }
  return {};
}

bool has_type(const Field& field, const Node& node) noexcept {
  switch (field.kind) {
    case Kind::Boolean:
      return node.kind == Is::Boolean;
    case Kind::Integer:
      return node.kind == Is::Integer;
    case Kind::Number:
      return node.kind == Is::Integer || node.kind == Is::Number;
    case Kind::Text:
    case Kind::Choice:
      return node.kind == Is::Text;
    case Kind::Scalar:
      return node.kind == Is::Boolean || node.kind == Is::Integer || node.kind == Is::Number || node.kind == Is::Text;
    case Kind::ScalarOrList:
      return node.kind == Is::Array || node.kind == Is::Boolean || node.kind == Is::Integer ||
             node.kind == Is::Number || node.kind == Is::Text;
    case Kind::Condition:
      return node.kind == Is::Boolean || node.kind == Is::Text;
    case Kind::Object:
    case Kind::Map:
      return node.kind == Is::Object;
    case Kind::List:
      return node.kind == Is::Array;
    case Kind::OneOrMore:
      return node.kind == Is::Array || has_type(*field.element, node);
  }
  return false;
}

/// Compared after conversion, for lists whose elements must differ.
bool same(const Node& a, const Node& b) noexcept {
  return a.kind == b.kind && a.kind != Is::Bad && a.integer == b.integer && a.text == b.text;
}

class ShapeCheck {
 public:
  ShapeCheck(const Source& source, std::vector<Problem>& problems) : source_(source), problems_(problems) {}

  void object(Node& node, const Shape& shape, const std::string& pointer, Place place, const std::string& subject) {
    std::vector<std::string> known;
    for (const Field& field : shape.fields) known.emplace_back(field.name);
    for (Member& member : node.members) {
      const auto field =
          std::find_if(shape.fields.begin(), shape.fields.end(), [&](const Field& f) { return f.name == member.name; });
      const std::string at = join(pointer, member.name);
      if (field == shape.fields.end()) {
        add_problem(at, member.place, fmt::format("{} has no '{}'", subject, member.name),
                    suggestion(member.name, known, "remove it"));
        member.value.kind = Is::Bad;
        continue;
      }
      value(member.value, *field, at, member.place, fmt::format("'{}' of {}", member.name, subject));
    }
    const auto has = [&](std::string_view name) {
      return std::any_of(node.members.begin(), node.members.end(),
                         [&](const Member& member) { return member.name == name; });
    };
    for (const Field& field : shape.fields) {
      const bool there = has(field.name);
      if (!field.required) continue;
      const auto other = std::find_if(field.choices.begin(), field.choices.end(), has);
      if (field.kind != Kind::Choice && other != field.choices.end()) {
        if (there)
          add_problem(pointer, place, fmt::format("{} has '{}' and '{}'", subject, *other, field.name),
                      fmt::format("remove one of them: '{}' cannot be combined", *other));
      } else if (!there)
        add_problem(pointer, place, fmt::format("{} has no '{}', which it needs", subject, field.name),
                    fmt::format("add \"{}\": {}", field.name, wanted(field)));
    }
  }

 private:
  void add_problem(const std::string& pointer, Place place, std::string cause, std::string remedy) {
    problems_.push_back(source_.problem(pointer, place, Severity::Error, std::move(cause), std::move(remedy)));
  }

 public:
  void value(Node& node, const Field& field, const std::string& pointer, Place key, const std::string& subject) {
    if (node.kind == Is::Bad) return;
    // A variable is what its place takes: a number where a text is expected becomes that text.
    if (node.from_variable && (field.kind == Kind::Text || field.kind == Kind::Choice) &&
        (node.kind == Is::Boolean || node.kind == Is::Integer || node.kind == Is::Number))
      node.kind = Is::Text;
    if (!has_type(field, node)) {
      const bool in_quotes = node.kind == Is::Text &&
                             (field.kind == Kind::Boolean || field.kind == Kind::Integer || field.kind == Kind::Number);
      add_problem(pointer, node.place, fmt::format("{} is {}", subject, shown(node)),
                  fmt::format("write {}{}", wanted(field), in_quotes ? ", without quotes" : ""));
      node.kind = Is::Bad;
      return;
    }
    switch (field.kind) {
      case Kind::Integer:
      case Kind::Number:
        return number(node, field, pointer, subject);
      case Kind::Text:
      case Kind::Scalar:
        return text(node, field, pointer, subject);
      case Kind::ScalarOrList:
        return values(node, field, pointer, subject);
      case Kind::Choice:
        return choice(node, field, pointer, subject);
      case Kind::Object:
        return object(node, *field.object, pointer, key, field.name.empty() ? subject : own(field, subject));
      case Kind::Map:
        return map(node, field, pointer, subject);
      case Kind::List:
        return list(node, field, pointer, subject);
      case Kind::OneOrMore:
        if (node.kind == Is::Array) return list(node, field, pointer, subject);
        return value(node, *field.element, pointer, key, subject);
      case Kind::Boolean:
      case Kind::Condition:  // compose.cpp has read it
        return;
    }
  }

 private:
  /// "'thread' of component 'x'", but "the file" has "'needs'".
  static std::string own(const Field& field, const std::string& subject) {
    return subject.ends_with("of the file") ? fmt::format("'{}'", field.name) : subject;
  }

  void number(Node& node, const Field& field, const std::string& pointer, const std::string& subject) {
    if (node.number >= field.min && node.number <= field.max) return;
    add_problem(pointer, node.place, fmt::format("{} is {}, out of range", subject, shown(node)),
                fmt::format("write {}", wanted(field)));
    node.kind = Is::Bad;
  }

  void text(Node& node, const Field& field, const std::string& pointer, const std::string& subject) {
    if (node.kind != Is::Text || fits(field.format, node.text)) return;
    add_problem(pointer, node.place,
                fmt::format("{} is {}, which is not a valid {}", subject, shown(node), noun(field.format)),
                std::string(remedy(field.format)));
    node.kind = Is::Bad;
  }

  /// A list is of one kind; whole numbers may be among others.
  void values(Node& node, const Field& field, const std::string& pointer, const std::string& subject) {
    if (node.kind != Is::Array) return text(node, field, pointer, subject);
    const auto wrong = [&](Place place, std::string cause, std::string remedy) {
      add_problem(pointer, place, std::move(cause), std::move(remedy));
      node.kind = Is::Bad;
    };
    if (node.elements.size() > kMostElements)
      return wrong(node.place, fmt::format("{} is a list of {} elements", subject, node.elements.size()),
                   fmt::format("use at most {}", kMostElements));
    const auto kind = [](const Node& n) { return n.kind == Is::Integer ? Is::Number : n.kind; };
    for (const Node& element : node.elements) {
      if (element.kind == Is::Bad) return wrong(element.place, subject + " has a wrong element", "write another one");
      if (kind(element) != Is::Boolean && kind(element) != Is::Number && kind(element) != Is::Text)
        return wrong(element.place, fmt::format("{} has {} in its list", subject, shown(element)),
                     "write true, false, numbers or texts");
      if (kind(element) != kind(node.elements.front()))
        return wrong(element.place,
                     fmt::format("{} has {} and {} in one list", subject, shown(node.elements.front()), shown(element)),
                     "write elements of one kind: true and false, numbers, or texts");
    }
  }

  void choice(Node& node, const Field& field, const std::string& pointer, const std::string& subject) {
    if (std::find(field.choices.begin(), field.choices.end(), node.text) != field.choices.end()) return;
    add_problem(pointer, node.place, fmt::format("{} is {}, which is not allowed", subject, shown(node)),
                suggestion(node.text, {field.choices.begin(), field.choices.end()}, ""));
    node.kind = Is::Bad;
  }

  void map(Node& node, const Field& field, const std::string& pointer, const std::string& subject) {
    const Field& element = *field.element;
    for (Member& member : node.members) {
      const std::string at = join(pointer, member.name);
      if (!fits(field.format, member.name))
        add_problem(at, member.place,
                    fmt::format("'{}' in {} is not a valid {}", member.name, subject, noun(field.format)),
                    std::string(remedy(field.format)));
      value(member.value, element, at, member.place,
            element.kind == Kind::Object ? fmt::format("{} '{}'", element.object->title, member.name)
                                         : fmt::format("'{}' in {}", member.name, subject));
    }
  }

  void list(Node& node, const Field& field, const std::string& pointer, const std::string& subject) {
    if (field.kind == Kind::OneOrMore && node.elements.empty()) {
      add_problem(pointer, node.place, fmt::format("{} is an empty list", subject), "name at least one, or remove it");
      node.kind = Is::Bad;
      return;
    }
    const Field& element = *field.element;
    for (std::size_t i = 0; i < node.elements.size(); ++i) {
      Node& at = node.elements[i];
      const std::string here = fmt::format("{}/{}", pointer, i);
      value(at, element, here, at.place,
            element.kind == Kind::Object ? fmt::format("{} {}", element.object->title, i + 1)
                                         : fmt::format("element {} in {}", i + 1, subject));
      if (element.kind == Kind::Object || field.repeats) continue;
      const auto begin = node.elements.begin();
      if (std::any_of(begin, begin + static_cast<std::ptrdiff_t>(i), [&](const Node& b) { return same(at, b); })) {
        add_problem(here, at.place, fmt::format("{} is listed twice in {}", shown(at), subject), "remove one");
        at.kind = Is::Bad;
      }
    }
  }

  const Source& source_;
  std::vector<Problem>& problems_;
};

}  // namespace

void check_shape(Node& root, const Source& source, std::vector<Problem>& problems) {
  if (root.kind == Is::Bad) return;
  if (root.kind == Is::Object) return ShapeCheck(source, problems).object(root, kFile, "", root.place, "the file");
  problems.push_back(source.problem("", root.place, Severity::Error,
                                    fmt::format("a configuration is an object, but this is {}", shown(root)),
                                    "write {\"processes\": {…}}"));
  root.kind = Is::Bad;
}

void check_shape(Node& node, const Field& field, const std::string& pointer, Place key, const std::string& subject,
                 const Source& source, std::vector<Problem>& problems) {
  ShapeCheck(source, problems).value(node, field, pointer, key, subject);
}

}  // namespace cardan::config
