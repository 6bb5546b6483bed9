// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/stat.h>

#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "src/base/bound_fd.hpp"

namespace cardan::detail {

/// One domain's folder of the run directory, open. Its names are reached only through the descriptor, so that nobody
/// can put another folder in its place. Neither the folder nor the run directory is a link, and both pass
/// folder_refusal().
struct RunFolder {
  std::string domain;
  std::string root_path;
  std::string path;
  BoundFd root;
  BoundFd fd;
  uid_t owner = 0;               ///< of the domain's folder
  mutable std::mutex listing{};  ///< `fd` has a single position: one thread at a time reads the names

  /// Finds or makes it. The run directory is $CARDAN_RUN_DIR, else /run/cardan if usable, else $XDG_RUNTIME_DIR/cardan,
  /// else /tmp/cardan-<uid> (only if it is ours and has mode 0700). In a directory of another owner we make a domain
  /// for ourselves only; root makes one for all users. Throws Error: Unavailable with path, owner, mode and the remedy,
  /// Limit, or InvalidArgument if `domain` cannot be a name.
  /// Set-up only.
  static std::shared_ptr<const RunFolder> open(const std::string& domain);
  /// Whether the domain's name still leads to it. Processes remove their own folder if it is empty.
  [[nodiscard]] bool is_there() const noexcept;
  /// The folder that has the name now. Null if no folder may be used.
  [[nodiscard]] std::shared_ptr<const RunFolder> again() const noexcept;
};

/// Why a folder with this owner and mode must not be a run directory, or a domain in one that `root_owner` owns. Empty:
/// it may be. Its owner must be root, this user or `root_owner`. If others can write it, it must be sticky: then only
/// the owner of a name (or of the folder) can remove that name.
std::string folder_refusal(const struct stat& st, std::optional<uid_t> root_owner = {});

/// Takes a domain's folder away if it is empty and this user's alone; a shared one stays.
void remove_if_empty(const RunFolder& folder) noexcept;

}  // namespace cardan::detail
