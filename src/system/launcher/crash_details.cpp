// SPDX-License-Identifier: Apache-2.0
#include "src/system/launcher/crash_details.hpp"

#include <cxxabi.h>
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <csignal>
#include <cstdlib>
#include <memory>

namespace cardan::launcher {
namespace {

constexpr std::size_t kHead = 4096;
constexpr int kNames = 64;
constexpr std::size_t kLongestName = 512;
/// A name may refer to its own parts, so that few letters become very many: this is the most references.
constexpr int kReferences = 24;

template <class Number>
bool number_at(std::string_view& text, Number& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{}) return false;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return true;
}

bool skip(std::string_view& text, std::string_view what) {
  if (!text.starts_with(what)) return false;
  text.remove_prefix(what.size());
  return true;
}

int references_in(std::string_view mangled) {
  int count = 0;
  for (std::size_t i = 0; i + 1 < mangled.size(); ++i) {
    if (mangled[i] != 'S' && mangled[i] != 'T') continue;
    std::size_t end = i + 1;
    while (end < mangled.size() && (std::isdigit(static_cast<unsigned char>(mangled[end])) != 0 ||
                                    std::isupper(static_cast<unsigned char>(mangled[end])) != 0))
      ++end;
    if (end < mangled.size() && mangled[end] == '_') ++count;
  }
  return count;
}

std::string demangled_name(const std::string& mangled) {
  if (mangled.size() > kLongestName || references_in(mangled) > kReferences) return mangled;
  int failed = 0;
  const std::unique_ptr<char, decltype(&std::free)> name(
      abi::__cxa_demangle(mangled.c_str(), nullptr, nullptr, &failed), &std::free);
  return failed == 0 && name != nullptr ? name.get() : mangled;
}

}  // namespace

std::optional<PoisonSample> CrashDetails::sample() const {
  if (component.empty() || callback.empty() || sequence == 0) return {};
  return PoisonSample{component, callback, sequence, publish_ns};
}

CrashDetails read_crash(std::string_view report) {
  CrashDetails words;
  report = report.substr(0, kHead);
  while (!report.empty()) {
    std::string_view line = report.substr(0, report.find('\n'));
    report.remove_prefix(std::min(line.size() + 1, report.size()));
    if (line == "last samples:" || line == "stack:") break;
    if (skip(line, "component: ")) {
      if (!line.starts_with("none (")) words.component = line;
    } else if (skip(line, "callback: ")) {
      words.callback = line.substr(0, line.rfind(", its call number "));
    } else if (skip(line, "step: ")) {
      words.step = line;
    } else if (skip(line, "ended by: ")) {
      words.ended_by = line;
    } else if (skip(line, "reason: ")) {
      words.reason = line;
    } else if (skip(line, "sample: sequence ")) {
      CrashDetails read;
      if (number_at(line, read.sequence) && skip(line, ", published at ") && number_at(line, read.publish_ns)) {
        words.sequence = read.sequence;
        words.publish_ns = read.publish_ns;
      }
    }
  }
  return words;
}

std::string text(const Ending& ending, const CrashDetails& words) {
  if (ending.signal != 0 && !words.step.empty())
    return fmt::format("{} in the {} of component '{}'", text(ending), words.step, words.component);
  if (ending.signal != SIGABRT || words.reason.empty()) return text(ending);
  if (words.ended_by == "watchdog") return "was ended by its watchdog: " + words.reason;
  if (words.ended_by == "rule") return "ended itself by its rule: " + words.reason;
  return text(ending);
}

std::string remedy(const Ending& ending, const CrashDetails& words) {
  if (ending.signal == SIGABRT && words.ended_by == "watchdog")
    return "the report has the stack of the callback; raise watchdog_ms if it may run that long";
  return remedy(ending);
}

std::string demangled(std::string_view report) {
  std::string out;
  int names = 0;
  for (;;) {
    const std::size_t begin = names < kNames ? report.find("(_Z") : std::string_view::npos;
    if (begin == std::string_view::npos) return out += report;
    out += report.substr(0, begin + 1);
    report.remove_prefix(begin + 1);
    const std::size_t end = report.find_first_of("+)\n");
    const std::string_view name = report.substr(0, end);
    out += end == std::string_view::npos || report[end] == '\n' ? std::string(name) : demangled_name(std::string(name));
    report.remove_prefix(name.size());
    ++names;
  }
}

bool PoisonWatch::crashed_on(const PoisonSample& sample) {
  if (const auto known = std::find(once_.begin(), once_.end(), sample); known != once_.end()) {
    once_.erase(known);
    skipped_.push_back(sample);
    if (skipped_.size() > kSkipped) skipped_.pop_front();
    return true;
  }
  once_.push_back(sample);
  if (once_.size() > kRemembered) once_.pop_front();
  return false;
}

std::string to_argument(const PoisonSample& sample) {
  return fmt::format("{} {} {} {}", sample.component, sample.sequence, sample.publish_ns, sample.callback);
}

std::optional<PoisonSample> poison_of(std::string_view argument) {
  PoisonSample sample;
  const std::size_t space = argument.find(' ');
  if (space == std::string_view::npos || space == 0) return {};
  sample.component = argument.substr(0, space);
  argument.remove_prefix(space + 1);
  if (!number_at(argument, sample.sequence) || !skip(argument, " ") || !number_at(argument, sample.publish_ns) ||
      !skip(argument, " ") || argument.empty())
    return {};
  sample.callback = argument;
  return sample;
}

}  // namespace cardan::launcher
