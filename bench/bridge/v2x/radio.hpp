// SPDX-License-Identifier: Apache-2.0
// A radio link between two devices: what `tc netem` does in the kernel, for kernels without it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "cardan/detail/fd.hpp"

namespace cardan::bench::v2x {

/// Of each direction.
struct Link {
  double delay_ms = 2, jitter_ms = 1;  ///< normally distributed, never below 0
  double loss_percent = 1;
  double rate_mbit = 6;  ///< Mbit/s

  /// "6 Mbit/s, 2 ± 1 ms, 1 % loss"
  [[nodiscard]] std::string text() const;
  /// After `tc qdisc add dev NAME root`.
  [[nodiscard]] std::vector<std::string> netem() const;
};

/// When the frames of one direction arrive. They keep their order, as those of Wi-Fi do. Not thread safe.
class Air {
 public:
  static constexpr std::size_t kMostFrames = 1000;  ///< under way, as with netem

  Air(const Link& link, std::uint32_t seed) : link_(link), random_(seed) {}

  /// A frame is sent at `now` (steady, ns).
  void send(std::vector<std::byte> frame, std::int64_t now);
  /// When the next one arrives; 0: none is under way.
  [[nodiscard]] std::int64_t next() const noexcept { return under_way_.empty() ? 0 : under_way_.front().due; }
  /// Takes one that has arrived by `now`. False: no frame has.
  bool receive(std::vector<std::byte>& frame, std::int64_t now);
  [[nodiscard]] std::uint64_t lost() const noexcept { return lost_; }            ///< by the link's loss
  [[nodiscard]] std::uint64_t overflown() const noexcept { return overflown_; }  ///< because kMostFrames were under way

 private:
  struct Frame {
    std::int64_t due = 0;
    std::vector<std::byte> bytes{};
  };
  Link link_;
  std::mt19937 random_;
  std::deque<Frame> under_way_;
  std::int64_t busy_until_ = 0;
  std::uint64_t lost_ = 0, overflown_ = 0;
};

/// Carries frames between two descriptors, on its own thread, as long as it lives.
class Radio {
 public:
  /// Both must stay open. Throws Error (System).
  Radio(int one, int two, const Link& link);
  ~Radio();
  Radio(const Radio&) = delete;
  Radio& operator=(const Radio&) = delete;

 private:
  void run() noexcept;

  int one_, two_;
  Air there_, back_;
  Fd stop_;
  std::thread thread_;
};

}  // namespace cardan::bench::v2x
