// SPDX-License-Identifier: Apache-2.0
#include "bench/bridge/v2x/radio.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <ctime>
#include <utility>

#include "bench/transport/clock.hpp"
#include "cardan/error.hpp"

namespace cardan::bench::v2x {
namespace {

constexpr std::size_t kMostFrameBytes = 65536;

/// One frame from `fd`, if there is one.
bool read_frame(int fd, std::vector<std::byte>& frame) {
  frame.resize(kMostFrameBytes);
  const ssize_t got = ::read(fd, frame.data(), frame.size());
  frame.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  return got > 0;
}

}  // namespace

std::string Link::text() const {
  return fmt::format("{:g} Mbit/s, {:g} ± {:g} ms, {:g} % loss in each direction", rate_mbit, delay_ms, jitter_ms,
                     loss_percent);
}

std::vector<std::string> Link::netem() const {
  std::vector<std::string> words{"netem", "delay", fmt::format("{:.0f}us", 1000 * delay_ms)};
  if (jitter_ms > 0) words.insert(words.end(), {fmt::format("{:.0f}us", 1000 * jitter_ms), "distribution", "normal"});
  words.insert(words.end(),
               {"loss", fmt::format("{:g}%", loss_percent), "rate", fmt::format("{:.0f}kbit", 1000 * rate_mbit)});
  return words;
}

void Air::send(std::vector<std::byte> frame, std::int64_t now) {
  if (std::uniform_real_distribution<double>(0, 100)(random_) < link_.loss_percent) {
    ++lost_;
    return;
  }
  if (under_way_.size() >= kMostFrames) {
    ++overflown_;
    return;
  }
  const double delay_ms =
      link_.jitter_ms > 0 ? std::normal_distribution<double>(link_.delay_ms, link_.jitter_ms)(random_) : link_.delay_ms;
  busy_until_ = std::max(now, busy_until_) +
                static_cast<std::int64_t>(static_cast<double>(8 * frame.size()) * 1e3 / link_.rate_mbit);
  const std::int64_t before = under_way_.empty() ? 0 : under_way_.back().due;
  under_way_.push_back(
      {std::max(busy_until_ + static_cast<std::int64_t>(std::max(delay_ms, 0.0) * 1e6), before), std::move(frame)});
}

bool Air::receive(std::vector<std::byte>& frame, std::int64_t now) {
  if (under_way_.empty() || under_way_.front().due > now) return false;
  frame = std::move(under_way_.front().bytes);
  under_way_.pop_front();
  return true;
}

Radio::Radio(int one, int two, const Link& link)
    : one_(one), two_(two), there_(link, 1), back_(link, 2), stop_(::eventfd(0, EFD_CLOEXEC)) {
  if (!stop_)
    throw Error(ErrorCode::System, fmt::format("no radio link: {}", std::strerror(errno)),
                "raise the limit of open files with ulimit -n");
  // Signals are for the thread that runs the bench.
  sigset_t all{};
  sigset_t former{};
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &former);
  thread_ = std::thread([this] { run(); });
  ::pthread_sigmask(SIG_SETMASK, &former, nullptr);
}

Radio::~Radio() {
  const std::uint64_t one = 1;
  static_cast<void>(!::write(stop_.get(), &one, sizeof one));
  thread_.join();
}

void Radio::run() noexcept {
  std::vector<std::byte> frame;
  for (;;) {
    std::int64_t next = there_.next();
    if (back_.next() != 0 && (next == 0 || back_.next() < next)) next = back_.next();
    const std::int64_t left = std::max<std::int64_t>(next - now_ns(), 0);
    const timespec timeout{left / 1'000'000'000, left % 1'000'000'000};
    std::array<pollfd, 3> fds{pollfd{stop_.get(), POLLIN, 0}, pollfd{one_, POLLIN, 0}, pollfd{two_, POLLIN, 0}};
    if (::ppoll(fds.data(), fds.size(), next != 0 ? &timeout : nullptr, nullptr) < 0 && errno != EINTR) return;
    if (fds[0].revents != 0) return;
    if ((fds[1].revents & POLLIN) != 0 && read_frame(one_, frame)) there_.send(frame, now_ns());
    if ((fds[2].revents & POLLIN) != 0 && read_frame(two_, frame)) back_.send(frame, now_ns());
    if (((fds[1].revents | fds[2].revents) & (POLLERR | POLLHUP | POLLNVAL)) != 0) return;
    // Frames that the other side does not take are lost, as in the air.
    while (there_.receive(frame, now_ns())) static_cast<void>(!::write(two_, frame.data(), frame.size()));
    while (back_.receive(frame, now_ns())) static_cast<void>(!::write(one_, frame.data(), frame.size()));
  }
}

}  // namespace cardan::bench::v2x
