// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cardan/memory/fd.hpp"

namespace cardan::detail {

/// A publication as the run directory shows it: a symbolic link `t.<topic hash>.<process>.<serial>` whose text is the
/// topic's name, next to the process's socket `p.<process>`. One system call makes it, one reads it, and none of it can
/// be half written.
struct TopicEntry {
  std::uint64_t topic_hash = 0;
  std::string process;  ///< 16 hexadecimal digits, random for each process
  std::uint32_t serial = 0;
};

/// One domain's folder of the run directory: $CARDAN_RUN_DIR, else /run/cardan if usable, else $XDG_RUNTIME_DIR/cardan,
/// else /tmp/cardan-<uid> (only if it is ours, mode 0700 and no link). Set-up and helper thread only; file system
/// calls.
class RunDirectory {
 public:
  /// Finds or makes the folder. Throws Error (Unavailable) with the path and what to do.
  explicit RunDirectory(const std::string& domain);

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] const std::string& root() const { return root_; }
  [[nodiscard]] std::string socket_path(const std::string& process) const { return path_ + "/p." + process; }

  void add_topic(const TopicEntry& entry, const std::string& topic) const;
  void remove_topic(const TopicEntry& entry) const noexcept;
  /// The topic's full name, or nothing when the entry is gone.
  [[nodiscard]] std::optional<std::string> topic_of(const TopicEntry& entry) const;
  /// All entries, or those of one topic's hash.
  [[nodiscard]] std::vector<TopicEntry> entries(std::optional<std::uint64_t> topic_hash = std::nullopt) const;
  [[nodiscard]] std::vector<std::string> processes() const;
  /// Connects to a process; nothing: it is dead (`error` as connect_to() says). An empty descriptor: alive, but too
  /// busy now, or its socket is not for us.
  [[nodiscard]] std::optional<Fd> reach(const std::string& process, int& error) const noexcept;
  /// Removes all names of a process that is dead. Names of other users may have to stay.
  void remove_process(const std::string& process) const noexcept;
  /// Removes what dead processes left.
  void sweep() const;

  static std::optional<TopicEntry> parse(const std::string& name);

 private:
  std::string root_;
  std::string path_;
};

std::uint64_t hash_name(const std::string& name) noexcept;

}  // namespace cardan::detail
