// SPDX-License-Identifier: Apache-2.0
// Peers that need another middleware's library are modules in a folder next to the program, which `make bench-peers`
// builds from bench/transport/peers/others. So a process of the bench has only the library of the peer that it plays.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace cardan::bench {

/// A module that this bench may have: "fastdds", whose peers are named "fastdds" and "fastdds-…".
struct KnownModule {
  std::string name;
  std::string packages;  ///< Debian packages that building it needs
  std::string version;   ///< of the software that it was built with; empty: unknown
};
/// All that the bench knows, built or not.
const std::vector<KnownModule>& known_modules();

/// Adds the peers of all modules that were built (peers/peer.hpp). Returns what could not be loaded, in words.
/// Not thread safe; loads libraries.
std::vector<std::string> load_all_modules();
/// The same for the module of one peer; a peer of the bench itself needs none. Throws Error (Unavailable).
void load_module_of(std::string_view peer);

/// The version of the software that a peer of this name is: "2.9.1". Empty: it is the bench's own, or unknown.
std::string module_version(std::string_view peer);

/// Where a peer of this name would come from, as a remedy: "make bench-peers builds it (libzmq3-dev)". Empty: nowhere.
std::string module_remedy(std::string_view peer);

}  // namespace cardan::bench
