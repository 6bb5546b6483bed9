// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <string_view>

#include "cardan/message.hpp"

namespace cardan::detail {

MessageType make_message_type(std::string_view name, std::string_view schema, std::uint64_t hash, std::size_t bytes,
                              std::size_t alignment, bool has_arena) {
  return {std::string(name), std::string(schema), hash, bytes, alignment, has_arena, sizeof(shm::Arena)};
}

namespace {

std::string line_between() { return std::string(80, '=') + "\nMSG: "; }

}  // namespace

std::string short_ros_name(std::string_view name) {
  const std::size_t slash = name.find('/');
  return std::string(name.substr(0, slash)) + std::string(name.substr(name.rfind('/')));
}

std::string SchemaWriter::text() const {
  const std::string between = line_between();
  std::string out;
  for (const auto& [name, body] : parts_) {
    if (!out.empty()) out += between + name + "\n";
    out += body;
    if (!body.empty() && !body.ends_with('\n')) out += '\n';
  }
  return out;
}

bool SchemaWriter::has(std::string_view name) const {
  for (const auto& part : parts_)
    if (part.first == name) return true;
  return false;
}

void SchemaWriter::add_definition(const RosDefinition& definition) {
  if (!has(definition.name)) parts_.emplace_back(definition.name, definition.body);
}

void SchemaWriter::add_schema(std::string_view name, std::string_view schema) {
  for (const std::string between = line_between();;) {
    const std::size_t end = std::min(schema.find(between), schema.size());
    add_definition({name, schema.substr(0, end)});
    if (end == schema.size()) return;
    schema.remove_prefix(end + between.size());
    const std::size_t line = std::min(schema.find('\n'), schema.size());
    name = schema.substr(0, line);
    schema.remove_prefix(std::min(line + 1, schema.size()));
  }
}

void SchemaWriter::add_field(std::string& body, const std::string& type, std::string_view name) {
  body += type;
  body += ' ';
  body += name;
  body += '\n';
}

}  // namespace cardan::detail
