// SPDX-License-Identifier: Apache-2.0
#include "src/transport/service/asked_table.hpp"

#include <algorithm>
#include <utility>

namespace cardan::detail {

AskedTable::~AskedTable() {
  for (const Asked& one : all_)
    if (one.answer != nullptr) drop(one.answer);
}

std::uint64_t AskedTable::add(std::uint64_t tag, std::uint64_t sequence, std::int64_t deadline_ns) noexcept {
  all_.push_back({.number = ++last_number_, .sequence = sequence, .tag = tag, .deadline_ns = deadline_ns});
  return last_number_;
}

AskedTable::Asked* AskedTable::find(std::uint64_t number) noexcept {
  const auto it = std::find_if(all_.begin(), all_.end(), [&](const Asked& one) { return one.number == number; });
  return it == all_.end() ? nullptr : &*it;
}

AskedTable::Asked* AskedTable::find_pending(std::uint64_t tag, std::uint64_t sequence) noexcept {
  const auto it = std::find_if(all_.begin(), all_.end(), [&](const Asked& one) {
    return one.tag == tag && one.sequence == sequence && one.state == NoAnswer::Pending;
  });
  return it == all_.end() ? nullptr : &*it;
}

void AskedTable::collect(std::uint64_t tag, SampleBlock* answer) noexcept {
  const auto sequence = static_cast<std::uint64_t>(answer->source_ns);
  for (Asked& one : all_)
    if (one.tag == tag && one.sequence == sequence && one.answer == nullptr) {
      one.answer = answer;
      one.state = NoAnswer::None;
      return;
    }
  drop(answer);
}

void AskedTable::end_all(std::uint64_t tag, NoAnswer reason, const std::string& text) {
  for (Asked& one : all_)
    if (one.tag == tag && one.state == NoAnswer::Pending) {
      one.state = reason;
      one.text = text;
    }
}

Outcome AskedTable::outcome_of(std::uint64_t number) {
  Asked* const one = find(number);
  if (one == nullptr) return {.reason = NoAnswer::Cancelled};
  if (one->state == NoAnswer::Pending) return {};
  Outcome outcome{.reason = one->state, .block = std::exchange(one->answer, nullptr), .text = std::move(one->text)};
  if (outcome.reason == NoAnswer::None) outcome.text.clear();
  remove(*one);
  return outcome;
}

void AskedTable::remove(const Asked& one) noexcept {
  if (one.answer != nullptr) drop(one.answer);
  all_.erase(all_.begin() + (&one - all_.data()));
}

const AskedTable::Asked* AskedTable::ended(std::int64_t now) const noexcept {
  const auto it = std::find_if(all_.begin(), all_.end(), [&](const Asked& one) {
    return one.state != NoAnswer::Pending || (one.deadline_ns != 0 && one.deadline_ns <= now);
  });
  return it == all_.end() ? nullptr : &*it;
}

std::int64_t AskedTable::next_deadline() const noexcept {
  std::int64_t next = 0;
  for (const Asked& one : all_)
    if (one.state == NoAnswer::Pending && one.deadline_ns != 0)
      next = next == 0 ? one.deadline_ns : std::min(next, one.deadline_ns);
  return next;
}

}  // namespace cardan::detail
