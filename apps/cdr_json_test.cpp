// SPDX-License-Identifier: Apache-2.0
#include "apps/cdr_json.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

namespace {

using cardan::RosSchema;
using cardan::apps::cdr_json;

std::string shown(const RosSchema& schema, const std::string& cdr) {
  const auto json = cdr_json(schema, std::as_bytes(std::span(cdr)), 8);
  return json ? json->dump() : "nothing";
}

TEST(CdrJson, WideTextsOfEveryFormThatRosHas) {
  const RosSchema schema("a/msg/A", "wstring text\nuint8 last\n");
  using namespace std::string_literals;
  EXPECT_EQ(shown(schema, "\0\1\0\0\2\0\0\0H\0\0\0i\0\0\0\7"s), R"({"text":"Hi","last":7})") << "Fast DDS";
  EXPECT_EQ(shown(schema, "\0\1\0\0\2\0\0\0H\0i\0\7"s), R"({"text":"Hi","last":7})") << "letters of two bytes";
  EXPECT_EQ(shown(schema, "\0\1\0\0\4\0\0\0H\0i\0\7"s), R"({"text":"Hi","last":7})") << "newer Cyclone DDS";
  EXPECT_EQ(shown(schema, "\0\0\0\0\0\0\0\2\0\0\0H\0\0\0i\7"s), R"({"text":"Hi","last":7})") << "big-endian";
  EXPECT_EQ(shown(schema, "\0\1\0\0\0\0\0\0\7"s), R"({"text":"","last":7})");
  EXPECT_EQ(shown(schema, "\0\1\0\0\2\0\0\0H\0"s), "nothing");
}

}  // namespace
