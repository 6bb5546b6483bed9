// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "cardan/mcap/reader.hpp"

namespace cardan::mcap {

/// The messages of several files by their log times; of one time, in the order of the files. Messages that a part of a
/// recording repeats from before its start is left out if another of the files has it. Not thread safe; blocks for the
/// disk. Must not outlive the readers.
class MergedMessages {
 public:
  /// The messages from before `options.start`, which come first. Latched: the last messages of each channel that keeps
  /// some for late subscribers (latched_depth()): of large messages (64 KiB and more) only those that are a second or
  /// more apart from the next one or the one before, as a camera's next image comes soon anyway. Newest: also the last
  /// message of each other topic, if it is not older than a minute.
  enum class Before : std::uint8_t { Nothing, Latched, Newest };
  /// `wanted` (may be empty) chooses channels, as options.wanted, by the file's number too.
  using Wanted = std::function<bool(std::size_t file, const Channel& channel)>;
  MergedMessages(std::vector<const Reader*> readers, const ReadOptions& options, Wanted wanted, Before before);

  struct Next {
    std::size_t file = 0;
    MessageView view{};
    bool before_start = false;  ///< one of those that come first
  };
  /// Empty: the end. Valid until it is called again. Throws Error (System): the disk fails.
  [[nodiscard]] std::optional<Next> next();
  /// Everything that could not be read so far; never a reason to stop. By the file's number.
  [[nodiscard]] std::vector<std::pair<std::size_t, Problem>> problems() const;

 private:
  struct Input {
    Messages messages;
    std::optional<MessageView> next{};
  };
  static constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();
  [[nodiscard]] ReadOptions options_of(std::size_t file, const ReadOptions& options, const Wanted& wanted) const;
  [[nodiscard]] bool is_repeated(std::size_t file, const MessageView& view);
  /// The messages of another file.
  struct Part {
    std::uint64_t first = 0, last = 0;
    std::set<std::string> topics{};
  };
  [[nodiscard]] std::vector<Part> others_of(std::size_t file) const;

  std::vector<const Reader*> readers_;
  std::vector<Next> before_;
  std::size_t before_given_ = 0;
  std::map<std::pair<std::string, std::uint64_t>, std::size_t> repeated_;  ///< by topic and log time: by which file
  std::vector<Input> inputs_;
  std::size_t given_ = kNone;  ///< whose message was given last
};

/// Log times of the first and the last message of a file, without those from before its start. Empty: it has no
/// messages.
[[nodiscard]] std::optional<std::pair<std::uint64_t, std::uint64_t>> own_times(const Reader& reader);

}  // namespace cardan::mcap
