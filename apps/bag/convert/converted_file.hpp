// SPDX-License-Identifier: Apache-2.0
// The output of `cardan bag convert`: MCAP, or ROS 2's form in SQLite.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "cardan/mcap/records.hpp"

namespace cardan::apps {

/// A file that appears under its name when it is done, and not at all otherwise. It takes the records of MCAP, whatever
/// it is. Not to be shared by threads; blocks for the disk. All throw Error (System): the disk fails or is full.
class ConvertedFile {
 public:
  ConvertedFile() = default;
  virtual ~ConvertedFile() = default;
  ConvertedFile(const ConvertedFile&) = delete;
  ConvertedFile& operator=(const ConvertedFile&) = delete;

  /// Why it cannot hold a type of that definition; empty: it can.
  [[nodiscard]] virtual std::string refusal_of(const mcap::Schema& schema) const = 0;
  virtual void add(const mcap::Schema& schema) = 0;    ///< before a channel that names it
  virtual void add(const mcap::Channel& channel) = 0;  ///< before its messages
  /// Why it cannot hold the message; nullptr: it is written.
  [[nodiscard]] virtual const char* write(const mcap::Message& message) = 0;
  /// `about`: where it comes from. No call but bytes() may follow.
  virtual void finish(const mcap::Metadata& about) = 0;
  [[nodiscard]] virtual std::uint64_t bytes() const = 0;
};

/// A .db3 of ROS 2: with the tables of Iron and newer, and topics that Humble reads too. Of a folder (which is made)
/// the file has the folder's name, with a metadata.yaml next to it. Throws Error (InvalidArgument): it is there already
/// and not to be replaced, or a journal of another one is; (Unavailable): this program was built without SQLite.
[[nodiscard]] std::unique_ptr<ConvertedFile> sqlite_file(const std::string& path, bool replace);

}  // namespace cardan::apps
