// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cardan/detail/duration.hpp"
#include "cardan/detail/function.hpp"
#include "cardan/disk_mode.hpp"
#include "cardan/mcap/compression.hpp"
#include "cardan/recorder_report.hpp"
#include "cardan/schedule.hpp"
#include "cardan/topic.hpp"

namespace cardan::record {

/// Settings for the topics that match a pattern (`*` and `?`). The first matching rule applies.
struct TopicRule {
  std::string pattern{};    ///< of the topics' names
  std::uint32_t every = 1;  ///< 1: every sample; n: every n-th, and the others do not count as losses
  double max_rate_hz = 0;   ///< the most samples a second; 0: all
  std::optional<mcap::Compression> compression{};  ///< of its chunks; samples of a compressed topic are always copied
};

/// The recorder's reaction to a disk that is nearly full.
enum class OnFull : std::uint8_t {
  Stop,          ///< the recording ends in order
  DeleteOldest,  ///< this recording's oldest file is deleted; needs `split_bytes` or `split_time`
};

/// Which topics are recorded, to which files, and how.
struct RecorderOptions {
  /// The file, as "drive.mcap". While it is written its name is "drive.mcap.active". With splits the files are
  /// "drive_0001.mcap", "drive_0002.mcap"…
  std::string path{};
  /// The file's folder belongs to this recording alone. It is made if it does not exist, and gets the metadata.yaml
  /// with which ROS 2's tools open folders.
  bool folder = false;
  std::string domain{};  ///< empty: $CARDAN_DOMAIN, or "default" if that is not set
  /// The users whose publications are recorded, as for every subscriber: the same user only, unless this allows more.
  /// Other users can then fill the disk. The report counts refused publications.
  Access access = Access::Owner;

  /// Log times are those of /clock (rosgraph_msgs/msg/Clock), as a simulator or `cardan play --clock` publishes it.
  /// Samples before its first message are left out. False: log times are those of the wall clock.
  bool simulated_clock = false;
  /// Publishes RecorderStatistics on /cardan/record/statistics once a second. Monitors read it, and components that
  /// start wait for recorders by it.
  bool statistics = true;

  /// Origin and cause of each recorded sample are in the file, too, on /cardan/causes: `cardan bag chain` finds by them
  /// where the time went. Some 20 bytes a sample (docs/chains.md), from the first one on that rests on another.
  bool causes = true;

  /// The recorded topics: those that match one of `topics` or `expressions` or have one of `types`, and that match none
  /// of the exclusions. All three empty: all topics. Later topics are recorded from their first sample that is still
  /// available. A topic whose type changes gets one more channel. `topics`: names, or patterns with `*` and `?`.
  std::vector<std::string> topics{};
  std::vector<std::string> types{};        ///< names of types, or patterns
  std::vector<std::string> expressions{};  ///< regular expressions (POSIX extended) that match a part of the name
  std::vector<std::string> exclude{};      ///< names, or patterns
  std::vector<std::string> exclude_expressions{};  ///< as `expressions`
  std::vector<TopicRule> rules{};                  ///< settings of single topics; the others are recorded completely
  /// Where a topic offers reliable delivery, its publisher waits for the recorder, up to the topic's time limit, before
  /// it overwrites a sample that the recorder has not taken. The recording then has no gaps. For publishers that may be
  /// slowed down.
  bool reliable = false;
  bool start_paused = false;  ///< until pause(false)

  /// Budget of each topic's own queue, in bytes: how much of a topic a stall of the disk may keep, in the publisher's
  /// slots for large samples, in our memory for small ones. A larger budget survives longer stalls and costs the
  /// publisher slots.
  std::uint64_t queue_bytes = std::uint64_t{128} << 20;
  /// The queue's limit in time: a sample that has waited longer is lost instead of written. 0: no limit.
  std::chrono::nanoseconds queue_time = std::chrono::seconds{5};
  /// Samples of this size or more are held in the publisher's slot and written from there. Smaller ones are copied into
  /// chunks of many. A smaller value copies fewer bytes, but each held sample costs 4 KiB of the file.
  std::uint64_t held_from = 64 << 10;
  /// Copies all samples, as SPEED does. This frees the publisher's slot at once, but costs memory and a pass over the
  /// bytes.
  bool copy = false;

  /// Size of the chunks of small samples; a full chunk is written. Larger ones compress better, but a reader unpacks
  /// more for one message.
  std::uint64_t chunk_bytes = 1 << 20;
  /// A chunk of this age is written, full or not. Less loses fewer samples in a crash, and makes more and smaller
  /// chunks.
  std::chrono::nanoseconds chunk_time = std::chrono::milliseconds{200};
  /// Of the chunks of small samples: smaller files for CPU time.
  mcap::Compression compression = mcap::Compression::None;
  /// Of all compression, as `mcap::levels_of` allows; higher levels take longer. 0: the default of each method.
  int level = 0;

  bool checksums = true;        ///< of chunks of copied samples; the bytes are in the cache anyway
  bool held_checksums = false;  ///< of held samples too: one more pass over all bytes, 0.1 ms a MiB

  /// How the disk is written. Empty: the best mode that the file system and the kernel allow.
  std::optional<DiskMode> mode{};
  bool use_io_uring = true;  ///< false: threads, as on systems that forbid io_uring
  /// How often written data is made durable. A power loss costs the data since then; each time makes the disk flush its
  /// cache. 0: only at the end.
  std::chrono::nanoseconds sync_interval = std::chrono::seconds{1};
  /// The most bytes that are being written to the disk at once. More survives short stalls inside the disk; less leaves
  /// the disk to others sooner.
  std::uint64_t in_flight_bytes = std::uint64_t{48} << 20;

  /// When the disk is written: at once, evenly, or while the applications idle.
  SchedulerOptions schedule{};

  std::uint64_t split_bytes = 0;                     ///< a new file after this many bytes; 0: never
  std::chrono::nanoseconds split_time{0};            ///< a new file after this time; 0: never
  std::uint64_t min_space = std::uint64_t{1} << 30;  ///< bytes that stay free on the disk
  OnFull on_full = OnFull::Stop;                     ///< if fewer are left: end, or lose the oldest file

  /// Flight recorder: keeps only the samples of this time, in files of a quarter of that time each, until trigger().
  /// From then on everything is kept, those files included. Without a trigger() nothing is left at the end. 0:
  /// everything is kept. It writes to the disk all the time, so the time may be longer than memory would allow.
  std::chrono::nanoseconds keep_last{0};

  /// Nanoseconds that the wall clock is ahead of the steady clock. Empty: of this computer. For tests.
  std::function<std::int64_t()> wall_clock_ahead{};

  /// In the first records of each file: "configuration" → the configuration that ran.
  std::vector<std::pair<std::string, std::map<std::string, std::string>>> metadata{};
  std::vector<std::string> attachments{};  ///< files that are copied into each recorded file
};

/// Records topics into MCAP files. It has one thread that takes samples and writes them, and others for work that may
/// take long: finding topics, making and closing files, compressing.
/// Thread safety: any thread. The constructor and stop() block, the rest does not.
class Recorder {
 public:
  /// Starts recording. Throws Error: InvalidArgument (options, or the file exists), System (the disk, also if less than
  /// `min_space` is free), Unavailable (no run directory).
  explicit Recorder(RecorderOptions options);
  /// Calls stop() and logs its errors.
  ~Recorder();
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  /// Writes the samples that were taken, finishes the file and gives it its final name. A second call does nothing.
  void stop();

  void pause(bool paused);                     ///< during a pause nothing is recorded, and nothing counts as lost
  [[nodiscard]] bool paused() const noexcept;  ///< as pause() or RecorderOptions::start_paused set it
  void split();                                ///< later samples go into the next file
  void trigger();                              ///< with `keep_last`: from now on everything is kept

  /// True if the recording ended by itself: the disk is full, or failed. report().failure has the reason.
  [[nodiscard]] bool ended() const noexcept;
  /// The work so far, as the recorder's thread last reported it.
  [[nodiscard]] RecorderReport report() const;

 private:
  class Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace cardan::record
