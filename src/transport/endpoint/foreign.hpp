// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>
#include <unistd.h>

#include "src/base/socket.hpp"

namespace cardan::detail {

/// Whether peers of this user get only the share of another user. Our own user and root are not limited, because both
/// can end this process anyway. Never blocks.
inline bool is_foreign(uid_t uid) noexcept { return uid == socket::kUnmapped || (uid != ::geteuid() && uid != 0); }

}  // namespace cardan::detail
