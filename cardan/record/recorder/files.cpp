// SPDX-License-Identifier: Apache-2.0
#include "cardan/record/recorder/files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <utility>

#include "cardan/memory/clock.hpp"
#include "cardan/memory/error.hpp"
#include "cardan/record/mcap/codec.hpp"
#include "cardan/record/recorder/selection.hpp"

namespace cardan::record {
namespace {

constexpr std::uint64_t kSmallestWindow = std::uint64_t{16} << 20;
constexpr std::uint64_t kLargestWindow = std::uint64_t{1} << 30;
constexpr std::int64_t kSpaceInterval = 250'000'000;

std::string first_line_of(const char* path) {
  std::string line;
  std::getline(std::ifstream(path), line);
  return line;
}

void add_attachment(SeamLayout::Preamble& preamble, const std::string& path, std::uint64_t now) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw Error(ErrorCode::InvalidArgument, "cannot read the attachment " + path, "name a file that is there");
  const std::string content{std::istreambuf_iterator<char>(in), {}};
  const mcap::Attachment attachment{.log_time = now,
                                    .create_time = now,
                                    .name = std::filesystem::path(path).filename().string(),
                                    .media_type = "application/octet-stream",
                                    .data = std::as_bytes(std::span(content))};
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
    : options_(options), probe_(probe), queue_(queue), folder_(folder_of(options.path)) {
  const auto now = static_cast<std::uint64_t>(std::chrono::system_clock::now().time_since_epoch().count());
  for (const std::string& path : options.attachments) add_attachment(preamble_, path, now);
  for (const auto& [name, fields] : options.metadata) preamble_.metadata.push_back({.name = name, .metadata = fields});
  preamble_.metadata.push_back({.name = "cardan",
                                .metadata = {{"disk", probe.why},
                                             {"kernel", first_line_of("/proc/sys/kernel/osrelease")},
                                             {"host", first_line_of("/proc/sys/kernel/hostname")}}});
  note_free();
  window_ = std::clamp(free_.load() / 32, kSmallestWindow, kLargestWindow);
  if (options.split_bytes != 0) window_ = std::min(window_, whole_blocks(options.split_bytes) + kSmallestWindow);
}

Files::~Files() { worker_.reset(); }

std::unique_ptr<Segment> Files::make(std::size_t number) {
  const std::string path = splits() || number > 1 ? numbered(options_.path, number) : options_.path;
  auto file = std::make_unique<RecordingFile>(path, probe_.mode);
  reserve(*file, window_);
  SeamLayout::Preamble preamble = preamble_;
  preamble.mount = mcap::mount_identity(file->fd());
  return std::make_unique<Segment>(number, std::move(file), preamble, queue_);
}

/// Asks for room, but not for what shall stay free.
void Files::reserve(RecordingFile& file, std::uint64_t to) {
  const std::uint64_t more = to - std::min(to, file.allocated());
  const std::uint64_t free = free_space(folder_);
  if (free < more || free - more < options_.min_space || file.allocate_to(to) != 0) refused_room_ = true;
}

/// What is reserved and not written yet is still to be had.
void Files::look_at_space(const RecordingFile& file, std::uint64_t written) {
  const auto unused = [](const RecordingFile& f, std::uint64_t used) {
    const std::uint64_t all = f.allocated();
    return all == RecordingFile::kAllOfIt ? 0 : all - std::min(all, used);
  };
  std::uint64_t reserved = unused(file, written);
  {
    const std::lock_guard lock(mutex_);
    if (next_ != nullptr) reserved += unused(next_->file(), 0);
  }
  reserved_ = reserved;
  note_free();
}

void Files::note_free() {
  const std::uint64_t free = free_space(folder_);
  free_ = free + std::min(reserved_.load(), std::numeric_limits<std::uint64_t>::max() - free);
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
      throw Error(ErrorCode::InvalidArgument, entry.path().string() + " is there already, of an earlier recording",
                  "name another file, or remove it");
  }
}

std::unique_ptr<Segment> Files::first() {
  if (splits()) refuse_earlier_files();
  auto segment = make(++made_);
  if (splits()) prepare_next();
  return segment;
}

void Files::prepare_next() {
  if (std::exchange(preparing_, true)) return;
  worker_->post([this, number = ++made_] {
    try {
      auto segment = make(number);
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
  // Functions that are posted can be copied, so what they own is shared.
  const std::shared_ptr<Segment> shared = std::move(segment);
  worker_->post([this, shared, metadata = std::move(metadata)] {
    try {
      SeamLayout::Trailer trailer = shared->trailer(metadata);
      shared->file().sync();  // whoever finds the trailer trusts all that is before it
      // … and a copy that lost its trailer is judged by the mark.
      AlignedBuffer mark = shared->mark();
      shared->file().write_now(0, mark.blocks());
      shared->file().write_now(trailer.offset, trailer.bytes.blocks());
      shared->file().finish(trailer.file_bytes);
      finished_bytes_ += trailer.file_bytes;
      const std::lock_guard lock(mutex_);
      finished_.push_back({shared->file().path(), steady_now()});
    } catch (const Error& e) {
      fail(std::string(e.what()) + "; what is in it can be read, and `cardan bag recover` finishes it");
    }
  });
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
  const std::uint64_t position = segment.bytes();
  if (file.allocated() < position + window_ / 2 && !refused_room_ && !allocating_.exchange(true)) {
    // The segment is ours until its end has been posted to the same thread, so it outlives this.
    worker_->post([this, &file, to = whole_blocks(position) + window_] {
      reserve(file, to);
      allocating_ = false;
    });
  }
  if (now < space_at_ns_) return;
  space_at_ns_ = now + kSpaceInterval;
  worker_->post([this, &file, position] {
    look_at_space(file, position);
    refused_room_ = false;
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
  std::error_code ignored;
  std::filesystem::remove(oldest, ignored);
  note_free();
  return true;
}

bool Files::full() const noexcept { return free_bytes() < options_.min_space; }

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
