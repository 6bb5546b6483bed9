// SPDX-License-Identifier: Apache-2.0
// A definition in Protobuf and a message, both of a recording or of another process. Must hold: they are refused in
// words, or give fields within the limits that can be shown in each way.
#include <google/protobuf/descriptor.pb.h>
#include <google/protobuf/text_format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <span>

#include "apps/bag/export/flatten.hpp"
#include "apps/decode.hpp"
#include "apps/protobuf/protobuf.hpp"
#include "tests/fuzz/fuzz.hpp"

namespace cardan::fuzz::protobuf_target {
namespace {

constexpr std::size_t kLongestList = 8;

std::span<const std::byte> bytes_of(std::string_view text) { return std::as_bytes(std::span(text)); }

/// No list is longer than it may be; gives back how deep the value is.
int depth_of(const nlohmann::ordered_json& value) {
  require(!value.is_array() || value.size() <= kLongestList, "a list that is too long");
  int deepest = 0;
  if (value.is_structured())
    for (const auto& one : value) deepest = std::max(deepest, depth_of(one));
  return deepest + 1;
}

/// The first line is the type's name; the next two bytes are the size of the definition; after it comes the message.
void run(std::string_view input) {
  Input parts(input);
  const std::string name(parts.until('\n'));
  const auto size = static_cast<std::size_t>(parts.number(2));
  const std::string definition(parts.rest().substr(0, size)), data(parts.rest().substr(definition.size()));
  std::string why;
  const auto type = cardan_protobuf_library()->type(name, bytes_of(definition), why);
  require((type == nullptr) == !why.empty(), "a definition that is refused without words");
  if (type == nullptr) return;
  const auto message = type->read(bytes_of(data), kLongestList, why);
  require(message.has_value() == why.empty(), "a message that is refused without words");
  if (!message) return;
  require(message->is_object() && depth_of(*message) <= 4 * apps::kMostProtobufDepth, "deeper than it may be");
  require(apps::one_line(*message) == apps::one_line(type->read(bytes_of(data), kLongestList, why).value()),
          "another message the second time");
  const std::string text = apps::readable(*message);
  require(std::none_of(text.begin(), text.end(), [](char c) { return c == '\x1b' || c == '\a'; }),
          "an order for a terminal");
  apps::JsonColumns columns(kLongestList, apps::JsonColumns::From::Decoder);
  columns.see(*message);
  std::vector<std::string> cells;
  if (columns.cells(*message, cells)) require(cells.size() == columns.names().size(), "a row of another length");
}

std::string seed(const std::string& name, const std::string& set, const std::string& data) {
  return name + '\n' + static_cast<char>(set.size() & 0xffU) + static_cast<char>(set.size() >> 8U) + set + data;
}

std::vector<std::string> seeds() {
  namespace pb = google::protobuf;
  pb::FileDescriptorSet set;
  const std::string text = R"(
    file { name: "b" package: "p" syntax: "proto3" enum_type { name: "E" value { name: "O" number: 0 } }
      message_type { name: "B" field { name: "e" number: 1 type: TYPE_ENUM label: LABEL_OPTIONAL type_name: ".p.E" }
                     field { name: "d" number: 2 type: TYPE_DOUBLE label: LABEL_REPEATED } } }
    file { name: "a" package: "p" dependency: "b"
      message_type { name: "A" oneof_decl { name: "o" }
        nested_type { name: "G" field { name: "x" number: 1 type: TYPE_SINT32 label: LABEL_OPTIONAL } }
        field { name: "g" number: 1 type: TYPE_GROUP label: LABEL_REPEATED type_name: ".p.A.G" }
        field { name: "b" number: 2 type: TYPE_MESSAGE label: LABEL_OPTIONAL type_name: "B" oneof_index: 0 }
        field { name: "s" number: 3 type: TYPE_STRING label: LABEL_OPTIONAL oneof_index: 0 }
        field { name: "d" number: 4 type: TYPE_BYTES label: LABEL_REPEATED }
        field { name: "f" number: 5 type: TYPE_FLOAT label: LABEL_OPTIONAL }
        field { name: "a" number: 6 type: TYPE_MESSAGE label: LABEL_REPEATED type_name: ".p.A" } } })";
  require(pb::TextFormat::ParseFromString(text, &set), "a seed that is not one");
  const std::string own = set.SerializeAsString();
  const std::string inner = std::string("\x0b\x08\x05\x0c\x12\x02\x08\x00\x1a\x01x", 11);
  pb::FileDescriptorSet google;
  pb::FileDescriptorProto::descriptor()->file()->CopyTo(google.add_file());
  const std::string itself = google.SerializeAsString();
  return {seed("p.A", own, inner + "\x22\x02zz\x32" + static_cast<char>(inner.size()) + inner),
          seed("p.B", own, std::string("\x08\x07\x12\x08\0\0\0\0\0\0\xf0\x3f\x11\0\0\0\0\0\0\xf0\x3f", 21)),
          seed("google.protobuf.FileDescriptorSet", itself, own)};
}

}  // namespace
CARDAN_FUZZ_TARGET(protobuf, run, seeds)
}  // namespace cardan::fuzz::protobuf_target
