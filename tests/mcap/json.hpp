// SPDX-License-Identifier: Apache-2.0
// Records in the JSON of MCAP's public conformance suite: numbers as strings, bytes as lists of them, fields sorted by
// name.
#pragma once

#include <concepts>
#include <nlohmann/json.hpp>

#include "cardan/mcap/records.hpp"

namespace cardan::mcap::test {

using Json = nlohmann::json;

inline Json value_of(std::integral auto number) { return std::to_string(number); }
inline Json value_of(const std::string& text) { return text; }
inline Json value_of(View bytes) {
  Json all = Json::array();
  for (const std::byte b : bytes) all.push_back(std::to_string(static_cast<unsigned>(b)));
  return all;
}
inline Json value_of(const Bytes& bytes) { return value_of(View(bytes)); }
inline Json value_of(const std::map<std::string, std::string>& map) { return map; }
inline Json value_of(const std::map<std::uint16_t, std::uint64_t>& map) {
  Json all = Json::object();
  for (const auto& [key, value] : map) all[std::to_string(key)] = std::to_string(value);
  return all;
}

template <class Record>
Json to_json(const Record& record) {
  std::map<std::string, Json> fields;
  Record::fields(record, [&](const char* name, const auto& field) { fields[name] = value_of(field); });
  Json list = Json::array();
  for (const auto& [name, value] : fields) list.push_back(Json::array({name, value}));
  return {{"type", name_of(Record::kOpcode)}, {"fields", list}};
}

/// The fields of a record from its JSON; bytes are put into `data`, which its views point into.
template <class Record>
Record from_json(const Json& json, Bytes& data) {
  std::map<std::string, Json> fields;
  for (const Json& field : json.at("fields")) fields[field.at(0)] = field.at(1);
  const auto bytes = [](const Json& list) {
    Bytes all;
    for (const Json& b : list) all.push_back(static_cast<std::byte>(std::stoul(b.get<std::string>())));
    return all;
  };
  Record record;
  Record::fields(record, [&]<class T>(const char* name, T& field) {
    const Json& value = fields.at(name);
    if constexpr (std::is_integral_v<T>) {
      field = static_cast<T>(std::stoull(value.get<std::string>()));
    } else if constexpr (std::is_same_v<T, Bytes>) {
      field = bytes(value);
    } else if constexpr (std::is_base_of_v<View, T>) {
      data = bytes(value);
      field = View(data);
    } else {
      field = value.get<T>();
    }
  });
  return record;
}

}  // namespace cardan::mcap::test
