// SPDX-License-Identifier: Apache-2.0
// Made by scripts/shape_tables.py from src/config/cardan.schema.json. Change the schema, and run the script.
#pragma once
// clang-format off

#include <array>
#include <span>
#include <string_view>

#include "src/config/shape.hpp"

namespace cardan::config::table {

constexpr Field kFileVariablesElement{.kind = Field::Kind::Scalar};
constexpr Field kIncludeTopicsElement{.kind = Field::Kind::Text, .format = Format::Topic};
constexpr std::array kIncludeFields{
    Field{.name = "file", .kind = Field::Kind::Text, .required = true, .format = Format::Filled},
    Field{.name = "namespace", .kind = Field::Kind::Text, .format = Format::Name},
    Field{.name = "variables", .kind = Field::Kind::Map, .format = Format::Identifier, .element = &kFileVariablesElement},
    Field{.name = "topics", .kind = Field::Kind::Map, .format = Format::Topic, .element = &kIncludeTopicsElement},
    Field{.name = "when", .kind = Field::Kind::Condition},
};
constexpr Shape kIncludeShape{"include", kIncludeFields};
constexpr Field kFileIncludeElement{.kind = Field::Kind::Object, .object = &kIncludeShape};
constexpr std::array<std::string_view, 1> kComponentOthers{"python"};
constexpr Field kComponentParametersElement{.kind = Field::Kind::ScalarOrList};
constexpr Field kThreadCpusElement{.kind = Field::Kind::Integer, .min = 0, .max = 1023};
constexpr std::array kThreadFields{
    Field{.name = "cpus", .kind = Field::Kind::List, .element = &kThreadCpusElement},
    Field{.name = "policy", .kind = Field::Kind::Choice, .choices = kPolicies},
    Field{.name = "priority", .kind = Field::Kind::Integer, .min = 0, .max = 99},
    Field{.name = "nice", .kind = Field::Kind::Integer, .min = -20, .max = 19},
    Field{.name = "runtime_us", .kind = Field::Kind::Number, .min = 0, .max = 1000000000000},
    Field{.name = "period_us", .kind = Field::Kind::Number, .min = 0, .max = 1000000000000},
};
constexpr Shape kThreadShape{"thread", kThreadFields};
constexpr std::array kCycleFields{
    Field{.name = "callback", .kind = Field::Kind::Text, .format = Format::Filled},
    Field{.name = "weight", .kind = Field::Kind::Number, .min = 0, .max = 1000},
};
constexpr Shape kCycleShape{"cycle", kCycleFields};
constexpr std::array kCallbackFields{
    Field{.name = "priority", .kind = Field::Kind::Integer, .min = 0, .max = 31},
    Field{.name = "thread", .kind = Field::Kind::Object, .object = &kThreadShape},
    Field{.name = "watchdog_ms", .kind = Field::Kind::Number, .min = 0, .max = 1000000000},
};
constexpr Shape kCallbackShape{"callback", kCallbackFields};
constexpr Field kComponentCallbacksElement{.kind = Field::Kind::Object, .object = &kCallbackShape};
constexpr Field kComponentInstancesElement{.kind = Field::Kind::Map, .format = Format::Identifier, .element = &kFileVariablesElement};
constexpr std::array kComponentFields{
    Field{.name = "library", .kind = Field::Kind::Text, .required = true, .format = Format::Filled, .choices = kComponentOthers},
    Field{.name = "class", .kind = Field::Kind::Text, .required = true, .format = Format::Filled, .choices = kComponentOthers},
    Field{.name = "python", .kind = Field::Kind::Text, .format = Format::PythonClass},
    Field{.name = "parameters", .kind = Field::Kind::Map, .format = Format::Filled, .element = &kComponentParametersElement},
    Field{.name = "keep", .kind = Field::Kind::Boolean},
    Field{.name = "topics", .kind = Field::Kind::Map, .format = Format::Topic, .element = &kIncludeTopicsElement},
    Field{.name = "group", .kind = Field::Kind::Text, .format = Format::Name},
    Field{.name = "priority", .kind = Field::Kind::Integer, .min = 0, .max = 31},
    Field{.name = "thread", .kind = Field::Kind::Object, .object = &kThreadShape},
    Field{.name = "watchdog_ms", .kind = Field::Kind::Number, .min = 0, .max = 1000000000},
    Field{.name = "on_exception", .kind = Field::Kind::Choice, .choices = kOnException},
    Field{.name = "introspection", .kind = Field::Kind::Choice, .choices = kIntrospection},
    Field{.name = "cycle", .kind = Field::Kind::Object, .object = &kCycleShape},
    Field{.name = "callbacks", .kind = Field::Kind::Map, .format = Format::Filled, .element = &kComponentCallbacksElement},
    Field{.name = "when", .kind = Field::Kind::Condition},
    Field{.name = "instances", .kind = Field::Kind::Map, .format = Format::Name, .element = &kComponentInstancesElement},
};
constexpr Shape kComponentShape{"component", kComponentFields};
constexpr Field kProcessComponentsElement{.kind = Field::Kind::Object, .object = &kComponentShape};
constexpr std::array kBridgeFields{
    Field{.name = "kind", .kind = Field::Kind::Choice, .required = true, .choices = kBridgeKinds},
    Field{.name = "file", .kind = Field::Kind::Text, .format = Format::Filled},
};
constexpr Shape kBridgeShape{"bridge", kBridgeFields};
constexpr Field kRecordTopicsElement{.kind = Field::Kind::Text, .format = Format::Filled};
constexpr Field kRecordTriggerStateElement{.kind = Field::Kind::Choice, .choices = std::span(kStates).subspan<1, 3>()};
constexpr std::array kRecordTriggerFields{
    Field{.name = "state", .kind = Field::Kind::OneOrMore, .element = &kRecordTriggerStateElement},
    Field{.name = "silent", .kind = Field::Kind::OneOrMore, .element = &kIncludeTopicsElement},
    Field{.name = "for_ms", .kind = Field::Kind::Number, .min = 0, .max = 1000000000},
    Field{.name = "message", .kind = Field::Kind::OneOrMore, .element = &kIncludeTopicsElement},
};
constexpr Shape kRecordTriggerShape{"record trigger", kRecordTriggerFields};
constexpr std::array kRecordFields{
    Field{.name = "topics", .kind = Field::Kind::OneOrMore, .element = &kRecordTopicsElement},
    Field{.name = "exclude", .kind = Field::Kind::OneOrMore, .element = &kRecordTopicsElement},
    Field{.name = "output", .kind = Field::Kind::Text, .required = true, .format = Format::Filled},
    Field{.name = "compression", .kind = Field::Kind::Choice, .choices = kCompressions},
    Field{.name = "causes", .kind = Field::Kind::Boolean},
    Field{.name = "last_s", .kind = Field::Kind::Number, .min = 0, .max = 1000000},
    Field{.name = "after_s", .kind = Field::Kind::Number, .min = 0, .max = 1000000},
    Field{.name = "on", .kind = Field::Kind::Object, .object = &kRecordTriggerShape},
};
constexpr Shape kRecordShape{"record", kRecordFields};
constexpr Field kProcessCommandElement{.kind = Field::Kind::Text, .format = Format::Any};
constexpr std::array kGroupFields{
    Field{.name = "workers", .kind = Field::Kind::Integer, .min = 1, .max = 256},
    Field{.name = "cpus", .kind = Field::Kind::List, .element = &kThreadCpusElement},
    Field{.name = "affinity", .kind = Field::Kind::Choice, .choices = kAffinities},
    Field{.name = "policy", .kind = Field::Kind::Choice, .choices = std::span(kPolicies).subspan<0, 3>()},
    Field{.name = "priority", .kind = Field::Kind::Integer, .min = 0, .max = 99},
    Field{.name = "nice", .kind = Field::Kind::Integer, .min = -20, .max = 19},
    Field{.name = "spin_us", .kind = Field::Kind::Number, .min = 0, .max = 1000000000000},
};
constexpr Shape kGroupShape{"group", kGroupFields};
constexpr Field kProcessGroupsElement{.kind = Field::Kind::Object, .object = &kGroupShape};
constexpr std::array kRestartFields{
    Field{.name = "when", .kind = Field::Kind::Choice, .choices = kRestartWhen},
    Field{.name = "limit", .kind = Field::Kind::Integer, .min = 0, .max = 1000000},
    Field{.name = "window_s", .kind = Field::Kind::Number, .min = 0, .max = 1000000},
    Field{.name = "backoff_ms", .kind = Field::Kind::Number, .min = 0, .max = 1000000000},
    Field{.name = "backoff_max_ms", .kind = Field::Kind::Number, .min = 0, .max = 1000000000},
};
constexpr Shape kRestartShape{"restart", kRestartFields};
constexpr std::array kProcessFields{
    Field{.name = "components", .kind = Field::Kind::Map, .format = Format::Name, .element = &kProcessComponentsElement},
    Field{.name = "bridge", .kind = Field::Kind::Object, .object = &kBridgeShape},
    Field{.name = "record", .kind = Field::Kind::Object, .object = &kRecordShape},
    Field{.name = "command", .kind = Field::Kind::List, .element = &kProcessCommandElement, .repeats = true},
    Field{.name = "groups", .kind = Field::Kind::Map, .format = Format::Name, .element = &kProcessGroupsElement},
    Field{.name = "environment", .kind = Field::Kind::Map, .format = Format::Variable, .element = &kProcessCommandElement},
    Field{.name = "memory_mib", .kind = Field::Kind::Integer, .min = 0, .max = 1073741824},
    Field{.name = "restart", .kind = Field::Kind::Object, .object = &kRestartShape},
    Field{.name = "when", .kind = Field::Kind::Condition},
};
constexpr Shape kProcessShape{"process", kProcessFields};
constexpr Field kFileProcessesElement{.kind = Field::Kind::Object, .object = &kProcessShape};
constexpr std::array kTopicFields{
    Field{.name = "depth", .kind = Field::Kind::Integer, .min = 1, .max = 1024},
    Field{.name = "reliable", .kind = Field::Kind::Boolean},
    Field{.name = "deadline_ms", .kind = Field::Kind::Number, .min = 0, .max = 1000000000},
    Field{.name = "private", .kind = Field::Kind::Boolean},
    Field{.name = "writers", .kind = Field::Kind::Integer, .min = 1, .max = 1000},
    Field{.name = "max_bytes", .kind = Field::Kind::Integer, .min = 0, .max = 1073741824},
    Field{.name = "waiting", .kind = Field::Kind::Choice, .choices = kWaitings},
    Field{.name = "spin_us", .kind = Field::Kind::Number, .min = 0, .max = 1000000000000},
};
constexpr Shape kTopicShape{"topic", kTopicFields};
constexpr Field kFileTopicsElement{.kind = Field::Kind::Object, .object = &kTopicShape};
constexpr std::array kChainFields{
    Field{.name = "from", .kind = Field::Kind::Text, .required = true, .format = Format::Topic},
    Field{.name = "to", .kind = Field::Kind::Text, .required = true, .format = Format::Topic},
    Field{.name = "budget_ms", .kind = Field::Kind::Number, .min = 0, .max = 1000000000},
    Field{.name = "when", .kind = Field::Kind::Condition},
};
constexpr Shape kChainShape{"chain", kChainFields};
constexpr Field kFileChainsElement{.kind = Field::Kind::Object, .object = &kChainShape};
constexpr Field kTransformXyzElement{.kind = Field::Kind::Number, .min = -1000000000, .max = 1000000000};
constexpr Field kTransformRpyElement{.kind = Field::Kind::Number, .min = -6.2832, .max = 6.2832};
constexpr Field kTransformQuaternionElement{.kind = Field::Kind::Number, .min = -2, .max = 2};
constexpr std::array kTransformFields{
    Field{.name = "parent", .kind = Field::Kind::Text, .required = true, .format = Format::Frame},
    Field{.name = "child", .kind = Field::Kind::Text, .required = true, .format = Format::Frame},
    Field{.name = "xyz", .kind = Field::Kind::List, .element = &kTransformXyzElement, .repeats = true},
    Field{.name = "rpy", .kind = Field::Kind::List, .element = &kTransformRpyElement, .repeats = true},
    Field{.name = "quaternion", .kind = Field::Kind::List, .element = &kTransformQuaternionElement, .repeats = true},
    Field{.name = "when", .kind = Field::Kind::Condition},
};
constexpr Shape kTransformShape{"transform", kTransformFields};
constexpr Field kFileTransformsElement{.kind = Field::Kind::Object, .object = &kTransformShape};
constexpr std::array kNeedsFields{
    Field{.name = "cpus", .kind = Field::Kind::Integer, .min = 0, .max = 1024},
    Field{.name = "memory_mib", .kind = Field::Kind::Integer, .min = 0, .max = 1073741824},
    Field{.name = "realtime", .kind = Field::Kind::Boolean},
};
constexpr Shape kNeedsShape{"needs", kNeedsFields};
constexpr Field kTransitionFromElement{.kind = Field::Kind::Choice, .choices = std::span(kStates).subspan<0, 4>()};
constexpr Field kConditionDownElement{.kind = Field::Kind::Text, .format = Format::Name};
constexpr std::array kConditionFields{
    Field{.name = "down", .kind = Field::Kind::OneOrMore, .element = &kConditionDownElement},
    Field{.name = "up", .kind = Field::Kind::OneOrMore, .element = &kConditionDownElement},
    Field{.name = "silent", .kind = Field::Kind::OneOrMore, .element = &kIncludeTopicsElement},
    Field{.name = "given_up", .kind = Field::Kind::OneOrMore, .element = &kConditionDownElement},
    Field{.name = "publishing", .kind = Field::Kind::OneOrMore, .element = &kIncludeTopicsElement},
    Field{.name = "late", .kind = Field::Kind::OneOrMore, .element = &kConditionDownElement},
    Field{.name = "in_time", .kind = Field::Kind::OneOrMore, .element = &kConditionDownElement},
    Field{.name = "times", .kind = Field::Kind::Integer, .min = 1, .max = 1000},
    Field{.name = "within_ms", .kind = Field::Kind::Number, .min = 0, .max = 1000000000},
    Field{.name = "for_ms", .kind = Field::Kind::Number, .min = 0, .max = 1000000000},
};
constexpr Shape kConditionShape{"condition", kConditionFields};
constexpr std::array kTransitionFields{
    Field{.name = "from", .kind = Field::Kind::OneOrMore, .element = &kTransitionFromElement},
    Field{.name = "when", .kind = Field::Kind::Object, .required = true, .object = &kConditionShape},
    Field{.name = "to", .kind = Field::Kind::Choice, .required = true, .choices = std::span(kStates).subspan<1, 4>()},
};
constexpr Shape kTransitionShape{"transition", kTransitionFields};
constexpr Field kStatesTransitionsElement{.kind = Field::Kind::Object, .object = &kTransitionShape};
constexpr std::array kStatesFields{
    Field{.name = "transitions", .kind = Field::Kind::List, .element = &kStatesTransitionsElement},
};
constexpr Shape kStatesShape{"states", kStatesFields};
constexpr std::array kFileFields{
    Field{.name = "$schema", .kind = Field::Kind::Text, .format = Format::Any},
    Field{.name = "name", .kind = Field::Kind::Text, .format = Format::Name},
    Field{.name = "domain", .kind = Field::Kind::Text, .format = Format::Domain},
    Field{.name = "realtime", .kind = Field::Kind::Boolean},
    Field{.name = "variables", .kind = Field::Kind::Map, .format = Format::Identifier, .element = &kFileVariablesElement},
    Field{.name = "include", .kind = Field::Kind::List, .element = &kFileIncludeElement},
    Field{.name = "processes", .kind = Field::Kind::Map, .required = true, .format = Format::Name, .element = &kFileProcessesElement},
    Field{.name = "topics", .kind = Field::Kind::Map, .format = Format::Topic, .element = &kFileTopicsElement},
    Field{.name = "chains", .kind = Field::Kind::Map, .format = Format::Name, .element = &kFileChainsElement},
    Field{.name = "transforms", .kind = Field::Kind::List, .element = &kFileTransformsElement},
    Field{.name = "needs", .kind = Field::Kind::Object, .object = &kNeedsShape},
    Field{.name = "states", .kind = Field::Kind::Object, .object = &kStatesShape},
};
constexpr Shape kFileShape{"file", kFileFields};

}  // namespace cardan::config::table
