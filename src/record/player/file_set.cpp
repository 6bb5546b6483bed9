// SPDX-License-Identifier: Apache-2.0
#include "src/record/player/file_set.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <string>
#include <utility>

#include "cardan/error.hpp"
#include "src/record/metadata.hpp"
#include "src/record/recording_folder.hpp"

namespace cardan::record {
namespace {

constexpr std::int64_t kLongestUp = 100LL * 366 * 86'400 * 1'000'000'000;

/// 0: the file does not state it, or states something impossible for a recording that starts at `first`.
std::int64_t ahead_in(const mcap::Reader& reader, std::uint64_t first) {
  for (const mcap::MetadataIndex& index : reader.summary().metadata()) {
    if (index.name != kCardanMetadata) continue;
    const auto metadata = reader.metadata(index);
    if (!metadata) continue;
    const auto entry = metadata->metadata.find(std::string(kWallClockAheadKey));
    if (entry == metadata->metadata.end()) continue;
    const std::string& text = entry->second;
    std::int64_t ahead = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), ahead);
    // Negative: the wall clock had counted from 1970 without being set, and the computer had been up for longer than
    // that.
    const bool possible = ahead > 0 ? static_cast<std::uint64_t>(ahead) <= first : ahead > -kLongestUp;
    if (error == std::errc{} && end == text.data() + text.size() && possible) return ahead;
  }
  return 0;
}

}  // namespace

FileSet::FileSet(const std::vector<std::string>& paths, std::uint64_t most_unpacked_bytes) {
  const auto include = [this](std::uint64_t first, std::uint64_t last) {
    first_ = empty_ ? first : std::min(first_, first);
    last_ = empty_ ? last : std::max(last_, last);
    empty_ = false;
  };
  RecordingFiles found = recording_files(paths);
  problems_ = std::move(found.problems);
  notes_ = std::move(found.notes);
  for (const std::string& path : found.files)
    open(path, std::find(paths.begin(), paths.end(), path) != paths.end(), most_unpacked_bytes);
  if (readers_.empty() && !paths.empty())
    throw Error(ErrorCode::InvalidArgument, fmt::format("{} has no readable messages: {}", paths[0], problems_[0]),
                "cardan bag recover may recover messages from its files");
  for (const auto& reader : readers_)
    if (const auto times = mcap::own_times(*reader)) include(times->first, times->second);
  for (const auto& reader : readers_)
    if (wall_clock_ahead_ == 0) wall_clock_ahead_ = ahead_in(*reader, first_);
}

void FileSet::open(const std::string& path, bool was_named, std::uint64_t most_unpacked_bytes) {
  try {
    readers_.push_back(std::make_unique<mcap::Reader>(
        path, mcap::OpenOptions{.scanning = {.most_unpacked_bytes = most_unpacked_bytes}}));
  } catch (const Error& e) {
    // The other contents of a folder are worth something.
    if (was_named || e.code() != ErrorCode::InvalidArgument) throw;
    problems_.emplace_back(e.what());
    return;
  }
  const mcap::Reader& reader = *readers_.back();
  for (const mcap::Gap& gap : reader.gaps())
    problems_.push_back(fmt::format("{}, byte {}: {}", path, gap.begin, gap.cause));
  for (const mcap::Problem& loss : reader.losses())
    problems_.push_back(loss.offset == 0 ? fmt::format("{}: {}", path, loss.cause)
                                         : fmt::format("{}, byte {}: {}", path, loss.offset, loss.cause));
}

namespace {

std::vector<const mcap::Reader*> all_of(const FileSet& files) {
  std::vector<const mcap::Reader*> readers;
  for (const auto& reader : files.readers()) readers.push_back(reader.get());
  return readers;
}

}  // namespace

std::vector<std::string> out_of_reach(const FileSet& files, std::uint64_t end) {
  constexpr std::uint64_t kReach = std::numeric_limits<std::int64_t>::max();
  if (files.last() - files.first() < kReach || end != files.first() + kReach) return {};
  return {"messages that come more than 292 years after the first one are left out: a clock was wrong"};
}

FileMessages::FileMessages(const FileSet& files, std::uint64_t start, std::uint64_t end, const WantedChannel& wanted,
                           const std::atomic<bool>* cancelled, std::uint64_t most_unpacked_bytes,
                           mcap::MergedMessages::Before before)
    : messages_(all_of(files),
                {.start = start, .end = end, .cancelled = cancelled, .most_unpacked_bytes = most_unpacked_bytes},
                wanted, before) {}

std::vector<FileProblem> FileMessages::problems() const {
  std::vector<FileProblem> all;
  for (auto& [file, problem] : messages_.problems()) all.push_back({file, problem});
  return all;
}

}  // namespace cardan::record
