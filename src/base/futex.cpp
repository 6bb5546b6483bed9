// SPDX-License-Identifier: Apache-2.0
#include "src/base/futex.hpp"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <ctime>

#include "src/base/warm.hpp"

#ifndef SYS_futex_waitv
#define SYS_futex_waitv 449
#endif

namespace cardan::futex {
namespace {

struct WaitvEntry {  // struct futex_waitv of linux/futex.h, which older headers lack
  std::uint64_t value;
  std::uint64_t address;
  std::uint32_t flags;
  std::uint32_t reserved;
};
constexpr std::uint32_t kSize32 = 2;

timespec to_timespec(std::int64_t ns) noexcept { return {.tv_sec = ns / 1'000'000'000, .tv_nsec = ns % 1'000'000'000}; }

long raw_waitv(const WaitvEntry* entries, unsigned count, const timespec* until) noexcept {
  return ::syscall(SYS_futex_waitv, entries, count, 0U, until, CLOCK_MONOTONIC);
}

}  // namespace

CARDAN_TAKE_PATH int wait(const Atomic<std::uint32_t>& word, std::uint32_t expected, std::int64_t deadline_ns,
                          std::uint32_t bits) noexcept {
  const timespec until = to_timespec(deadline_ns);
  // FUTEX_WAIT_BITSET takes an absolute time of CLOCK_MONOTONIC, which FUTEX_WAIT does not.
  const long r =
      ::syscall(SYS_futex, &word, FUTEX_WAIT_BITSET, expected, deadline_ns != 0 ? &until : nullptr, nullptr, bits);
  return r == 0 ? 0 : errno;
}

CARDAN_PUBLISH_PATH int wake(const Atomic<std::uint32_t>& word, int count, std::uint32_t bits) noexcept {
  const long r = ::syscall(SYS_futex, &word, FUTEX_WAKE_BITSET, count, nullptr, nullptr, bits);
  return r > 0 ? static_cast<int>(r) : 0;
}

int wait_many(std::span<const Watch> words, std::int64_t deadline_ns) noexcept {
  std::array<WaitvEntry, 128> entries;
  if (words.empty() || words.size() > entries.size()) return EINVAL;
  for (std::size_t i = 0; i < words.size(); ++i)
    entries[i] = {words[i].expected, reinterpret_cast<std::uint64_t>(words[i].word), kSize32, 0};
  const timespec until = to_timespec(deadline_ns);
  const long r = raw_waitv(entries.data(), static_cast<unsigned>(words.size()), deadline_ns != 0 ? &until : nullptr);
  if (r >= 0) return 0;
  return errno == EPERM ? ENOSYS : errno;  // a container's filter may answer EPERM for calls it does not know
}

bool has_wait_many() noexcept {
  static const bool available = [] {
    if (const char* off = std::getenv("CARDAN_NO_FUTEX_WAITV"); off != nullptr && *off == '1') return false;
    const Atomic<std::uint32_t> word{1};
    const std::array<Watch, 1> probe{Watch{&word, 0}};  // a value that differs answers EAGAIN at once
    return wait_many(probe) == EAGAIN;
  }();
  return available;
}

}  // namespace cardan::futex
