// SPDX-License-Identifier: Apache-2.0
#include "src/record/recorder/checked_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "cardan/error.hpp"
#include "cardan/messages/cycle_hint.hpp"
#include "src/base/output_file.hpp"
#include "src/record/disk/recording_file.hpp"
#include "src/record/recorder/selection.hpp"
#include "src/record/recorder/split_rule.hpp"

namespace cardan::record {
namespace {

void check_level(mcap::Compression compression, int level) {
  if (compression == mcap::Compression::None || level == 0) return;
  const mcap::Levels known = mcap::levels_of(compression);
  if (level < known.lowest || level > known.highest)
    throw Error(ErrorCode::InvalidArgument, fmt::format("{} has no level {}", mcap::name_of(compression), level),
                fmt::format("{} to {}", known.lowest, known.highest));
}

}  // namespace

RecorderOptions checked(RecorderOptions options) {
  if (options.path.empty()) throw Error(ErrorCode::InvalidArgument, "no file to record into", "name one");
  if (options.on_full == OnFull::DeleteOldest && options.keep_last.count() == 0 &&
      !splits(options.split_bytes, options.split_time))
    throw Error(ErrorCode::InvalidArgument, "the oldest file cannot be deleted: the recording is one file",
                "split it by size or time");
  if (options.keep_last.count() > 0 && options.split_time.count() == 0) options.split_time = options.keep_last / 4;
  for (const TopicRule& rule : options.rules)
    if (rule.every == 0 || !(rule.max_rate_hz >= 0))
      throw Error(ErrorCode::InvalidArgument, "the rule for " + rule.pattern + " makes no sense",
                  "every n-th sample from 1 on, a rate above 0");
  for (const auto used : {options.compression, mcap::Compression::None}) check_level(used, options.level);
  for (const TopicRule& rule : options.rules)
    check_level(rule.compression.value_or(mcap::Compression::None), options.level);
  static_cast<void>(Selection(options));
  if (options.folder) make_output_folder(folder_of(options.path));
  // This topic would wake us at each start and end of every component's cycle, which we must not disturb.
  if (options.topics.empty() && options.types.empty() && options.expressions.empty()) {
    options.exclude.emplace_back(kCycles.name);
    options.exclude.emplace_back("/cardan/record/*");  // what recorders publish, and their orders
  }
  options.queue_bytes = std::max<std::uint64_t>(options.queue_bytes, 1);
  options.chunk_bytes = std::clamp<std::uint64_t>(options.chunk_bytes, 4096, std::uint64_t{256} << 20);
  return options;
}

}  // namespace cardan::record
