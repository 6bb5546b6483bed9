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

/// Which messages of the inputs are written, and how.
struct RewriteOptions {
  OpenOptions open{};  ///< how the inputs are read
  /// Called once the inputs are open. It may choose the following options by the contents of the first input. May be
  /// empty.
  std::function<void(const Reader& first, RewriteOptions& options)> choose{};
  ReadOptions read{};  ///< which of their messages
  /// With `read.start`, the output begins with the messages that late subscribers would have got then (MergedMessages).
  bool latched = true;
  WriterOptions write{};  ///< how the output is written; an empty profile: that of the inputs, if it is the same in all
  bool attachments = true;  ///< and metadata: copied whole; those that are equal in several inputs, once
  /// Attachments and metadata to add, and names of which none of the inputs' are copied.
  std::vector<Attachment> add_attachments{};
  std::vector<Metadata> add_metadata{};                       ///< see `add_attachments`
  std::set<std::string> drop_attachments{}, drop_metadata{};  ///< see `add_attachments`
  bool replace = false;                                       ///< may replace an existing output
  /// Called now and then with the number of messages done and in total. If it returns false, the rewrite stops, and the
  /// output stays as it was.
  std::function<bool(std::uint64_t, std::uint64_t)> progress{};
};

/// The result of a rewrite.
struct Rewritten {
  std::uint64_t messages = 0, bytes = 0;  ///< in the output
  bool stopped = false;                   ///< by `progress`
  /// A problem of one input.
  struct Trouble {
    std::string file;  ///< the input's path
    Problem problem;
  };
  std::vector<Trouble> troubles;  ///< data that could not be copied
  std::vector<Trouble> notes;     ///< inputs that were never finished, but of which nothing is missing
};

/// Writes the messages of all inputs into one file, by time: for a cut, a merge, a repair, or another compression.
/// Channels that differ only in their number become one; channels without messages are kept. The output appears under
/// its name once it is complete and on the disk. Throws Error (InvalidArgument) if an input is not an MCAP file, or if
/// the output is one of them or exists already; (System) if the disk fails or is full.
/// Any thread; blocks for the disk.
Rewritten rewrite(const std::vector<std::string>& inputs, const std::string& output, const RewriteOptions& options);

}  // namespace cardan::mcap
