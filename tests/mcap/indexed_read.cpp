// SPDX-License-Identifier: Apache-2.0
// mcap_conformance_indexed_read FILE.mcap: what its index leads to, messages by log time, as the JSON of MCAP's
// conformance suite.
#include <cstdio>
#include <iostream>

#include "cardan/mcap/reader.hpp"
#include "tests/mcap/json.hpp"

using namespace cardan::mcap;

int main(int argc, char** argv) try {
  if (argc != 2) return std::fprintf(stderr, "usage: %s FILE.mcap\n", argv[0]), 2;
  const Reader reader(argv[1]);
  test::Json out{{"schemas", test::Json::array()},
                 {"channels", test::Json::array()},
                 {"messages", test::Json::array()},
                 {"statistics", test::Json::array()}};
  if (reader.scanned()) throw std::runtime_error("it has no index");
  for (const auto& [id, schema] : reader.summary().schemas()) out["schemas"].push_back(test::to_json(schema));
  for (const auto& [id, channel] : reader.summary().channels()) out["channels"].push_back(test::to_json(channel));
  Messages messages = reader.messages();
  while (const auto one = messages.next()) out["messages"].push_back(test::to_json(one->message));
  if (reader.has_statistics()) out["statistics"].push_back(test::to_json(reader.summary().statistics()));
  std::cout << out.dump() << "\n";
  for (const Problem& problem : messages.problems())
    std::fprintf(stderr, "%s: at byte %llu: %s\n", argv[1], static_cast<unsigned long long>(problem.offset),
                 problem.cause.c_str());
  return messages.problems().empty() ? 0 : 1;
} catch (const std::exception& e) {
  return std::fprintf(stderr, "%s: %s\n", argv[1], e.what()), 1;
}
