// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

namespace cardan::bench {

/// The words of the command line, as typed.
struct V2xArguments {
  std::string only{}, json{};
  std::optional<double> seconds{}, hz{};
  std::optional<int> runs{}, bytes{};
  std::optional<double> delay_ms{}, jitter_ms{}, loss_percent{}, rate_mbit{};
  bool quick = false;
  std::string part{};  ///< this process plays a part of a run; JSON
};

/// "udp,tcp,cardan-dds,cardan-zenoh,fastdds"
std::string names_of_v2x_peers();

/// Measures the round trip of a small message between two networks over a link like Wi-Fi: a table on stdout, progress
/// on stderr, the JSON file. Returns an exit code: 0 ok, 1 interrupted or failed, 2 usage, 3 a message through a bridge
/// of Cardan got no answer. Without the rights for a network, or without all peers, it says so, measures nothing and
/// returns 0. Blocks until the end; call it from a process with one thread.
int run_v2x_bench(const V2xArguments& arguments);

}  // namespace cardan::bench
