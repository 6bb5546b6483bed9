// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "cardan/any_publisher.hpp"
#include "cardan/player.hpp"
#include "src/record/player/file_set.hpp"
#include "src/record/player/message_form.hpp"

namespace cardan::record {

/// A topic that is played: channels of the same name and type, of one file or several.
struct Outlet {
  explicit Outlet(std::string name, MessageForm f) : topic(std::move(name)), form(std::move(f)) {}

  std::string topic;
  MessageForm form;
  std::unique_ptr<AnyPublisher> publisher{};
  std::size_t payload_bytes = 0;              ///< the most that a message can need
  std::uint32_t depth = 0;                    ///< that its publishers had, all together
  std::optional<std::uint64_t> recorded = 0;  ///< messages in the files, as they say
  std::int64_t fill_ns = 0;                   ///< that the last message took to be decoded; the playing thread's

  // With the player's lock.
  std::uint64_t published = 0, failed = 0;
  std::string failure{};
};

/// How each channel is played. of(), all(), left_out() and notes() do not change any more once it is made.
class Outlets {
 public:
  /// Creates the publishers. Throws Error (InvalidArgument): a pattern or name fits no topic, or topics of different
  /// types get one name.
  Outlets(const FileSet& files, const PlayerOptions& options);

  /// Null: it is not played.
  [[nodiscard]] Outlet* of(std::size_t file, const mcap::Channel& channel) const noexcept;
  [[nodiscard]] const std::vector<std::unique_ptr<Outlet>>& all() const noexcept { return outlets_; }
  [[nodiscard]] const std::vector<LeftOut>& left_out() const noexcept { return left_out_; }
  [[nodiscard]] const std::vector<std::string>& unfinished() const noexcept { return unfinished_; }
  [[nodiscard]] const std::vector<std::string>& notes() const noexcept { return notes_; }
  /// Subscriptions to all of them.
  [[nodiscard]] std::size_t subscribers() const;

  /// Remembers what is wrong with the files, each thing once. Any thread.
  void note(const std::vector<FileProblem>& problems);
  [[nodiscard]] std::vector<std::string> problems() const;

 private:
  using Place = std::pair<std::size_t, std::uint16_t>;  ///< file, channel

  void check_names(const PlayerOptions& options) const;
  [[nodiscard]] const std::pair<std::optional<MessageForm>, std::string>& form_for(const mcap::Reader& reader,
                                                                                   const mcap::Channel& channel);
  void choose(std::size_t file, const mcap::Channel& channel, const PlayerOptions& options);
  void refuse_mixture(const mcap::Channel& channel, const std::string& topic, const PlayerOptions& options);
  void count(Outlet& outlet, std::size_t file, std::uint16_t channel) const;
  void leave_out(std::size_t file, const mcap::Channel& channel, std::string why, bool by_design);
  void measure(std::size_t file);
  void create_publishers(const PlayerOptions& options);

  const FileSet& files_;
  std::vector<std::unique_ptr<Outlet>> outlets_;
  std::vector<std::unordered_map<std::uint16_t, Outlet*>> of_channel_;                ///< by file
  std::map<std::tuple<std::string, std::uint64_t, std::string>, Outlet*> outlet_of_;  ///< by topic, hash and type
  std::map<std::string, std::string> played_as_;  ///< by the name: the first topic that got it
  std::set<std::string> recorded_, slashed_;      ///< topics of all files; those that are played with a slash
  /// Of the file that is looked at, by schema, encoding and hash of the layout: many channels may have one.
  std::map<std::tuple<std::uint16_t, std::string, std::string>, std::pair<std::optional<MessageForm>, std::string>>
      forms_;
  std::int64_t effort_ = kUsualEffort;
  std::vector<LeftOut> left_out_;
  std::vector<std::string> unfinished_, notes_;

  mutable std::mutex mutex_;
  std::set<std::pair<std::size_t, std::uint64_t>> noted_;  ///< file, byte
  std::vector<std::string> problems_;
};

}  // namespace cardan::record
