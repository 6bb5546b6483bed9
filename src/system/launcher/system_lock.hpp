// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "src/base/bound_fd.hpp"

namespace cardan::detail {
struct RunFolder;
}

namespace cardan::launcher {

/// Lets a system be run once in a domain, by each user: a file in the domain's folder that the kernel keeps locked for
/// this process, however it ends, and that says its pid. A crashed one leaves an empty lock: the next run takes
/// it over, and processes that start in the domain remove it (RunDirectory::sweep()). One thread.
class SystemLock {
 public:
  /// `domain` empty: $CARDAN_DOMAIN, else "default". Throws Error: NameTaken (the system runs already, with its pid),
  /// and as RunFolder::open(). Set-up; blocks for half a second before it refuses.
  SystemLock(const std::string& system, const std::string& domain);
  SystemLock(const SystemLock&) = delete;
  SystemLock& operator=(const SystemLock&) = delete;
  ~SystemLock();

 private:
  bool take(const std::string& system);
  [[nodiscard]] bool is_ours_by_name() const;
  [[nodiscard]] std::string holder() const;

  std::shared_ptr<const detail::RunFolder> folder_;
  std::string name_;
  detail::BoundFd file_;
};

}  // namespace cardan::launcher
