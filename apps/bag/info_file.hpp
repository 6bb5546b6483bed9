// SPDX-License-Identifier: Apache-2.0
// The facts that `cardan bag info` shows of a file, of any kind.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "cardan/mcap/reader.hpp"
#include "src/record/player/file_set.hpp"

namespace cardan::apps {

/// As MCAP says it. Not to be shared by threads.
struct InfoFile {
  std::string path{};
  std::uint64_t bytes = 0;
  mcap::Header header{};
  mcap::Finish finish{};
  bool has_statistics = true;
  const mcap::Reader* reader = nullptr;  ///< of MCAP alone
  mcap::Summary counted{};               ///< of the others

  [[nodiscard]] const mcap::Summary& summary() const { return reader == nullptr ? counted : reader->summary(); }
  [[nodiscard]] bool complete() const { return finish.how == mcap::Finish::How::Complete; }
};

/// Some files and folders, as one recording. Blocks for the disk.
class InfoFiles {
 public:
  /// Throws Error: one of them cannot be read.
  explicit InfoFiles(const std::vector<std::string>& paths);

  [[nodiscard]] const std::deque<InfoFile>& all() const noexcept { return all_; }
  /// Problems of reading, and remarks.
  [[nodiscard]] const std::vector<std::string>& problems() const noexcept { return problems_; }
  [[nodiscard]] const std::vector<std::string>& notes() const noexcept { return notes_; }

 private:
  void add_mcap(const std::string& path);
  void add_ros1(const std::string& path);
  void add_sqlite(const std::string& path);

  std::deque<record::FileSet> sets_;
  std::deque<InfoFile> all_;
  std::vector<std::string> problems_, notes_;
};

}  // namespace cardan::apps
