// SPDX-License-Identifier: Apache-2.0
// Made by scripts/shape_tables.py from src/bridge/bridge.schema.json. Change the schema, and run the script.
#pragma once
// clang-format off

#include <array>
#include <span>
#include <string_view>

#include "src/bridge/rules_shape.hpp"

namespace cardan::bridge::table {

using config::Field;
using config::Format;
using config::Shape;
constexpr Field kRuleTopicsElement{.kind = Field::Kind::Text, .format = Format::Filled};
constexpr std::array kRuleFields{
    Field{.name = "topics", .kind = Field::Kind::OneOrMore, .element = &kRuleTopicsElement},
    Field{.name = "types", .kind = Field::Kind::OneOrMore, .element = &kRuleTopicsElement},
    Field{.name = "exclude", .kind = Field::Kind::OneOrMore, .element = &kRuleTopicsElement},
    Field{.name = "rename", .kind = Field::Kind::Text, .format = Format::Topic},
    Field{.name = "namespace", .kind = Field::Kind::Text, .format = Format::Topic},
    Field{.name = "max_hz", .kind = Field::Kind::Number, .min = 0, .max = 100000},
    Field{.name = "reliable", .kind = Field::Kind::Boolean},
    Field{.name = "depth", .kind = Field::Kind::Integer, .min = 0, .max = 64},
    Field{.name = "latched", .kind = Field::Kind::Boolean},
    Field{.name = "owner", .kind = Field::Kind::Boolean},
    Field{.name = "max_mib", .kind = Field::Kind::Integer, .min = 1, .max = 1024},
    Field{.name = "priority", .kind = Field::Kind::Choice, .choices = kPriorities},
    Field{.name = "congestion", .kind = Field::Kind::Choice, .choices = kCongestions},
};
constexpr Shape kRuleShape{"rule", kRuleFields};
constexpr Field kBridgeOutElement{.kind = Field::Kind::Object, .object = &kRuleShape};
constexpr std::array kDdsFields{
    Field{.name = "domain_id", .kind = Field::Kind::Integer, .min = 0, .max = 232},
    Field{.name = "discovery", .kind = Field::Kind::Choice, .choices = kDiscoveries},
    Field{.name = "peers", .kind = Field::Kind::OneOrMore, .element = &kRuleTopicsElement},
    Field{.name = "node", .kind = Field::Kind::Text, .format = Format::Identifier},
    Field{.name = "node_namespace", .kind = Field::Kind::Text, .format = Format::Filled},
    Field{.name = "gid_bytes", .kind = Field::Kind::Integer, .min = 0, .max = 24},
    Field{.name = "message_paths", .kind = Field::Kind::OneOrMore, .element = &kRuleTopicsElement},
    Field{.name = "parameters", .kind = Field::Kind::Boolean},
    Field{.name = "set_parameters", .kind = Field::Kind::Boolean},
    Field{.name = "call_services", .kind = Field::Kind::Boolean},
    Field{.name = "offer_services", .kind = Field::Kind::Boolean},
    Field{.name = "rosout", .kind = Field::Kind::Boolean},
    Field{.name = "diagnostics", .kind = Field::Kind::Boolean},
};
constexpr Shape kDdsShape{"dds", kDdsFields};
constexpr std::array kFoxgloveFields{
    Field{.name = "address", .kind = Field::Kind::Text, .format = Format::Filled},
    Field{.name = "port", .kind = Field::Kind::Integer, .min = 0, .max = 65535},
    Field{.name = "max_clients", .kind = Field::Kind::Integer, .min = 1, .max = 256},
    Field{.name = "origins", .kind = Field::Kind::OneOrMore, .element = &kRuleTopicsElement},
    Field{.name = "hosts", .kind = Field::Kind::OneOrMore, .element = &kRuleTopicsElement},
    Field{.name = "set_parameters", .kind = Field::Kind::Boolean},
    Field{.name = "call_services", .kind = Field::Kind::Boolean},
};
constexpr Shape kFoxgloveShape{"foxglove", kFoxgloveFields};
constexpr std::array kZenohFields{
    Field{.name = "form", .kind = Field::Kind::Choice, .choices = kForms},
    Field{.name = "config", .kind = Field::Kind::Text, .format = Format::Filled},
    Field{.name = "mode", .kind = Field::Kind::Choice, .choices = kModes},
    Field{.name = "connect", .kind = Field::Kind::OneOrMore, .element = &kRuleTopicsElement},
    Field{.name = "listen", .kind = Field::Kind::OneOrMore, .element = &kRuleTopicsElement},
    Field{.name = "domain_id", .kind = Field::Kind::Integer, .min = 0, .max = 232},
    Field{.name = "node", .kind = Field::Kind::Text, .format = Format::Identifier},
};
constexpr Shape kZenohShape{"zenoh", kZenohFields};
constexpr std::array kBridgeFields{
    Field{.name = "$schema", .kind = Field::Kind::Text, .format = Format::Any},
    Field{.name = "domain", .kind = Field::Kind::Text, .format = Format::Domain},
    Field{.name = "network", .kind = Field::Kind::Text, .format = Format::Variable},
    Field{.name = "access", .kind = Field::Kind::Choice, .choices = kAccesses},
    Field{.name = "out", .kind = Field::Kind::List, .element = &kBridgeOutElement},
    Field{.name = "in", .kind = Field::Kind::List, .element = &kBridgeOutElement},
    Field{.name = "dds", .kind = Field::Kind::Object, .object = &kDdsShape},
    Field{.name = "foxglove", .kind = Field::Kind::Object, .object = &kFoxgloveShape},
    Field{.name = "zenoh", .kind = Field::Kind::Object, .object = &kZenohShape},
};
constexpr Shape kBridgeShape{"bridge", kBridgeFields};

}  // namespace cardan::bridge::table
