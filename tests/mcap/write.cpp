// SPDX-License-Identifier: Apache-2.0
// mcap_conformance_write FILE.json: the file that a case of MCAP's conformance suite describes, on standard output. The
// case lists what a reader would see, summary included; written are its data, with the parts that its features ask for.
#include <cstdio>
#include <fstream>
#include <iostream>
#include <set>

#include "cardan/mcap/writer.hpp"
#include "tests/mcap/json.hpp"

using namespace cardan::mcap;

namespace {

WriterOptions options_of(const std::set<std::string>& features) {
  const auto has = [&](const char* feature) { return features.contains(feature); };
  WriterOptions options{.library = "", .chunks = has("ch"), .data_crc = true, .message_index = has("mx")};
  options.summary = {.schemas = has("rsh"),
                     .channels = has("rch"),
                     .statistics = has("st"),
                     .metadata_indexes = has("mdx"),
                     .attachment_indexes = has("ax"),
                     .chunk_indexes = has("chx"),
                     .offsets = has("sum")};
  if (has("pad")) options.summary.extra = {std::byte{0x01}, std::byte{0xff}, std::byte{0xff}};
  return options;
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc != 2) return std::fprintf(stderr, "usage: %s FILE.json\n", argv[0]), 2;
  std::ifstream in(argv[1]);
  if (!in) throw std::runtime_error("it cannot be read");
  const test::Json json = test::Json::parse(in);
  const auto features = json.at("meta").at("variant").at("features").get<std::set<std::string>>();
  Bytes data;
  WriterOptions options = options_of(features);
  for (const test::Json& record : json.at("records")) {
    if (record.at("type") != "Header") continue;
    const auto header = test::from_json<Header>(record, data);
    options.profile = header.profile;
    options.library = header.library;
  }
  Writer writer([](View bytes) { std::cout.write(reinterpret_cast<const char*>(bytes.data()), std::ssize(bytes)); },
                options);
  for (const test::Json& record : json.at("records")) {
    const std::string type = record.at("type");
    if (type == "DataEnd") break;  // the summary repeats what is known
    if (type == "Schema") writer.add(test::from_json<Schema>(record, data));
    if (type == "Channel") writer.add(test::from_json<Channel>(record, data));
    if (type == "Message") writer.write(test::from_json<Message>(record, data));
    if (type == "Attachment") writer.add(test::from_json<Attachment>(record, data));
    if (type == "Metadata") writer.add(test::from_json<Metadata>(record, data));
  }
  writer.close();
  std::cout.flush();
  return std::cout ? 0 : 1;
} catch (const std::exception& e) {
  return std::fprintf(stderr, "%s: %s\n", argv[1], e.what()), 1;
}
