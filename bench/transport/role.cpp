// SPDX-License-Identifier: Apache-2.0
#include "bench/transport/role.hpp"

#include <fmt/format.h>
#include <sched.h>
#include <sys/prctl.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>

#include "bench/transport/peers/peer.hpp"
#include "cardan/base/error.hpp"

namespace cardan::bench {
namespace {

void pin_to(int cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(static_cast<unsigned>(cpu), &set);
  if (::sched_setaffinity(0, sizeof set, &set) != 0) {
    throw Error(ErrorCode::Refused, fmt::format("cannot pin to CPU {}: {}", cpu, std::strerror(errno)),
                "choose other CPUs with --publisher-cpu and --reader-cpus");
  }
}

void play_as(const Area& area, std::uint32_t index) {
  // Before any endpoint exists, so that its helper threads inherit the place.
  pin_to(area.role(index).cpu);
  if (area.header().task != Task::Frames) return play_cardan_operation(area, index);
  kind_of(area.header().contender.peer).play(area, index);
}

}  // namespace

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
