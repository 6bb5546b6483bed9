// SPDX-License-Identifier: Apache-2.0
#include "src/system/plan/value_json.hpp"

#include <algorithm>

#include "cardan/error.hpp"

namespace cardan::plan {
namespace {

using nlohmann::json;

template <class T>
std::vector<T> list_of(const json& j) {
  std::vector<T> all;
  all.reserve(j.size());
  for (const json& element : j) all.push_back(element.get<T>());
  return all;
}

}  // namespace

json json_of(const config::Value& value) {
  return std::visit([](const auto& v) { return json(v); }, value);
}

std::optional<config::Value> value_of(const json& j) {
  if (j.is_boolean()) return j.get<bool>();
  if (j.is_number_integer()) return j.get<std::int64_t>();
  if (j.is_number()) return j.get<double>();
  if (j.is_string()) return j.get<std::string>();
  if (!j.is_array() || j.size() > config::kMostElements) return {};
  const auto all = [&](auto is) { return std::all_of(j.begin(), j.end(), is); };
  if (j.empty()) return std::vector<double>{};
  if (all([](const json& e) { return e.is_boolean(); })) return list_of<bool>(j);
  if (all([](const json& e) { return e.is_number_integer(); })) return list_of<std::int64_t>(j);
  if (all([](const json& e) { return e.is_number(); })) return list_of<double>(j);
  if (all([](const json& e) { return e.is_string(); })) return list_of<std::string>(j);
  return {};
}

std::optional<config::Value> value_in_json(std::string_view text) {
  const json j = json::parse(text, nullptr, false);
  return j.is_discarded() ? std::nullopt : value_of(j);
}

config::Value needed_value_of(const json& j) {
  if (auto value = value_of(j)) return *std::move(value);
  throw Error(ErrorCode::Incompatible, "it is not a value that a parameter can have",
              "give true, false, a number, a text, or a list of one of these");
}

}  // namespace cardan::plan
