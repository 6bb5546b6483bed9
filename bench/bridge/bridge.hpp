// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace cardan::bench {

/// The words of the command line, as typed; empty or 0: not given.
struct BridgeArguments {
  std::string only{}, json{};
  double seconds = 0;
  int runs = 0;
  bool quick = false;
  std::string part{};  ///< this process plays a part of a run; JSON
};

/// "publish,publish-small,dds-out,dds-native,dds-in,foxglove,zenoh"
std::string names_of_bridge_rows();

/// Measures the bridges with peers that others have written, in a network of this run alone: a table on stdout,
/// progress on stderr, the JSON file. Returns an exit code: 0 ok, 1 interrupted or failed, 2 usage, 3 a bridge lost
/// messages. Blocks until the end; call it from a process with one thread.
int run_bridge_bench(const BridgeArguments& arguments);

}  // namespace cardan::bench
