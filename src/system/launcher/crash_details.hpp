// SPDX-License-Identifier: Apache-2.0
// The text of a process's crash handler, read by the launcher. It is another process's text: nothing in it is relied
// on, and what it can make us spend is bounded.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "src/runtime/runtime.hpp"
#include "src/system/launcher/child_process.hpp"

namespace cardan::launcher {

struct CrashDetails {
  std::string component{}, callback{};  ///< "": the thread was in no callback
  std::string step{};                   ///< "constructor", "on_start", …: what the component did instead
  std::string ended_by{};               ///< "watchdog", "rule"; "": it was a signal
  std::string reason{};
  std::uint64_t sequence = 0;  ///< of the sample that the callback was given; 0: it was given none
  std::int64_t publish_ns = 0;
  [[nodiscard]] std::optional<PoisonSample> sample() const;
};

/// Looks at the first 4 KiB. Any thread; does not block.
[[nodiscard]] CrashDetails read_crash(std::string_view report);

/// How it ended, in words: as text(ending), or "was ended by its watchdog: …"; and the remedy, as remedy(ending).
[[nodiscard]] std::string text(const Ending& ending, const CrashDetails& words);
[[nodiscard]] std::string remedy(const Ending& ending, const CrashDetails& words);

/// A report whose stack names C++ functions as people write them: the "(_Z…+0x1)" of at most 64 lines. A name that is
/// too long, or that could become much longer, stays as it is. Any thread; does not block.
[[nodiscard]] std::string demangled(std::string_view report);

/// The samples that a process crashed on. One that it crashes on again is to be skipped from then on: a late joiner is
/// given a topic's last samples, so the restarted process would be given that one each time. Bounded. One thread.
class PoisonWatch {
 public:
  static constexpr std::size_t kRemembered = 16;
  static constexpr std::size_t kSkipped = 64;

  /// It crashed on this sample. True: for the second time.
  bool crashed_on(const PoisonSample& sample);
  /// Samples that its next run must skip; of more than kSkipped, the newest.
  [[nodiscard]] const std::deque<PoisonSample>& skipped() const noexcept { return skipped_; }

 private:
  std::deque<PoisonSample> once_, skipped_;
};

/// A sample as an argument of `cardan host --skip`, and back; nothing: it is invalid.
[[nodiscard]] std::string to_argument(const PoisonSample& sample);
[[nodiscard]] std::optional<PoisonSample> poison_of(std::string_view argument);

}  // namespace cardan::launcher
