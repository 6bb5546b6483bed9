// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace cardan::bench {

/// A carrier of frames between the components (or threads) of one process.
enum class RuntimePeer : std::uint8_t {
  Handover,  ///< two pinned threads, a queue with a mutex and a condition variable each way: the least that C++ offers
  Pointer,   ///< Cardan components, an object of any C++ type by its pointer
  Slot,      ///< Cardan components, a message in a slot of shared memory
  Nodelet,   ///< ROS 1 nodelets, messages that were written before the run, by their shared_ptr
  NodeletNew,  ///< ROS 1 nodelets, each message allocated and written before it is published
};
std::string_view name_of(RuntimePeer peer) noexcept;     ///< as in the rows: "handover", "cardan", "nodelet"
std::string_view variant_of(RuntimePeer peer) noexcept;  ///< "condvar", "pointer", "slot", "new"
bool is_cardan(RuntimePeer peer) noexcept;
bool is_nodelet(RuntimePeer peer) noexcept;

/// Frames that may wait for a callback, the same for all peers; of more the oldest is dropped, and counts as lost.
inline constexpr std::uint32_t kRuntimeDepth = 4;

/// FastCycle's workload (its section IV-A): a frame each millisecond, the payload written once, one component that gets
/// it, stamps, and sends it back; or several that only stamp.
struct RuntimeCell {
  std::size_t bytes = 0;
  std::uint32_t readers = 1;
  bool echo = true;
};

struct RuntimeBenchOptions {
  std::vector<RuntimeCell> cells;
  std::uint32_t runs = 5;
  std::uint32_t frames = 1000;  ///< a run, the discarded ones included
  std::uint32_t warmup = 100;   ///< discarded
  std::int64_t interval_ns = 1'000'000;
  std::uint32_t fusion_cycles = 30;  ///< of 100 ms: a run of a fusion (bench/runtime/fusion.hpp)
  int publisher_cpu = 0;
  int reader_cpu = 1;
};

/// In µs, of the frames after the discarded ones.
struct RuntimeSamples {
  std::vector<double> latency_us;  ///< just before publish → first line of the callback; of all readers
  std::vector<double> rtt_us;      ///< just before publish → back in the publisher's callback
  std::vector<double> first_us;    ///< several readers: the first one's latency
  std::vector<double> last_us;     ///< the last one's
  std::uint64_t sent = 0, lost = 0;
  double steal_percent = 0;  ///< of the computer meanwhile; the caller that repeats runs sets it
};

/// One run of one peer; blocks for frames × interval. Starts and ends its own threads.
RuntimeSamples run_handover(const RuntimeCell& cell, const RuntimeBenchOptions& options);
RuntimeSamples run_components(const RuntimeCell& cell, RuntimePeer peer, const RuntimeBenchOptions& options);

/// When each frame was sent, received by each reader, and back; filled by the run, evaluated here.
struct RuntimeStamps {
  explicit RuntimeStamps(const RuntimeCell& cell, const RuntimeBenchOptions& options);
  std::vector<std::int64_t> sent, back;
  std::vector<std::vector<std::int64_t>> received;  ///< [reader][frame]
  [[nodiscard]] RuntimeSamples evaluate(const RuntimeCell& cell, const RuntimeBenchOptions& options) const;
};

}  // namespace cardan::bench
