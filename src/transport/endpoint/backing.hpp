// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <vector>

namespace cardan::detail {

struct AreaRange {
  std::uint64_t offset, bytes;
};
using Ranges = std::vector<AreaRange>;

/// Whether memory backs pages of another user's area. NotAnswered: the owner delayed the answer, or the computer had no
/// processor for the question; ask again later.
enum class Backed : std::uint8_t { No, Yes, NotAnswered };

/// Whether memory backs all `ranges` of our own user's area. Any thread; makes two system calls for each range.
[[nodiscard]] bool all_backed(int fd, const Ranges& ranges) noexcept;

/// The same for the area of `whose`, another user. The question waits while the owner allocates, and an owner can keep
/// allocating with many threads. So a thread asks that may be abandoned, and AnswerTimes limits what the owner costs:
/// the time in which that thread sleeps or runs. Time in which it has no processor costs the owner nothing.
/// Throws std::bad_alloc. Any thread; blocks as AnswerTimes allows, and one second more on a busy computer.
[[nodiscard]] Backed all_backed_in_time(int fd, const Ranges& ranges, uid_t whose);

}  // namespace cardan::detail
