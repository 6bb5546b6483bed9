// SPDX-License-Identifier: Apache-2.0
// A peer of the benchmark is one file of this folder: a PeerKind that it registers. Nothing else names it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "bench/transport/area.hpp"

namespace cardan::bench {

inline constexpr std::size_t kPage = 4096;
/// To whole pages.
constexpr std::size_t round_up(std::size_t n) { return (n + kPage - 1) / kPage * kPage; }

/// The common data of the roles of one run, made by the harness before it starts them: every descriptor is inherited,
/// so no peer has a rendezvous to measure or a name to remove. `owned[i]` are the descriptors that role i alone gets;
/// `shared` go to all.
struct Wiring {
  std::vector<Fd> shared;
  std::vector<std::vector<Fd>> owned;
};

class LinkWriter;
class LinkReader;
class FrameSink;
/// A peer's ends for a graph of processes (link.hpp). Null: the peer cannot be a link of a graph.
struct LinkEnds {
  std::unique_ptr<LinkWriter> (*writer)(const Area& area, std::uint32_t index) = nullptr;
  std::unique_ptr<LinkReader> (*reader)(const Area& area, std::uint32_t index, FrameSink& sink) = nullptr;
};

/// How a peer is measured.
struct PeerKind {
  Peer peer;
  /// Its place in tables and in the default selection, ascending.
  int place = 0;
  /// It is measured only when it is named: not by default, and not in the help.
  bool on_request = false;
  /// The ways of waiting that are measured when `wanted` are asked for.
  std::vector<Wait> (*waits)(const std::vector<Wait>& wanted) = nullptr;
  /// Makes what its roles share. Null: the peer finds its roles by its own discovery.
  Wiring (*wire)(const Cell& cell) = nullptr;
  /// Starts a program that the peer needs besides its roles, such as a daemon, when the bench begins. It ends with what
  /// is returned. Null: it needs none.
  std::shared_ptr<void> (*start_companion)(const std::string& folder) = nullptr;
  /// Plays one role of a run, in its own process: publishers first, then readers. Throws cardan::Error.
  void (*play)(const Area& area, std::uint32_t index) = nullptr;
  /// The same of the scenario `ask`: publish() returns when the answer is there. Null: the peer has no answers.
  void (*play_ask)(const Area& area, std::uint32_t index) = nullptr;
  /// Its ends for `cardan bench pipeline`.
  LinkEnds links{};
};

/// Adds a peer to the list, before main(). A second one of a name ends the program.
class RegisteredPeer {
 public:
  explicit RegisteredPeer(const PeerKind& kind);
};

/// All peers, by their place.
const std::vector<PeerKind>& all_peers();
/// Those that are measured by default, "raw,sim,uds,tcp,tzc,cardan".
std::string names_of_peers();
/// Null: nothing has that name.
const PeerKind* find_peer(std::string_view name);
/// Throws cardan::Error: an area names a peer that this program does not have.
const PeerKind& kind_of(const Peer& peer);

/// Those of `always`, then those of `optional` that are wanted.
std::vector<Wait> waits_of(std::vector<Wait> always, const std::vector<Wait>& optional,
                           const std::vector<Wait>& wanted);

/// Of a peer that has one way.
std::vector<Wait> block_only(const std::vector<Wait>& wanted);

/// A file of a publisher's in the folder that the harness made for this run.
std::string file_of_publisher(const char* peer, const Area& area, std::uint32_t publisher);

/// Starts what these need, each once: a second daemon would not start. It ends with what is returned. Without it, the
/// peer's runs will say that they were not ready; `fail` is told why. Blocks until they run.
std::vector<std::shared_ptr<void>> start_companions(const std::vector<Contender>& contenders, const std::string& folder,
                                                    const std::function<void(const std::string&)>& fail);

/// Of an area whose task is not Frames: single operations of Cardan.
void play_cardan_operation(const Area& area, std::uint32_t index);

}  // namespace cardan::bench
