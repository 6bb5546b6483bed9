// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "cardan/detail/fd.hpp"
#include "src/base/socket.hpp"
#include "src/transport/discovery/run_folder.hpp"

namespace cardan::detail {

/// A publication as the run directory shows it: a symbolic link `t.<topic hash>.<process>.<serial>` whose text is the
/// topic's name, next to the process's socket `p.<process>`. One system call makes it, one reads it, and it can never
/// be half written.
struct TopicEntry {
  std::uint64_t topic_hash = 0;
  std::string process;  ///< 16 hexadecimal digits, random for each process
  std::uint32_t serial = 0;
  uid_t owner = socket::kUnmapped;  ///< owner of the link, if entries() or entry() looked it up; otherwise kUnmapped
};

/// The names in one domain's folder (RunFolder). Any user may have put names there. Therefore the list is bounded for
/// each other user, our own names come first, and only names that Cardan made are removed.
/// Any thread; file system calls.
class RunDirectory {
 public:
  /// The most names that are listed of one other user, and of all of them together. Root's count as our own.
  static constexpr std::size_t kTopicOfOne = 64;  ///< publications of one topic
  static constexpr std::size_t kTopicOfAll = 1024;
  static constexpr std::size_t kListOfOne = 4096;  ///< all publications, or processes
  static constexpr std::size_t kListOfAll = 16384;
  /// The most names of other users that sweep() examines if it may remove them (root may).
  static constexpr std::size_t kSweepOfOthers = 1024;

  /// Finds or makes the folder. Throws Error (Unavailable, Limit, InvalidArgument) with the path and the remedy.
  explicit RunDirectory(const std::string& domain);

  [[nodiscard]] const std::string& path() const { return state_->path; }
  [[nodiscard]] const std::string& root() const { return state_->root; }
  [[nodiscard]] std::string socket_path(const std::string& process) const { return path() + "/p." + process; }

  /// The process's listener, under its name. Throws Error.
  [[nodiscard]] Fd listen(const std::string& process) const;
  void add_topic(const TopicEntry& entry, const std::string& topic) const;
  void remove_topic(const TopicEntry& entry) const noexcept;
  /// The topic's full name. Empty if the entry is gone.
  [[nodiscard]] std::optional<std::string> topic_of(const TopicEntry& entry) const;
  /// All entries, or those of one topic's hash, with their owners: first our own, then root's, then others' (in turns,
  /// the oldest of each first, bounded, and only if they have a socket). One pass over the folder.
  [[nodiscard]] std::vector<TopicEntry> entries(std::optional<std::uint64_t> topic_hash = std::nullopt) const;
  /// The entry with this name (inotify's) and its owner. Empty: the name is not an entry, or it is gone.
  [[nodiscard]] std::optional<TopicEntry> entry(const std::string& name) const;
  /// Processes that have a socket, in the same order and with the same bounds.
  [[nodiscard]] std::vector<std::string> processes() const;

  /// The owner of a process's socket, without a connection: either the user that runs the process, or nobody can
  /// connect to it. Empty: there is no socket (`error` ENOENT), or it is not one that Cardan makes (ENOTSOCK: not a
  /// socket; EMLINK: it has more than one name).
  [[nodiscard]] std::optional<uid_t> owner_of(const std::string& process, int& error) const noexcept;
  using Accept = std::function<bool(uid_t owner)>;
  /// Reads the owner first, and connects only if `accept` is true for it; the process that answers then belongs to that
  /// user. Does not block. Empty: `error` is as in owner_of() and connect_to(), EPERM if not accepted, EOWNERDEAD if
  /// the process of the name belongs to another user than the name. Only ECONNREFUSED and ENOENT mean that the
  /// process is dead.
  [[nodiscard]] Fd connect(const std::string& process, int& error, const Accept& accept = {}) const;
  /// Connects to a process. Empty: it is dead (`error` as in connect()). An empty descriptor: alive, but too busy now,
  /// or its socket is not for us.
  [[nodiscard]] std::optional<Fd> reach(const std::string& process, int& error, const Accept& accept = {}) const;

  /// Removes all names of dead processes, in one pass. Names of other users may have to stay.
  void remove_processes(const std::set<std::string>& processes) const noexcept;
  void remove_process(const std::string& process) const noexcept { remove_processes({process}); }
  /// Removes the names of dead processes: those of this user, or everybody's if we are root or own the folder.
  void sweep() const;
  /// At the end of our process, after its topics were removed: removes its socket, and the folder if that is empty and
  /// belongs to this user alone. A shared folder stays.
  void leave(const std::string& process) const noexcept;

  static std::optional<TopicEntry> parse(const std::string& name);

 private:
  struct State {
    std::string root;
    std::string path;
    std::mutex mutex;
    std::shared_ptr<const RunFolder> folder;
  };
  using Folder = std::shared_ptr<const RunFolder>;

  /// The folder that is known now. A second call may return another one.
  [[nodiscard]] Folder folder() const;
  /// The same, after checking whether its name leads to another folder by now.
  [[nodiscard]] Folder folder_now() const;
  /// Opens a process's socket as a name only (O_PATH).
  [[nodiscard]] static Fd find(const RunFolder& folder, const std::string& process, uid_t& owner, int& error) noexcept;

  std::shared_ptr<State> state_;
};

/// The file in a domain's folder that a launcher of this user keeps locked while it runs a system of this name. One
/// that nobody has locked is a dead launcher's.
[[nodiscard]] std::string system_lock_name(const std::string& system);

std::uint64_t hash_name(const std::string& name) noexcept;

}  // namespace cardan::detail
