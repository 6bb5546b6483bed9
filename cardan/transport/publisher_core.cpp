// SPDX-License-Identifier: Apache-2.0
#include "cardan/transport/publisher_core.hpp"

#include <fmt/format.h>
#include <sched.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <cstring>
#include <new>
#include <random>
#include <thread>

#include "cardan/memory/barrier.hpp"
#include "cardan/memory/clock.hpp"
#include "cardan/memory/crc32c.hpp"
#include "cardan/memory/error.hpp"
#include "cardan/memory/futex.hpp"
#include "cardan/transport/waiting.hpp"

namespace cardan::detail {
namespace {

using layout::align_up;

constexpr std::uint32_t kSpareSlots = 512;
constexpr std::uint32_t kPrewakesPerSecond = 1000;
constexpr std::int64_t kForgets = 200'000;  // and so many nanoseconds of sleep too
constexpr std::size_t kEvicts = 16 * 1024;  // filling that many bytes takes the place of what publish() needs

std::uint64_t random64() {
  std::random_device device;
  return (std::uint64_t{device()} << 32) ^ device();
}

void check(const std::string& topic, const TopicOptions& o) {
  const auto bad = [&](const std::string& cause, const std::string& remedy) {
    throw Error(ErrorCode::InvalidArgument, "topic '" + topic + "': " + cause, remedy);
  };
  if (topic.size() < 2 || topic.front() != '/' || topic.size() > 255)
    bad("a name begins with '/' and has 2 to 255 characters", "use a name such as /camera/front");
  for (const char c : topic)
    if (c <= ' ' || c == 0x7f) bad("a name has no spaces or control characters", "use letters, digits, '_' and '/'");
  if (o.depth < 1 || o.depth > layout::kMaxDepth)
    bad(fmt::format("depth is {}", o.depth), fmt::format("use 1 to {}", layout::kMaxDepth));
  if (o.max_bytes > layout::kMaxPayload) bad(fmt::format("max_bytes is {}", o.max_bytes), "use at most 1 GiB");
  if (o.loans < 1 || o.loans > 64) bad(fmt::format("loans is {}", o.loans), "use 1 to 64");
}

}  // namespace

/// Marks the publishing thread as inside, so that detach() knows when nothing it removed can still be looked at. A
/// plain store where the helper can order it from its side (expedited_barrier()), since a locked instruction would wait
/// here for the message's own stores.
class PublisherCore::Inside {
 public:
  explicit Inside(PublisherCore& core) noexcept
      : epoch_(core.epoch_), value_(epoch_.load(std::memory_order_relaxed) + 1) {
    if (has_expedited_barrier()) {
      Native::store<Site::E4>(epoch_, value_);
      std::atomic_signal_fence(std::memory_order_seq_cst);
    } else {
      Native::add<Site::E1>(epoch_, std::uint64_t{1});
    }
  }
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;
  ~Inside() { Native::store<Site::E2>(epoch_, value_ + 1); }

 private:
  Atomic<std::uint64_t>& epoch_;
  std::uint64_t value_;
};

PublisherCore::PublisherCore(std::string topic, MessageType type, const TopicOptions& options,
                             const PublisherOptions& endpoint)
    : topic_(std::move(topic)), type_(std::move(type)), options_(options), placement_(endpoint.placement) {
  check(topic_, options_);
  lay_out(options_);
  commit_slots(options_.depth + options_.loans + 1);
  note_lines();
}

PublisherCore::~PublisherCore() = default;

void PublisherCore::lay_out(const TopicOptions& o) {
  const std::size_t message_offset = align_up(sizeof(layout::SlotMeta) + (type_.has_arena ? type_.arena_bytes : 0),
                                              std::max<std::size_t>(type_.alignment, 8));
  const std::size_t record = align_up(message_offset + type_.bytes, layout::kRecord);
  const bool apart = o.max_bytes >= layout::kPageAlignedFrom;
  const std::size_t payload = apart ? align_up(o.max_bytes, layout::kPage) : align_up(o.max_bytes, layout::kRecord);
  const std::size_t slot_stride = apart ? record : record + payload;
  const std::size_t per_slot = record + payload;

  const std::uint32_t base = o.depth + o.loans + 1;
  std::size_t slots = std::min<std::size_t>(protocol::kMaxSlots, base + kSpareSlots);
  if (o.max_memory != 0) {
    if (o.max_memory < base * per_slot)
      throw Error(
          ErrorCode::InvalidArgument,
          fmt::format(
              "topic '{}': max_memory is {} bytes, but depth {} and {} loan(s) need {} before the first subscriber",
              topic_, o.max_memory, o.depth, o.loans, base * per_slot),
          "raise max_memory or lower depth, loans or max_bytes");
    slots = std::min(slots, o.max_memory / per_slot);
  }
  const std::size_t schema_offset = layout::kPage;
  const std::size_t front_offset = align_up(schema_offset + type_.schema.size(), layout::kPage);
  const std::size_t hot_offset = front_offset + layout::kLine;
  const std::size_t ring_offset = hot_offset + sizeof(layout::Hot);
  const std::size_t slots_offset = align_up(ring_offset + o.depth * sizeof(std::uint64_t), layout::kRecord);
  const std::size_t payload_offset =
      apart ? align_up(slots_offset + slots * slot_stride, layout::kPage) : slots_offset + record;
  const std::size_t total = apart ? payload_offset + slots * payload : slots_offset + slots * slot_stride;

  area_ = Area(topic_, total);
  area_.commit(0, slots_offset, {});
  header_ = new (area_.data()) layout::Header{};
  hot_ = new (area_.data() + hot_offset) layout::Hot{};
  auto* front = reinterpret_cast<Atomic<std::uint64_t>*>(area_.data() + front_offset);
  new (front) Atomic<std::uint64_t>{0};
  std::memcpy(area_.data() + schema_offset, type_.schema.data(), type_.schema.size());
  auto* ring = reinterpret_cast<Atomic<std::uint64_t>*>(area_.data() + ring_offset);
  for (std::uint32_t i = 0; i < o.depth; ++i) new (ring + i) Atomic<std::uint64_t>{0};
  slots_ = area_.data() + slots_offset;

  layout::Header& h = *header_;
  h.version = layout::kVersion;
  h.max_slots = static_cast<std::uint32_t>(slots);
  h.depth = o.depth;
  h.pid = static_cast<std::uint32_t>(::getpid());
  h.area_bytes = area_.size();
  h.front_offset = front_offset;
  h.hot_offset = hot_offset;
  h.ring_offset = ring_offset;
  h.slots_offset = slots_offset;
  h.slot_stride = slot_stride;
  h.message_offset = message_offset;
  h.message_bytes = type_.bytes;
  h.payload_offset = payload_offset;
  h.payload_stride = apart ? payload : slot_stride;
  h.payload_bytes = o.max_bytes;
  h.schema_offset = schema_offset;
  h.schema_bytes = type_.schema.size();
  h.type_hash = type_.hash;
  h.stream = random64();
  h.deadline_ns = o.deadline.count();
  h.lifespan_ns = o.lifespan.count();
  h.created_ns = steady_now();
  h.reliable = o.reliable ? 1 : 0;
  std::strncpy(h.topic.data(), topic_.c_str(), h.topic.size() - 1);
  std::strncpy(h.type_name.data(), type_.name.c_str(), h.type_name.size() - 1);
  h.magic = layout::kMagic;
  hot_->checksum.store(o.checksum ? 1 : 0, std::memory_order_relaxed);
  hot_->heartbeat_ns.store(h.created_ns, std::memory_order_relaxed);

  ring_ = {front, ring, &reinterpret_cast<layout::SlotMeta*>(slots_)->sequence, slot_stride, o.depth, h.max_slots};
  payloads_ = area_.data() + payload_offset;
  message_offset_ = message_offset;
  message_bytes_ = type_.bytes;
  payload_stride_ = h.payload_stride;
  payload_capacity_ = o.max_bytes;
  depth_ = o.depth;
  loans_ = o.loans;
  has_deadline_ = h.deadline_ns > 0;
  // Small messages are faster when many slots are looked at once; for big ones a slot still warm in the cache pays
  // more.
  reuse_warm_ = apart;
  state_ = std::make_unique<Atomic<State>[]>(slots);
  published_as_.resize(slots);
  free_.resize(slots);
}

void PublisherCore::commit_slots(std::uint32_t count) {
  const std::uint32_t have = committed_.load(std::memory_order_relaxed);
  if (count <= have) return;
  const layout::Header& h = *header_;
  if (count > h.max_slots)
    throw Error(ErrorCode::Limit,
                fmt::format("topic '{}' has room for {} slots, and {} would be needed", topic_, h.max_slots, count),
                options_.max_memory != 0 ? "raise the topic's max_memory, or announce fewer holds"
                                         : "announce fewer holds, or lower the topic's depth");
  const std::size_t more = count - have;
  area_.commit(h.slots_offset + have * h.slot_stride, more * h.slot_stride, placement_);
  if (h.payload_stride != h.slot_stride)
    area_.commit(h.payload_offset + have * h.payload_stride, more * h.payload_stride, placement_);
  for (std::uint32_t s = have; s < count; ++s) {
    new (&meta(s)) layout::SlotMeta{};
    state_[s].store(State::Returned, std::memory_order_relaxed);
  }
  hot_->committed.store(count, std::memory_order_release);
  committed_.store(count, std::memory_order_release);
}

CARDAN_PUBLISH_PATH layout::SlotMeta& PublisherCore::meta(std::uint32_t slot) const noexcept {
  return *reinterpret_cast<layout::SlotMeta*>(slots_ + slot * ring_.sequence_stride);
}
CARDAN_PUBLISH_PATH void* PublisherCore::message(int slot) const noexcept {
  return slots_ + static_cast<std::size_t>(slot) * ring_.sequence_stride + message_offset_;
}
CARDAN_PUBLISH_PATH void* PublisherCore::arena(int slot) const noexcept {
  return slots_ + static_cast<std::size_t>(slot) * ring_.sequence_stride + sizeof(layout::SlotMeta);
}
CARDAN_PUBLISH_PATH std::byte* PublisherCore::payload(int slot) const noexcept {
  return payloads_ + static_cast<std::size_t>(slot) * payload_stride_;
}
std::uint64_t PublisherCore::published() const noexcept {
  return protocol::unpack(ring_.latest->load(std::memory_order_relaxed)).sequence;
}

CARDAN_PUBLISH_PATH int PublisherCore::pop_free() noexcept {
  if (free_count_ == 0) return -1;
  std::size_t best = free_count_ - 1;
  if (reuse_warm_)
    for (std::size_t i = 0; i < free_count_; ++i)
      if (published_as_[free_[i]] > published_as_[free_[best]]) best = i;
  const int slot = free_[best];
  free_[best] = free_[--free_count_];
  return slot;
}

void PublisherCore::note_lines() noexcept {
  constexpr std::size_t kFirst = 2;  // subscribers; of more, the first is woken no later
  lines_.clear();
  lines_.add_range(&sequence_, &table_[1]);
  lines_.add(state_.get());
  lines_.add(published_as_.data());
  lines_.add(free_.data());
  lines_.add(ring_.latest);
  lines_.add(hot_, sizeof(layout::Hot));
  lines_.add(ring_.ring);
  for (std::size_t i = 0; i < kFirst && i < attached_.size(); ++i) {
    const Attached& a = *attached_[i];
    lines_.add(&a.page->waiting);
    lines_.add(&a, 2 * layout::kLine);
    lines_.add(a.bell.get(), sizeof(BellLine));
    lines_.add(&a.bell->word());
  }
}

// The linker names both ends of a section.
extern const char kPublishPathBegin[] __asm__("__start_cardan_publish_path") __attribute__((visibility("hidden")));
extern const char kPublishPathEnd[] __asm__("__stop_cardan_publish_path") __attribute__((visibility("hidden")));

CARDAN_PUBLISH_PATH void PublisherCore::warm() const noexcept {
  lines_.fetch();
  warm_lines(kPublishPathBegin, kPublishPathEnd);
}

CARDAN_PUBLISH_PATH int PublisherCore::loan() noexcept {
  if (goes_cold_) warm();
  if (all_loans_are_out()) return -1;
  const Inside inside(*this);
  if (free_count_ == 0) reclaim();
  const int slot = pop_free();
  if (slot < 0) return -1;
  state_[static_cast<std::size_t>(slot)].store(State::Loaned, std::memory_order_relaxed);
  ++loans_taken_;
  if (has_deadline_) hot_->heartbeat_ns.store(steady_now(), std::memory_order_relaxed);
  if (wants_prewake_.load(std::memory_order_relaxed) != 0) ring_prewake();
  return slot;
}

CARDAN_PUBLISH_PATH void PublisherCore::soon() noexcept {
  const Inside inside(*this);
  if (wants_prewake_.load(std::memory_order_relaxed) != 0) ring_prewake();
}

CARDAN_PUBLISH_PATH SampleBlock* PublisherCore::keep(int slot) noexcept {
  if (!own_.made()) return nullptr;
  const auto s = static_cast<std::uint32_t>(slot);
  const layout::SlotMeta& m = meta(s);
  SampleBlock& b = own_.keep(s, shared_from_this());
  b.slot = s;
  b.message = message(slot);
  b.payload = payload(slot);
  b.payload_bytes = m.payload_bytes.load(std::memory_order_relaxed);
  b.sequence = sequence_;
  b.missed = 0;
  b.publish_ns = m.publish_ns.load(std::memory_order_relaxed);
  b.source_ns = m.source_ns.load(std::memory_order_relaxed);
  return &b;
}

void PublisherCore::abandon(int slot) noexcept {
  Native::store<Site::L1>(hot_->filling, std::uint32_t{0});
  state_[static_cast<std::size_t>(slot)].store(State::Returned, std::memory_order_release);
  loans_returned_.fetch_add(1, std::memory_order_release);
}

CARDAN_PUBLISH_PATH bool PublisherCore::publish(int slot, std::size_t payload_bytes, std::int64_t source_ns) noexcept {
  const auto s = static_cast<std::uint32_t>(slot);
  if (closed_.load(std::memory_order_relaxed)) {
    abandon(slot);
    return false;
  }
  if (message_bytes_ + payload_bytes > kEvicts) warm();
  const Inside inside(*this);
  const std::uint64_t n = sequence_ + 1;
  layout::SlotMeta& m = meta(s);
  constexpr auto relaxed = std::memory_order_relaxed;
  const bool checksum = hot_->checksum.load(relaxed) != 0;
  if (checksum) {
    std::uint32_t crc = crc32c({static_cast<const std::byte*>(message(slot)), message_bytes_});
    crc = crc32c({payload(slot), payload_bytes}, crc);
    m.checksum.store(crc, relaxed);
  }
  m.has_checksum.store(checksum ? 1 : 0, relaxed);
  m.source_ns.store(source_ns, relaxed);
  m.payload_bytes.store(payload_bytes, relaxed);
  const bool in_time = reliable_readers_.load(relaxed) == 0 || wait_for_reliable(n);

  const std::int64_t now = steady_now();
  m.publish_ns.store(now, relaxed);
  sequence_ = n;
  protocol::publish<Native>(ring_, {n, s});
  if (hot_->filling.load(relaxed) != 0) Native::store<Site::L1>(hot_->filling, std::uint32_t{0});
  wake();

  hot_->heartbeat_ns.store(now, relaxed);
  hot_->bytes.store(hot_->bytes.load(relaxed) + message_bytes_ + payload_bytes, relaxed);
  if (last_publish_ns_ != 0 && now - last_publish_ns_ > hot_->longest_gap_ns.load(relaxed))
    hot_->longest_gap_ns.store(now - last_publish_ns_, relaxed);
  goes_cold_ = now - last_publish_ns_ > kForgets;
  last_publish_ns_ = now;
  published_as_[s] = n;
  state_[s].store(State::Published, relaxed);
  --loans_taken_;
  if (free_count_ == 0 || reuse_warm_) reclaim();
  if (free_count_ != 0) {  // the next loan's lines come back to this core while nobody waits for them
    const std::byte* next = slots_ + free_[free_count_ - 1] * ring_.sequence_stride;
    __builtin_prefetch(next, 1);
    __builtin_prefetch(next + layout::kLine, 1);
  }
  return in_time;
}

CARDAN_PUBLISH_PATH void PublisherCore::wake() noexcept {
  ++round_;
  const std::uint32_t end = Native::load<Site::D4>(table_end_);
  for (std::uint32_t i = 0; i < end; ++i) {
    Attached* a = Native::load<Site::D2>(table_[i]);
    if (a == nullptr) continue;
    if (protocol::somebody_waits<Native>(a->page->waiting) && a->bell->rung_round != round_) {
      a->bell->rung_round = round_;
      protocol::advance_bell<Native>(a->bell->word(), a->bell->phase);
      futex::wake(a->bell->word(), INT_MAX);
      hot_->wakes.store(hot_->wakes.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    }
    const int fd = a->notify.load(std::memory_order_acquire);
    if (fd < 0) continue;
    const std::uint32_t armed = a->page->armed.load(std::memory_order_seq_cst);
    if (armed == a->rung) continue;
    a->rung = armed;  // one token outstanding: the next one only after the reader has drained this one
    ::send(fd, "!", 1, MSG_DONTWAIT | MSG_NOSIGNAL);
  }
}

CARDAN_PUBLISH_PATH void PublisherCore::ring_prewake() noexcept {
  static const int processors = static_cast<int>(std::thread::hardware_concurrency());
  if (processors < 2) return;
  bool anyone = false;
  const std::uint32_t end = Native::load<Site::D4>(table_end_);
  for (std::uint32_t i = 0; i < end && !anyone; ++i) {
    const Attached* a = Native::load<Site::D2>(table_[i]);
    anyone = a != nullptr && a->page->prewake.load(std::memory_order_relaxed) != 0;
  }
  if (!anyone) return;
  const std::int64_t now = steady_now();
  if (now - prewake_window_ > 1'000'000'000) {
    prewake_window_ = now;
    prewakes_in_window_ = 0;
  }
  if (++prewakes_in_window_ > kPrewakesPerSecond) return;
  Native::store<Site::L1>(hot_->filling, static_cast<std::uint32_t>(sequence_ + 1) | 1U);
  ++round_;
  for (std::uint32_t i = 0; i < end; ++i) {
    Attached* a = Native::load<Site::D2>(table_[i]);
    if (a == nullptr || a->page->prewake.load(std::memory_order_relaxed) == 0 || a->bell->rung_round == round_)
      continue;
    a->bell->rung_round = round_;
    protocol::advance_bell<Native>(a->bell->word(), a->bell->phase);
    futex::wake(a->bell->word(), processors - 1, prewake_bits_except(::sched_getcpu()));
    hot_->prewakes.store(hot_->prewakes.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }
}

CARDAN_PUBLISH_PATH void PublisherCore::reclaim() noexcept {
  const std::uint32_t committed = committed_.load(std::memory_order_acquire);
  const std::uint32_t words = (committed + 7) / 8;
  for (int pass = 0; pass < 2; ++pass) {
    bool any_aside = false;
    for (std::uint32_t s = 0; s < committed; ++s) {
      const State state = state_[s].load(std::memory_order_acquire);
      if (state == State::Returned) {  // never published since it was free, so nobody can hold it
        state_[s].store(State::Free, std::memory_order_relaxed);
        free_[free_count_++] = static_cast<std::uint16_t>(s);
      } else if (state == State::Published && sequence_ - published_as_[s] >= depth_) {
        protocol::mark_dead<Native>(ring_, s);
        state_[s].store(State::Aside, std::memory_order_relaxed);
        any_aside = true;
      } else if (state == State::Aside) {
        any_aside = true;
      }
    }
    if (any_aside) {
      std::array<std::uint64_t, layout::kHoldWords> held;
      std::fill_n(held.begin(), words, 0);
      protocol::before_refill<Native>();
      const std::uint32_t end = Native::load<Site::D4>(table_end_);
      for (std::uint32_t i = 0; i < end; ++i) {
        const Attached* a = Native::load<Site::D2>(table_[i]);
        if (a == nullptr || liar_[i].load(std::memory_order_relaxed)) continue;
        for (std::uint32_t w = 0; w < words; ++w) held[w] |= protocol::holds_of<Native>(a->page->hold.data(), w);
      }
      for (std::uint32_t s = 0; s < committed; ++s) {
        if (state_[s].load(std::memory_order_relaxed) != State::Aside) continue;
        if ((held[s / 8] & (protocol::one_hold(s) * 0xff)) == 0 && !own_.kept(s)) {
          state_[s].store(State::Free, std::memory_order_relaxed);
          free_[free_count_++] = static_cast<std::uint16_t>(s);
        } else {
          hot_->set_aside.store(hot_->set_aside.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
        }
      }
    }
    if (free_count_ != 0) return;
    // The slots suffice for all announced holds and loans, so without a free one somebody holds more than it announced.
    find_liars();
  }
}

void PublisherCore::find_liars() noexcept {
  const std::uint32_t words = (committed_.load(std::memory_order_relaxed) + 7) / 8;
  const std::uint32_t end = Native::load<Site::D4>(table_end_);
  for (std::uint32_t i = 0; i < end; ++i) {
    const Attached* a = Native::load<Site::D2>(table_[i]);
    if (a == nullptr) continue;
    std::uint32_t held = 0;
    for (std::uint32_t w = 0; w < words; ++w) {
      const std::uint64_t word = protocol::holds_of<Native>(a->page->hold.data(), w);
      for (std::uint32_t b = 0; b < 8; ++b) held += (word >> (8 * b) & 0xff) != 0 ? 1U : 0U;
    }
    if (held <= a->announced) continue;
    liar_[i].store(true, std::memory_order_relaxed);
    attention_.store(true, std::memory_order_release);
    if (poke_helper) poke_helper();
  }
}

bool PublisherCore::wait_for_room(std::int64_t until) noexcept {
  const Inside inside(*this);
  return reliable_readers_.load(std::memory_order_relaxed) == 0 || readers_leave_room(sequence_ + 1, until);
}

}  // namespace cardan::detail
