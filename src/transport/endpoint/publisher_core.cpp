// SPDX-License-Identifier: Apache-2.0
#include "src/transport/endpoint/publisher_core.hpp"

#include <algorithm>
#include <utility>

#include "cardan/clock.hpp"
#include "cardan/detail/sample_clock.hpp"
#include "src/base/crc32c.hpp"
#include "src/transport/endpoint/trace.hpp"

namespace cardan::detail {
namespace {
constexpr std::int64_t kForgets = 200'000;  // sleeping for this many nanoseconds evicts it too
constexpr std::size_t kEvicts = 16 * 1024;  // filling this many bytes evicts from the cache what publish() needs

CARDAN_PUBLISH_PATH void describe(const SlotPlaces& at, std::uint32_t slot, std::size_t payload_bytes,
                                  std::int64_t source_ns) noexcept {
  constexpr auto relaxed = std::memory_order_relaxed;
  layout::SlotMeta& meta = at.meta(slot);
  const bool checksum = at.hot->checksum.load(relaxed) != 0;
  if (checksum) {
    const std::uint32_t crc = crc32c({at.message(slot), at.message_bytes});
    meta.checksum.store(crc32c({at.payload(slot), payload_bytes}, crc), relaxed);
  }
  meta.has_checksum.store(checksum ? 1 : 0, relaxed);
  meta.source_ns.store(source_ns, relaxed);
  meta.payload_bytes.store(payload_bytes, relaxed);
}

CARDAN_PUBLISH_PATH void stamp(layout::SlotMeta& meta, std::int64_t now, const Basis& basis) noexcept {
  constexpr auto relaxed = std::memory_order_relaxed;
  meta.publish_ns.store(now, relaxed);
  meta.origin_ns.store(basis.origin_ns != 0 ? basis.origin_ns : now, relaxed);
  meta.cause_stream.store(basis.shared_stream, relaxed);
  meta.cause_sequence.store(basis.shared_sequence, relaxed);
}

void read_grounds(std::span<layout::ChainEntry> entries, ChainGrounds& into) noexcept {
  constexpr auto relaxed = std::memory_order_relaxed;
  for (const layout::ChainEntry& e : entries)
    if (const std::uint32_t from = e.from.load(relaxed); from != 0)
      into.add({.from = from,
                .hop = e.hop.load(relaxed),
                .origin_ns = e.origin_ns.load(relaxed),
                .hop_ns = e.hop_ns.load(relaxed),
                .since_ns = e.since_ns.load(relaxed)});
}

void write_grounds(const ChainGrounds& grounds, std::span<layout::ChainEntry> entries) noexcept {
  constexpr auto relaxed = std::memory_order_relaxed;
  const auto all = grounds.all();
  for (std::size_t i = 0; i < entries.size(); ++i) {
    entries[i].from.store(i < all.size() ? all[i].from : 0, relaxed);
    if (i >= all.size()) continue;
    entries[i].hop.store(all[i].hop, relaxed);
    entries[i].origin_ns.store(all[i].origin_ns, relaxed);
    entries[i].hop_ns.store(all[i].hop_ns, relaxed);
    entries[i].since_ns.store(all[i].since_ns, relaxed);
  }
}

}  // namespace

PublisherCore::PublisherCore(std::string topic, MessageType type, const TopicOptions& options,
                             const PublisherOptions& endpoint, const ChainRole& chain)
    : contract_(std::move(topic), std::move(type), options, endpoint.via, chain.entries),
      area_(contract_, endpoint.placement),
      backpressure_(options),
      chain_(chain),
      stream_name_(area_.header().stream, contract_.topic),
      has_deadline_(options.deadline.count() > 0),
      at_(area_.places()),
      slots_(area_, contract_) {
  note_lines();
}

CARDAN_PUBLISH_PATH int PublisherCore::loan() noexcept {
  if (goes_cold_) warm();
  if (all_loans_are_out()) return -1;
  const auto inside = table_.enter();
  const int slot = slots_.loan(at_, table_, sequence_);
  if (slot < 0) return -1;
  if (chain_.entries != 0) write_grounds({}, at_.chains(static_cast<std::size_t>(slot)));
  if (has_deadline_) at_.hot->heartbeat_ns.store(steady_now(), std::memory_order_relaxed);
  if (table_.any_prewake()) ringer_.prewake(table_, *at_.hot, sequence_ + 1);
  return slot;
}

CARDAN_PUBLISH_PATH void PublisherCore::soon() noexcept {
  const auto inside = table_.enter();
  if (table_.any_prewake()) ringer_.prewake(table_, *at_.hot, sequence_ + 1);
}

void PublisherCore::rests_on(int slot, const SampleBlock& sample) noexcept {
  if (chain_.entries == 0) return;
  const auto entries = at_.chains(static_cast<std::size_t>(slot));
  ChainGrounds grounds;
  read_grounds(entries, grounds);
  grounds.add(sample);
  write_grounds(grounds, entries);
}

void PublisherCore::stamp_chains(std::size_t slot) noexcept {
  const auto entries = at_.chains(slot);
  ChainGrounds grounds;
  read_grounds(entries, grounds);
  if (const CallbackBasis* here = CallbackBasis::here()) here->add_chains(grounds);
  if (grounds.all().empty()) return;
  const std::int64_t now = sample_clock_now();
  chain_.add_hop(grounds, now);
  write_grounds(grounds, entries);
  if (chain_.ends != nullptr) chain_.ends(chain_.self, grounds.all(), now);
}

void PublisherCore::abandon(int slot) noexcept {
  Native::store<Site::L1>(at_.hot->filling, std::uint32_t{0});
  slots_.abandon(static_cast<std::uint32_t>(slot));
}

CARDAN_PUBLISH_PATH bool PublisherCore::publish(int slot, std::size_t payload_bytes, std::int64_t source_ns,
                                                HandOver here, const Basis& named) noexcept {
  if (slots_.closed()) {
    abandon(slot);
    return false;
  }
  constexpr auto relaxed = std::memory_order_relaxed;
  const std::size_t bytes = at_.message_bytes + payload_bytes;
  if (bytes > kEvicts) warm();
  const auto inside = table_.enter();
  const auto s = static_cast<std::uint32_t>(slot);
  const std::uint64_t n = sequence_ + 1;
  layout::Hot& hot = *at_.hot;
  describe(at_, s, payload_bytes, source_ns);
  const bool in_time = !table_.any_reliable() || backpressure_.wait(table_, hot, n);

  const std::int64_t now = steady_now();
  stamp(at_.meta(s), now, basis_of_publication(named));
  if (chain_.entries != 0) stamp_chains(s);
  sequence_ = n;
  protocol::publish<Native>(at_.ring, {n, s});
  if (hot.filling.load(relaxed) != 0) Native::store<Site::L1>(hot.filling, std::uint32_t{0});
  ringer_.wake(table_, hot, here, slot);

  const std::int64_t gap = now - last_publish_ns_;
  hot.heartbeat_ns.store(now, relaxed);
  hot.bytes.store(hot.bytes.load(relaxed) + bytes, relaxed);
  if (last_publish_ns_ != 0 && gap > hot.longest_gap_ns.load(relaxed)) hot.longest_gap_ns.store(gap, relaxed);
  goes_cold_ = gap > kForgets;
  last_publish_ns_ = now;
  trace::note_publication(now, *this, n, bytes, named);
  slots_.published(at_, table_, s, n);
  return in_time;
}

bool PublisherCore::wait_for_room(std::int64_t until) noexcept {
  const auto inside = table_.enter();
  return !table_.any_reliable() || backpressure_.wait_for_room(table_, *at_.hot, sequence_ + 1, until);
}

CARDAN_PUBLISH_PATH SampleBlock* PublisherCore::keep(int slot) noexcept {
  if (!slots_.own().made()) return nullptr;
  const auto s = static_cast<std::uint32_t>(slot);
  constexpr auto relaxed = std::memory_order_relaxed;
  const layout::SlotMeta& m = at_.meta(s);
  OwnBlock& b = slots_.own().keep(s, shared_from_this());
  b.slot = s;
  b.message = message(slot);
  b.payload = payload(slot);
  b.payload_bytes = m.payload_bytes.load(relaxed);
  b.sequence = sequence_;
  b.missed = 0;
  b.publish_ns = m.publish_ns.load(relaxed);
  b.source_ns = m.source_ns.load(relaxed);
  b.origin_ns = m.origin_ns.load(relaxed);
  b.stream_id = header().stream;
  b.cause_stream = m.cause_stream.load(relaxed);
  b.cause_sequence = m.cause_sequence.load(relaxed);
  b.chain_from = chain_.topic;
  b.chain_count = static_cast<std::uint8_t>(chain_.entries);
  b.chains = at_.chains(s).data();
  return &b;
}

std::uint64_t PublisherCore::published() const noexcept {
  return protocol::unpack(at_.ring.latest->load(std::memory_order_relaxed)).sequence;
}

std::uint64_t PublisherCore::floor_for_late_joiner() const noexcept {
  const std::uint64_t n = protocol::unpack(at_.ring.latest->load(std::memory_order_acquire)).sequence;
  return n - std::min<std::uint64_t>(n, contract_.options.depth);
}

void PublisherCore::close() noexcept {
  slots_.close();
  at_.hot->closed.store(1, std::memory_order_release);
}

Attached* PublisherCore::attach(std::unique_ptr<Attached> subscriber) {
  const std::lock_guard lock(mutex_);
  table_.admit(*subscriber, contract_, header().max_slots - contract_.fewest_slots());
  slots_.reserve(area_, subscriber->announced);
  Attached* const attached = table_.add(std::move(subscriber));
  note_lines();
  return attached;
}

void PublisherCore::detach(const Attached* subscriber) {
  const std::lock_guard lock(mutex_);
  slots_.release(table_.remove(subscriber));
  note_lines();
}

bool PublisherCore::collect() {
  const std::lock_guard lock(mutex_);
  return table_.collect();
}

void PublisherCore::hold_own(std::uint32_t count) {
  const std::lock_guard lock(mutex_);
  slots_.reserve(area_, count);
  slots_.own().make(header().max_slots);
}

void PublisherCore::hold_own_less(std::uint32_t count) noexcept {
  const std::lock_guard lock(mutex_);
  slots_.release(count);
}

std::shared_ptr<BellLine> PublisherCore::bell_for(uid_t uid, const std::shared_ptr<BellBoard>& board, bool background) {
  const std::lock_guard lock(mutex_);
  return bells_.bell_for(uid, board, background);
}

std::size_t PublisherCore::subscribers() const {
  const std::lock_guard lock(mutex_);
  return table_.attached().size();
}

bool PublisherCore::ring_for_others(HelperTime& time, std::int64_t now) {
  if (!table_.take_asked()) return true;
  const std::lock_guard lock(mutex_);
  const bool all = Ringer::ring_for_others(table_.attached(), time, now);
  if (!all) table_.ask_again();
  return all;
}

PublisherTable::Attention PublisherCore::take_attention() {
  const std::lock_guard lock(mutex_);
  return table_.take_attention();
}

void PublisherCore::note_lines() noexcept {
  lines_.clear();
  lines_.add_range(&sequence_, table_.end_of_hot());
  slots_.describe_lines(lines_);
  lines_.add(at_.ring.latest);
  lines_.add(at_.hot, sizeof(layout::Hot));
  lines_.add(at_.ring.ring);
  table_.describe_lines(lines_);
}

// The linker provides symbols for both ends of a section.
extern const char kPublishPathBegin[] __asm__("__start_cardan_publish_path") __attribute__((visibility("hidden")));
extern const char kPublishPathEnd[] __asm__("__stop_cardan_publish_path") __attribute__((visibility("hidden")));

CARDAN_PUBLISH_PATH void PublisherCore::warm() const noexcept {
  lines_.fetch();
  warm_lines(kPublishPathBegin, kPublishPathEnd);
}

}  // namespace cardan::detail
