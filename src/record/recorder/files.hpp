// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "cardan/recorder.hpp"
#include "src/record/recorder/bag_folder.hpp"
#include "src/record/recorder/segment.hpp"
#include "src/record/recorder/split_rule.hpp"
#include "src/record/recorder/worker.hpp"

namespace cardan::record {

/// The files of a recording: makes the next one before it is needed, asks for room ahead of the writes, finishes those
/// that are full, deletes the oldest where that is asked for, watches the disk. Blocking calls run on its thread.
/// Functions: the thread that records; none blocks but the constructor, first() and finish_all().
class Files {
 public:
  /// Throws Error (InvalidArgument, System): the preamble's attachments cannot be read.
  Files(const RecorderOptions& options, const DiskProbe& probe, IoQueue& queue);
  Files(const Files&) = delete;
  Files& operator=(const Files&) = delete;
  ~Files();

  /// This many bytes of the current file are from before its start: it may be longer by them.
  void note_carried(std::uint64_t bytes) noexcept { carried_ = bytes; }
  /// The first file. Throws Error; also (System) if less is free than must stay free.
  std::unique_ptr<Segment> first();
  /// Makes the next one, if nobody does.
  void prepare_next();
  /// It; null: not there yet. `failure()` says whether it never will be.
  std::unique_ptr<Segment> next();
  /// Writes the end of a quiet segment, and gives the file its name.
  void finish(std::unique_ptr<Segment> segment, std::vector<mcap::Metadata> metadata);
  /// The topics' samples in files whose last sync failed since the last call: the disk may not have it.
  [[nodiscard]] std::vector<Share> take_lost();
  /// Waits for all that is under way, and removes what was prepared in vain.
  void finish_all();

  /// Asks for room ahead of `segment`, as it needs; looks at the disk now and then.
  void look_after(Segment& segment, std::int64_t now);
  /// Whether this many more bytes may be written, with the file's end after them. If not, asks for that room.
  bool has_room(Segment& segment, std::uint64_t bytes);
  /// No room can be had for this file any more: neither on the disk nor by deleting what may be deleted.
  [[nodiscard]] bool out_of_room(const Segment& segment) const noexcept;
  void look_again() noexcept { out_of_room_ = too_little_ = false; }  ///< something can be deleted now
  /// Lets the page cache go, of what is durable.
  void drop_cache(Segment& segment);
  /// Deletes the oldest finished file; false: no such file.
  bool delete_oldest();
  /// Whether a finished file could be deleted for the sake of the next ones, or one will be there soon.
  [[nodiscard]] bool can_delete() const;
  /// When the oldest finished file was finished (steady clock); the largest number: no such file.
  [[nodiscard]] std::int64_t oldest_ended_ns() const;

  /// Free space on the disk, and space that is reserved but not written yet.
  [[nodiscard]] std::uint64_t free_bytes() const noexcept { return free_.load(std::memory_order_relaxed); }
  [[nodiscard]] std::vector<std::string> finished() const;
  [[nodiscard]] std::string failure() const;
  /// "less than 1024 MiB are left …", for people.
  [[nodiscard]] std::string lack() const;

 private:
  std::unique_ptr<Segment> make(std::size_t number);
  [[nodiscard]] std::uint64_t spare() const noexcept;
  [[nodiscard]] std::uint64_t most_of_a_file() const noexcept;
  void reserve(RecordingFile& file, std::uint64_t to, std::uint64_t needed, std::uint64_t written);
  bool free_up(std::uint64_t missing);
  bool delete_now();
  void note_free();
  void look_at_space(RecordingFile& file, std::uint64_t position, std::uint64_t written);
  void ask_for_room(Segment& segment, std::uint64_t needed);
  [[nodiscard]] std::uint64_t deletable_bytes() const;
  void remove_file(const std::string& path);
  void refuse_earlier_files() const;
  void refuse_earlier_folder() const;
  void note_finished(Segment& segment, const SeamLayout::Trailer& trailer);
  void write_folder();
  void fail(const std::string& what);
  [[nodiscard]] bool splits() const noexcept { return record::splits(options_.split_bytes, options_.split_time); }

  const RecorderOptions& options_;
  DiskProbe probe_;
  IoQueue& queue_;
  std::string folder_;
  SeamLayout::Preamble preamble_;
  std::uint64_t window_ = 0;  ///< bytes that are asked for at once
  std::size_t made_ = 0;      ///< of the worker, after first()
  std::atomic<std::int64_t> prepare_after_ns_{0};
  std::int64_t space_at_ns_ = 0;
  std::uint64_t asked_bytes_ = 0;  ///< by the last has_room() that said no
  std::atomic<bool> preparing_{false}, allocating_{false}, refused_room_{false};
  std::atomic<bool> out_of_room_{false};  ///< a file did not get what it needs
  std::atomic<bool> too_little_{false};   ///< less is free than must stay free
  std::atomic<std::uint64_t> free_{~std::uint64_t{0}};
  std::atomic<std::uint64_t> reserved_{0}, carried_{0};
  std::atomic<std::size_t> finishing_{0};
  std::int64_t deleted_ns_ = 0;  ///< of the worker
  BagFolder bag_;                ///< of the worker
  mutable std::mutex mutex_;
  std::unique_ptr<Segment> next_;
  struct Finished {
    std::uint64_t number;
    std::string path;
    std::int64_t ended_ns;
    std::uint64_t bytes;
  };
  std::deque<Finished> finished_;
  std::string failure_;
  std::vector<Share> lost_;
  std::unique_ptr<Worker> worker_ = std::make_unique<Worker>();
};

}  // namespace cardan::record
