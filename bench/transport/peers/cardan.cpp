// SPDX-License-Identifier: Apache-2.0
// `cardan`: a topic of depth 1, filled in place in a loan and read in place in the sample, as an application does it.
#include "cardan/cardan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <optional>
#include <string>
#include <thread>

#include "bench/transport/peers/peers.hpp"
#include "bench/transport/role.hpp"

namespace cardan::bench {

/// A payload whose size is known only when the bench starts.
struct Frame {
  shm::vector<std::uint64_t> words;
};

/// What an application with 128 bytes to say uses: a plain struct.
struct SmallFrame {
  std::array<std::uint64_t, 16> words;
};

}  // namespace cardan::bench

CARDAN_MESSAGE(cardan::bench::Frame, "cardan_bench/msg/Frame", words)
CARDAN_MESSAGE(cardan::bench::SmallFrame, "cardan_bench/msg/SmallFrame", words)

namespace cardan::bench {
namespace {

using namespace std::chrono_literals;

constexpr auto kSetUpLimit = 10s;
// Long enough for a frame that is filled at 1 GB/s, a quarter of what memory gives.
std::chrono::nanoseconds longest_fill(std::size_t bytes) { return std::max<std::chrono::nanoseconds>(5ms, std::chrono::nanoseconds(bytes)); }
// With soon() the loan's ring comes much too early: the reader gives up quickly and is rung again near the end.
constexpr auto kSoonLimit = 200us;

Waiting waiting_of(const Contender& contender, const Cell& cell) {
  switch (contender.wait) {
    case Wait::Spin: return spin_then_block(1h);  // a bench ends before
    case Wait::Prewake: return prewake(longest_fill(cell.bytes));
    case Wait::Soon: return prewake(kSoonLimit);
    case Wait::Anticipate: return anticipate();
    case Wait::Block:
    case Wait::Poll: break;
  }
  return block();
}

template <class T>
Topic<T> topic_of(const Area& area) {
  Topic<T> topic{area.header().topic, {}};
  if constexpr (shm::has_vectors<T>) topic.options.max_bytes = area.header().cell.bytes;
  topic.options.waiting = waiting_of(area.header().contender, area.header().cell);
  return topic;
}

// Set-up only: discovery and attach are not part of what is measured.
template <class Condition>
void wait_until(const char* what, Condition condition) {
  const auto give_up = std::chrono::steady_clock::now() + kSetUpLimit;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > give_up) {
      throw Error(ErrorCode::Unavailable, fmt::format("{} within {} s", what, kSetUpLimit.count()), "try `cardan doctor`");
    }
    std::this_thread::sleep_for(1ms);
  }
}

template <class T>
class CardanWriter {
 public:
  explicit CardanWriter(const Area& area)
      : words_(area.header().cell.bytes / sizeof(std::uint64_t)), out_(topic_of<T>(area)) {
    wait_until("not all readers attached", [&] { return out_.subscribers() == area.subscribers(); });
  }

  std::span<std::uint64_t> loan(std::uint64_t) noexcept {
    loan_ = out_.loan();
    if (!loan_) return {};
    if constexpr (shm::has_vectors<T>) {
      if (!loan_->words.try_resize_for_overwrite(words_)) return {};
      return loan_->words.span();
    } else {
      return loan_->words;
    }
  }
  void soon() noexcept { loan_.soon(); }
  void publish(std::uint64_t) noexcept { out_.publish(std::move(loan_)); }

 private:
  std::size_t words_;
  Publisher<T> out_;
  Loan<T> loan_;
};

template <class T>
class CardanReader {
 public:
  explicit CardanReader(const Area& area) : in_(topic_of<T>(area)) {
    wait_until("not all publishers were found", [&] { return in_.publishers() == area.publishers(); });
  }

  std::span<const std::uint64_t> next() noexcept {
    sample_ = in_.wait();
    if (!sample_) return {};
    if constexpr (shm::has_vectors<T>) return sample_->words.span();
    else return sample_->words;
  }
  void release() noexcept { sample_.reset(); }

 private:
  Subscriber<T> in_;
  Sample<T> sample_;
};

template <class T>
void play(const Area& area, std::uint32_t index) {
  if (index < area.publishers()) {
    CardanWriter<T> out(area);
    publish_frames(area, index, out);
  } else {
    CardanReader<T> in(area);
    read_frames(area, index - area.publishers(), in);
  }
}

}  // namespace

void play_cardan(const Area& area, std::uint32_t index) {
  if (area.header().cell.bytes == sizeof(SmallFrame)) play<SmallFrame>(area, index);
  else play<Frame>(area, index);
}

}  // namespace cardan::bench
