// SPDX-License-Identifier: Apache-2.0
#include "src/bridge/rules_shape.hpp"

namespace cardan::bridge {
namespace {

using config::Field;
using config::Format;
using Kind = Field::Kind;

constexpr double kMostHz = 100'000;
constexpr double kMostDepth = 64;        // each message is a slot of its publisher
constexpr double kMostMebibytes = 1024;  // of a payload

constexpr Field text(std::string_view name, Format format) {
  return {.name = name, .kind = Kind::Text, .format = format};
}
constexpr Field flag(std::string_view name) { return {.name = name, .kind = Kind::Boolean}; }
constexpr Field whole(std::string_view name, double min, double max) {
  return {.name = name, .kind = Kind::Integer, .min = min, .max = max};
}
constexpr Field choice(std::string_view name, std::span<const std::string_view> choices) {
  return {.name = name, .kind = Kind::Choice, .choices = choices};
}
constexpr Field one_or_more(std::string_view name, const Field& element) {
  return {.name = name, .kind = Kind::OneOrMore, .element = &element};
}
constexpr Field list(std::string_view name, const Field& element) {
  return {.name = name, .kind = Kind::List, .element = &element};
}
constexpr Field object(std::string_view name, const config::Shape& shape) {
  return {.name = name, .kind = Kind::Object, .object = &shape};
}

constexpr Field kText = text("", Format::Filled);

constexpr std::array kRuleFields{
    one_or_more("topics", kText),
    one_or_more("types", kText),
    one_or_more("exclude", kText),
    text("rename", Format::Topic),
    text("namespace", Format::Topic),
    Field{.name = "max_hz", .kind = Kind::Number, .min = 0, .max = kMostHz},
    flag("reliable"),
    whole("depth", 0, kMostDepth),
    flag("latched"),
    flag("owner"),
    whole("max_mib", 1, kMostMebibytes),
    choice("priority", kPriorities),
    choice("congestion", kCongestions),
};
constexpr config::Shape kRuleShape{.title = "rule", .fields = kRuleFields};
constexpr Field kRule = object("", kRuleShape);

constexpr std::array kDdsFields{
    whole("domain_id", 0, kMostRosDomain),
    choice("discovery", kDiscoveries),
    one_or_more("peers", kText),
    text("node", Format::Identifier),
    text("node_namespace", Format::Filled),
    whole("gid_bytes", 0, 24),
    one_or_more("message_paths", kText),
    flag("parameters"),
    flag("set_parameters"),
    flag("rosout"),
    flag("diagnostics"),
};
constexpr config::Shape kDdsShape{.title = "dds", .fields = kDdsFields};

constexpr std::array kFoxgloveFields{
    text("address", Format::Filled), whole("port", 0, 65535),     whole("max_clients", 1, 256),
    one_or_more("origins", kText),   one_or_more("hosts", kText), flag("set_parameters"),
};
constexpr config::Shape kFoxgloveShape{.title = "foxglove", .fields = kFoxgloveFields};

constexpr std::array kZenohFields{
    choice("form", kForms),           text("config", Format::Filled), choice("mode", kModes),
    one_or_more("connect", kText),    one_or_more("listen", kText),   whole("domain_id", 0, kMostRosDomain),
    text("node", Format::Identifier),
};
constexpr config::Shape kZenohShape{.title = "zenoh", .fields = kZenohFields};

constexpr std::array kFileFields{
    text("$schema", Format::Any),
    text("domain", Format::Domain),
    text("network", Format::Variable),
    choice("access", kAccesses),
    list("out", kRule),
    list("in", kRule),
    object("dds", kDdsShape),
    object("foxglove", kFoxgloveShape),
    object("zenoh", kZenohShape),
};

}  // namespace

const config::Shape kRulesShape{.title = "bridge", .fields = kFileFields};

}  // namespace cardan::bridge
