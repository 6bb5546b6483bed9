// SPDX-License-Identifier: Apache-2.0
// The output of a topic's messages.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <string>

#include "apps/bag/export/images.hpp"
#include "apps/bag/export/workers.hpp"
#include "apps/protobuf/protobuf.hpp"
#include "cardan/mcap/reader.hpp"

namespace cardan::apps {

/// Where a topic's files go: STEM.csv, STEM.mp4, STEM/….
struct ExportPlace {
  std::filesystem::path folder{};
  std::string stem{};
  bool replace = false;

  [[nodiscard]] std::string path(const std::string& ending) const { return (folder / (stem + ending)).string(); }
};

/// The result of a topic's messages.
struct ExportTally {
  struct Skipped {
    std::uint64_t messages = 0, first_log_time = 0;
  };

  std::uint64_t messages = 0, files = 0;
  std::map<std::string, Skipped> skipped{};  ///< by cause
  std::set<std::string> counted_lists{};     ///< columns of lists that were too long for the table

  void skip(std::string cause, std::uint64_t log_time);
};

/// Its functions are called by one thread, with the messages by time. They throw Error (System) when the disk is full,
/// and block for it.
class TopicOutput {
 public:
  virtual ~TopicOutput() = default;

  /// Whether learn() has to see all messages before the first take().
  [[nodiscard]] virtual bool wants_to_learn() const { return false; }
  virtual void learn(const mcap::MessageView&) {}
  virtual void take(const mcap::MessageView& message) = 0;
  /// After the last message, and when no work is left.
  virtual void finish() {}

  /// "png", "csv"; empty: it can become nothing.
  [[nodiscard]] virtual std::string as() const = 0;
  /// Names that it will use, relative to the place's folder.
  [[nodiscard]] virtual std::set<std::string> files() const = 0;
  [[nodiscard]] const ExportTally& tally() const noexcept { return tally_; }

 protected:
  ExportTally tally_;
};

/// A table, of ROS 2 messages (cdr, ros2msg), of JSON or of Protobuf. Throws Error when the definition makes no sense.
[[nodiscard]] std::unique_ptr<TopicOutput> ros_table(ExportPlace place, const mcap::Schema& schema,
                                                     std::size_t longest_list);
[[nodiscard]] std::unique_ptr<TopicOutput> json_table(ExportPlace place, std::size_t longest_list);
[[nodiscard]] std::unique_ptr<TopicOutput> protobuf_table(ExportPlace place, std::shared_ptr<const ProtobufType> type,
                                                          std::size_t longest_list);

/// One file a frame, made on other threads, and a table of them. `workers` must be drained before finish() is called.
/// Images throw Error (Unavailable) without OpenCV.
[[nodiscard]] std::unique_ptr<TopicOutput> image_files(ExportPlace place, PictureOptions options, Workers& workers);
[[nodiscard]] std::unique_ptr<TopicOutput> compressed_image_files(ExportPlace place, PictureOptions options,
                                                                  Workers& workers);
[[nodiscard]] std::unique_ptr<TopicOutput> cloud_files(ExportPlace place, Workers& workers);

/// One video of all frames, at `rate` frames a second, and a table with the time of each.
[[nodiscard]] std::unique_ptr<TopicOutput> image_video(ExportPlace place, double rate);
[[nodiscard]] std::unique_ptr<TopicOutput> compressed_image_video(ExportPlace place, double rate);

/// For what cannot be written: every message is left out for the same cause.
[[nodiscard]] std::unique_ptr<TopicOutput> nothing_of(std::string cause);

}  // namespace cardan::apps
