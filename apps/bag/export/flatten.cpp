// SPDX-License-Identifier: Apache-2.0
#include "apps/bag/export/flatten.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "apps/cdr_json.hpp"
#include "apps/decode.hpp"
#include "cardan/error.hpp"
#include "src/base/text_of_json.hpp"

namespace cardan::apps {
namespace {

using Json = nlohmann::ordered_json;
using Kind = RosType::Kind;
using Many = RosType::Many;

/// The shortest digits that give the same number again.
template <class Float>
std::string digits(Float value) {
  return std::isnan(value) ? "nan" : fmt::format("{}", value);
}

std::string scalar(const Json& value, Kind kind = Kind::Float64) {
  if (value.is_string()) return value.get_ref<const std::string&>();
  if (value.is_null()) return {};
  if (!value.is_number_float()) return value.dump();  // a whole number or a bool
  return kind == Kind::Float32 ? digits(value.get<float>()) : digits(value.get<double>());
}

/// A list's two cells.
template <class Leaf>
void list_cells(const Json& list, std::size_t longest, Leaf&& leaf) {
  // A list that is too long for the decoder is {"count": n, "first": […]}.
  const std::size_t count = list.is_array() ? list.size() : list.at("count").get<std::size_t>();
  const bool whole = list.is_array() && count <= longest;
  leaf(std::to_string(count), whole ? text_of_json(list) : std::string(), whole);
}

}  // namespace

std::size_t ColumnNames::add(std::string name) {
  while (!taken_.insert(name).second) name += '_';
  names_.push_back(std::move(name));
  return names_.size() - 1;
}

RosColumns::RosColumns(const RosSchema& schema, std::size_t longest_list)
    : schema_(schema), longest_list_(longest_list) {
  add_fields({}, schema.root());
}

void RosColumns::add_fields(const std::string& prefix, const RosMessage& message) {
  std::set<std::string> once;
  for (const RosField& field : message.fields) {
    if (!once.insert(field.name).second)
      throw Error(ErrorCode::InvalidArgument, message.name + " has two fields '" + field.name + "'",
                  "look at the schema; it should be as ROS 2 writes it");
    add(prefix + field.name, field.type);
  }
}

void RosColumns::add(const std::string& name, const RosType& type) {
  // Visits too: arrays of arrays of nothing have no columns.
  if (++visits_ > 4 * kMostColumns || names_.all().size() >= kMostColumns)
    throw Error(ErrorCode::Limit, fmt::format("its table would have more than {} columns", kMostColumns),
                "cardan bag cat shows its messages");
  if (type.many == Many::List || (type.many == Many::Fixed && type.count > kMostArrayColumns)) {
    names_.add(name + ".count");
    names_.add(name);
  } else if (type.many == Many::Fixed) {
    RosType one = type;
    one.many = Many::One;
    for (std::size_t i = 0; i < type.count; ++i) add(fmt::format("{}_{}", name, i), one);
  } else if (type.kind == Kind::Message) {
    add_fields(name + ".", *type.message);
  } else {
    names_.add(name);
  }
}

bool RosColumns::cells(std::span<const std::byte> cdr, std::vector<std::string>& out) {
  const auto message = cdr_json(schema_, cdr, std::max(longest_list_, kMostArrayColumns));
  if (!message) return false;
  out.clear();
  put_fields(*message, schema_.root(), out);
  return true;
}

void RosColumns::put_fields(const Json& value, const RosMessage& message, std::vector<std::string>& out) {
  auto field_value = value.begin();  // an ordered object, filled in the order of the fields
  for (const RosField& field : message.fields) put(*field_value++, field.type, out);
}

void RosColumns::put(const Json& value, const RosType& type, std::vector<std::string>& out) {
  if (type.many == Many::List || (type.many == Many::Fixed && type.count > kMostArrayColumns)) {
    list_cells(value, longest_list_, [&](std::string count, std::string elements, bool whole) {
      if (!whole) long_lists_.insert(names()[out.size() + 1]);
      out.push_back(std::move(count));
      out.push_back(std::move(elements));
    });
  } else if (type.many == Many::Fixed) {
    RosType one = type;
    one.many = Many::One;
    for (const Json& element : value) put(element, one, out);
  } else if (type.kind == Kind::Message) {
    put_fields(value, *type.message, out);
  } else {
    out.push_back(scalar(value, type.kind));
  }
}

bool JsonColumns::is_list(const Json& value) const {
  return value.is_array() || (from_ == From::Decoder && is_cut_list(value, longest_list_));
}

template <class Leaf>
void JsonColumns::leaves(const std::string& name, const Json& value, Leaf&& leaf) const {
  if (from_ == From::Decoder && value.is_null()) return;
  if (!value.is_object() || is_list(value)) return leaf(name.empty() ? "value" : name, value);
  for (const auto& [key, child] : value.items()) {
    std::string column = name;
    if (!name.empty()) column += '.';
    for (const char c : key) {
      if (c == '.') column += '\\';  // a dot within a key does not separate keys
      column += c;
    }
    leaves(column, child, leaf);
  }
}

void JsonColumns::see(const Json& message) {
  std::vector<std::string> fresh;
  const auto add = [&](std::string where) {
    if (!columns_.contains(where)) fresh.push_back(std::move(where));
  };
  leaves({}, message, [&](const std::string& name, const Json& value) {
    if (is_list(value)) add(name + ".count");
    add(name);
  });
  if (names().size() + fresh.size() > kMostColumns) return;  // this message alone is left out
  for (const std::string& where : fresh)
    if (const auto [at, is_new] = columns_.try_emplace(where); is_new) at->second = names_.add(where);
}

bool JsonColumns::cells(const Json& message, std::vector<std::string>& out) {
  out.assign(names().size(), {});
  bool known = true;
  const auto put = [&](const std::string& where, std::string cell) {
    const auto column = columns_.find(where);
    if (column == columns_.end())
      known = false;
    else
      out[column->second] = std::move(cell);
  };
  leaves({}, message, [&](const std::string& name, const Json& value) {
    if (!is_list(value)) return put(name, scalar(value));
    list_cells(value, longest_list_, [&](std::string count, std::string elements, bool whole) {
      if (!whole) long_lists_.insert(name);
      put(name + ".count", std::move(count));
      put(name, std::move(elements));
    });
  });
  return known;
}

}  // namespace cardan::apps
