// SPDX-License-Identifier: Apache-2.0
#include "src/config/shape.hpp"

#include "cardan/messages/cycle_hint.hpp"
#include "src/transport/protocol/layout.hpp"

namespace cardan::config {
namespace {

using Kind = Field::Kind;

// Times: up to a million seconds, far from the end of 64-bit nanoseconds.
constexpr double kSeconds = 1e6;
constexpr double kMilliseconds = 1e9;
constexpr double kMicroseconds = 1e12;
constexpr double kMebibytes = 1024.0 * 1024 * 1024;  // a pebibyte
constexpr int kMaxCpu = 1023;                        // CPU_SETSIZE

constexpr Field flag(std::string_view name) { return {.name = name, .kind = Kind::Boolean}; }
constexpr Field whole(std::string_view name, double min, double max) {
  return {.name = name, .kind = Kind::Integer, .min = min, .max = max};
}
constexpr Field number(std::string_view name, double max) {
  return {.name = name, .kind = Kind::Number, .min = 0, .max = max};
}
constexpr Field text(std::string_view name, Format format) {
  return {.name = name, .kind = Kind::Text, .format = format};
}
constexpr Field choice(std::string_view name, std::span<const std::string_view> choices) {
  return {.name = name, .kind = Kind::Choice, .choices = choices};
}
constexpr Field object(std::string_view name, const Shape& shape) {
  return {.name = name, .kind = Kind::Object, .object = &shape};
}
constexpr Field map(std::string_view name, Format keys, const Field& value) {
  return {.name = name, .kind = Kind::Map, .format = keys, .element = &value};
}
constexpr Field list(std::string_view name, const Field& element) {
  return {.name = name, .kind = Kind::List, .element = &element};
}
constexpr Field words(std::string_view name, const Field& element) {
  return {.name = name, .kind = Kind::List, .element = &element, .repeats = true};
}
constexpr Field one_or_more(std::string_view name, const Field& element) {
  return {.name = name, .kind = Kind::OneOrMore, .element = &element};
}
constexpr Field required(Field field) {
  field.required = true;
  return field;
}
constexpr Field required_unless(std::span<const std::string_view> others, Field field) {
  field.choices = others;
  return required(field);
}

constexpr Field kCpu = whole("", 0, kMaxCpu);
constexpr Field kAnyText = text("", Format::Any);
constexpr Field kName = text("", Format::Name);
constexpr Field kTopicName = text("", Format::Topic);
constexpr Field kScalar{.kind = Kind::Scalar};
constexpr Field kValue{.kind = Kind::ScalarOrList};
constexpr Field kVariables = map("variables", Format::Identifier, kScalar);
constexpr Field kInstance = map("", Format::Identifier, kScalar);
constexpr Field kWhen{.name = "when", .kind = Kind::Condition};
constexpr Field kInstances = map("instances", Format::Name, kInstance);

constexpr std::array kThreadFields{
    list("cpus", kCpu),     choice("policy", kPolicies),         whole("priority", 0, 99),
    whole("nice", -20, 19), number("runtime_us", kMicroseconds), number("period_us", kMicroseconds),
};
constexpr Shape kThread{"thread", kThreadFields};

constexpr std::array kCallbackFields{
    whole("priority", 0, kMaxPriority),
    object("thread", kThread),
    number("watchdog_ms", kMilliseconds),
};
constexpr Shape kCallback{"callback", kCallbackFields};
constexpr Field kCallbackObject = object("", kCallback);

constexpr std::array kCycleFields{
    text("callback", Format::Filled),
    number("weight", CycleHint::kMaxWeight),
};
constexpr Shape kCycle{"cycle", kCycleFields};

constexpr std::array<std::string_view, 1> kPython{"python"};
constexpr std::array kComponentFields{
    required_unless(kPython, text("library", Format::Filled)),
    required_unless(kPython, text("class", Format::Filled)),
    text("python", Format::PythonClass),
    map("parameters", Format::Filled, kValue),
    flag("keep"),
    map("topics", Format::Topic, kTopicName),
    text("group", Format::Name),
    whole("priority", 0, kMaxPriority),
    object("thread", kThread),
    number("watchdog_ms", kMilliseconds),
    choice("on_exception", kOnException),
    object("cycle", kCycle),
    map("callbacks", Format::Filled, kCallbackObject),
    kWhen,
    kInstances,
};
constexpr Shape kComponent{"component", kComponentFields};
constexpr Field kComponentObject = object("", kComponent);

constexpr std::array kGroupFields{
    whole("workers", 1, 256),         list("cpus", kCpu),
    choice("affinity", kAffinities),  choice("policy", std::span(kPolicies).first<3>()),
    whole("priority", 0, 99),         whole("nice", -20, 19),
    number("spin_us", kMicroseconds),
};
constexpr Shape kGroup{"group", kGroupFields};
constexpr Field kGroupObject = object("", kGroup);

constexpr std::array kRestartFields{
    choice("when", kRestartWhen),
    whole("limit", 0, 1'000'000),
    number("window_s", kSeconds),
    number("backoff_ms", kMilliseconds),
    number("backoff_max_ms", kMilliseconds),
};
constexpr Shape kRestart{"restart", kRestartFields};

constexpr std::array kBridgeFields{
    required(choice("kind", kBridgeKinds)),
    text("file", Format::Filled),
};
constexpr Shape kBridge{"bridge", kBridgeFields};

// States that an event may begin with: nothing leads back to the start, and at the end the recorder ends too.
constexpr Field kRecordedState = choice("", std::span(kStates).subspan<1, 3>());
constexpr std::array kRecordTriggerFields{
    one_or_more("state", kRecordedState),
    one_or_more("silent", kTopicName),
    number("for_ms", kMilliseconds),
    one_or_more("message", kTopicName),
};
constexpr Shape kRecordTrigger{"record trigger", kRecordTriggerFields};

constexpr Field kPattern = text("", Format::Filled);
constexpr std::array kRecordFields{
    one_or_more("topics", kPattern),      one_or_more("exclude", kPattern), required(text("output", Format::Filled)),
    choice("compression", kCompressions), number("last_s", kSeconds),       number("after_s", kSeconds),
    object("on", kRecordTrigger),
};
constexpr Shape kRecord{"record", kRecordFields};

constexpr std::array kProcessFields{
    map("components", Format::Name, kComponentObject),
    object("bridge", kBridge),
    object("record", kRecord),
    words("command", kAnyText),
    map("groups", Format::Name, kGroupObject),
    map("environment", Format::Variable, kAnyText),
    whole("memory_mib", 0, kMebibytes),
    object("restart", kRestart),
    kWhen,
};
constexpr Shape kProcess{"process", kProcessFields};
constexpr Field kProcessObject = object("", kProcess);

constexpr std::array kTopicFields{
    whole("depth", 1, layout::kMaxDepth),
    flag("reliable"),
    number("deadline_ms", kMilliseconds),
    flag("private"),
    whole("writers", 1, 1000),
    whole("max_bytes", 0, layout::kMaxPayload),
    choice("waiting", kWaitings),
    number("spin_us", kMicroseconds),
};
constexpr Shape kTopic{"topic", kTopicFields};
constexpr Field kTopicObject = object("", kTopic);

constexpr std::array kNeedsFields{
    whole("cpus", 0, kMaxCpu + 1),
    whole("memory_mib", 0, kMebibytes),
    flag("realtime"),
};
constexpr Shape kNeeds{"needs", kNeedsFields};

constexpr std::array kConditionFields{
    one_or_more("down", kName),
    one_or_more("up", kName),
    one_or_more("silent", kTopicName),
    one_or_more("given_up", kName),
    one_or_more("publishing", kTopicName),
    number("for_ms", kMilliseconds),
};
constexpr Shape kCondition{"condition", kConditionFields};

// Nothing leads back to the start, and nothing leads on from the end.
constexpr Field kFrom = choice("", std::span(kStates).first<4>());
constexpr std::array kTransitionFields{
    one_or_more("from", kFrom),
    required(object("when", kCondition)),
    required(choice("to", std::span(kStates).last<4>())),
};
constexpr Shape kTransition{"transition", kTransitionFields};
constexpr Field kTransitionObject = object("", kTransition);

constexpr std::array kStatesFields{
    list("transitions", kTransitionObject),
};
constexpr Shape kStatesShape{"states", kStatesFields};

constexpr std::array kIncludeFields{
    required(text("file", Format::Filled)),
    text("namespace", Format::Name),
    kVariables,
    map("topics", Format::Topic, kTopicName),
    kWhen,
};
constexpr Shape kInclude{"include", kIncludeFields};
constexpr Field kIncludeObject = object("", kInclude);
constexpr Field kIncludes = list("include", kIncludeObject);

constexpr std::array kFileFields{
    text("$schema", Format::Any),
    text("name", Format::Name),
    text("domain", Format::Domain),
    flag("realtime"),
    kVariables,
    kIncludes,
    required(map("processes", Format::Name, kProcessObject)),
    map("topics", Format::Topic, kTopicObject),
    object("needs", kNeeds),
    object("states", kStatesShape),
};

bool is_plain(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
}

template <class Predicate>
bool all(std::string_view text, Predicate predicate) noexcept {
  for (const char c : text)
    if (!predicate(c)) return false;
  return true;
}

}  // namespace

constexpr Shape kFile{"file", kFileFields};
constexpr Field kVariablesField = kVariables;
constexpr Field kIncludeField = kIncludes;
constexpr Field kWhenField = kWhen;
constexpr Field kInstancesField = kInstances;

bool fits(Format format, std::string_view text) noexcept {
  const auto unsigned_of = [](char c) { return static_cast<unsigned char>(c); };
  switch (format) {
    case Format::Any:
      return text.find('\0') == std::string_view::npos;
    case Format::Filled:
      return !text.empty() && all(text, [&](char c) { return unsigned_of(c) >= ' ' && c != 0x7f; });
    case Format::Name:
      return !text.empty() && text.size() <= 64 && text.front() != '.' && text.front() != '-' &&
             all(text, [](char c) { return is_plain(c) || c == '.'; });
    case Format::Domain:
      return !text.empty() && text.size() <= 48 && all(text, is_plain);
    case Format::Topic:
      return text.size() >= 2 && text.size() <= 255 && text.front() == '/' &&
             all(text, [&](char c) { return unsigned_of(c) > ' ' && c != 0x7f; });
    case Format::Variable:
      return !text.empty() && all(text, [&](char c) { return unsigned_of(c) > ' ' && c != '=' && c != 0x7f; });
    case Format::Identifier:
      return !text.empty() && text.size() <= 64 && (text.front() < '0' || text.front() > '9') &&
             all(text, [](char c) { return is_plain(c) && c != '-'; });
    case Format::PythonClass: {
      const std::size_t colon = text.find(':');
      if (colon == std::string_view::npos || !fits(Format::Identifier, text.substr(colon + 1))) return false;
      for (std::string_view module = text.substr(0, colon);;) {
        const std::size_t dot = module.find('.');
        if (!fits(Format::Identifier, module.substr(0, dot))) return false;
        if (dot == std::string_view::npos) return true;
        module.remove_prefix(dot + 1);
      }
    }
  }
  return false;
}

std::string_view noun(Format format) noexcept {
  switch (format) {
    case Format::Any:
    case Format::Filled:
      return "text";
    case Format::Name:
      return "name";
    case Format::Domain:
      return "name of a domain";
    case Format::Topic:
      return "name of a topic";
    case Format::Variable:
      return "name of an environment variable";
    case Format::Identifier:
      return "name of a variable";
    case Format::PythonClass:
      return "module and class of Python";
  }
  return {};
}

std::string_view remedy(Format format) noexcept {
  switch (format) {
    case Format::Any:
      return "leave out the NUL";
    case Format::Filled:
      return "write at least one character, and no control characters";
    case Format::Name:
      return "use up to 64 letters, digits, '_', '-' and '.', but not '-' or '.' first";
    case Format::Domain:
      return "use up to 48 letters, digits, '-' and '_'";
    case Format::Topic:
      return "start with '/', as in /camera/front, and use up to 255 characters without spaces";
    case Format::Variable:
      return "use letters, digits and '_'";
    case Format::Identifier:
      return "use up to 64 letters, digits and '_', but no digit first";
    case Format::PythonClass:
      return "write \"module:Class\", as \"my_package.detector:Detector\"";
  }
  return {};
}

std::string_view pattern(Format format) noexcept {
  switch (format) {
    case Format::Any:
      return "";
    case Format::Filled:
      return "^[^\\u0000-\\u001f\\u007f]+$";
    case Format::Name:
      return "^[A-Za-z0-9_][A-Za-z0-9_.-]{0,63}$";
    case Format::Domain:
      return "^[A-Za-z0-9_-]{1,48}$";
    case Format::Topic:
      return "^/[^\\u0000-\\u0020\\u007f]{1,254}$";
    case Format::Variable:
      return "^[^\\u0000-\\u0020\\u007f=]+$";
    case Format::Identifier:
      return "^[A-Za-z_][A-Za-z0-9_]{0,63}$";
    case Format::PythonClass:
      return "^[A-Za-z_][A-Za-z0-9_]{0,63}(\\.[A-Za-z_][A-Za-z0-9_]{0,63})*:[A-Za-z_][A-Za-z0-9_]{0,63}$";
  }
  return {};
}

}  // namespace cardan::config
