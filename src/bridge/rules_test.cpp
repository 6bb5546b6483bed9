// SPDX-License-Identifier: Apache-2.0
#include "src/bridge/rules.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "src/bridge/rules_shape.hpp"

namespace cardan::bridge {
namespace {

using config::Field;
using nlohmann::json;

Rules parsed(const std::string& text) {
  Rules rules;
  std::vector<config::Problem> problems;
  parse_rules(text, "bridge.json", rules, problems);
  for (const auto& problem : problems) ADD_FAILURE() << config::text(problem, "bridge.json");
  return rules;
}

std::string first_problem(const std::string& text) {
  Rules rules;
  std::vector<config::Problem> problems;
  parse_rules(text, "bridge.json", rules, problems);
  return problems.empty() ? "" : config::text(problems.front(), "bridge.json");
}

TEST(BridgeRules, TheFirstRuleThatFitsDecides) {
  const Rules rules = parsed(R"({
    // camera at a tenth
    "out": [
      {"topics": "/camera/front", "rename": "/front", "max_hz": 3},
      {"topics": ["/camera/*"], "types": "sensor_msgs/msg/Image", "exclude": "/camera/secret"},
      {"topics": "/tf_static", "latched": true, "reliable": true, "depth": 4, "namespace": "/v1"}
    ],
    "in": [{"topics": "/cmd_vel", "max_mib": 2}]
  })");
  const std::string image = "sensor_msgs/msg/Image";
  ASSERT_NE(rule_for(rules.out, "/camera/front", image), nullptr);
  EXPECT_EQ(rule_for(rules.out, "/camera/front", image)->max_hz, 3);
  EXPECT_EQ(name_beyond(*rule_for(rules.out, "/camera/front", image), "/camera/front"), "/front");
  EXPECT_EQ(rule_for(rules.out, "/camera/rear", image), &rules.out[1]);
  EXPECT_EQ(rule_for(rules.out, "/camera/rear", "std_msgs/msg/String"), nullptr);
  EXPECT_NE(rule_for(rules.out, "/camera/rear", ""), nullptr) << "the type is not known yet";
  EXPECT_EQ(rule_for(rules.out, "/camera/secret", image), nullptr);
  EXPECT_EQ(name_beyond(rules.out[2], "/tf_static"), "/v1/tf_static");
  EXPECT_EQ(rules.out[2].latched, true);
  EXPECT_EQ(rules.out[1].latched, std::nullopt);
  EXPECT_EQ(rules.out[2].reliable, true);
  EXPECT_EQ(rules.out[1].reliable, std::nullopt);
  EXPECT_EQ(rules.in[0].max_bytes, 2U << 20U);
  EXPECT_TRUE(rules.out_is_given);
}

TEST(BridgeRules, NothingComesInUnlessItIsNamed) {
  const Rules rules = parsed(R"({"out": []})");
  EXPECT_TRUE(rules.in.empty());
  EXPECT_TRUE(rules.out_is_given);
  EXPECT_EQ(rule_for(rules.in, "/cmd_vel", "geometry_msgs/msg/Twist"), nullptr);
  EXPECT_NE(first_problem(R"({"in": [{"max_hz": 3}]})").find("names neither topics nor types"), std::string::npos);
}

TEST(BridgeRules, ErrorsHavePlaceCauseAndRemedy) {
  EXPECT_EQ(first_problem("{\"out\": [{\"topic\": \"/a\"}]}").substr(0, 39), "bridge.json:1:11: error: rule 1 has no ");
  EXPECT_NE(first_problem(R"({"out": [{"topic": "/a"}]})").find("did you mean 'topics'?"), std::string::npos);
  EXPECT_NE(first_problem(R"({"out": [{"topics": "/a*", "rename": "/b"}]})").find("several topics"), std::string::npos);
  EXPECT_NE(first_problem(R"({"out": [{"topics": "/a", "rename": "/b", "namespace": "/c"}]})").find("remove one"),
            std::string::npos);
  EXPECT_NE(first_problem(R"({"out": [{"topics": "/a", "max_mib": 3}]})").find("limits what comes in"),
            std::string::npos);
  EXPECT_NE(first_problem(R"({"out": [{"topics": "/a", "max_hz": -1}]})").find("out of range"), std::string::npos);
  EXPECT_NE(first_problem(R"({"network": "dds 0"})").find("network"), std::string::npos);
  EXPECT_NE(first_problem("[1]").find("error"), std::string::npos);
  EXPECT_NE(first_problem("{\"out\": [").find("error"), std::string::npos);
}

TEST(BridgeRules, ABridgesFileIsToldFromASystems) {
  EXPECT_TRUE(is_bridge_text(R"({"out": []})"));
  EXPECT_TRUE(is_bridge_text(R"({"dds": {"domain_id": 3}})"));
  EXPECT_FALSE(is_bridge_text(R"({"processes": {}})"));
  EXPECT_FALSE(is_bridge_text("no JSON"));
}

/// Key by key: the schema for editors says what the reader's table says.
void compare(const config::Shape& shape, const json& node, const json& schema) {
  SCOPED_TRACE(std::string(shape.title));
  std::set<std::string> in_schema;
  std::set<std::string> in_table;
  for (const auto& [key, value] : node.at("properties").items()) in_schema.insert(key);
  for (const Field& field : shape.fields) in_table.emplace(field.name);
  EXPECT_EQ(in_schema, in_table);
  EXPECT_FALSE(node.value("additionalProperties", true));
  for (const Field& field : shape.fields) {
    SCOPED_TRACE(std::string(field.name));
    const json& value = node.at("properties").at(std::string(field.name));
    EXPECT_GT(value.value("description", "").size(), 10U);
    const auto rule = [&]() -> const json& { return schema.at("$defs").at("rule"); };
    switch (field.kind) {
      case Field::Kind::Integer:
      case Field::Kind::Number:
        EXPECT_EQ(value.at("minimum").get<double>(), field.min);
        EXPECT_EQ(value.at("maximum").get<double>(), field.max);
        break;
      case Field::Kind::Text:
        EXPECT_EQ(value.value("pattern", ""), config::pattern(field.format));
        break;
      case Field::Kind::Choice:
        EXPECT_EQ(value.at("enum").get<std::vector<std::string>>(),
                  std::vector<std::string>(field.choices.begin(), field.choices.end()));
        break;
      case Field::Kind::OneOrMore:
        EXPECT_EQ(value.at("oneOf").at(0).value("pattern", ""), config::pattern(field.element->format));
        break;
      case Field::Kind::List:
        EXPECT_EQ(value.at("items").at("$ref"), "#/$defs/rule");
        compare(*field.element->object, rule(), schema);
        break;
      case Field::Kind::Object:
        compare(*field.object, value, schema);
        break;
      default:
        EXPECT_EQ(value.value("type", ""), "boolean");
    }
  }
}

TEST(BridgeRules, TheSchemaSaysWhatTheReaderSays) {
  const char* const path = std::getenv("CARDAN_TEST_BRIDGE_SCHEMA");
  ASSERT_NE(path, nullptr);
  std::ifstream in(path);
  const json schema = json::parse(in);
  compare(kRulesShape, schema, schema);
}

TEST(BridgeRules, EachFolderIsAKindOfTheTable) {
  const std::filesystem::path folder = std::filesystem::path(std::getenv("CARDAN_TEST_BRIDGE_SCHEMA")).parent_path();
  std::set<std::string> kinds;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (std::filesystem::exists(entry.path() / "CMakeLists.txt")) kinds.insert(entry.path().filename().string());
  EXPECT_EQ(kinds, std::set<std::string>(config::kBridgeKinds.begin(), config::kBridgeKinds.end()));
}

/// The defaults that the schema gives, as an object of the file.
json defaults_of(const json& node) {
  json all = json::object();
  for (const auto& [key, field] : node.at("properties").items()) {
    if (field.contains("default"))
      all[key] = field["default"];
    else if (field.contains("properties"))
      all[key] = defaults_of(field);
  }
  return all;
}

TEST(BridgeRules, TheDefaultsOfTheSchemaAreThoseOfTheCode) {
  std::ifstream in(std::getenv("CARDAN_TEST_BRIDGE_SCHEMA"));
  const json schema = json::parse(in);
  json written = defaults_of(schema);
  ASSERT_GE(written.at("dds").size() + written.at("foxglove").size() + written.at("zenoh").size(), 13U) << written;
  json rule = defaults_of(schema.at("$defs").at("rule"));
  ASSERT_GE(rule.size(), 5U) << rule;
  rule.erase("max_mib");
  written["out"] = json::array({rule});
  written["in"] =
      json::array({{{"topics", "/a"}, {"max_mib", schema["$defs"]["rule"]["properties"]["max_mib"]["default"]}}});
  Rules is = parsed(written.dump()), as = parsed(R"({"out": [{}], "in": [{"topics": "/a"}]})");
  // Empty means these words: the bridge of Zenoh takes them so.
  EXPECT_EQ(std::exchange(is.out.at(0).priority, ""), "data");
  EXPECT_EQ(std::exchange(is.out.at(0).congestion, ""), "drop");
  EXPECT_EQ(std::exchange(is.zenoh.form, ""), "plain");
  EXPECT_EQ(is.out, as.out);
  EXPECT_EQ(is.in, as.in);
  EXPECT_EQ(is.access, as.access);
  EXPECT_EQ(is.dds, as.dds);
  EXPECT_EQ(is.foxglove, as.foxglove);
  EXPECT_EQ(is.zenoh, as.zenoh);
}

}  // namespace
}  // namespace cardan::bridge
