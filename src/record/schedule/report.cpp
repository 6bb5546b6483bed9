// SPDX-License-Identifier: Apache-2.0
#include "cardan/schedule.hpp"

#include <fmt/format.h>

namespace cardan::record {
namespace {

constexpr std::array<std::string_view, 3> kPolicyNames{"asap", "paced", "cycle"};
constexpr std::array<std::string_view, kWriteReasons> kReasonNames{
    "nothing waits", "asap",     "paced", "idle window",   "quiet enough",
    "no window",     "no hints", "busy",  "forced by age", "forced by size"};

std::string schedule_mib(double bytes) { return fmt::format("{:.1f}", bytes / (1024.0 * 1024.0)); }
std::string schedule_ms(std::int64_t ns) { return fmt::format("{:.2f}", static_cast<double>(ns) / 1e6); }

/// Of another program's, for a terminal.
std::string schedule_name(std::string text) {
  for (char& c : text)
    if (static_cast<unsigned char>(c) < ' ' || c == 0x7f) c = '?';
  return text;
}

}  // namespace

std::string_view to_string(SchedulePolicy policy) noexcept {
  const auto i = static_cast<std::size_t>(policy);
  return i < kPolicyNames.size() ? kPolicyNames[i] : "unknown";
}

bool parse(std::string_view name, SchedulePolicy& policy) noexcept {
  for (std::size_t i = 0; i < kPolicyNames.size(); ++i)
    if (kPolicyNames[i] == name) {
      policy = static_cast<SchedulePolicy>(i);
      return true;
    }
  return false;
}

std::string_view to_string(WriteReason reason) noexcept {
  const auto i = static_cast<std::size_t>(reason);
  return i < kReasonNames.size() ? kReasonNames[i] : "unknown";
}

std::string to_text(const ScheduleReport& r) {
  std::string text =
      fmt::format("policy {}: {} MiB written, {:.1f} % in idle windows; longest wait {} ms\n", to_string(r.policy),
                  schedule_mib(static_cast<double>(r.bytes)), 100 * r.in_idle_windows, schedule_ms(r.longest_wait_ns));
  text += fmt::format("arriving {} MiB/s; the disk takes {} MiB/s\n", schedule_mib(r.arriving),
                      r.disk_speed > 0 ? schedule_mib(r.disk_speed) : "?");
  text += fmt::format("{:<16} {:>10} {:>12} {:>7}\n", "REASON", "DECISIONS", "MiB", "SHARE");
  for (std::size_t i = 0; i < kWriteReasons; ++i) {
    const ScheduleReport::Share& share = r.reasons[i];
    if (share.decisions == 0 && share.bytes == 0) continue;
    const double part = r.bytes == 0 ? 0 : static_cast<double>(share.bytes) / static_cast<double>(r.bytes);
    text += fmt::format("{:<16} {:>10} {:>12} {:>5.1f} %\n", kReasonNames[i], share.decisions,
                        schedule_mib(static_cast<double>(share.bytes)), 100 * part);
  }
  if (r.applications.empty()) return text + "no application marks a cycle\n";
  text += fmt::format("{} cycles started, {} of them while writes were in flight\n", r.begins, r.begins_in_writes);
  text += fmt::format("{:<24} {:>7} {:>9} {:>18} {:>18} {:>10}  {}\n", "APPLICATION", "WEIGHT", "CYCLES", "PERIOD ms",
                      "BUSY ms", "ERROR ms", "STATE");
  for (const ScheduleReport::Application& a : r.applications) {
    const std::string period =
        a.period_ns == 0 ? "?" : fmt::format("{} ± {}", schedule_ms(a.period_ns), schedule_ms(a.period_deviation_ns));
    const std::string busy = fmt::format("{} ± {}", schedule_ms(a.busy_ns), schedule_ms(a.busy_deviation_ns));
    text += fmt::format("{:<24} {:>7g} {:>9} {:>18} {:>18} {:>10}  {}\n", schedule_name(a.name), a.weight, a.cycles,
                        period, busy, schedule_ms(a.begin_error_ns),
                        !a.alive ? "silent"
                        : a.busy ? "busy"
                                 : "idle");
  }
  if (r.absurd_hints != 0) text += fmt::format("{} absurd hints were not used\n", r.absurd_hints);
  if (r.ignored_hints != 0)
    text += fmt::format("{} hints came from more applications than there is room for\n", r.ignored_hints);
  return text;
}

}  // namespace cardan::record
