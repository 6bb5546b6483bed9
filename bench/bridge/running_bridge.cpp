// SPDX-License-Identifier: Apache-2.0
#include "bench/bridge/running_bridge.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <fstream>
#include <sstream>
#include <utility>

#include "bench/transport/clock.hpp"
#include "cardan/error.hpp"
#include "src/system/launcher/own_program.hpp"

namespace cardan::bench {
namespace {

constexpr std::size_t kMostSaid = 1 << 20, kMostErrors = 4096;
constexpr std::int64_t kEndWithin = 10'000'000'000;

std::vector<std::string> all_words(const std::vector<std::string>& words) {
  std::vector<std::string> all{"cardan", "bridge"};
  all.insert(all.end(), words.begin(), words.end());
  all.emplace_back("--json");
  return all;
}

/// Appends what can be read now; at the end of the file `close` is called.
template <class Close>
void drain(int fd, std::string& to, std::size_t most, Close close) {
  std::array<char, 4096> some{};
  for (;;) {
    if (fd < 0) return;
    const ssize_t n = ::read(fd, some.data(), some.size());
    if (n < 0) return;
    if (n == 0) return close();
    to.append(some.data(), static_cast<std::size_t>(n));
    if (to.size() > most) to.erase(0, to.size() - most);
  }
}

double cpu_with_children(int pid) {
  std::ifstream file(fmt::format("/proc/{}/stat", pid));
  std::string text((std::istreambuf_iterator<char>(file)), {});
  const std::size_t name = text.rfind(')');
  if (name == std::string::npos) return 0;
  std::istringstream rest(text.substr(name + 1));
  std::vector<std::string> fields;
  for (std::string field; rest >> field;) fields.push_back(field);
  if (fields.size() < 13) return 0;
  // utime and stime are the 14th and 15th field of proc(5); the third is the first here.
  const double ticks = std::stod(fields[11]) + std::stod(fields[12]);
  double seconds = ticks / static_cast<double>(::sysconf(_SC_CLK_TCK));
  std::ifstream children(fmt::format("/proc/{0}/task/{0}/children", pid));
  for (int child = 0; children >> child;) seconds += cpu_with_children(child);
  return seconds;
}

}  // namespace

RunningBridge::RunningBridge(const std::vector<std::string>& words, const std::string& run_dir)
    : kind_(words.at(0)),
      child_({.program = launcher::own_program("cardan"),
              .arguments = all_words(words),
              .environment = {{"CARDAN_RUN_DIR", run_dir}, {"CARDAN_DOMAIN", "default"}}}) {}

void RunningBridge::listen(std::int64_t ns) {
  std::array<pollfd, 3> fds{
      {{child_.end_fd(), POLLIN, 0}, {child_.output_fd(), POLLIN, 0}, {child_.error_fd(), POLLIN, 0}}};
  static_cast<void>(::poll(fds.data(), fds.size(), static_cast<int>(ns / 1'000'000)));
  drain(child_.output_fd(), said_, kMostSaid, [&] { child_.close_output(); });
  drain(child_.error_fd(), errors_, kMostErrors, [&] { child_.close_error(); });
  if (const std::size_t end = said_.rfind('\n'); end != std::string::npos) {
    const std::size_t before = end == 0 ? std::string::npos : said_.rfind('\n', end - 1);
    const std::size_t from = before == std::string::npos ? 0 : before + 1;
    if (auto parsed = nlohmann::json::parse(said_.substr(from, end - from), nullptr, false); parsed.is_object())
      report_ = std::move(parsed);
    said_.erase(0, end + 1);
  }
  if (const auto ending = child_.ended()) {
    const std::size_t end = errors_.find_last_not_of('\n');
    const std::string why = end == std::string::npos ? text(*ending) : errors_.substr(0, end + 1);
    throw Error(ErrorCode::Unavailable, fmt::format("cardan bridge {}: {}", kind_, why), {});
  }
}

BridgeCounts RunningBridge::counts(const std::string& topic, const std::string& direction) const {
  BridgeCounts out;
  if (!report_.is_object()) return out;
  for (const auto& t : report_.at("topics")) {
    if (t.at("topic") != topic || t.at("direction") != direction) continue;
    out = {.receivers = t.at("receivers"),
           .carried = t.at("carried"),
           .bytes = t.at("bytes"),
           .copied = t.at("copied_bytes"),
           .lost = t.at("lost")};
  }
  return out;
}

double RunningBridge::cpu() const { return cpu_with_children(child_.pid()); }

void RunningBridge::end() {
  child_.signal(SIGTERM);
  constexpr int kLost = 3;
  for (const std::int64_t until = now_ns() + kEndWithin; now_ns() < until;) {
    drain(child_.output_fd(), said_, kMostSaid, [&] { child_.close_output(); });
    drain(child_.error_fd(), errors_, kMostErrors, [&] { child_.close_error(); });
    if (const auto ending = child_.ended()) {
      if (ending->in_order() || (ending->signal == 0 && ending->exit_code == kLost)) return;
      throw Error(ErrorCode::System, fmt::format("cardan bridge {}: {}", kind_, text(*ending)), {});
    }
    sleep_until(now_ns() + 20'000'000);
  }
  throw Error(ErrorCode::System, fmt::format("cardan bridge {} does not end", kind_), {});
}

}  // namespace cardan::bench
