// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "cardan/detail/fd.hpp"
#include "src/bridge/local_topic.hpp"
#include "src/bridge/rules.hpp"
#include "src/transport/topic_watch.hpp"

namespace cardan::bridge {

/// The topics of this computer that the rules send out. It looks for them on its own thread.
/// Thread safety: any thread. No function blocks but the constructor, which looks once, and the destructor.
class Catalogue : private detail::TopicWatchListener {
 public:
  /// Topics with a publication of Access::Owner whose rule does not say that it sends_owners(). Marked: the bridge
  /// knows whose receivers are other users, and keeps them from these. LeftOut: it does not know, so they do not leave.
  enum class Owners : std::uint8_t { Marked, LeftOut };
  /// `also`: a topic of Cardan's own, below /cardan/, that the bridge sends if a rule does; the others never leave.
  /// Throws Error (Unavailable) if no run directory can be used. `rules` must outlive the catalogue.
  explicit Catalogue(const Rules& rules, Owners owners = Owners::Marked, std::string also = {});
  Catalogue(const Catalogue&) = delete;
  Catalogue& operator=(const Catalogue&) = delete;
  ~Catalogue() override;

  struct Change {
    bool added = false;      ///< false: its last publisher has left, or it comes again with another `is_owners`
    bool is_owners = false;  ///< no receiver of another user may get it; only with Owners::Marked
    LocalTopic topic{};
    const TopicRule* rule = nullptr;
  };
  /// The changes since the last call, in order. Empties fd().
  [[nodiscard]] std::vector<Change> changes();
  /// Hands each of them to `take`. If it throws, the next call hands out that change and all later ones again: a
  /// forgotten change would never come again.
  template <class Take>
  void each_change(const Take& take) {
    if (handed_out_ == open_.size()) {
      handed_out_ = 0;
      open_ = changes();
    }
    for (; handed_out_ < open_.size(); ++handed_out_) take(std::as_const(open_[handed_out_]));
  }
  /// Readable when there are changes.
  [[nodiscard]] int fd() const noexcept { return changed_.get(); }
  /// Topics that the rules want and that cannot be sent, each with the reason; at most 64.
  [[nodiscard]] std::map<std::string, std::string> problems() const;

 private:
  bool may_want(const std::string& topic) const override;
  bool wants(const std::string& topic, const std::string& type) const override;
  void found(const std::string& topic, const ObservedStream& stream) override;
  void refused(const std::string& topic, const ObservedStream& stream, const std::string& why, bool again) override;
  void unusable(const std::string& topic, const std::string& why) override { note_problem(topic, why); }
  void silent(const std::string& topic, const std::string& why) override { note_problem(topic, why); }
  void ended(const std::string& topic, const detail::PublicationForm& form) override;
  void looked() override {}
  void note_problem(const std::string& topic, const std::string& why);
  void forget_problem(const std::string& topic);
  void add(Change change);
  void open(const LocalTopic& topic);
  void open_again(const LocalTopic& topic);
  [[nodiscard]] bool is_held_back(const std::string& topic, const std::string& type, Access access) const;

  const Rules& rules_;
  const std::string also_;
  Fd changed_;
  struct Present {
    LocalTopic topic{};
    int forms = 0;  ///< publications of its layout, one for each access
  };
  const Owners owners_;
  std::map<std::string, Present> present_;  ///< of the watch's thread
  std::map<std::string, int> held_back_;    ///< topics with publications that their owners keep; of that thread, too
  std::vector<Change> open_;                ///< of each_change()
  std::size_t handed_out_ = 0;              ///< of them
  mutable std::mutex mutex_;
  std::vector<Change> changes_;
  std::map<std::string, std::string> problems_;
  detail::TopicWatch watch_;  ///< last: it calls the rest
};

}  // namespace cardan::bridge
