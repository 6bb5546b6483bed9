// SPDX-License-Identifier: Apache-2.0
// Subscribers write anything into their pages while a publisher publishes, reclaims slots and lets them go. Must hold:
// samples that an honest subscriber keeps stay whole, publishing never stops for ever, and all slots come back when the
// hostile ones have gone.
#include <unistd.h>

#include <cstring>

#include "cardan/clock.hpp"
#include "cardan/error.hpp"
#include "cardan/subscriber.hpp"
#include "src/transport/endpoint/subscriber_core.hpp"
#include "tests/fuzz/speech.hpp"

namespace cardan::fuzz::page_target {
namespace {

using detail::Attached;
using detail::PublisherCore;
using detail::SampleBlock;
using detail::Stream;
using detail::SubscriberCore;

constexpr std::uint32_t kHolds = 3;
constexpr TopicOptions kOptions{.max_bytes = kWords * sizeof(std::uint64_t),
                                .depth = 2,
                                .reliable = true,
                                .reliable_timeout = std::chrono::microseconds{20},
                                .max_memory = 16 * 1024};

class Scene {
 public:
  explicit Scene(std::uint8_t how)
      : core_(std::make_shared<PublisherCore>("/fuzz", detail::message_type_of<Message>(), kOptions,
                                              PublisherOptions{})) {
    core_->set_poke_helper([] {});
    if (how & 1U) core_->set_checksum(true);
    subscriber_ = SubscriberCore::create("/fuzz", detail::message_type_of<Message>(),
                                         detail::adopt_function_of<Message>(), kOptions, {.holds = kHolds});
    subscriber_->poke_helper = [] {};
    subscriber_->helper().hand_over_notify = [](Stream&, int peer) { Fd{peer}; };
    honest_ = attach(honest_page_, kHolds + 1, (how & 2U) != 0, 0);
    Stream::Parts parts;
    parts.area = core_->area().data();
    parts.area_bytes = core_->area().size();
    parts.bell = &board()->bell(0);
    parts.page = &honest_page_;
    subscriber_->helper().add_stream(Stream::create(std::move(parts), subscriber_->stream_room()));
  }
  Scene(const Scene&) = delete;
  Scene& operator=(const Scene&) = delete;
  ~Scene() {
    for (std::size_t i = 0; i < held_.size(); ++i) drop(i);
    subscriber_->helper().remove_all_streams();
    subscriber_->drop_reference();
    core_->detach(honest_);
    for (std::size_t i = 0; i < kStrangers; ++i) leave(i);
    core_->collect();
  }

  static constexpr std::size_t kStrangers = 2;
  static constexpr std::size_t kPageBytes = sizeof(layout::SubscriberPage);
  std::byte* page(std::size_t stranger) { return reinterpret_cast<std::byte*>(&pages_[stranger]); }

  void join(std::size_t i, std::uint8_t how) {
    if (strangers_[i] != nullptr) return;
    try {
      strangers_[i] = attach(pages_[i], 2 + how % 8, (how & 8U) != 0, how & 16U ? ::geteuid() + 1 : ::geteuid());
    } catch (const Error&) {  // no room for this many
    }
  }
  void leave(std::size_t i) {
    if (strangers_[i] != nullptr) core_->detach(std::exchange(strangers_[i], nullptr));
  }
  void publish() {
    const std::int64_t before = steady_now();
    publish_on(*core_);
    require(steady_now() - before < 2'000'000'000, "a publish took seconds");
  }
  void take(std::size_t place) {
    drop(place);
    held_[place] = subscriber_->take();
    if (held_[place] != nullptr) require(held_[place]->sequence > last_, "honest reader: out of order");
    if (held_[place] != nullptr) last_ = held_[place]->sequence;
  }
  void drop(std::size_t place) {
    if (SampleBlock* b = std::exchange(held_[place], nullptr)) {
      detail::drop(b);
    }
  }
  void soon() {
    if (const int slot = core_->loan(); slot >= 0) {
      core_->soon();
      core_->abandon(slot);
    }
  }
  /// As the helper thread does: cuts off liars, collects what has gone, adds up the statistics.
  void attend() {
    const auto attention = core_->take_attention();
    for (const Attached* liar : attention.liars) {
      require(liar != honest_, "an honest reader was taken for a liar");
      for (std::size_t i = 0; i < kStrangers; ++i)
        if (strangers_[i] == liar) leave(i);
    }
    core_->collect();
    std::uint64_t sum = 0;
    core_->for_each_subscriber([&](const Attached& a) {
      for (const auto& count : a.page->latency) sum += count.load(std::memory_order_relaxed);
      sum += a.page->received.load() + a.page->missed.load();
    });
    sum_ += sum;
  }
  void look() const {
    for (const SampleBlock* b : held_) {
      if (b == nullptr) continue;
      const auto* message = static_cast<const Message*>(b->message);
      require(test::intact(*message) && test::number_of(message->key) == b->sequence, "a held sample has changed");
    }
  }
  /// The hostile readers have gone, the honest one keeps nothing: each slot must come back.
  void finish() {
    attend();
    for (std::size_t i = 0; i < kStrangers; ++i) leave(i);
    for (std::size_t i = 0; i < held_.size(); ++i) drop(i);
    core_->collect();
    const std::uint64_t before = core_->published();
    for (int i = 0; i < 12; ++i) publish();
    require(core_->published() == before + 12, "a slot did not come back");
    take(0);
    require(held_[0] != nullptr, "the honest reader gets nothing any more");
    look();
  }

 private:
  Attached* attach(layout::SubscriberPage& page, std::uint32_t announced, bool reliable, uid_t uid) {
    page.magic = layout::kMagic;
    auto a = std::make_unique<Attached>();
    a->page = &page;
    a->bell = core_->bell_for(uid, board(), announced % 2 == 0);
    a->announced = announced;
    a->prewake = true;
    a->reliable = reliable;
    a->floor = core_->floor_for_late_joiner();
    a->uid = uid;
    a->name = "fuzz";
    return core_->attach(std::move(a));
  }

  std::array<layout::SubscriberPage, kStrangers> pages_{};
  layout::SubscriberPage honest_page_{};
  static const std::shared_ptr<detail::BellBoard>& board() {
    static const auto made = std::make_shared<detail::BellBoard>();
    return made;
  }

  std::shared_ptr<PublisherCore> core_;
  SubscriberCore* subscriber_ = nullptr;
  Attached* honest_ = nullptr;
  std::array<Attached*, kStrangers> strangers_{};
  std::array<SampleBlock*, kHolds> held_{};
  std::uint64_t last_ = 0, sum_ = 0;
};

/// The words of a page that a publisher looks at.
constexpr std::array kWordsOfPage{
    offsetof(layout::SubscriberPage, waiting),  offsetof(layout::SubscriberPage, prewake),
    offsetof(layout::SubscriberPage, armed),    offsetof(layout::SubscriberPage, cursor),
    offsetof(layout::SubscriberPage, progress), offsetof(layout::SubscriberPage, received),
    offsetof(layout::SubscriberPage, hold),     offsetof(layout::SubscriberPage, hold) + 8};

enum Op : std::uint8_t { kJoin, kLeave, kWord, kHold, kByte, kPublish, kSoon, kTake, kDrop, kAttend, kOps };

/// First the setting, then operations: of hostile readers, the honest reader and the publisher.
void run(std::string_view input) {
  Input in(input);
  auto scene = std::make_unique<Scene>(in.byte());
  for (int ops = 0; ops < 64 && !in.empty(); ++ops) {
    const std::uint8_t op = in.byte();
    std::byte* page = scene->page(op / kOps % Scene::kStrangers);
    switch (op % kOps) {
      case kJoin:
        scene->join(op / kOps % Scene::kStrangers, in.byte());
        break;
      case kLeave:
        scene->leave(op / kOps % Scene::kStrangers);
        break;
      case kWord: {
        const std::size_t at = kWordsOfPage[in.byte() % kWordsOfPage.size()];
        const std::uint64_t value = in.number(4);
        std::memcpy(page + at, &value, 4);
        break;
      }
      case kHold:  // of one slot
        page[offsetof(layout::SubscriberPage, hold) + in.byte() % 64] = static_cast<std::byte>(in.byte());
        break;
      case kByte:
        page[in.number(2) % Scene::kPageBytes] = static_cast<std::byte>(in.byte());
        break;
      case kPublish:
        scene->publish();
        break;
      case kSoon:
        scene->soon();
        break;
      case kTake:
        scene->take(in.byte() % kHolds);
        break;
      case kDrop:
        scene->drop(in.byte() % kHolds);
        break;
      default:
        scene->attend();
        break;
    }
    scene->look();
  }
  scene->finish();
}

std::vector<std::string> seeds() {
  const auto ops = [](std::initializer_list<int> all) {
    std::string text;
    for (const int op : all) text += static_cast<char>(op);
    return text;
  };
  constexpr int kSecond = kOps;  // the other hostile reader
  std::vector<std::string> all;
  for (const int how : {0, 1, 2, 3}) {
    all.push_back(ops({how, kPublish, kTake, 0, kPublish, kTake, 1, kPublish, kPublish, kDrop, 0, kPublish}));
    all.push_back(ops({how, kJoin, 1, kHold, 0,        1,     kHold, 1,        1,        kHold,    2,
                       1,   kHold, 3, 1,     kPublish, kTake, 0,     kPublish, kPublish, kPublish, kAttend}));
    all.push_back(ops({how, kJoin, 8, kSecond + kJoin, 18, kPublish, kPublish, kPublish, kWord, 3, 9, 0, 0, 0, kPublish,
                       kAttend, kLeave}));
    all.push_back(ops(
        {how, kJoin, 3, kWord, 0, 1, 0, 0, 0, kWord, 1, 1, 0, 0, 0, kWord, 2, 5, 0, 0, 0, kSoon, kPublish, kAttend}));
  }
  return all;
}

}  // namespace
CARDAN_FUZZ_TARGET(page, run, seeds)
}  // namespace cardan::fuzz::page_target
