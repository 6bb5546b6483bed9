// SPDX-License-Identifier: Apache-2.0
// A recording that is opened by its index, walked through, verified and rewritten. Must hold: all of it ends with a
// result or an error in words, and what has been rewritten is a whole file.
#include <filesystem>

#include "cardan/error.hpp"
#include "cardan/mcap/rewrite.hpp"
#include "cardan/mcap/verify.hpp"
#include "src/base/crc32c.hpp"
#include "src/mcap/message_sizes.hpp"
#include "tests/fuzz/recordings.hpp"

namespace cardan::fuzz::mcap_index_target {
namespace {

using namespace mcap;

void read_all(const Reader& reader, std::size_t size) {
  for (const Order order : {Order::LogTime, Order::ReverseLogTime}) {
    Messages messages = reader.messages({.order = order});
    std::size_t count = 0;
    std::uint64_t last = 0;
    while (const auto one = messages.next()) {
      require(one->channel != nullptr, "a message of no channel");
      if (order == Order::LogTime)
        require(one->message.log_time >= last || !messages.problems().empty(),
                "messages out of order, and no word of it");
      last = one->message.log_time;
      (void)crc32c(one->message.data);  // touches all of it
      if (++count > 1'000'000) fail("a million messages in a file of " + std::to_string(size) + " bytes");
    }
    for (const Problem& problem : messages.problems()) require(!problem.cause.empty(), "a problem without words");
  }
  (void)largest_messages(reader);
  Bytes buffer;
  for (const MetadataIndex& index : reader.summary().metadata()) (void)reader.metadata(index);
  for (const AttachmentIndex& index : reader.summary().attachments()) (void)reader.attachment(index, buffer);
}

/// The first byte: what is done with the file, which is the rest.
void run(std::string_view input) {
  Input parts(input);
  const std::uint8_t how = parts.byte();
  const MemoryFile file(parts.rest());
  const OpenOptions options{.rescan = (how & 1U) != 0,
                            .scanning = {.search = (how & 2U) != 0, .mount = MountIdentity{"here", "1", {}}}};
  try {
    switch (how / 4 % 3) {
      case 0:
        read_all(Reader(file.path(), options), parts.rest().size());
        break;
      case 1: {
        const Verification result = verify(file.path());
        require(result.good() || !result.problems.empty() || !result.finish.cause.empty(),
                "a bad file without a problem");
        require(result.problems.size() <= Verification::kMostProblems, "endless problems");
        break;
      }
      default: {
        const std::string output = folder() + "/out.mcap";
        const Rewritten result =
            rewrite({file.path()}, output, {.open = options, .write = {.chunk_bytes = 300}, .replace = true});
        const Verification again = verify(output);
        if (!again.good())
          fail("what was rewritten is not whole: " +
               (again.problems.empty() ? again.finish.cause : again.problems[0].cause));
        require(again.messages == result.messages, "what was rewritten has other messages");
        break;
      }
    }
  } catch (const Error& e) {
    require(!e.cause().empty() && !e.remedy().empty(), "an error without words");
    require(e.code() == ErrorCode::InvalidArgument, "the file's fault was taken for the disk's");
  }
}

std::vector<std::string> seeds() {
  std::vector<std::string> all;
  for (const std::string& file : some_recordings()) {
    for (const char how : {'\0', '\3', '\4', '\10'}) all.push_back(how + file);
    all.push_back('\2' + file.substr(0, file.size() * 2 / 3));
    all.push_back('\13' + file.substr(0, file.size() / 2));
  }
  return all;
}

}  // namespace
CARDAN_FUZZ_TARGET(mcap_index, run, seeds)
}  // namespace cardan::fuzz::mcap_index_target
