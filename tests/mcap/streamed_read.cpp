// SPDX-License-Identifier: Apache-2.0
// mcap_conformance_streamed_read FILE.mcap: its records, in their order, as the JSON of MCAP's conformance suite. As
// the suite asks, chunks are opened and message indexes left out.
#include <cstdio>
#include <iostream>

#include "cardan/mcap/record_reader.hpp"
#include "tests/mcap/json.hpp"

using namespace cardan::mcap;

namespace {

template <class Record>
bool print(const RecordView& view, test::Json& out) {
  if (!view.is(Record::kOpcode)) return false;
  const auto record = decode<Record>(view.content);
  if (!record) throw std::runtime_error(std::string("a damaged ") + name_of(Record::kOpcode));
  out.push_back(test::to_json(*record));
  return true;
}

template <class... Records>
void print_one_of(const RecordView& view, test::Json& out) {
  static_cast<void>((print<Records>(view, out) || ...));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return std::fprintf(stderr, "usage: %s FILE.mcap\n", argv[0]), 2;
  std::FILE* const file = std::fopen(argv[1], "rbe");
  if (file == nullptr) return std::perror(argv[1]), 1;
  RecordReader reader([&](std::span<std::byte> into) { return std::fread(into.data(), 1, into.size(), file); });
  test::Json records = test::Json::array();
  try {
    while (const auto record = reader.next())
      print_one_of<Header, Footer, Schema, Channel, Message, ChunkIndex, Attachment, AttachmentIndex, Statistics,
                   Metadata, MetadataIndex, SummaryOffset, DataEnd>(*record, records);
  } catch (const std::exception& e) {
    return std::fprintf(stderr, "%s: %s\n", argv[1], e.what()), 1;
  }
  std::cout << test::Json{{"records", records}}.dump() << "\n";
  if (reader.finish().how == Finish::How::Complete) return 0;
  return std::fprintf(stderr, "%s: %s\n", argv[1], reader.finish().cause.c_str()), 1;
}
