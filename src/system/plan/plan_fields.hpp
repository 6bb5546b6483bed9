// SPDX-License-Identifier: Apache-2.0
// The fields of a plan, one list for each aggregate: the encoder, the decoder and the comparison all go by them. A
// field that is missing here does not compile.
#pragma once

#include <cstddef>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include "src/system/plan/plan.hpp"

namespace cardan::plan {

template <class T, class M>
struct FieldOf {
  std::string_view name;
  M T::* member;
};

/// Converts to a value of any type, to count the fields of an aggregate.
struct AnyValue {
  template <class T>
  operator T() const;  // NOLINT(google-explicit-constructor): that is its purpose
};
template <class T, class... Values>
consteval std::size_t field_count() {
  if constexpr (requires { T{Values{}..., AnyValue{}}; })
    return field_count<T, Values..., AnyValue>();
  else
    return sizeof...(Values);
}

template <class T, class M, class... Rest>
consteval auto fields(const char* name, M T::* member, Rest... rest) {
  if constexpr (sizeof...(rest) == 0)
    return std::tuple{FieldOf<T, M>{name, member}};
  else
    return std::tuple_cat(std::tuple{FieldOf<T, M>{name, member}}, fields(rest...));
}
/// All fields of T: pairs of a name and a member.
template <class T>
consteval auto all_fields(const auto&... pairs) {
  const auto list = fields(pairs...);
  static_assert(std::tuple_size_v<std::remove_const_t<decltype(list)>> == field_count<T>(), "a field is missing");
  return list;
}

/// Aggregates without a list are not part of a plan.
template <class T>
inline constexpr auto kFields = nullptr;
template <class T>
inline constexpr bool kHasFields = !std::is_same_v<std::remove_cvref_t<decltype(kFields<T>)>, std::nullptr_t>;

template <>
inline constexpr auto kFields<config::Place> = all_fields<config::Place>(
    "line", &config::Place::line, "column", &config::Place::column, "file", &config::Place::file);

template <>
inline constexpr auto kFields<config::Naming> =
    all_fields<config::Naming>("prefix", &config::Naming::prefix, "links", &config::Naming::links);

template <>
inline constexpr auto kFields<config::IncludeLinks> = all_fields<config::IncludeLinks>(
    "name_space", &config::IncludeLinks::name_space, "naming", &config::IncludeLinks::naming, "open",
    &config::IncludeLinks::open, "in_text", &config::IncludeLinks::in_text);

template <>
inline constexpr auto kFields<config::Source> = all_fields<config::Source>(
    "file_name", &config::Source::file_name, "included", &config::Source::included, "keys", &config::Source::keys,
    "values", &config::Source::values, "links", &config::Source::links);

template <>
inline constexpr auto kFields<config::Thread> = all_fields<config::Thread>(
    "cpus", &config::Thread::cpus, "policy", &config::Thread::policy, "priority", &config::Thread::priority, "nice",
    &config::Thread::nice, "runtime", &config::Thread::runtime, "period", &config::Thread::period);

template <>
inline constexpr auto kFields<config::Callback> = all_fields<config::Callback>(
    "name", &config::Callback::name, "priority", &config::Callback::priority, "thread", &config::Callback::thread,
    "watchdog", &config::Callback::watchdog, "pointer", &config::Callback::pointer);

template <>
inline constexpr auto kFields<config::Cycle> =
    all_fields<config::Cycle>("callback", &config::Cycle::callback, "weight", &config::Cycle::weight);

template <>
inline constexpr auto kFields<config::Component> = all_fields<config::Component>(
    "name", &config::Component::name, "library", &config::Component::library, "class", &config::Component::class_name,
    "parameters", &config::Component::parameters, "keep", &config::Component::keep, "topics",
    &config::Component::topics, "group", &config::Component::group, "priority", &config::Component::priority, "thread",
    &config::Component::thread, "watchdog", &config::Component::watchdog, "on_exception",
    &config::Component::on_exception, "introspection", &config::Component::introspection, "cycle",
    &config::Component::cycle, "callbacks", &config::Component::callbacks, "namespace", &config::Component::namings,
    "pointer", &config::Component::pointer);

template <>
inline constexpr auto kFields<config::Group> = all_fields<config::Group>(
    "name", &config::Group::name, "workers", &config::Group::workers, "cpus", &config::Group::cpus, "affinity",
    &config::Group::affinity, "policy", &config::Group::policy, "priority", &config::Group::priority, "nice",
    &config::Group::nice, "spin", &config::Group::spin, "pointer", &config::Group::pointer);

template <>
inline constexpr auto kFields<config::Restart> = all_fields<config::Restart>(
    "when", &config::Restart::when, "limit", &config::Restart::limit, "window", &config::Restart::window, "backoff",
    &config::Restart::backoff, "backoff_max", &config::Restart::backoff_max);

template <>
inline constexpr auto kFields<config::Bridge> = all_fields<config::Bridge>(
    "kind", &config::Bridge::kind, "file", &config::Bridge::file, "pointer", &config::Bridge::pointer);

template <>
inline constexpr auto kFields<config::RecordTrigger> = all_fields<config::RecordTrigger>(
    "states", &config::RecordTrigger::states, "silent", &config::RecordTrigger::silent, "for",
    &config::RecordTrigger::lasting, "messages", &config::RecordTrigger::messages);

template <>
inline constexpr auto kFields<config::Record> = all_fields<config::Record>(
    "topics", &config::Record::topics, "exclude", &config::Record::exclude, "output", &config::Record::output,
    "compression", &config::Record::compression, "causes", &config::Record::causes, "last", &config::Record::last,
    "after", &config::Record::after, "on", &config::Record::on, "pointer", &config::Record::pointer);

template <>
inline constexpr auto kFields<config::Process> = all_fields<config::Process>(
    "name", &config::Process::name, "components", &config::Process::components, "bridge", &config::Process::bridge,
    "record", &config::Process::record, "command", &config::Process::command, "groups", &config::Process::groups,
    "environment", &config::Process::environment, "memory", &config::Process::memory_bytes, "restart",
    &config::Process::restart, "pointer", &config::Process::pointer);

template <>
inline constexpr auto kFields<config::TopicSettings> = all_fields<config::TopicSettings>(
    "depth", &config::TopicSettings::depth, "reliable", &config::TopicSettings::reliable, "deadline",
    &config::TopicSettings::deadline, "private", &config::TopicSettings::process_private, "writers",
    &config::TopicSettings::writers, "max_bytes", &config::TopicSettings::max_bytes, "waiting",
    &config::TopicSettings::waiting, "spin", &config::TopicSettings::spin, "pointer", &config::TopicSettings::pointer);

template <>
inline constexpr auto kFields<config::Needs> = all_fields<config::Needs>(
    "cpus", &config::Needs::cpus, "memory", &config::Needs::memory_bytes, "realtime", &config::Needs::realtime);

template <>
inline constexpr auto kFields<config::Chain> =
    all_fields<config::Chain>("name", &config::Chain::name, "from", &config::Chain::from, "to", &config::Chain::to,
                              "budget", &config::Chain::budget, "pointer", &config::Chain::pointer);

template <>
inline constexpr auto kFields<Vector3> = all_fields<Vector3>("x", &Vector3::x, "y", &Vector3::y, "z", &Vector3::z);

template <>
inline constexpr auto kFields<Quaternion> =
    all_fields<Quaternion>("x", &Quaternion::x, "y", &Quaternion::y, "z", &Quaternion::z, "w", &Quaternion::w);

template <>
inline constexpr auto kFields<Transform> =
    all_fields<Transform>("translation", &Transform::translation, "rotation", &Transform::rotation);

template <>
inline constexpr auto kFields<config::FrameTransform> = all_fields<config::FrameTransform>(
    "parent", &config::FrameTransform::parent, "child", &config::FrameTransform::child, "place",
    &config::FrameTransform::place, "pointer", &config::FrameTransform::pointer);

template <>
inline constexpr auto kFields<config::Condition> =
    all_fields<config::Condition>("kind", &config::Condition::kind, "names", &config::Condition::names, "times",
                                  &config::Condition::times, "for", &config::Condition::lasting);

template <>
inline constexpr auto kFields<config::Transition> =
    all_fields<config::Transition>("from", &config::Transition::from, "when", &config::Transition::when, "to",
                                   &config::Transition::to, "pointer", &config::Transition::pointer);

template <>
inline constexpr auto kFields<config::Configuration> = all_fields<config::Configuration>(
    "name", &config::Configuration::name, "domain", &config::Configuration::domain, "realtime",
    &config::Configuration::realtime, "processes", &config::Configuration::processes, "topics",
    &config::Configuration::topics, "chains", &config::Configuration::chains, "transforms",
    &config::Configuration::transforms, "needs", &config::Configuration::needs, "transitions",
    &config::Configuration::transitions, "source", &config::Configuration::source);

template <>
inline constexpr auto kFields<PlanFile> =
    all_fields<PlanFile>("path", &PlanFile::path, "bytes", &PlanFile::bytes, "checksum", &PlanFile::checksum);

template <>
inline constexpr auto kFields<DeclaredParts> =
    all_fields<DeclaredParts>("topics", &DeclaredParts::topics, "fixed", &DeclaredParts::fixed);

template <>
inline constexpr auto kFields<Plan> =
    all_fields<Plan>("configuration", &Plan::configuration, "log_levels", &Plan::log_levels, "files", &Plan::files,
                     "folder", &Plan::folder, "declared", &Plan::declared);

/// The first of an enumeration, which counts as 0.
template <class E>
inline constexpr E kFirst = E{};
template <>
inline constexpr auto kFirst<LogLevel> = LogLevel::Debug;

/// The last of an enumeration, beyond which no value has a meaning.
template <class E>
inline constexpr E kLast = E{};
template <>
inline constexpr auto kLast<config::Policy> = config::Policy::Deadline;
template <>
inline constexpr auto kLast<config::Affinity> = config::Affinity::OneToOne;
template <>
inline constexpr auto kLast<config::OnException> = config::OnException::Crash;
template <>
inline constexpr auto kLast<Introspection> = Introspection::Contents;
template <>
inline constexpr auto kLast<config::RestartWhen> = config::RestartWhen::Never;
template <>
inline constexpr auto kLast<config::State> = config::State::Stopped;
template <>
inline constexpr auto kLast<config::Condition::Kind> = config::Condition::Kind::InTime;
template <>
inline constexpr auto kLast<Waiting::Kind> = Waiting::Kind::Follow;
template <>
inline constexpr auto kLast<LogLevel> = LogLevel::Error;

}  // namespace cardan::plan
