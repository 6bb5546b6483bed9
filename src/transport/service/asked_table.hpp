// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cardan/detail/service_end.hpp"

namespace cardan::detail {

/// The questions of a client that are not done. Thread safety: none; its owner has a mutex.
class AskedTable {
 public:
  struct Asked {
    std::uint64_t number = 0;
    std::uint64_t sequence = 0;    ///< in its session
    std::uint64_t tag = 0;         ///< of its session
    std::int64_t deadline_ns = 0;  ///< 0: none
    NoAnswer state = NoAnswer::Pending;
    SampleBlock* answer = nullptr;
    std::string text{};
  };

  explicit AskedTable(std::uint32_t most) { all_.reserve(most); }
  AskedTable(const AskedTable&) = delete;
  AskedTable& operator=(const AskedTable&) = delete;
  ~AskedTable();

  [[nodiscard]] std::size_t size() const noexcept { return all_.size(); }
  /// Returns its number. Call it for at most `most` at once.
  std::uint64_t add(std::uint64_t tag, std::uint64_t sequence, std::int64_t deadline_ns) noexcept;
  [[nodiscard]] Asked* find(std::uint64_t number) noexcept;
  /// Null: it is done, or of another session.
  [[nodiscard]] Asked* find_pending(std::uint64_t tag, std::uint64_t sequence) noexcept;
  /// An answer that has come. One that nobody waits for is dropped.
  void collect(std::uint64_t tag, SampleBlock* answer) noexcept;
  /// All that are pending of a session end so.
  void end_all(std::uint64_t tag, NoAnswer reason, const std::string& text);
  /// Removes it if it is done. Cancelled: it is not known.
  [[nodiscard]] Outcome outcome_of(std::uint64_t number);
  /// Forgets it, and drops its answer.
  void remove(const Asked& one) noexcept;
  /// One whose outcome is known, or whose time is over. Null: none.
  [[nodiscard]] const Asked* ended(std::int64_t now) const noexcept;
  /// When the next one's time is over; 0: never.
  [[nodiscard]] std::int64_t next_deadline() const noexcept;

 private:
  std::vector<Asked> all_;
  std::uint64_t last_number_ = 0;
};

}  // namespace cardan::detail
