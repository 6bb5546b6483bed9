// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace cardan::bench {

/// The words of the command line, as typed; empty or negative: not given.
struct V2xArguments {
  std::string only{}, json{};
  double seconds = 0, hz = 0;
  int runs = 0, bytes = 0;
  double delay_ms = -1, jitter_ms = -1, loss_percent = -1, rate_mbit = -1;
  bool quick = false;
  std::string part{};  ///< this process plays a part of a run; JSON
};

/// "udp,tcp,cardan-dds,cardan-zenoh,fastdds"
std::string names_of_v2x_peers();

/// Measures the round trip of a small message between two networks over a link like Wi-Fi: a table on stdout, progress
/// on stderr, the JSON file. Returns an exit code: 0 ok, 1 interrupted or failed, 2 usage, 3 a message through a bridge
/// of Cardan got no answer. Without the rights for a network it says so, measures nothing and returns 0. Blocks until
/// the end; call it from a process with one thread.
int run_v2x_bench(const V2xArguments& arguments);

}  // namespace cardan::bench
