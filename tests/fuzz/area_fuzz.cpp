// SPDX-License-Identifier: Apache-2.0
// A publisher writes anything into its area, header and words, while a reader takes from it and from an honest
// publisher, and copies as observers do. Must hold: what a reader is handed lies in the area, and the honest
// publisher's frames come whole and in order.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "cardan/error.hpp"
#include "cardan/observer.hpp"
#include "cardan/subscriber.hpp"
#include "src/transport/endpoint/publisher_area.hpp"
#include "src/transport/endpoint/subscriber_core.hpp"
#include "tests/fuzz/speech.hpp"

namespace cardan::fuzz::area_target {
namespace {

using detail::PublisherCore;
using detail::SampleBlock;
using detail::Stream;
using detail::SubscriberCore;

constexpr TopicOptions kOptions{.max_bytes = 4096, .depth = 4, .max_memory = 64 * 1024};  // slots of pages of their own

std::shared_ptr<PublisherCore> make_publisher(int publications) {
  auto core = std::make_shared<PublisherCore>("/fuzz", detail::message_type_of<Message>(), kOptions, PublisherOptions{},
                                              detail::ChainRole{.entries = 2, .component = 1});
  for (int i = 0; i < publications; ++i) publish_on(*core);
  return core;
}

/// A hostile publisher's area: its first part is there, the rest is a hole.
class Spoilt {
 public:
  Spoilt(const std::byte* from, std::size_t there, std::size_t bytes) : area_("fuzz", bytes) { write(0, from, there); }
  [[nodiscard]] std::byte* data() const { return area_.data(); }
  [[nodiscard]] Fd fd() const { return Fd(::fcntl(area_.read_only_fd(), F_DUPFD_CLOEXEC, 0)); }
  void write(std::size_t at, const void* from, std::size_t count) const { std::memcpy(data() + at, from, count); }
  [[nodiscard]] blkcnt_t blocks() const {
    struct stat st{};
    return ::fstat(area_.read_only_fd(), &st) == 0 ? st.st_blocks : 0;
  }

 private:
  detail::Area area_;
};

struct Word {
  std::size_t offset, bytes;
};

/// The area's words that mean something, in the layout that an honest publisher gives it.
std::vector<Word> words_of(const layout::Header& h) {
  std::vector<Word> all;
  for (const std::size_t at : {8U, 12U, 16U, 20U, 144U, 148U}) all.push_back({at, 4});
  for (std::size_t at = 24; at < 144; at += 8) all.push_back({at, 8});
  all.push_back({h.front_offset, 8});
  for (std::uint32_t i = 0; i < h.depth; ++i) all.push_back({h.ring_offset + i * 8, 8});
  for (const std::size_t at : {0U, 8U, 12U, 16U, 20U, 64U, 72U})
    all.push_back({h.hot_offset + at, at % 8 == 0 ? 8U : 4U});
  for (std::uint32_t s = 0; s < h.max_slots; ++s) {
    const std::size_t slot = h.slots_offset + s * h.slot_stride;
    for (const std::size_t at : {0U, 8U, 16U, 24U, 32U, 36U, 40U, 48U, 56U})
      all.push_back({slot + at, at == 32 || at == 36 ? 4U : 8U});
    for (std::size_t at = 0; at < sizeof(Message) + h.chain_entries * sizeof(layout::ChainEntry); at += 8)
      all.push_back({slot + h.message_offset + at, 8});
  }
  return all;
}

/// One reader of two publishers.
class Reader {
 public:
  Reader(const Spoilt& spoilt, std::size_t bytes, const std::shared_ptr<PublisherCore>& honest, std::uint8_t how)
      : spoilt_(spoilt), bytes_(bytes), honest_(honest) {
    SubscriberOptions endpoint{.holds = 3, .depth = how % 2U};
    if (how & 2U) endpoint.waiting = anticipate();
    if (how & 4U) endpoint.waiting = prewake();
    TopicOptions options = kOptions;
    if (how & 8U) options.lifespan = std::chrono::hours{1};
    core_ = SubscriberCore::create("/fuzz", detail::message_type_of<Message>(), detail::adopt_function_of<Message>(),
                                   options, endpoint);
    core_->poke_helper = [] {};
    core_->helper().hand_over_notify = [](Stream&, int peer) { Fd{peer}; };
    for (auto* page : {&page_, &honest_page_}) page->magic = layout::kMagic;
    last_ = honest_->published();
    add(parts_of(honest_->area().data(), honest_->area().size(), honest_page_, last_));
  }
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;
  ~Reader() {
    for (SampleBlock*& b : held_) drop(b);
    core_->helper().remove_all_streams();
    core_->drop_reference();
  }

  /// As the client does with another user's area; false: it is refused.
  bool attach(std::uint64_t cursor) {
    try {
      auto area = std::make_shared<detail::PublisherArea>(detail::PublisherArea::map(spoilt_.fd(), bytes_, true));
      area->check({core_->type().hash, core_->type().bytes, core_->type().alignment, kOptions.max_bytes});
      Stream::Parts parts = parts_of(area->mapping.data(), bytes_, page_, cursor);
      parts.header = area->header;
      parts.slots = area->slots;
      parts.area_fd = std::move(area->fd);
      parts.foreign = true;
      area_ = area->mapping.data();
      parts.keep = std::move(area);
      add(std::move(parts));
    } catch (const Error&) {
      return false;
    }
    return attached_ = true;
  }
  [[nodiscard]] bool attached() const { return attached_; }

  void take(std::size_t place) {
    drop(held_[place]);
    SampleBlock* b = core_->take();
    if (b != nullptr) look(*b);
    held_[place] = b;
    core_->helper().collect_ended();
  }
  void wait() {
    if (SampleBlock* b = core_->wait(steady_now() + 2000)) {
      look(*b);
      detail::drop(b);
    }
    core_->helper().collect_ended();
  }
  void copy() {
    if (!core_->copy_latest(copy_)) return;
    if (const Message* message = copy_.as<Message>()) look_at(*message);
  }
  void ask() {
    (void)(core_->missed() + core_->received() + core_->bad());
    (void)core_->ready();
    core_->helper().check_deadlines(steady_now());
    (void)core_->helper().next_deadline();
    while (core_->next_event()) {
    }
  }
  void drop(SampleBlock*& block) {
    if (block != nullptr) detail::drop(block);
    block = nullptr;
  }
  SampleBlock*& held(std::size_t place) { return held_[place]; }
  /// Takes all that is there; the honest publisher's last publication must be part of it.
  void finish() {
    for (std::size_t i = 0; i < held_.size(); ++i) drop(held_[i]);
    for (int i = 0; i < 64 && last_ < honest_->published(); ++i) {
      SampleBlock* b = core_->take();
      if (b == nullptr) break;
      look(*b);
      detail::drop(b);
      core_->helper().collect_ended();
    }
    require(last_ == honest_->published(), "the honest publisher's last frame did not come");
  }

 private:
  Stream::Parts parts_of(std::byte* area, std::size_t bytes, layout::SubscriberPage& page, std::uint64_t cursor) {
    Stream::Parts parts;
    parts.area = area;
    parts.area_bytes = bytes;
    parts.bell = &bell_;
    parts.page = &page;
    parts.cursor = cursor;
    parts.owed_from = cursor;
    parts.peer_name = "fuzz";
    return parts;
  }
  void add(Stream::Parts parts) { core_->helper().add_stream(Stream::create(std::move(parts), core_->stream_room())); }
  void look(const SampleBlock& b) {
    detail::ChainGrounds grounds;
    grounds.add(b);
    for (const detail::ChainGround& ground : grounds.all())
      require(ground.origin_ns <= b.publish_ns && ground.hop_ns >= 0, "a chain began after its publication");
    require(b.origin() >= 0 && b.origin() <= std::max<std::int64_t>(b.publish_ns, 0),
            "an origin after the publication");
    const auto* message = static_cast<const Message*>(b.message);
    const auto words = message->words.span();
    const auto* first = reinterpret_cast<const std::byte*>(words.data());
    if (b.stream->page().cursor.load() != 0 && &b.stream->page() == &honest_page_) {
      require(test::intact(*message) && test::number_of(message->key) == b.sequence, "an honest frame is torn");
      require(b.sequence > last_, "honest frames out of order");
      last_ = b.sequence;
      return;
    }
    require(b.payload >= area_ && b.payload_bytes <= bytes_ && b.payload + b.payload_bytes <= area_ + bytes_,
            "a payload outside of the area");
    require(words.empty() || (first >= b.payload && words.size_bytes() <= b.payload_bytes &&
                              first + words.size_bytes() <= b.payload + b.payload_bytes),
            "a vector outside of the payload");
    look_at(*message);
  }

  const Spoilt& spoilt_;
  const std::byte* area_ = nullptr;  ///< as the reader has it
  std::size_t bytes_;
  std::shared_ptr<PublisherCore> honest_;
  SubscriberCore* core_ = nullptr;
  layout::SubscriberPage page_{}, honest_page_{};
  layout::Bell bell_{};
  std::array<SampleBlock*, 3> held_{};
  ObservedSample copy_;
  std::uint64_t last_ = 0;
  bool attached_ = false;
};

enum Op : std::uint8_t {
  kSet,
  kAdd,
  kByte,
  kPublish,
  kAttach,
  kTake,
  kDrop,
  kWait,
  kCopy,
  kAsk,
  kHonest,
  kRestore,
  kOps
};

const std::shared_ptr<PublisherCore>& base_publisher() {
  static const auto made = make_publisher(6);
  return made;
}

/// First how it reads; then operations: what the publisher writes, what the reader does.
void run(std::string_view input) {
  const auto& base = base_publisher();
  static const std::size_t bytes = base->area().size();
  static const std::size_t there =
      base->header().slots_offset + base->hot().committed.load() * base->header().slot_stride;
  static const std::vector<Word> words = words_of(base->header());
  const Spoilt spoilt(base->area().data(), there, bytes);
  Input in(input);
  static const auto honest =
      make_publisher(1);  // continues from input to input: a new one costs more than all the rest
  publish_on(*honest);
  const std::uint8_t how = in.byte();
  Reader reader(spoilt, bytes, honest, how);
  const auto word = [&]() -> const Word& { return words[in.number(2) % words.size()]; };
  for (int ops = 0; ops < 64 && !in.empty(); ++ops) {
    const std::uint8_t op = in.byte() % kOps;
    // Until it is attached, only the publisher is at work.
    if (op > kAttach && op < kHonest && !reader.attached() && !reader.attach(0)) break;
    const blkcnt_t before = spoilt.blocks();
    switch (op) {
      case kSet: {
        const Word& w = word();
        const std::uint64_t value = in.number(w.bytes);
        spoilt.write(w.offset, &value, w.bytes);
        break;
      }
      case kAdd: {
        const Word& w = word();
        std::uint64_t value = 0;
        std::memcpy(&value, spoilt.data() + w.offset, w.bytes);
        value += static_cast<std::uint64_t>(static_cast<std::int64_t>(static_cast<std::int8_t>(in.byte())));
        spoilt.write(w.offset, &value, w.bytes);
        break;
      }
      case kByte: {
        const std::size_t at = in.number(2) % bytes;
        const std::uint8_t value = in.byte();
        spoilt.write(at, &value, 1);
        break;
      }
      case kPublish: {  // as an honest one would, in any slot, under any number; or without a word in the slot
        const layout::Header& h = base->header();
        const std::uint8_t shape = in.byte();
        const std::uint64_t number = in.number(shape % 8);
        const std::uint32_t slot = in.byte() % (h.max_slots + 1);
        const std::uint64_t entry = protocol::pack({number, slot});
        const std::uint64_t sequence = protocol::unpack(entry).sequence;
        if (slot < h.max_slots && shape < 128) spoilt.write(h.slots_offset + slot * h.slot_stride, &sequence, 8);
        spoilt.write(h.ring_offset + sequence % h.depth * 8, &entry, 8);
        spoilt.write(h.front_offset, &entry, 8);
        break;
      }
      case kAttach:
        if (!reader.attached() && !reader.attach(in.byte())) return;
        break;
      case kTake:
        reader.take(in.byte() % 3);
        break;
      case kDrop:
        reader.drop(reader.held(in.byte() % 3));
        break;
      case kWait:
        reader.wait();
        break;
      case kCopy:
        reader.copy();
        break;
      case kAsk:
        reader.ask();
        break;
      case kHonest:
        publish_on(*honest);
        break;
      default:
        spoilt.write(0, base->area().data(), there);
        break;
    }
    if (op >= kAttach && op < kHonest)
      require(spoilt.blocks() <= before, "a reader has filled a hole in a hostile publisher's area, and pays for it");
  }
  reader.finish();
}

std::vector<std::string> seeds() {
  const auto ops = [](std::initializer_list<int> all) {
    std::string text;
    for (const int op : all) text += static_cast<char>(op);
    return text;
  };
  std::vector<std::string> all;
  for (const int how : {0, 1, 2, 4, 8}) {
    all.push_back(ops({how, kAttach, 2, kTake, 0, kTake, 1, kCopy, kAsk, kHonest, kTake, 2, kWait}));
    all.push_back(
        ops({how, kAttach, 0, kPublish, 1, 9, 2, kTake, 0, kPublish, 1, 10, 3, kCopy, kTake, 1, kDrop, 0, kAsk}));
    all.push_back(ops({how, kAdd, 6, 0, 64, kAdd, 9, 0, 1, kAttach, 0, kHonest, kTake, 0, kRestore, kTake, 1}));
  }
  // It says that there are more slots, and names one of them.
  const layout::Header& h = base_publisher()->header();
  const std::vector<Word> words = words_of(h);
  const auto committed = static_cast<int>(
      std::find_if(words.begin(), words.end(),
                   [&](const Word& w) { return w.offset == h.hot_offset + offsetof(layout::Hot, committed); }) -
      words.begin());
  const auto more = static_cast<int>(h.max_slots);
  all.push_back(ops({0, kAttach, 0, kSet, committed % 256, committed / 256, more, 0, 0, 0, kPublish, 129, 9, more - 1,
                     kTake, 0, kCopy}));
  return all;
}

}  // namespace
CARDAN_FUZZ_TARGET(area, run, seeds)
}  // namespace cardan::fuzz::area_target
