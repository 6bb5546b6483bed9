// SPDX-License-Identifier: Apache-2.0
// `cardan`: a topic of depth 1, filled in place in a loan and read in place in the sample, as an application does it.
// `cardan-reliable`: the same, and publish() waits until the reader has taken the frame before.
#include "bench/transport/peers/cardan_ask.hpp"
#include "bench/transport/peers/cardan_frames.hpp"
#include "bench/transport/peers/link.hpp"
#include "bench/transport/peers/peer.hpp"
#include "bench/transport/role.hpp"

namespace cardan::bench {
namespace {

template <class T>
class CardanWriter {
 public:
  CardanWriter(const Area& area, std::uint32_t /*index*/)
      : words_(area.header().cell.bytes / sizeof(std::uint64_t)), out_(topic_of<T>(area)) {
    wait_until(kNoReaders, [&] { return out_.subscribers() == area.subscribers(); });
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
  CardanReader(const Area& area, std::uint32_t /*index*/) : in_(topic_of<T>(area)) {
    wait_until(kNoPublishers, [&] { return in_.publishers() == area.publishers(); });
  }

  std::span<const std::uint64_t> next() noexcept {
    sample_ = in_.wait();
    if (!sample_) return {};
    if constexpr (shm::has_vectors<T>)
      return sample_->words.span();
    else
      return sample_->words;
  }
  void release() noexcept { sample_.reset(); }

 private:
  Subscriber<T> in_;
  Sample<T> sample_;
};

void play_cardan(const Area& area, std::uint32_t index) {
  if (area.header().cell.bytes == sizeof(SmallFrame))
    play_with<CardanWriter<SmallFrame>, CardanReader<SmallFrame>>(area, index);
  else
    play_with<CardanWriter<Frame>, CardanReader<Frame>>(area, index);
}

void play_cardan_ask(const Area& area, std::uint32_t index) {
  if (area.header().cell.bytes == sizeof(SmallFrame))
    play_with<CardanAsker<SmallFrame>, CardanAnswerer<SmallFrame>>(area, index);
  else
    play_with<CardanAsker<Frame>, CardanAnswerer<Frame>>(area, index);
}

const RegisteredPeer kCardanPeer({.peer = kCardan,
                                  .place = 100,
                                  .waits = [](const std::vector<Wait>& wanted) { return wanted; },
                                  .play = play_cardan,
                                  .play_ask = play_cardan_ask,
                                  .links = links_with<CardanWriter<Frame>, CardanReader<Frame>>()});

const RegisteredPeer kReliablePeer(
    {.peer = kCardanReliable, .place = 101, .on_request = true, .waits = block_only, .play = play_cardan});

}  // namespace
}  // namespace cardan::bench
