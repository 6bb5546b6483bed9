// SPDX-License-Identifier: Apache-2.0
// The text by which a publisher or a recording describes its messages, and names of types: the layout's reader and the
// tools' one.
#include <algorithm>

#include "cardan/error.hpp"
#include "cardan/type_layout.hpp"
#include "src/messages/ros_layout.hpp"
#include "src/messages/ros_schema.hpp"
#include "tests/fuzz/fuzz.hpp"

namespace cardan::fuzz::schema_target {
namespace {

void walk(const RosMessage& message, int depth, int& left) {
  require(depth < 1000, "a schema without an end");
  for (const RosField& field : message.fields) {
    require(!field.name.empty(), "a field without a name");
    if (--left > 0 && field.type.kind == RosType::Kind::Message) walk(*field.type.message, depth + 1, left);
  }
}

/// The first line is the type's name, the rest its text.
void run(std::string_view input) {
  Input parts(input);
  const std::string name(parts.until('\n'));
  const std::string text(parts.rest());
  try {
    const RosSchema schema(name, text);
    int left = 10'000;
    walk(schema.root(), 0, left);
  } catch (const Error& e) {
    require(!e.cause().empty() && !e.remedy().empty(), "an error without words");
  }
  (void)known_layout(name);
  if (const auto layout = layout_of_definition(name, text)) {
    require(layout->alignment != 0 && layout->size % layout->alignment == 0, "a layout that is not one");
    require(layout->least_cdr != 0 && layout->least_cdr <= layout->size, "more on the wire than in memory");
    require(find_layout(name, layout->hash(), text) != nullptr, "a layout that its own hash does not find");
  }
  // Each integer of the text doubles what has to be tried; a bound in the library ends it, after a second of a real
  // one.
  std::size_t integers = 0;
  for (std::size_t at = text.find("int"); at != std::string::npos; at = text.find("int", at + 1)) ++integers;
  if (integers <= 6) require(find_layout(name, 1, text) == nullptr, "a layout with a hash that cannot be");
  if (const auto layout = detail::layout_of_schema(name, text)) {
    (void)layout->hash();
    require(layout->alignment != 0 && layout->size % layout->alignment == 0, "a layout that is not one");
  }
}

std::vector<std::string> seeds() {
  const std::string line(80, '=');
  return {
      "x_msgs/msg/A\nint32 a\nfloat64[4] b\nstring c\nuint8[] d\nstring<=8 e\nx_msgs/B[<=3] f\n" + line +
          "\nMSG: x_msgs/B\nbool g\nint8[2] h\n",
      "x_msgs/msg/A\nx_msgs/A a\n" + line + "\nMSG: x_msgs/A\nx_msgs/A b\n",
      "x_msgs/msg/A\nstd_msgs/Header header\nuint16 width\nuint8[] data\n",
      "x_msgs/msg/A\n# a comment\nint32 X=3\nstring NAME=abc\nint32 x 5\nwstring w\n",
  };
}

}  // namespace
CARDAN_FUZZ_TARGET(schema, run, seeds)
}  // namespace cardan::fuzz::schema_target
