// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cardan/mcap/compression.hpp"
#include "cardan/record/disk/disk_mode.hpp"
#include "cardan/record/recorder/report.hpp"
#include "cardan/record/schedule/scheduler.hpp"
#include "cardan/transport/topic.hpp"

namespace cardan::record {

/// What holds for the topics that fit a pattern (`*` and `?`); the first rule that fits counts.
struct TopicRule {
  std::string pattern{};
  std::uint32_t every = 1;                         ///< 1: every sample; n: each n-th, the others are not losses
  double max_rate_hz = 0;                          ///< at most so many a second; 0: all
  std::optional<mcap::Compression> compression{};  ///< of its chunks; a compressed topic is copied, whatever its size
};

/// What is done when the disk is nearly full.
enum class OnFull : std::uint8_t {
  Stop,          ///< the recording ends in order
  DeleteOldest,  ///< this recording's oldest file goes; needs `split_bytes` or `split_time`
};

struct RecorderOptions {
  /// The file, as "drive.mcap"; while it is written it is called "drive.mcap.active". With splits the files are
  /// "drive_0001.mcap", "drive_0002.mcap"…
  std::string path{};
  /// The file's folder is this recording's alone: it is made if it is not there, and gets the metadata.yaml by which
  /// ROS 2's tools open folders.
  bool folder = false;
  std::string domain{};  ///< empty: $CARDAN_DOMAIN, else "default"
  /// Whose publications are recorded, as with every reader: the same user's only, unless this says more. Others are
  /// named in the report.
  Access access = Access::Owner;

  /// Log times are those of /clock (rosgraph_msgs/msg/Clock), as a simulator or `cardan play --clock` publishes it:
  /// what comes before its first message is left out. Else they are those of the wall clock.
  bool simulated_clock = false;
  /// Publish RecorderStatistics on /cardan/record/statistics once a second.
  bool statistics = true;

  // What is recorded: topics that fit one of `topics` or `expressions` or have one of `types`, and fit none of what is
  // excluded. All three empty: all topics. Topics that come later are recorded from their first sample that still can
  // be had; a topic whose type changes gets one more channel.
  std::vector<std::string> topics{};       ///< names, or patterns with `*` and `?`
  std::vector<std::string> types{};        ///< names of types, or patterns
  std::vector<std::string> expressions{};  ///< regular expressions (POSIX extended) that a part of the name fits
  std::vector<std::string> exclude{};      ///< names, or patterns
  std::vector<std::string> exclude_expressions{};  ///< as `expressions`
  std::vector<TopicRule> rules{};
  /// Where a topic offers reliable delivery, its publisher waits for the recorder, up to the topic's time limit, before
  /// it overwrites what the recorder has not taken: a recording without gaps, for publishers that may be slowed down.
  bool reliable = false;
  bool start_paused = false;  ///< until pause(false)

  /// Budget of each topic's own queue, in bytes: what a stall of the disk may keep of it, in the publisher's slots for
  /// large samples, in our memory for small ones. More rides out longer stalls, and costs the publisher slots.
  std::uint64_t queue_bytes = std::uint64_t{128} << 20;
  /// … and in time: what has waited longer is lost rather than written. 0: no limit.
  std::chrono::nanoseconds queue_time = std::chrono::seconds{5};
  /// Samples from this size on are held in the publisher's slot and written from there; smaller ones are copied into
  /// chunks of many. Smaller: fewer bytes copied, and 4 KiB of the file a sample for it.
  std::uint64_t held_from = 64 << 10;
  /// Copies all samples, as SPEED does: frees the publisher's slot at once, costs memory and a pass over the bytes.
  bool copy = false;

  std::uint64_t chunk_bytes = 1 << 20;  ///< of small samples; a chunk is written when full
  std::chrono::nanoseconds chunk_time = std::chrono::milliseconds{200};  ///< … or when so old
  mcap::Compression compression = mcap::Compression::None;               ///< of the chunks of small samples
  int level = 0;  ///< of all compression, as `mcap::levels_of` allows; 0: the default of each

  bool checksums = true;        ///< of chunks of copied samples, over bytes that are in the cache anyway
  bool held_checksums = false;  ///< of held samples too: one more pass over all bytes, 0.1 ms a MiB

  /// How the disk is written; empty: the best that the file system and the kernel allow.
  std::optional<DiskMode> mode{};
  bool use_io_uring = true;  ///< false: threads, as where io_uring is forbidden
  /// How often what was written is made durable: what a power loss may cost. 0: never, but at the end.
  std::chrono::nanoseconds sync_interval = std::chrono::seconds{1};
  /// Bytes written to the disk at once at most. More rides over short stalls inside the disk; fewer leave it to others
  /// sooner.
  std::uint64_t in_flight_bytes = std::uint64_t{48} << 20;

  /// When the disk is written: at once, evenly, or while the applications idle.
  SchedulerOptions schedule{};

  std::uint64_t split_bytes = 0;                     ///< a new file after so many bytes; 0: never
  std::chrono::nanoseconds split_time{0};            ///< … or so long; 0: never
  std::uint64_t min_space = std::uint64_t{1} << 30;  ///< bytes that stay free on the disk
  OnFull on_full = OnFull::Stop;

  /// Flight recorder: only so much is kept, in files of a quarter of it, until trigger(); then what is there and what
  /// follows stays. Never triggered, nothing is left at the end. 0: everything is kept. Writes to the disk all the
  /// time, so that it may be longer than memory would allow.
  std::chrono::nanoseconds keep_last{0};

  /// In the first records of each file: "configuration" → what ran.
  std::vector<std::pair<std::string, std::map<std::string, std::string>>> metadata{};
  std::vector<std::string> attachments{};  ///< files that are copied into each file
};

/// Records topics into MCAP files. Has one thread of its own that takes samples and writes them, and others for what
/// may take long: finding topics, making and closing files, compressing. Thread safety: any thread. Constructor and
/// stop() block, the rest does not.
class Recorder {
 public:
  /// Starts recording. Throws Error: InvalidArgument (options, the file is there already), System (the disk, also if
  /// less is free than `min_space`),
  /// Unavailable (no run directory).
  explicit Recorder(RecorderOptions options);
  /// stop(), whose errors it logs.
  ~Recorder();
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  /// Writes what has been taken, finishes the file and gives it its name. The second call does nothing.
  void stop();

  void pause(bool paused);  ///< while paused nothing is recorded, and nothing is lost
  [[nodiscard]] bool paused() const noexcept;
  void split();    ///< what comes from now on goes into the next file
  void trigger();  ///< with `keep_last`: from now on everything is kept

  /// The recording ended by itself: a full disk, an error of it. report().failure says why.
  [[nodiscard]] bool ended() const noexcept;
  [[nodiscard]] RecorderReport report() const;

 private:
  class Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace cardan::record
