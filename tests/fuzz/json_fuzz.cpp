// SPDX-License-Identifier: Apache-2.0
// A JSON message of a recording as `bag cat` and `bag export` show it. Must hold: what is taken can be shown in each
// way.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <span>

#include "apps/bag/export/flatten.hpp"
#include "apps/decode.hpp"
#include "cardan/error.hpp"
#include "tests/fuzz/fuzz.hpp"

namespace cardan::fuzz::json_target {
namespace {

/// The first line is the name of a field.
void run(std::string_view input) {
  Input parts(input);
  const std::string name(parts.until('\n'));
  const auto message = apps::parse_json(std::as_bytes(std::span(parts.rest())));
  if (!message) return;
  const std::string line = apps::one_line(*message), text = apps::readable(*message);
  require(line.find('\n') == std::string::npos, "a line that is several");
  require(std::none_of(text.begin(), text.end(), [](char c) { return c == '\x1b' || c == '\a'; }),
          "an order for a terminal");
  try {
    (void)apps::one_line(apps::pick_fields(*message, {name}));
  } catch (const Error& e) {
    require(!e.cause().empty() && !e.remedy().empty(), "an error without words");
  }
  apps::JsonColumns columns(8);
  columns.see(*message);
  require(columns.names().size() <= apps::kMostColumns, "endless columns");
  std::vector<std::string> cells;
  if (columns.cells(*message, cells)) require(cells.size() == columns.names().size(), "a row of another length");
}

std::vector<std::string> seeds() {
  return {"a.b\n{\"a\":{\"b\":[1,2.5,-3,\"x\"],\"c\":null},\"d\":true}",
          "a\n{\"a\":{\"count\":3,\"first\":[1]},\"b\":{\"count\":\"x\",\"first\":{}},\"c\":[{\"d\":1},{\"d\":[2]}]}",
          "\n[[1,[2,{\"a\":1e300}]],\"\\u001b[2J\\ud83d\\ude00\"]",
          "x\n" + std::string(70, '[') + std::string(70, ']')};
}

}  // namespace
CARDAN_FUZZ_TARGET(json, run, seeds)
}  // namespace cardan::fuzz::json_target
