// SPDX-License-Identifier: Apache-2.0
// The messages of a process without components to the `cardan run` that started it.
#pragma once

#include <unistd.h>

#include <algorithm>
#include <string>

#include "cardan/error.hpp"

namespace cardan::apps {

/// As src/system/host says it: "ready", "failed WHY" (another start may help), "refused WHY" (it cannot). `fd` −1:
/// nobody listens. Any thread; does not block, because the launcher reads.
inline void tell_launcher(int fd, std::string line) {
  if (fd < 0) return;
  std::replace(line.begin(), line.end(), '\n', ' ');
  line += '\n';
  (void)!::write(fd, line.data(), line.size());
}

inline void tell_launcher(int fd, const Error& e) {
  tell_launcher(fd, (e.code() == ErrorCode::InvalidArgument ? "refused " : "failed ") + e.cause());
}

}  // namespace cardan::apps
