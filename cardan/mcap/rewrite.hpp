// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "cardan/mcap/reader.hpp"
#include "cardan/mcap/writer.hpp"

namespace cardan::mcap {

struct RewriteOptions {
  OpenOptions open{};  ///< how the inputs are read
  /// Called once the inputs are open, to choose what follows by what is in the first of them; may be empty.
  std::function<void(const Reader& first, RewriteOptions& options)> choose{};
  ReadOptions read{};  ///< which of their messages
  WriterOptions write{};
  bool attachments = true;  ///< and metadata: they are copied whole; those that inputs have alike, once
  /// What the output has beside it, and of which names it has none of the inputs'.
  std::vector<Attachment> add_attachments{};
  std::vector<Metadata> add_metadata{};
  std::set<std::string> drop_attachments{}, drop_metadata{};
  bool replace = false;  ///< an output that is there already
  /// Told how many of how many messages are done, now and then; false: leave it, and the output as it was.
  std::function<bool(std::uint64_t, std::uint64_t)> progress{};
};

struct Rewritten {
  std::uint64_t messages = 0, bytes = 0;
  bool stopped = false;  ///< by `progress`
  struct Trouble {
    std::string file;
    Problem problem;
  };
  std::vector<Trouble> troubles;  ///< what could not be taken over
  std::vector<Trouble> notes;     ///< inputs that nobody finished, and of which nothing is missing
};

/// One file of the messages of all of these, by time: a cut, a merge, a repair, another compression. Channels that are
/// the same in all but their number become one; those without messages are kept. The output appears under its name once
/// it is whole and on the disk. Throws Error (InvalidArgument): an input is no MCAP file, the output is one of them or
/// there already; (System): the disk fails or is full. Any thread; blocks for the disk.
Rewritten rewrite(const std::vector<std::string>& inputs, const std::string& output, const RewriteOptions& options);

}  // namespace cardan::mcap
