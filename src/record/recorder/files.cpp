// SPDX-License-Identifier: Apache-2.0
#include "src/record/recorder/files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <limits>
#include <thread>
#include <utility>

#include "cardan/clock.hpp"
#include "cardan/error.hpp"
#include "cardan/log.hpp"
#include "cardan/mcap/codec.hpp"
#include "cardan/mcap/input_file.hpp"
#include "src/record/metadata.hpp"
#include "src/record/recorder/selection.hpp"

namespace cardan::record {
namespace {

constexpr std::uint64_t kSmallestWindow = std::uint64_t{16} << 20;
constexpr std::uint64_t kLargestWindow = std::uint64_t{1} << 30;
constexpr std::uint64_t kLargestSplit = std::uint64_t{1} << 60;
constexpr std::int64_t kSpaceInterval = 250'000'000;
constexpr std::uint64_t kSoon = std::uint64_t{16} << 20;
/// The longest wait for the room of a deleted file.
constexpr std::int64_t kRoomShows = 1'000'000'000;
/// Room for the first records and the end of a file in which there is nothing.
constexpr std::uint64_t kLeastFile = 256 << 10;
/// The room that the file system takes for a file in many parts, and only when these are written.
constexpr std::uint64_t kOfTheFileSystem = 64 << 10;
/// Bytes around a chunk: seams, and metadata at the end.
constexpr std::uint64_t kMostSeams = 128 << 10;

/// How long the file may be with this many more bytes, and its end.
std::uint64_t needed_for(const Segment& segment, std::uint64_t bytes) noexcept {
  return segment.bytes() + bytes + kMostSeams + segment.layout().most_trailer_bytes();
}

bool no_room(int error) { return error == ENOSPC || error == EDQUOT; }

std::string first_line_of(const char* path) {
  std::string line;
  std::getline(std::ifstream(path), line);
  return line;
}

void add_attachment(SeamLayout::Preamble& preamble, const std::string& path, std::uint64_t now) {
  const mcap::InputFile in(path);
  mcap::Bytes content;
  if (!in.read_exactly(0, in.size(), content))
    throw Error(ErrorCode::System, "cannot read the attachment " + path,
                "it became shorter while it was read: try again");
  const mcap::Attachment attachment{.log_time = now,
                                    .create_time = now,
                                    .name = std::filesystem::path(path).filename().string(),
                                    .media_type = "application/octet-stream",
                                    .data = content};
  const std::size_t at = preamble.records.size();
  mcap::append(preamble.records, attachment);
  preamble.attachments.push_back({.offset = at,
                                  .length = preamble.records.size() - at,
                                  .log_time = now,
                                  .create_time = now,
                                  .data_size = content.size(),
                                  .name = attachment.name,
                                  .media_type = attachment.media_type});
}

}  // namespace

Files::Files(const RecorderOptions& options, const DiskProbe& probe, IoQueue& queue)
    : options_(options), probe_(probe), queue_(queue), folder_(folder_of(options.path)), bag_(folder_) {
  refuse_earlier_folder();
  const auto now = static_cast<std::uint64_t>(std::chrono::system_clock::now().time_since_epoch().count());
  for (const std::string& path : options.attachments) add_attachment(preamble_, path, now);
  for (const auto& [name, fields] : options.metadata) preamble_.metadata.push_back({.name = name, .metadata = fields});
  mcap::Metadata ours{.name = std::string(kCardanMetadata),
                      .metadata = {{"disk", probe.why},
                                   {"kernel", first_line_of("/proc/sys/kernel/osrelease")},
                                   {"host", first_line_of("/proc/sys/kernel/hostname")}}};
  if (!options.simulated_clock)
    ours.metadata[std::string(kWallClockAheadKey)] =
        std::to_string(options.wall_clock_ahead ? options.wall_clock_ahead() : wall_clock_ahead());
  preamble_.metadata.push_back(std::move(ours));
  note_free();
  window_ = std::clamp(free_.load() / 32, kSmallestWindow, kLargestWindow);
  window_ = std::min(window_, most_of_a_file());
}

Files::~Files() { worker_.reset(); }

/// How long a file will be, but for a last large sample.
std::uint64_t Files::most_of_a_file() const noexcept {
  constexpr std::uint64_t kLast = std::uint64_t{1} << 20;
  return options_.split_bytes == 0 ? std::numeric_limits<std::uint64_t>::max()
                                   : whole_blocks(std::min(options_.split_bytes, kLargestSplit) + carried_) + kLast;
}

/// Null: no room for it.
std::unique_ptr<Segment> Files::make(std::size_t number) {
  const std::string path = splits() || number > 1 ? numbered(options_.path, number) : options_.path;
  const std::uint64_t needed = preamble_.records.size() + kLeastFile;
  auto file = std::make_unique<RecordingFile>(path, probe_.mode);
  reserve(*file, std::max(window_, whole_blocks(needed)), needed, 0);
  if (file->permitted() < needed) {
    file->remove();
    return nullptr;
  }
  SeamLayout::Preamble preamble = preamble_;
  preamble.mount = mcap::mount_identity(file->fd());
  return std::make_unique<Segment>(number, std::move(file), preamble, queue_);
}

/// The bytes that may be taken of the disk.
std::uint64_t Files::spare() const noexcept {
  const std::uint64_t free = free_space(folder_), stays = options_.min_space + kOfTheFileSystem;
  return free - std::min(free, stays);
}

/// Permits the file to grow up to `to` if the disk has that, and up to `needed` if old files have to go for it; never
/// into the space that must stay free. `written`: up to there it takes room for certain.
void Files::reserve(RecordingFile& file, std::uint64_t to, std::uint64_t needed, std::uint64_t written) {
  const bool reserves = file.allocated() != RecordingFile::kAllOfIt;
  const std::uint64_t from = reserves ? file.allocated() : written;
  const std::uint64_t more = to - std::min(to, from), least = needed - std::min(needed, from);
  std::uint64_t free = spare();
  // Old files go for what is needed soon, and not for all that would be reserved where there is much.
  if (const std::uint64_t soon = std::max(least, std::min(more, kSoon)); free < soon) {
    free_up(deletable_bytes() >= soon - free ? soon - free : least - std::min(least, free));
    free = spare();
  }
  refused_room_ = free < more;
  int error = 0;
  if (reserves) {
    // The last part in ever smaller pieces: other programs need room too.
    const std::uint64_t wanted = free < more ? std::max(whole_blocks(least), free / 2) : more;
    std::uint64_t some = std::min(wanted, free) / kBlock * kBlock;
    while (some != 0 && (error = file.allocate_to(from + some)) != 0 && no_room(error))
      some = some / 2 / kBlock * kBlock;
    if (error != 0) refused_room_ = true;
  }
  // If nothing can be reserved, free space counts, and bytes written since are counted twice.
  if (file.allocated() == RecordingFile::kAllOfIt || (error != 0 && !no_room(error)))
    file.permit_to(std::max(file.permitted(), written + spare()));
  else
    file.permit_to(file.allocated());
  if (file.permitted() < needed && written != 0 && !can_delete()) out_of_room_ = true;
}

std::uint64_t Files::deletable_bytes() const {
  if (options_.on_full != OnFull::DeleteOldest) return 0;
  std::uint64_t sum = 0;
  const std::lock_guard lock(mutex_);
  for (const Finished& one : finished_) sum += one.bytes;
  return sum;
}

/// Deletes the oldest files until this many more bytes are free. If all of them have fewer, it deletes one per second:
/// another program fills the disk, and may make room again. False: none can be deleted, now or soon.
bool Files::free_up(std::uint64_t missing) {
  if (missing == 0) return true;
  const bool enough = deletable_bytes() >= missing;
  const std::uint64_t wanted = free_space(folder_) + missing;
  if (can_delete() && (enough || steady_now() - deleted_ns_ >= kRoomShows))
    while (delete_now() && enough && free_space(folder_) < wanted) {
    }
  return can_delete();
}

/// Waits until the room shows: some file systems give it late, and all do only when the last reader closes the file.
bool Files::delete_now() {
  Finished oldest;
  {
    const std::lock_guard lock(mutex_);
    if (finished_.empty()) return false;
    oldest = std::move(finished_.front());
    finished_.pop_front();
  }
  std::uint64_t lowest = free_space(folder_);
  remove_file(oldest.path);
  deleted_ns_ = steady_now();
  for (std::uint64_t free = free_space(folder_);
       free < lowest + oldest.bytes / 2 && steady_now() - deleted_ns_ < kRoomShows; free = free_space(folder_)) {
    lowest = std::min(lowest, free);
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return true;
}

void Files::remove_file(const std::string& path) {
  std::error_code ignored;
  std::filesystem::remove(path, ignored);
  bag_.remove(path);
  write_folder();
  note_free();
}

/// Space that is reserved but not written yet is still available.
void Files::look_at_space(RecordingFile& file, std::uint64_t position, std::uint64_t written) {
  const auto unused = [](const RecordingFile& f, std::uint64_t used) {
    const std::uint64_t all = f.allocated();
    return all == RecordingFile::kAllOfIt ? 0 : all - std::min(all, used);
  };
  std::uint64_t reserved = unused(file, position);
  {
    const std::lock_guard lock(mutex_);
    if (next_ != nullptr) reserved += unused(next_->file(), 0);
  }
  reserved_ = reserved;
  note_free();
  if (const std::string missing = file.missing(); !missing.empty()) return fail(missing);
  if (file.allocated() == RecordingFile::kAllOfIt) file.permit_to(written + spare());
  if (free_bytes() >= options_.min_space) return;
  if (!free_up(options_.min_space - free_bytes())) too_little_ = true;
  note_free();
}

void Files::note_free() {
  const std::uint64_t free = free_space(folder_);
  free_ = free + std::min(reserved_.load(), std::numeric_limits<std::uint64_t>::max() - free);
}

std::string Files::lack() const {
  const std::string cause =
      options_.min_space == 0
          ? fmt::format("the disk of {} is full", folder_)
          : fmt::format("less than {} are left on the disk of {} (--min-space)",
                        options_.min_space >> 20 != 0 ? fmt::format("{} MiB", options_.min_space >> 20)
                                                      : fmt::format("{} bytes", options_.min_space),
                        folder_);
  return cause + (options_.on_full == OnFull::DeleteOldest ? ", and no older file can be deleted" : "");
}

/// Files of an earlier recording with numbers would be in the way sooner or later: rather now.
void Files::refuse_earlier_files() const {
  const std::filesystem::path path(options_.path);
  const std::string begin = path.stem().string() + "_";
  const std::string end = path.extension().string();
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(folder_, ignored)) {
    std::string name = entry.path().filename().string();
    if (name.ends_with(RecordingFile::kActive)) name.resize(name.size() - std::string(RecordingFile::kActive).size());
    if (!name.starts_with(begin) || !name.ends_with(end) || name.size() < begin.size() + 4 + end.size()) continue;
    const std::string number = name.substr(begin.size(), name.size() - begin.size() - end.size());
    if (number.find_first_not_of("0123456789") == std::string::npos)
      throw Error(ErrorCode::InvalidArgument, entry.path().string() + " already exists, from an earlier recording",
                  "name another file, or remove it");
  }
}

void Files::refuse_earlier_folder() const {
  std::error_code ignored;
  if (options_.folder && std::filesystem::exists(folder_ + "/" + BagFolder::kName, ignored))
    throw Error(ErrorCode::InvalidArgument, folder_ + " already has a recording", "name another folder, or remove it");
}

std::unique_ptr<Segment> Files::first() {
  if (splits()) refuse_earlier_files();
  std::unique_ptr<Segment> segment;
  if (free_space(folder_) >= options_.min_space) segment = make(++made_);
  if (segment == nullptr)
    throw Error(ErrorCode::System, lack(), "make room, record to another disk, or lower --min-space");
  if (splits()) prepare_next();
  return segment;
}

void Files::prepare_next() {
  if (steady_now() < prepare_after_ns_.load() || preparing_.exchange(true)) return;
  worker_->post([this] {
    try {
      auto segment = make(made_ + 1);
      if (segment == nullptr) {  // until there is room, the one that is open takes what comes
        prepare_after_ns_ = steady_now() + kSpaceInterval;
        preparing_ = false;
        return;
      }
      ++made_;
      const std::lock_guard lock(mutex_);
      next_ = std::move(segment);
    } catch (const Error& e) {
      fail(e.what());
    }
  });
}

std::unique_ptr<Segment> Files::next() {
  std::unique_ptr<Segment> segment;
  {
    const std::lock_guard lock(mutex_);
    segment = std::move(next_);
  }
  if (segment != nullptr) {
    preparing_ = false;
    if (splits()) prepare_next();
  }
  return segment;
}

void Files::finish(std::unique_ptr<Segment> segment, std::vector<mcap::Metadata> metadata) {
  ++finishing_;
  // Functions that are posted can be copied, so what they own is shared.
  const std::shared_ptr<Segment> shared = std::move(segment);
  worker_->post([this, shared, metadata = std::move(metadata)] {
    try {
      SeamLayout::Trailer trailer = shared->trailer(metadata);
      RecordingFile& file = shared->file();
      try {
        file.sync();  // a reader that finds the trailer trusts everything before it
      } catch (const Error&) {
        shared->doubt();
        const std::lock_guard lock(mutex_);
        for (const Share& share : shared->not_durable()) lost_.push_back(share);
        throw;
      }
      AlignedBuffer first_block = shared->layout().mark(shared->committed_bytes(), true);
      file.write_now(0, first_block.blocks());  // a copy that lost its trailer is judged by the mark
      file.write_now(trailer.offset, trailer.bytes.blocks());
      file.finish(trailer.file_bytes);
      note_finished(*shared, trailer);
    } catch (const Error& e) {
      fail(std::string(e.what()) + "; its content can be read, and `cardan bag recover` finishes it");
    }
    --finishing_;
  });
}

std::vector<Share> Files::take_lost() {
  const std::lock_guard lock(mutex_);
  return std::exchange(lost_, {});
}

void Files::note_finished(Segment& segment, const SeamLayout::Trailer& trailer) {
  const std::string& path = segment.file().path();
  if (options_.folder) bag_.add(path, trailer.statistics, segment.layout().schemas(), segment.layout().channels());
  write_folder();
  const std::lock_guard lock(mutex_);
  // By number: a slow disk may finish a file after the next one, and the oldest is deleted first.
  const auto later = std::find_if(finished_.begin(), finished_.end(),
                                  [&](const Finished& one) { return one.number > segment.number(); });
  finished_.insert(later, {segment.number(), path, steady_now(), trailer.file_bytes});
}

/// Without it the recording is still all there.
void Files::write_folder() {
  if (!options_.folder) return;
  try {
    bag_.write();
  } catch (const Error& e) {
    detail::log(LogLevel::Warning, e.what());
  }
}

void Files::finish_all() {
  worker_.reset();
  worker_ = std::make_unique<Worker>();
  const std::lock_guard lock(mutex_);
  if (next_ != nullptr) next_->file().remove();
  next_.reset();
}

void Files::look_after(Segment& segment, std::int64_t now) {
  RecordingFile& file = segment.file();
  const std::uint64_t position = segment.bytes(), written = segment.committed_bytes();
  if (file.allocated() < std::min(position + window_ / 2, most_of_a_file()) && !refused_room_) ask_for_room(segment, 0);
  if (now < space_at_ns_) return;
  space_at_ns_ = now + kSpaceInterval;
  worker_->post([this, &file, position, written] {
    look_at_space(file, position, written);
    refused_room_ = false;
  });
}

bool Files::out_of_room(const Segment& segment) const noexcept {
  return too_little_.load() || (out_of_room_.load() && needed_for(segment, asked_bytes_) > segment.file().permitted());
}

bool Files::has_room(Segment& segment, std::uint64_t bytes) {
  const std::uint64_t needed = needed_for(segment, bytes);
  if (needed <= segment.file().permitted()) return true;
  asked_bytes_ = bytes;
  ask_for_room(segment, needed);
  return false;
}

void Files::ask_for_room(Segment& segment, std::uint64_t needed) {
  if (allocating_.exchange(true)) return;
  const std::uint64_t ahead = std::min(whole_blocks(segment.bytes()) + window_, most_of_a_file());
  const std::uint64_t to = std::max(ahead, whole_blocks(needed));
  // The segment is ours until its end has been posted to the same thread, so it outlives this.
  worker_->post([this, &file = segment.file(), to, needed, written = segment.committed_bytes()] {
    reserve(file, to, needed, written);
    allocating_ = false;
  });
}

void Files::drop_cache(Segment& segment) {
  if (probe_.mode == DiskMode::Direct) return;
  worker_->post([&file = segment.file(), to = segment.committed_bytes()] { file.drop_cache(to); });
}

bool Files::delete_oldest() {
  std::string oldest;
  {
    const std::lock_guard lock(mutex_);
    if (finished_.empty()) return false;
    oldest = finished_.front().path;
    finished_.pop_front();
  }
  worker_->post([this, oldest] { remove_file(oldest); });
  return true;
}

bool Files::can_delete() const {
  if (options_.on_full != OnFull::DeleteOldest) return false;
  if (finishing_.load() != 0) return true;
  const std::lock_guard lock(mutex_);
  return !finished_.empty();
}

std::vector<std::string> Files::finished() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> paths;
  for (const Finished& one : finished_) paths.push_back(one.path);
  return paths;
}

std::int64_t Files::oldest_ended_ns() const {
  const std::lock_guard lock(mutex_);
  return finished_.empty() ? std::numeric_limits<std::int64_t>::max() : finished_.front().ended_ns;
}

void Files::fail(const std::string& what) {
  const std::lock_guard lock(mutex_);
  if (failure_.empty()) failure_ = what;
}

std::string Files::failure() const {
  const std::lock_guard lock(mutex_);
  return failure_;
}

}  // namespace cardan::record
