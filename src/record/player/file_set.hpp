// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cardan/mcap/reader.hpp"
#include "src/mcap/merged.hpp"

namespace cardan::record {

/// Which of a file's messages: the file's number, and its channel.
using WantedChannel = std::function<bool(std::size_t file, const mcap::Channel& channel)>;

/// Recorded files that are read as one. Any thread may have its own messages; must outlive them.
class FileSet {
 public:
  /// Files, and folders of a recording (recording_folder.hpp). Throws Error (InvalidArgument): one is not there, or no
  /// MCAP file; (System): it cannot be read. One that nobody finished is walked through first; a compressed chunk in it
  /// may take `most_unpacked_bytes` of memory.
  explicit FileSet(const std::vector<std::string>& paths, std::uint64_t most_unpacked_bytes = mcap::unpacked_limit());

  [[nodiscard]] const std::vector<std::unique_ptr<mcap::Reader>>& readers() const noexcept { return readers_; }
  /// Missing parts of them, each with its place: files of a folder, and what a walk through a damaged file could not
  /// find.
  [[nodiscard]] const std::vector<std::string>& problems() const noexcept { return problems_; }
  /// Remarks about a folder that is complete.
  [[nodiscard]] const std::vector<std::string>& notes() const noexcept { return notes_; }
  /// Whether they contain no message.
  [[nodiscard]] bool empty() const noexcept { return empty_; }
  /// Log times of the first and the last message, nanoseconds; 0: no message.
  [[nodiscard]] std::uint64_t first() const noexcept { return first_; }
  [[nodiscard]] std::uint64_t last() const noexcept { return last_; }
  /// How far the wall clock, by which the files' times are, was ahead of the steady clock, by which the recorded system
  /// lived; nanoseconds. 0 where no file says so: of a simulation, or of another recorder. Of several files, the first
  /// one's: what lies between them keeps its distances.
  [[nodiscard]] std::int64_t wall_clock_ahead() const noexcept { return wall_clock_ahead_; }

 private:
  void open(const std::string& path, bool was_named, std::uint64_t most_unpacked_bytes);

  std::vector<std::unique_ptr<mcap::Reader>> readers_;
  std::vector<std::string> problems_, notes_;
  std::uint64_t first_ = 0, last_ = 0;
  bool empty_ = true;
  std::int64_t wall_clock_ahead_ = 0;
};

/// Messages that are not played because they come 2^63 ns or more after the first message, and `end`, the end of what
/// is played, is there for no other reason. Empty: nothing.
[[nodiscard]] std::vector<std::string> out_of_reach(const FileSet& files, std::uint64_t end);

/// A problem of a file, and its place.
struct FileProblem {
  std::size_t file = 0;
  mcap::Problem problem{};
};

/// The messages of all files by their log times; of one time, in the order of the files. Not to be shared by threads;
/// blocks for the disk.
class FileMessages {
 public:
  /// `start` is included, `end` is not; nanoseconds of log time.
  /// Once `cancelled` is true, no message comes any more. `most_unpacked_bytes`: of each file, as in ReadOptions.
  /// `before`: what comes first, from before `start`.
  FileMessages(const FileSet& files, std::uint64_t start, std::uint64_t end, const WantedChannel& wanted,
               const std::atomic<bool>* cancelled = nullptr, std::uint64_t most_unpacked_bytes = mcap::unpacked_limit(),
               mcap::MergedMessages::Before before = mcap::MergedMessages::Before::Nothing);

  using Next = mcap::MergedMessages::Next;
  /// Empty: the end. Valid until it is called again. Throws Error (System): the disk fails.
  [[nodiscard]] std::optional<Next> next() { return messages_.next(); }
  /// Everything that could not be read so far; never a reason to stop.
  [[nodiscard]] std::vector<FileProblem> problems() const;

 private:
  mcap::MergedMessages messages_;
};

}  // namespace cardan::record
