// SPDX-License-Identifier: Apache-2.0
#include "src/bridge/dds/bell.hpp"

#include <fmt/format.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "cardan/error.hpp"

namespace cardan::bridge::dds {

void Bell::Rung::note(Who who) noexcept {
  any_ = true;
  if (who == 0 || everybody_) return;
  const auto named = std::span(who_).first(count_);
  if (std::find(named.begin(), named.end(), who) != named.end()) return;
  if (count_ == who_.size()) {
    everybody_ = true;
    return;
  }
  who_[count_++] = who;
}

Bell::Bell() : fd_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (!fd_)
    throw Error(ErrorCode::Limit, fmt::format("cannot make an eventfd: {}", std::strerror(errno)),
                "raise ulimit -n of the bridge");
  rung_.any_ = rung_.everybody_ = true;
}

void Bell::wake(bool first) noexcept {
  if (!first) return;
  const std::uint64_t one = 1;
  (void)!::write(fd_.get(), &one, sizeof(one));
}

void Bell::ring(Who who) noexcept {
  bool first = false;
  {
    const std::lock_guard lock(mutex_);
    first = !rung_.any_;
    rung_.note(who);
  }
  wake(first);
}

void Bell::ring_all() noexcept {
  bool first = false;
  {
    const std::lock_guard lock(mutex_);
    first = !rung_.any_;
    rung_.any_ = rung_.everybody_ = true;
  }
  wake(first);
}

Bell::Rung Bell::answer() noexcept {
  // The descriptor is emptied in any case. A ring may come to it only after its mark was answered; nobody would read it
  // then, and the bridge would never sleep.
  std::uint64_t ignored = 0;
  const bool late = ::read(fd_.get(), &ignored, sizeof(ignored)) == sizeof(ignored);
  const std::lock_guard lock(mutex_);
  Rung rung = std::exchange(rung_, {});
  rung.any_ = rung.any_ || late;
  return rung;
}

}  // namespace cardan::bridge::dds
