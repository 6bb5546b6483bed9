// SPDX-License-Identifier: Apache-2.0
#include "cardan/record/player/file_set.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <string>
#include <utility>

#include "cardan/base/error.hpp"
#include "cardan/record/recorded_clock.hpp"
#include "cardan/record/recording_folder.hpp"

namespace cardan::record {
namespace {

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
    if (error == std::errc{} && end == text.data() + text.size() && ahead > 0 &&
        static_cast<std::uint64_t>(ahead) <= first)
      return ahead;
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
  for (const auto& one : readers_) {
    const mcap::Reader& reader = *one;
    if (reader.scanned()) {
      const mcap::Statistics& s = reader.summary().statistics();
      if (s.message_count > 0) include(s.message_start_time, s.message_end_time);
      continue;
    }
    // What the messages are found by says when they are, whatever the file's statistics say.
    for (const mcap::ChunkIndex& chunk : reader.summary().chunks()) {
      const bool empty = chunk.message_end_time == 0 && chunk.message_index_offsets.empty();
      if (!empty && chunk.message_start_time <= chunk.message_end_time)
        include(chunk.message_start_time, chunk.message_end_time);
    }
  }
  for (const auto& reader : readers_)
    if (wall_clock_ahead_ == 0) wall_clock_ahead_ = ahead_in(*reader, first_);
}

void FileSet::open(const std::string& path, bool was_named, std::uint64_t most_unpacked_bytes) {
  try {
    readers_.push_back(std::make_unique<mcap::Reader>(
        path, mcap::OpenOptions{.scanning = {.most_unpacked_bytes = most_unpacked_bytes}}));
  } catch (const Error& e) {
    // What a folder holds beside it is worth something.
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

FileMessages::FileMessages(const FileSet& files, std::uint64_t start, std::uint64_t end, const WantedChannel& wanted,
                           const std::atomic<bool>* cancelled, std::uint64_t most_unpacked_bytes) {
  for (std::size_t i = 0; i < files.readers().size(); ++i) {
    mcap::ReadOptions options{
        .start = start, .end = end, .cancelled = cancelled, .most_unpacked_bytes = most_unpacked_bytes};
    if (wanted) options.wanted = [wanted, i](const mcap::Channel& channel) { return wanted(i, channel); };
    inputs_.push_back({files.readers()[i]->messages(std::move(options))});
    inputs_.back().next = inputs_.back().messages.next();
  }
}

std::optional<FileMessages::Next> FileMessages::next() {
  if (given_ != kNone) inputs_[given_].next = inputs_[given_].messages.next();
  given_ = kNone;
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    if (!inputs_[i].next) continue;
    if (given_ == kNone || inputs_[i].next->message.log_time < inputs_[given_].next->message.log_time) given_ = i;
  }
  if (given_ == kNone) return std::nullopt;
  return Next{given_, *inputs_[given_].next};
}

std::vector<FileProblem> FileMessages::problems() const {
  std::vector<FileProblem> all;
  for (std::size_t i = 0; i < inputs_.size(); ++i)
    for (const mcap::Problem& problem : inputs_[i].messages.problems()) all.push_back({i, problem});
  return all;
}

}  // namespace cardan::record
