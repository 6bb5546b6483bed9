// SPDX-License-Identifier: Apache-2.0
#include "bench/transport/role.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>

#include "bench/pin.hpp"
#include "bench/transport/peer_modules.hpp"
#include "bench/transport/peers/peer.hpp"
#include "cardan/error.hpp"

namespace cardan::bench {
namespace {

void play_as(const Area& area, std::uint32_t index) {
  // Before any endpoint exists, so that its helper threads inherit the place.
  if (const int cpu = area.role(index).cpu; !pin_to(cpu))
    throw Error(ErrorCode::Refused, fmt::format("cannot pin to CPU {}: {}", cpu, std::strerror(errno)),
                "choose other CPUs with --publisher-cpu and --reader-cpus");
  if (area.header().task != Task::Frames) return play_cardan_operation(area, index);
  if (area.header().cell.conditions.fifo) become_real_time();
  load_module_of(name_of(area.header().contender.peer));
  const PeerKind& kind = kind_of(area.header().contender.peer);
  (area.header().cell.scenario.asks ? kind.play_ask : kind.play)(area, index);
}

}  // namespace

void FrameChecker::note() noexcept {
  const Cell& cell = area_.header().cell;
  const std::uint64_t n = frame_.id.number;
  const std::uint32_t publisher = frame_.id.publisher;
  if (!frame_.intact || publisher >= area_.publishers() || n == 0) {
    if (opened_ && !closed_) ++slot_.torn;
    return;
  }
  if (n > cell.frames) {
    if (!closed_ && opened_) window_.close_into(slot_);
    closed_ = true;
    if (!ended_[publisher]) ++ended_count_;
    ended_[publisher] = true;
    return;
  }
  Stamps& stamp = area_.received(reader_, publisher)[n];
  if (stamp.first != 0) return;  // an unprotected peer may hand out a frame twice
  stamp = {in_hand_, read_, 0};
  if (n > cell.warmup && opened_ && !closed_) {
    ++slot_.messages;
    slot_.reading_ns += done_ - in_hand_;
  }
  if (n >= cell.warmup && !opened_) {
    opened_ = true;
    window_ = {};
  }
  if (n == cell.frames && !closed_) {
    window_.close_into(slot_);
    closed_ = true;
  }
}

void DeliveredFrames::read() noexcept {
  if (!area_.arrive_and_wait()) return;
  ended_.wait(false, std::memory_order_acquire);
  area_.header().readers_done.fetch_add(1, std::memory_order_release);
}

int play_role(int area_fd, std::uint32_t index) {
  try {
    const Area area(area_fd);
    if (index >= area.publishers() + area.subscribers()) {
      throw Error(ErrorCode::InvalidArgument, fmt::format("the bench has no role {}", index),
                  "start it without --role-index");
    }
    try {
      play_as(area, index);
      return 0;
    } catch (const std::exception& e) {
      area.set_error(index, e.what());
      return 1;
    }
  } catch (const std::exception& e) {
    fmt::print(stderr, "cardan bench: {}\n", e.what());
    return 2;
  }
}

}  // namespace cardan::bench
