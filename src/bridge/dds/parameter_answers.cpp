// SPDX-License-Identifier: Apache-2.0
#include "src/bridge/dds/parameter_answers.hpp"

#include <algorithm>
#include <limits>
#include <set>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>

#include "cardan/cdr_reader.hpp"
#include "cardan/cdr_writer.hpp"

namespace cardan::bridge::dds {
namespace {

constexpr std::size_t kMostNames = 4096;

/// rcl_interfaces/msg/ParameterType
enum RosType : std::uint8_t {
  NotSet,
  Bool,
  Integer,
  Double,
  String,
  ByteArray,
  BoolArray,
  IntegerArray,
  DoubleArray,
  StringArray
};

std::uint8_t type_in_ros(const config::Value& value) {
  return static_cast<std::uint8_t>(value.index() + (config::is_list(value) ? 2 : 1));
}
static_assert(std::is_same_v<std::variant_alternative_t<Bool - 1, config::Value>, bool> &&
              std::is_same_v<std::variant_alternative_t<Integer - 1, config::Value>, std::int64_t> &&
              std::is_same_v<std::variant_alternative_t<Double - 1, config::Value>, double> &&
              std::is_same_v<std::variant_alternative_t<String - 1, config::Value>, std::string> &&
              std::is_same_v<std::variant_alternative_t<BoolArray - 2, config::Value>, std::vector<bool>> &&
              std::is_same_v<std::variant_alternative_t<IntegerArray - 2, config::Value>, std::vector<std::int64_t>> &&
              std::is_same_v<std::variant_alternative_t<DoubleArray - 2, config::Value>, std::vector<double>> &&
              std::is_same_v<std::variant_alternative_t<StringArray - 2, config::Value>, std::vector<std::string>>);

const RosParameter* named(const std::vector<RosParameter>& all, const std::string& name) {
  const auto found = std::find_if(all.begin(), all.end(), [&](const RosParameter& p) { return p.name == name; });
  return found == all.end() ? nullptr : &*found;
}

// ---------------------------------------------------------------- requests
bool read(CdrReader& in, std::string& text) {
  std::string_view letters;
  if (!in.string(letters)) return false;
  text = letters;
  return true;
}

bool read(CdrReader& in, std::vector<std::string>& names) {
  std::size_t count = 0;
  if (!in.count(count, 4) || count > kMostNames) return false;
  names.resize(count);
  return std::all_of(names.begin(), names.end(), [&](std::string& name) { return read(in, name); });
}

template <class Number>
bool read(CdrReader& in, std::vector<Number>& numbers) {
  std::size_t count = 0;
  if (!in.count(count, sizeof(Number))) return false;
  numbers.resize(count);
  return in.numbers(numbers.data(), count);
}

/// A value of rcl_interfaces/msg/ParameterValue. Empty: of a type that no component has.
struct Wish {
  std::string name{};
  std::optional<config::Value> value{};
  bool deletes = false;
};

bool read(CdrReader& in, Wish& wish) {
  std::uint8_t type = 0;
  bool yes = false;
  std::int64_t whole = 0;
  double number = 0;
  std::string text;
  std::vector<std::string> texts;
  std::vector<std::uint8_t> bytes, truths;
  std::vector<std::int64_t> wholes;
  std::vector<double> numbers;
  if (!read(in, wish.name) || !in.number(type) || !in.boolean(yes) || !in.number(whole) || !in.number(number) ||
      !read(in, text) || !read(in, bytes) || !read(in, truths) || !read(in, wholes) || !read(in, numbers) ||
      !read(in, texts))
    return false;
  wish.deletes = type == NotSet;
  if (type == Bool) wish.value = yes;
  if (type == Integer) wish.value = whole;
  if (type == Double) wish.value = number;
  if (type == String) wish.value = std::move(text);
  if (type == BoolArray) {
    std::vector<bool> list;
    for (const std::uint8_t truth : truths) list.push_back(truth != 0);
    wish.value = std::move(list);
  }
  if (type == IntegerArray) wish.value = std::move(wholes);
  if (type == DoubleArray) wish.value = std::move(numbers);
  if (type == StringArray) wish.value = std::move(texts);
  return true;
}

bool read(CdrReader& in, std::vector<Wish>& wishes) {
  constexpr std::size_t kLeastBytes = 40;
  std::size_t count = 0;
  if (!in.count(count, kLeastBytes) || count > kMostNames) return false;
  wishes.resize(count);
  return std::all_of(wishes.begin(), wishes.end(), [&](Wish& wish) { return read(in, wish); });
}

// ---------------------------------------------------------------- replies
void write_value(CdrWriter& out, const config::Value* value) {
  const auto get = [&]<class T>(const T& otherwise) {
    const T* const is = value == nullptr ? nullptr : std::get_if<T>(value);
    return is == nullptr ? otherwise : *is;
  };
  out.number(value == nullptr ? std::uint8_t{NotSet} : type_in_ros(*value));
  out.boolean(get(false));
  out.number(get(std::int64_t{0}));
  out.number(get(0.0));
  out.string(get(std::string()));
  out.count(0);  // bytes
  const auto truths = get(std::vector<bool>());
  out.count(truths.size());
  for (const bool truth : truths) out.boolean(truth);
  const auto list = [&](const auto& numbers) {
    out.count(numbers.size());
    out.numbers(numbers.data(), numbers.size());
  };
  list(get(std::vector<std::int64_t>()));
  list(get(std::vector<double>()));
  const auto texts = get(std::vector<std::string>());
  out.count(texts.size());
  for (const std::string& text : texts) out.string(text);
}

double as_double(const config::Value& value) {
  const auto* const whole = std::get_if<std::int64_t>(&value);
  return whole != nullptr ? static_cast<double>(*whole) : std::get<double>(value);
}

template <class T>
bool holds(const config::Value& value) {
  return std::holds_alternative<T>(value) || std::holds_alternative<std::vector<T>>(value);
}

void write_descriptor(CdrWriter& out, const std::string& name, const RosParameter* parameter) {
  constexpr std::int64_t kStep = 0;
  out.string(name);
  out.number(parameter == nullptr ? std::uint8_t{NotSet} : type_in_ros(parameter->value));
  out.string(parameter == nullptr ? "" : parameter->description);
  out.string("");  // additional constraints
  out.boolean(parameter != nullptr && parameter->read_only);
  out.boolean(false);  // dynamic typing
  const bool ranged = parameter != nullptr && (parameter->min || parameter->max);
  const bool real = ranged && holds<double>(parameter->value);
  const bool whole = ranged && holds<std::int64_t>(parameter->value);
  const auto limit = [](const std::optional<config::Value>& given, auto otherwise) {
    using Number = decltype(otherwise);
    if (!given) return otherwise;
    if constexpr (std::is_same_v<Number, double>) return as_double(*given);
    const auto* const is = std::get_if<Number>(&*given);
    return is == nullptr ? otherwise : *is;
  };
  out.count(real ? 1 : 0);
  if (real) {
    out.number(limit(parameter->min, std::numeric_limits<double>::lowest()));
    out.number(limit(parameter->max, std::numeric_limits<double>::max()));
    out.number(double{kStep});
  }
  out.count(whole ? 1 : 0);
  if (whole) {
    out.number(limit(parameter->min, std::numeric_limits<std::int64_t>::min()));
    out.number(limit(parameter->max, std::numeric_limits<std::int64_t>::max()));
    out.number(kStep);
  }
}

void write_result(CdrWriter& out, const std::string& refusal) {
  out.boolean(refusal.empty());
  out.string(refusal);
}

/// Selects names as rclcpp does: all, or those below a prefix. A depth keeps the names with fewer dots than that after
/// the prefix.
bool is_listed(const std::string& name, const std::vector<std::string>& prefixes, std::uint64_t depth) {
  const auto shallow = [&](std::string_view rest) {
    return depth == 0 || static_cast<std::uint64_t>(std::count(rest.begin(), rest.end(), '.')) < depth;
  };
  if (prefixes.empty()) return shallow(name);
  return std::any_of(prefixes.begin(), prefixes.end(), [&](const std::string& prefix) {
    if (!name.starts_with(prefix)) return false;
    const std::string_view rest = std::string_view(name).substr(prefix.size());
    return rest.empty() || (rest.front() == '.' && shallow(rest.substr(1)));
  });
}

void write_list(CdrWriter& out, const std::vector<RosParameter>& all, const std::vector<std::string>& prefixes,
                std::uint64_t depth) {
  std::vector<std::string> names;
  std::set<std::string> above;
  for (const RosParameter& p : all) {
    if (!is_listed(p.name, prefixes, depth)) continue;
    names.push_back(p.name);
    if (const auto dot = p.name.rfind('.'); dot != std::string::npos) above.insert(p.name.substr(0, dot));
  }
  out.count(names.size());
  for (const std::string& name : names) out.string(name);
  out.count(above.size());
  for (const std::string& name : above) out.string(name);
}

std::string set_one(const Wish& wish, ParameterTable& table) {
  if (wish.deletes) return "a component's parameter cannot be deleted";
  if (!wish.value)
    return "components have no parameters of this type: it must be bool, integer, double, string, or an array of these";
  return table.set(wish.name, *wish.value);
}

bool answer_names(ParameterService service, CdrReader& in, CdrWriter& out, ParameterTable& table,
                  const std::vector<std::byte>& reply) {
  std::vector<std::string> names;
  if (!read(in, names) || !in.finish()) return false;
  const std::vector<RosParameter> all = table.all();
  out.count(names.size());
  for (const std::string& name : names) {
    if (reply.size() > kMostReplyBytes) return false;
    const RosParameter* const parameter = named(all, name);
    if (service == ParameterService::Describe)
      write_descriptor(out, name, parameter);
    else if (service == ParameterService::Get)
      write_value(out, parameter == nullptr ? nullptr : &parameter->value);
    else
      out.number(parameter == nullptr ? std::uint8_t{NotSet} : type_in_ros(parameter->value));
  }
  return true;
}

bool answer_list(CdrReader& in, CdrWriter& out, ParameterTable& table) {
  std::vector<std::string> prefixes;
  std::uint64_t depth = 0;
  if (!read(in, prefixes) || !in.number(depth) || !in.finish()) return false;
  write_list(out, table.all(), prefixes, depth);
  return true;
}

bool answer_set(ParameterService service, CdrReader& in, CdrWriter& out, ParameterTable& table,
                std::chrono::nanoseconds most_time) {
  std::vector<Wish> wishes;
  if (!read(in, wishes) || !in.finish()) return false;
  if (service == ParameterService::SetAtomically) {
    std::string refusal = "several parameters cannot be set at once: use set_parameters";
    if (wishes.size() == 1) refusal = set_one(wishes.front(), table);
    write_result(out, wishes.empty() ? "" : refusal);
    return true;
  }
  out.count(wishes.size());
  const auto end = std::chrono::steady_clock::now() + most_time;
  for (const Wish& wish : wishes)
    write_result(out, std::chrono::steady_clock::now() < end
                          ? set_one(wish, table)
                          : "the components took too long for those before: set it in another request");
  return true;
}

}  // namespace

std::optional<std::vector<std::byte>> parameter_answer(ParameterService service, std::span<const std::byte> request,
                                                       ParameterTable& table, std::chrono::nanoseconds most_set_time) {
  CdrReader in(request);
  RequestId id;
  if (request.size() > kMostRequestBytes || !in.number(id.client) || !in.number(id.sequence)) return std::nullopt;
  std::vector<std::byte> reply;
  std::vector<std::byte> unused;
  CdrWriter out(reply, unused, nullptr);
  out.number(id.client);
  out.number(id.sequence);
  bool good = false;
  switch (service) {
    case ParameterService::Describe:
    case ParameterService::Get:
    case ParameterService::Types:
      good = answer_names(service, in, out, table, reply);
      break;
    case ParameterService::List:
      good = answer_list(in, out, table);
      break;
    case ParameterService::Set:
    case ParameterService::SetAtomically:
      good = answer_set(service, in, out, table, most_set_time);
      break;
  }
  if (!good) return std::nullopt;
  return reply;
}

}  // namespace cardan::bridge::dds
