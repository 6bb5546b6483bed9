// SPDX-License-Identifier: Apache-2.0
#include "src/transport/endpoint/publisher_core.hpp"

#include <fmt/format.h>
#include <sched.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <cstring>
#include <new>
#include <thread>

#include "cardan/clock.hpp"
#include "cardan/error.hpp"
#include "src/base/barrier.hpp"
#include "src/base/crc32c.hpp"
#include "src/base/futex.hpp"
#include "src/base/random.hpp"
#include "src/transport/endpoint/waiting.hpp"

namespace cardan::detail {
namespace {

using layout::align_up;

constexpr std::int64_t kForgets = 200'000;  // sleeping for this many nanoseconds evicts it too
constexpr std::size_t kEvicts = 16 * 1024;  // filling this many bytes evicts from the cache what publish() needs

/// Slots in addition to the publisher's own. They bound the number of samples that subscribers can hold, and what
/// another user's subscribers can make of its memory (half of them by announcing, all by touching them).
std::size_t spare_slots(std::size_t base, std::size_t per_slot) {
  constexpr std::size_t kBytes = 256U << 20;  // a recorder holds up to 128 MiB of a topic
  constexpr std::size_t kFewest = 32;
  constexpr std::size_t kMost = 512;
  return std::clamp(std::max(kBytes / per_slot, 4 * base), kFewest, kMost);
}

void check(const std::string& topic, const TopicOptions& o) {
  const auto bad = [&](const std::string& cause, const std::string& remedy) {
    throw Error(ErrorCode::InvalidArgument, "topic '" + topic + "': " + cause, remedy);
  };
  if (topic.size() < 2 || topic.front() != '/' || topic.size() > 255)
    bad("a name starts with '/' and has 2 to 255 characters", "use a name such as /camera/front");
  for (const char c : topic)
    if (c <= ' ' || c == 0x7f) bad("a name has no spaces or control characters", "use letters, digits, '_' and '/'");
  if (o.depth < 1 || o.depth > layout::kMaxDepth)
    bad(fmt::format("depth is {}", o.depth), fmt::format("use 1 to {}", layout::kMaxDepth));
  if (o.max_bytes > layout::kMaxPayload) bad(fmt::format("max_bytes is {}", o.max_bytes), "use at most 1 GiB");
  if (o.loans < 1 || o.loans > 64) bad(fmt::format("loans is {}", o.loans), "use 1 to 64");
}

void check_via(const std::string& topic, const std::string& via) {
  constexpr std::size_t kMost = 255;
  if (via.size() > kMost || std::any_of(via.begin(), via.end(), [](char c) { return c < ' ' || c == 0x7f; }))
    throw Error(ErrorCode::InvalidArgument, "topic '" + topic + "': via is too long, or has control characters",
                "name networks as 'dds:0 zenoh', at most 255 characters in all");
}

}  // namespace

PublisherCore::Inside PublisherCore::enter() noexcept { return {table_.epoch, epoch_, has_expedited_barrier()}; }

PublisherCore::PublisherCore(std::string topic, MessageType type, const TopicOptions& options,
                             const PublisherOptions& endpoint)
    : topic_(std::move(topic)),
      type_(std::move(type)),
      options_(options),
      placement_(endpoint.placement),
      via_(endpoint.via) {
  check(topic_, options_);
  check_via(topic_, via_);
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
  std::size_t slots = std::min<std::size_t>(protocol::kMaxSlots, base + spare_slots(base, per_slot));
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
  // For small messages it is faster to check many slots at once. For big ones a slot that is still warm in the cache
  // pays more.
  reuse_warm_ = apart;
  pool_.make(static_cast<std::uint32_t>(slots));
}

void PublisherCore::commit_slots(std::uint32_t count) {
  const std::uint32_t have = committed_.load(std::memory_order_relaxed);
  if (count <= have) return;
  const layout::Header& h = *header_;
  if (count > h.max_slots)
    throw Error(ErrorCode::Limit,
                fmt::format("topic '{}' has room for {} slots, but {} are needed", topic_, h.max_slots, count),
                fmt::format("announce fewer holds, or set the topic's max_memory to {} bytes or more",
                            count * (h.slot_stride + (h.payload_stride != h.slot_stride ? h.payload_stride : 0))));
  const std::size_t more = count - have;
  area_.commit(h.slots_offset + have * h.slot_stride, more * h.slot_stride, placement_);
  if (h.payload_stride != h.slot_stride)
    area_.commit(h.payload_offset + have * h.payload_stride, more * h.payload_stride, placement_);
  for (std::uint32_t s = have; s < count; ++s) {
    new (&meta(s)) layout::SlotMeta{};
    pool_.states.give_back(s);
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

void PublisherCore::note_lines() noexcept {
  constexpr std::size_t kFirst = 2;  // subscribers; with more, the first is not woken later
  lines_.clear();
  lines_.add_range(&sequence_, &table_.entry[1]);
  for (const void* first : pool_.arrays()) lines_.add(first);
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

// The linker provides symbols for both ends of a section.
extern const char kPublishPathBegin[] __asm__("__start_cardan_publish_path") __attribute__((visibility("hidden")));
extern const char kPublishPathEnd[] __asm__("__stop_cardan_publish_path") __attribute__((visibility("hidden")));

CARDAN_PUBLISH_PATH void PublisherCore::warm() const noexcept {
  lines_.fetch();
  warm_lines(kPublishPathBegin, kPublishPathEnd);
}

CARDAN_PUBLISH_PATH int PublisherCore::loan() noexcept {
  if (goes_cold_) warm();
  if (all_loans_are_out()) return -1;
  const Inside inside = enter();
  if (pool_.free_count == 0) reclaim();
  const int slot = pool_.loan(reuse_warm_);
  if (slot < 0) return -1;
  ++loans_taken_;
  if (has_deadline_) hot_->heartbeat_ns.store(steady_now(), std::memory_order_relaxed);
  if (wants_prewake_.load(std::memory_order_relaxed) != 0) ring_prewake();
  return slot;
}

CARDAN_PUBLISH_PATH void PublisherCore::soon() noexcept {
  const Inside inside = enter();
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
  b.origin_ns = m.origin_ns.load(std::memory_order_relaxed);
  b.stream_id = header_->stream;
  return &b;
}

void PublisherCore::abandon(int slot) noexcept {
  Native::store<Site::L1>(hot_->filling, std::uint32_t{0});
  pool_.states.give_back(static_cast<std::uint32_t>(slot));
  loans_returned_.fetch_add(1, std::memory_order_release);
}

CARDAN_PUBLISH_PATH bool PublisherCore::publish(int slot, std::size_t payload_bytes, std::int64_t source_ns,
                                                HandOver here, const Basis& named) noexcept {
  const auto s = static_cast<std::uint32_t>(slot);
  if (closed_.load(std::memory_order_relaxed)) {
    abandon(slot);
    return false;
  }
  if (message_bytes_ + payload_bytes > kEvicts) warm();
  const Inside inside = enter();
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
  const Basis basis = basis_of_publication(named);
  m.origin_ns.store(basis.origin_ns != 0 ? basis.origin_ns : now, relaxed);
  m.cause_stream.store(basis.stream, relaxed);
  m.cause_sequence.store(basis.sequence, relaxed);
  sequence_ = n;
  protocol::publish<Native>(ring_, {n, s});
  if (hot_->filling.load(relaxed) != 0) Native::store<Site::L1>(hot_->filling, std::uint32_t{0});
  wake(here, slot);

  hot_->heartbeat_ns.store(now, relaxed);
  hot_->bytes.store(hot_->bytes.load(relaxed) + message_bytes_ + payload_bytes, relaxed);
  if (last_publish_ns_ != 0 && now - last_publish_ns_ > hot_->longest_gap_ns.load(relaxed))
    hot_->longest_gap_ns.store(now - last_publish_ns_, relaxed);
  goes_cold_ = now - last_publish_ns_ > kForgets;
  last_publish_ns_ = now;
  pool_.published(s, n);
  --loans_taken_;
  if (pool_.free_count == 0 || reuse_warm_) reclaim();
  if (const int next = pool_.next(); next >= 0) {  // its lines come back to this core while no one waits
    const std::byte* record = slots_ + static_cast<std::size_t>(next) * ring_.sequence_stride;
    __builtin_prefetch(record, 1);
    __builtin_prefetch(record + layout::kLine, 1);
  }
  return in_time;
}

CARDAN_PUBLISH_PATH void PublisherCore::reclaim() noexcept {
  const std::uint32_t aside =
      pool_.reclaim(ring_, table_, committed_.load(std::memory_order_acquire), sequence_, Peers{*this});
  if (aside != 0)
    hot_->set_aside.store(hot_->set_aside.load(std::memory_order_relaxed) + aside, std::memory_order_relaxed);
}

/// The descriptor belongs to the connection as long as the entry may be read. The peer sees the end before its samples
/// change.
bool PublisherCore::cut_off(Attached& liar) noexcept {
  if (!liar.connection) return false;
  ::shutdown(liar.connection->get(), SHUT_RDWR);
  liar.liar.store(true, std::memory_order_relaxed);
  attention_.store(true, std::memory_order_release);
  if (poke_helper) poke_helper();
  return true;
}

bool PublisherCore::wait_for_room(std::int64_t until) noexcept {
  const Inside inside = enter();
  return reliable_readers_.load(std::memory_order_relaxed) == 0 || readers_leave_room(sequence_ + 1, until);
}

}  // namespace cardan::detail
