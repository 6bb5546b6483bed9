// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bench/results/arguments.hpp"
#include "bench/transport/conditions.hpp"

namespace cardan::bench {

/// A name of at most 23 characters, for shared memory.
struct ShortName {
  constexpr ShortName() = default;
  explicit constexpr ShortName(std::string_view text) {
    for (std::size_t i = 0; i < text.size() && i + 1 < name.size(); ++i) name[i] = text[i];
  }
  std::array<char, 24> name{};
  friend bool operator==(const ShortName&, const ShortName&) = default;
};
/// A peer by its name. How it is measured: `peers/peer.hpp`.
using Peer = ShortName;
inline constexpr Peer kRaw{"raw"};        ///< the reference of every ratio
inline constexpr Peer kCardan{"cardan"};  ///< what it loses changes the exit code
inline constexpr Peer kCardanReliable{"cardan-reliable"};
enum class Wait : std::uint32_t { Block, Spin, Poll, Prewake, Soon, Anticipate };

std::string_view name_of(const ShortName& name) noexcept;  ///< as long as `name` lives
std::string_view name_of(Wait wait) noexcept;

/// Publishing and reading processes of a topic, and how often that is there at the same time.
struct Scenario {
  std::uint32_t publishers = 1;
  std::uint32_t subscribers = 1;
  std::uint32_t links = 1;  ///< each with its own topic and processes; conditions hold for all together
  bool asks = false;        ///< each frame is a question, and its publisher waits for the answer
  friend bool operator==(const Scenario&, const Scenario&) = default;
};

std::string name_of(Scenario scenario);    ///< "1p5s", "4x1p1s", "ask"
std::string name_of_bytes(std::size_t n);  ///< "128 B", "4 KiB", "900 KiB", "8 MiB"

/// One line of the measurement's grid: every peer is measured in it.
struct Cell {
  Scenario scenario;
  std::size_t bytes = 0;
  double rate_hz = 0;
  std::uint32_t frames = 0;  ///< of each publisher in one run, the discarded ones included
  std::uint32_t warmup = 0;  ///< frames that are discarded at the start
  ShortName sensor{};        ///< whose message and rate they are; empty: a size
  Conditions conditions{};   ///< what surrounds the frames
  friend bool operator==(const Cell&, const Cell&) = default;
};

std::string name_of(const Cell& cell);  ///< its scenario, and its sensor and conditions if it has any: "1p1s imu fifo"

/// One peer with one way of waiting.
struct Contender {
  Peer peer = kRaw;
  Wait wait = Wait::Block;
  friend bool operator==(const Contender&, const Contender&) = default;
};

/// The measurement of `cardan bench transport`, checked and complete: made by `parse_options`.
struct TransportOptions {
  std::vector<Contender> contenders;  ///< in the order of measurement; the order rotates from run to run
  std::vector<Cell> cells;
  std::vector<std::string> left_out;  ///< sentences: conditions that cannot be had here
  std::uint32_t runs = 5;             ///< rounds over all cells and contenders, interleaved
  int publisher_cpu = 0;              ///< every publisher is pinned to it
  std::vector<int> reader_cpus;       ///< readers take them in turn
  bool micro = false;                 ///< also single operations: loan + publish, attach, discovery
  double minutes = 0;                 ///< no new round and no repetition that would end later; 0: no limit
  std::string json;                   ///< file for the results; empty: none
  std::vector<std::string> role_command{"bench", "transport"};  ///< with which this program plays a role
  bool is_role = false;  ///< this process is a publisher or reader that the harness started
  int role_fd = -1;
  std::uint32_t role_index = 0;
};

/// The words of the command line, as typed; empty or 0: not given.
struct TransportArguments {
  std::string peers{}, scenarios{}, sizes{}, sensors{}, waits{}, rates{}, conditions{}, reader_cpus{}, json{};
  double minutes = 0;
  int runs = 0, frames = 0, publisher_cpu = -1;
  bool full = false, quick = false, micro = false;
  int role_fd = -1;
  int role_index = 0;
};

/// Checks and completes what was typed, for a machine with the CPUs `cpus` (those this process may use). Throws
/// cardan::Error{InvalidArgument} that names the word and what would be right.
TransportOptions parse_options(const TransportArguments& arguments, const std::vector<int>& cpus);

std::size_t parse_size(std::string_view word);   ///< "128", "4K", "64KiB", "8M", "640*480*3"
Scenario parse_scenario(std::string_view word);  ///< "1p10s", "4x1p1s", "ask"

/// The usual rate of a payload: 100 Hz up to 64 KiB (lists, states), 30 Hz above (cameras).
double usual_rate_hz(std::size_t bytes) noexcept;

/// The peers of these contenders, each once.
std::vector<Peer> peers_of(const std::vector<Contender>& contenders);

/// Whether a contender makes sense in a scenario: readers that spin for ever need a CPU each, and so do publishers,
/// which spin too then and have one CPU together. Each process of several links needs one. With SCHED_FIFO they would
/// keep the kernel's own threads waiting. A peer without answers is left out of `ask`.
bool fits(const Contender& contender, const Cell& cell, std::size_t reader_cpus) noexcept;

/// Seconds that one run of one contender in a cell takes, starting the processes included.
double expected_seconds(const Cell& cell) noexcept;

/// Seconds of the whole selection without repetitions.
double expected_seconds(const TransportOptions& options) noexcept;

}  // namespace cardan::bench
