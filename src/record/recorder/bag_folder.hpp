// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "cardan/mcap/records.hpp"

namespace cardan::record {

/// The metadata.yaml of a folder that a recording has to itself: ROS 2's tools open the folder by it. One thread at a
/// time.
class BagFolder {
 public:
  static constexpr const char* kName = "metadata.yaml";

  /// Versions for Humble, and for Jazzy and newer: from 9 on, the profiles of a topic are not a text any more.
  static constexpr int kVersion = 8;

  /// `storage`: what rosbag2 calls the form of its files.
  explicit BagFolder(std::string folder, std::string storage = "mcap")
      : folder_(std::move(folder)), storage_(std::move(storage)) {}

  /// A finished file, with what its summary says. Channels that ROS 2 cannot read are left out: its tools refuse a
  /// folder in which there is one.
  void add(const std::string& path, const mcap::Statistics& statistics, const std::vector<mcap::Schema>& schemas,
           const std::vector<mcap::Channel>& channels);
  void remove(const std::string& path);
  /// In the place of the one before; with no file left, none. Throws Error (System). Blocks for the disk.
  void write() const;

  [[nodiscard]] std::string text() const;

 private:
  struct Topic {
    std::string name{}, type{}, qos{}, hash{};
    [[nodiscard]] auto operator<=>(const Topic&) const = default;
  };
  struct File {
    std::string name{};
    std::uint64_t messages = 0, first_ns = 0, last_ns = 0;
    std::map<Topic, std::uint64_t> topics{};
  };
  std::string folder_, storage_;
  std::deque<File> files_;
};

}  // namespace cardan::record
