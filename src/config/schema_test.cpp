// SPDX-License-Identifier: Apache-2.0
// cardan.schema.json says exactly what the reader's table says, key by key, and its defaults are the reader's. It does
// not rely on scripts/shape_tables.py, which makes the table.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"  // g++ 12 sees some in <regex> with a sanitizer
#endif

#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>

#include "src/config/shape.hpp"
#include "src/config/street_file_test.hpp"

namespace cardan::config {
namespace {

using nlohmann::json;
using Kind = Field::Kind;

const json& schema() {
  static const json parsed = [] {
    std::ifstream in(CARDAN_SCHEMA);
    return json::parse(in);
  }();
  return parsed;
}

/// The target of "$ref", with the keys next to it.
json resolved(json node) {
  if (!node.contains("$ref")) return node;
  json target = schema().at(json::json_pointer(node["$ref"].get<std::string>().substr(1)));
  node.erase("$ref");
  target.update(node);
  return target;
}

class Comparison {
 public:
  void object(const Shape& shape, const json& node, const std::string& at) {
    SCOPED_TRACE(at);
    EXPECT_EQ(node.value("type", ""), "object");
    EXPECT_EQ(node.value("additionalProperties", true), false) << "unknown keys must be refused";
    EXPECT_GT(node.value("description", "").size(), 10U);
    std::set<std::string> in_schema;
    std::set<std::string> in_table;
    std::set<std::string> needed;
    std::map<std::string, std::set<std::string>> either;  // keys that are needed unless that key is there
    for (const auto& [key, value] : node.at("properties").items()) in_schema.insert(key);
    for (const Field& field : shape.fields) {
      in_table.emplace(field.name);
      if (field.required && field.kind != Kind::Choice && !field.choices.empty())
        either[std::string(field.choices.front())].emplace(field.name);
      else if (field.required)
        needed.emplace(field.name);
    }
    EXPECT_EQ(in_schema, in_table);
    if (shape.title == kFile.title) {  // the processes may be in included files
      EXPECT_EQ(needed, std::set<std::string>{"processes"});
      EXPECT_EQ(node.at("anyOf"), json::parse(R"([{"required": ["processes"]}, {"required": ["include"]}])"));
    } else {
      EXPECT_EQ(node.value("required", std::set<std::string>{}), needed);
    }
    for (const auto& [other, fields] : either) {
      const json& one_of = node.at("oneOf");
      ASSERT_EQ(one_of.size(), 2U);
      EXPECT_EQ(one_of[0].at("required").get<std::set<std::string>>(), fields);
      EXPECT_EQ(one_of[1].at("required").get<std::set<std::string>>(), std::set<std::string>{other});
    }
    if (!seen_.insert(at + std::string(shape.title)).second) return;
    for (const Field& field : shape.fields) {
      const std::string name(field.name);
      if (in_schema.contains(name)) value(field, node.at("properties").at(name), join(at, name), true);
    }
  }

 private:
  void value(const Field& field, const json& unresolved, const std::string& at, bool described) {
    SCOPED_TRACE(at);
    json node = resolved(unresolved);
    // Where its variable would not be of the type or the pattern, the schema names it.
    EXPECT_EQ(node.contains("anyOf"), needs_variable(field));
    if (node.contains("anyOf")) {
      EXPECT_EQ(node["anyOf"].at(1), json::parse(R"({"$ref": "#/$defs/variable"})"));
      node.update(json(node["anyOf"][0]));
    }
    if (described) {
      EXPECT_GT(node.value("description", "").size(), 10U);
    }
    const std::string type = node.contains("type") && node["type"].is_string() ? node["type"].get<std::string>() : "";
    switch (field.kind) {
      case Kind::Boolean:
        EXPECT_EQ(type, "boolean");
        break;
      case Kind::Integer:
      case Kind::Number:
        EXPECT_EQ(type, field.kind == Kind::Integer ? "integer" : "number");
        EXPECT_EQ(node.at("minimum").get<double>(), field.min);
        EXPECT_EQ(node.at("maximum").get<double>(), field.max);
        unit(field, node);
        break;
      case Kind::Text:
        EXPECT_EQ(type, "string");
        EXPECT_EQ(node.value("pattern", ""), expected(field.format));
        break;
      case Kind::Choice: {
        std::vector<std::string> choices(field.choices.begin(), field.choices.end());
        EXPECT_EQ(node.at("enum").get<std::vector<std::string>>(), choices);
        break;
      }
      case Kind::Condition:
        EXPECT_EQ(node.at("type"), json({"boolean", "string"}));
        break;
      case Kind::Scalar:
        EXPECT_EQ(node.at("type"), json({"boolean", "number", "string"}));
        break;
      case Kind::ScalarOrList:
        EXPECT_EQ(node.at("type"), json({"boolean", "number", "string", "array"}));
        EXPECT_EQ(node.at("items").at("type"), json({"boolean", "number", "string"}));
        EXPECT_EQ(node.at("maxItems"), kMostElements);
        break;
      case Kind::Object:
        object(*field.object, node, at);
        break;
      case Kind::Map:
        EXPECT_EQ(type, "object");
        EXPECT_EQ(node.at("propertyNames").value("pattern", ""), expected(field.format));
        value(*field.element, node.at("additionalProperties"), at + "/*", false);
        break;
      case Kind::List:
        list(*field.element, node, at, field.repeats);
        break;
      case Kind::OneOrMore:
        ASSERT_EQ(node.at("oneOf").size(), 2U);
        value(*field.element, node["oneOf"][0], at, false);
        list(*field.element, node["oneOf"][1], at);
        EXPECT_EQ(node["oneOf"][1].value("minItems", 0), 1);
        break;
    }
  }

  void list(const Field& element, const json& node, const std::string& at, bool repeats = false) {
    EXPECT_EQ(node.value("type", ""), "array");
    if (element.kind != Kind::Object) {
      EXPECT_NE(node.value("uniqueItems", false), repeats);
    }
    value(element, node.at("items"), at + "/0", false);
  }

  static bool needs_variable(const Field& field) {
    const bool text = field.kind == Kind::Text && field.format != Format::Any && field.format != Format::Filled;
    return text || field.kind == Kind::Boolean || field.kind == Kind::Integer || field.kind == Kind::Number ||
           field.kind == Kind::Choice;
  }

  static std::string expected(Format format) { return std::string(pattern(format)); }

  static void unit(const Field& field, const json& node) {
    const std::string text = node.value("description", "");
    for (const auto& [ending, unit] : {std::pair{"_ms", "ms"}, {"_us", "µs"}, {"_s", " s"}, {"_mib", "MiB"}})
      if (field.name.ends_with(ending)) {
        EXPECT_NE(text.find(unit), std::string::npos) << text;
      }
  }

  std::set<std::string> seen_;
};

TEST(Schema, HasTheTablesKeysTypesAndRanges) { Comparison().object(kFile, schema(), ""); }

/// Every key with a default in the schema, put into a file, changes nothing.
void expect_defaults(const json& file, const json& definition, const json::json_pointer& at) {
  const auto read = [](const json& j) {
    std::vector<Problem> problems;
    Configuration c = parse_configuration(j.dump(2), "x.json", problems);
    EXPECT_FALSE(has_errors(problems)) << shown(problems);
    return c;
  };
  json with = file;
  if (with[at].is_null()) with[at] = json::object();
  const Configuration before = read(with);
  int defaults = 0;
  for (const auto& [key, property] : definition.at("properties").items()) {
    if (!property.contains("default") || with[at].contains(key)) continue;
    with[at][key] = property["default"];
    ++defaults;
  }
  EXPECT_GT(defaults, 0) << at.to_string();
  const Configuration after = read(with);
  EXPECT_EQ(before.name, after.name);
  EXPECT_EQ(before.domain, after.domain);
  EXPECT_EQ(before.realtime, after.realtime);
  EXPECT_EQ(before.processes, after.processes) << at.to_string();
  EXPECT_EQ(before.topics, after.topics);
  EXPECT_EQ(before.chains, after.chains) << at.to_string();
  EXPECT_EQ(before.transforms, after.transforms) << at.to_string();
  EXPECT_EQ(before.needs, after.needs) << at.to_string();
  EXPECT_EQ(before.transitions, after.transitions) << at.to_string();
}

TEST(Schema, HasTheReadersDefaults) {
  const json file = json::parse(R"({
    "processes": {"p": {"components": {"c": {"library": "l", "class": "C"}, "d": {"library": "l", "class": "C", "thread": {}}}}},
    "chains": {"a": {"from": "/x", "to": "/y"}},
    "transforms": [{"parent": "a", "child": "b"}],
    "states": {"transitions": [{"when": {"down": "p"}, "to": "safe_stop"}]}
  })");
  const json& definitions = schema().at("$defs");
  const std::string process = "/processes/p";
  const std::string component = process + "/components/c";
  expect_defaults(file, schema(), json::json_pointer(""));
  expect_defaults(file, definitions.at("process"), json::json_pointer(process));
  expect_defaults(file, definitions.at("restart"), json::json_pointer(process + "/restart"));
  expect_defaults(file, definitions.at("component"), json::json_pointer(component));
  expect_defaults(file, definitions.at("chain"), json::json_pointer("/chains/a"));
  expect_defaults(file, definitions.at("transform"), json::json_pointer("/transforms/0"));
  expect_defaults(file, definitions.at("needs"), json::json_pointer("/needs"));
  expect_defaults(file, definitions.at("condition"), json::json_pointer("/states/transitions/0/when"));

  // A thread's period and runtime belong to one policy: their default is not to be there.
  json thread = definitions.at("thread");
  thread["properties"].erase("runtime_us");
  thread["properties"].erase("period_us");
  expect_defaults(file, thread, json::json_pointer(process + "/components/d/thread"));
  EXPECT_EQ(definitions["thread"]["properties"]["runtime_us"]["default"], 0);
}

TEST(Schema, PatternsAreTheReaders) {
  const std::vector<std::string> samples{"",     "a",   "/",   "/a",      "/a/b-c",      "a b", "/a b",  "-a",
                                         ".a",   "_a",  "a.b", "a/b",     "a=b",         "A_1", "\x01",  "a\x7f",
                                         "../x", "9",   "ä",   "/ä",      "#",           "a-b", "/a\tb", "/#",
                                         "//",   "a\n", " ",   "libx.so", "/x/y/libx.so"};
  for (const Format format : {Format::Filled, Format::Name, Format::Domain, Format::Topic, Format::Frame,
                              Format::Variable, Format::Identifier}) {
    const std::regex regex{std::string(pattern(format))};
    for (const std::string& sample : samples)
      EXPECT_EQ(fits(format, sample), std::regex_match(sample, regex)) << pattern(format) << " with '" << sample << "'";
    for (const std::size_t length : {48U, 49U, 60U, 61U, 64U, 65U}) {
      const std::string name(length, 'a');
      EXPECT_EQ(fits(format, name), std::regex_match(name, regex)) << pattern(format) << " with " << length;
    }
  }
  EXPECT_TRUE(fits(Format::Topic, "/" + std::string(254, 'a')));
  EXPECT_FALSE(fits(Format::Topic, "/" + std::string(255, 'a')));
  EXPECT_TRUE(fits(Format::Any, ""));
  EXPECT_FALSE(fits(Format::Any, std::string(1, '\0')));
}

}  // namespace
}  // namespace cardan::config
