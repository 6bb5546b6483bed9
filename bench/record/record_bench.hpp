// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "bench/record/disk_folder.hpp"
#include "bench/record/measure.hpp"
#include "bench/record/options.hpp"
#include "bench/record/report.hpp"
#include "bench/temporary_folder.hpp"
#include "bench/transport/progress.hpp"

namespace cardan::bench::recording {

/// All parts of `cardan bench record`, one after the other. Not to be shared by threads; blocks.
class RecordBench {
 public:
  /// Throws Error: the folder cannot be used, or its disk has no room.
  RecordBench(const RecordOptions& options, Stopped asked);

  void run();
  [[nodiscard]] const Rows& rows() const noexcept { return rows_; }
  [[nodiscard]] const RecordCircumstances& circumstances() const noexcept { return circumstances_; }
  /// Messages that Cardan's recorder lost at loads of at most 80 % of what fio wrote, or that it damaged.
  [[nodiscard]] std::uint64_t lost_within_reach() const;

 private:
  void rate();
  void phases();
  void cameras();
  void sweep(Schedule schedule, std::uint32_t round);
  void mix();
  void task();
  void bystander();
  void pipeline();

  struct Load {
    Part part = Part::Rate;
    Sensors sensors{};
    std::uint32_t cameras = 0;
    Schedule schedule = Schedule::Absolute;
    double seconds = 0;
    bool reader = false, task = false;
    char scene = 0;
  };
  /// Each of `peers` under `load`, `runs` times, their order rotating.
  void compare(const std::vector<Peer>& peers, const Load& load, std::uint32_t runs);
  /// One peer once, again when too much was stolen. Empty: it failed, was stopped, or has no room.
  std::optional<RunFigures> measure(Peer peer, const Load& load, std::uint32_t round);
  void run_fio_once(bool direct, std::uint32_t round);
  [[nodiscard]] std::vector<Peer> those_here(std::vector<Peer> peers) const;
  [[nodiscard]] Row& row_for(Peer peer, const Load& load);
  [[nodiscard]] double fio_rate(Peer peer) const;  ///< 0: not measured
  [[nodiscard]] bool stopped() const { return setting_.stopped(); }
  void leave_out(std::string sentence);
  void fail(std::string sentence);

  const RecordOptions& options_;
  DiskFolder folder_;
  TemporaryFolder run_directory_;  // so that the bench neither sees nor disturbs what runs on this computer
  Setting setting_;
  Progress progress_;
  Rows rows_;
  RecordCircumstances circumstances_;
  std::set<Peer> failed_;  ///< programs of others that did not run once are not tried again
};

}  // namespace cardan::bench::recording
