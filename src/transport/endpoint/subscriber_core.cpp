// SPDX-License-Identifier: Apache-2.0
#include "src/transport/endpoint/subscriber_core.hpp"

#include <fmt/format.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include <cstring>
#include <limits>
#include <memory>
#include <new>
#include <span>

#include "cardan/clock.hpp"
#include "cardan/error.hpp"
#include "src/base/crc32c.hpp"
#include "src/base/futex.hpp"
#include "src/transport/endpoint/stream_view.hpp"
#include "src/transport/endpoint/trace.hpp"
#include "src/transport/protocol/reliable_protocol.hpp"

namespace cardan::detail {

namespace {
constexpr auto kRelaxed = std::memory_order_relaxed;

std::size_t block_bytes(const MessageType& type, AdoptFunction adopt) {
  return layout::align_up(sizeof(SampleBlock), layout::kLine) +
         (adopt != nullptr ? layout::align_up(type.bytes, layout::kLine) : 0);
}

constexpr std::size_t pool_offset() { return layout::align_up(sizeof(SubscriberCore), layout::kLine); }
}  // namespace

SubscriberCore::SubscriberCore(std::string topic, MessageType type, AdoptFunction adopt, const TopicOptions& options,
                               SubscriberOptions endpoint)
    : adopt_(adopt),
      topic_(std::move(topic)),
      type_(std::move(type)),
      options_(options),
      endpoint_(std::move(endpoint)) {
  depth_ = endpoint_.depth == 0 ? std::numeric_limits<std::uint32_t>::max() : endpoint_.depth;
  message_bytes_ = type_.bytes;
  lifespan_ns_ = options_.lifespan.count();
  waiting_ = endpoint_.waiting.value_or(options_.waiting);
  one_thread_ = endpoint_.threads == 1;
  events_end_wait_ = endpoint_.events_end_wait;
  block_count_ = endpoint_.holds + endpoint_.threads;
  block_stride_ = block_bytes(type_, adopt_);
  blocks_ = reinterpret_cast<std::byte*>(this) + pool_offset();
  for (std::uint32_t i = 0; i < block_count_; ++i) new (blocks_ + i * block_stride_) SampleBlock{};
  note_lines();
}

SubscriberCore* SubscriberCore::create(std::string topic, MessageType type, AdoptFunction adopt,
                                       const TopicOptions& options, SubscriberOptions endpoint) {
  if (endpoint.holds < 1 || endpoint.holds > layout::kMaxHolds || endpoint.threads < 1 ||
      endpoint.threads > layout::kMaxThreads)
    throw Error(ErrorCode::InvalidArgument,
                fmt::format("topic '{}': holds is {} and threads is {}", topic, endpoint.holds, endpoint.threads),
                fmt::format("use 1 to {} holds and 1 to {} threads", layout::kMaxHolds, layout::kMaxThreads));
  const Pool pool{pool_offset() - sizeof(SubscriberCore) +
                  (endpoint.holds + endpoint.threads) * block_bytes(type, adopt)};
  return new (pool) SubscriberCore(std::move(topic), std::move(type), adopt, options, std::move(endpoint));
}

void* SubscriberCore::operator new(std::size_t bytes, Pool pool) {
  return ::operator new(bytes + pool.bytes, std::align_val_t{layout::kPage});
}
void SubscriberCore::operator delete(void* memory) noexcept {
  ::operator delete(memory, std::align_val_t{layout::kPage});
}

void SubscriberCore::note_lines() noexcept {
  constexpr std::uint32_t kFirst = 2;  // streams; with many, each take touches few of them
  lines_.clear();
  lines_.add_range(&stream_end_, streams_.data() + 1);
  if (adopt_ != nullptr) lines_.add(reinterpret_cast<const void*>(adopt_), 3 * layout::kLine);  // its code
  lines_.add(blocks_, std::min<std::size_t>(block_stride_, 4 * layout::kLine));
  for (std::uint32_t i = 0; i < kFirst; ++i)
    if (const Stream* s = streams_[i].load(kRelaxed)) s->describe_lines(lines_);
}

// The linker names both ends of a section.
extern const char kTakePathBegin[] __asm__("__start_cardan_take_path") __attribute__((visibility("hidden")));
extern const char kTakePathEnd[] __asm__("__stop_cardan_take_path") __attribute__((visibility("hidden")));

CARDAN_TAKE_PATH void SubscriberCore::warm() const noexcept {
  lines_.fetch();
  warm_lines(kTakePathBegin, kTakePathEnd);
}

SubscriberCore::~SubscriberCore() = default;

void SubscriberCore::drop_reference() noexcept {
  if (references_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
}

CARDAN_TAKE_PATH SampleBlock* SubscriberCore::allocate() noexcept {
  for (std::uint32_t w = 0; w * 64 < block_count_; ++w) {
    const std::uint32_t here = std::min<std::uint32_t>(64, block_count_ - w * 64);
    const std::uint64_t all = here == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << here) - 1;
    std::uint64_t used = blocks_used_[w].load(kRelaxed);
    while ((used & all) != all) {
      const int bit = __builtin_ctzll(~used);
      if (blocks_used_[w].compare_exchange_weak(used, used | (std::uint64_t{1} << bit), std::memory_order_acquire,
                                                kRelaxed))
        return reinterpret_cast<SampleBlock*>(blocks_ + (w * 64 + static_cast<std::uint32_t>(bit)) * block_stride_);
    }
  }
  return nullptr;
}

static_assert(layout::kMaxPayload == std::size_t{1} << 30, "the default of AnySubscriber");
static_assert(layout::kMaxHolds + layout::kMaxThreads <= 4 * 64, "the pool's bitmap covers every block");

std::size_t message_bytes_of(const SampleBlock& block) noexcept { return block.owner->type().bytes; }

void give_back_taken(SampleBlock* block) noexcept { SubscriberCore::give_back(block); }

void SubscriberCore::give_back(SampleBlock* block) noexcept {
  SubscriberCore* owner = block->owner;
  Stream* stream = block->stream;
  if (!is_forked_child()) {
    protocol::drop<Native>(stream->page().hold.data(), block->slot);
    stream->drop_reference();
  }
  const auto index =
      static_cast<std::size_t>(reinterpret_cast<std::byte*>(block) - owner->blocks_) / owner->block_stride_;
  owner->blocks_used_[index / 64].fetch_and(~(std::uint64_t{1} << (index % 64)), std::memory_order_release);
  owner->drop_reference();
}

CARDAN_TAKE_PATH Stream* SubscriberCore::choose(std::uint64_t& suspects) noexcept {
  const std::uint32_t end = stream_end_.load(std::memory_order_acquire);
  if (end > 1) suspects = suspects_.load(kRelaxed);
  Stream* best = nullptr;
  std::int64_t best_time = 0;
  int best_rank = 0;
  std::uint64_t ready = 0;
  for (std::uint32_t i = 0; i < end; ++i) {
    Stream* s = streams_[i].load(std::memory_order_seq_cst);
    if (s == nullptr) continue;
    const std::uint64_t cursor = Native::load<Site::R7>(s->page().cursor);
    const protocol::Entry newest = protocol::unpack(Native::load<Site::R1>(*s->ring.latest));
    if (newest.sequence <= cursor) {
      if (s->end.load(std::memory_order_acquire) != Stream::End::Running &&
          !s->drained.exchange(true, std::memory_order_acq_rel))
        poke_helper();
      continue;
    }
    if (s->end.load(kRelaxed) >= Stream::End::Misbehaved || s->aside.load(kRelaxed)) continue;
    if (end == 1) {
      s->warm_slot(newest.slot);
      return s;
    }
    // Reads the candidate's stamp without holding it. If it is lapped meanwhile, only the order among publishers
    // suffers.
    protocol::Entry candidate = newest;
    const std::uint64_t window = std::min<std::uint64_t>(depth_, s->ring.depth);
    if (window > 1 && newest.sequence > cursor + 1) {
      const std::uint64_t oldest = newest.sequence >= window ? newest.sequence - window + 1 : 1;
      candidate = protocol::unpack(Native::load<Site::R1b>(s->ring.ring[std::max(cursor + 1, oldest) % s->ring.depth]));
    }
    if (const std::uint32_t there = s->slots_there(); candidate.slot >= there && !more_slots_or_out(*s, there))
      continue;
    if (candidate.slot >= s->slots_there()) candidate.slot = 0;
    const std::int64_t time = s->our_time(s->meta(candidate.slot).publish_ns);
    ready |= std::uint64_t{1} << i;
    // Stamps are the publishers' claims. A stream that gave a bad frame comes last once, and one that waited for long
    // comes first.
    const int rank = (suspects >> i & 1U) != 0 ? 0 : s->passed_over.load(kRelaxed) < kTurnsPassedOver ? 1 : 2;
    const bool better = best == nullptr || rank > best_rank ||
                        (rank == best_rank && (window > 1 ? time < best_time : time > best_time));
    if (better) {
      best = s;
      best_time = time;
      best_rank = rank;
    }
  }
  if (best != nullptr && (best->foreign() || best_rank == 2)) note_passed_over(ready, *best);
  return best;
}

void SubscriberCore::note_passed_over(std::uint64_t ready, const Stream& chosen) noexcept {
  for (; ready != 0; ready &= ready - 1) {
    Stream* s = streams_[static_cast<std::size_t>(__builtin_ctzll(ready))].load(std::memory_order_seq_cst);
    if (s == nullptr) continue;
    if (s == &chosen)
      s->passed_over.store(0, kRelaxed);
    else if (chosen.foreign())
      s->passed_over.fetch_add(1, kRelaxed);
  }
}

void SubscriberCore::cut_off(Stream& s) noexcept {
  s.end.store(Stream::End::Misbehaved, std::memory_order_release);
  if (!s.drained.exchange(true, std::memory_order_acq_rel)) poke_helper();
}

/// Nothing is taken from it for a moment. If its user, or others, delay the answer to a question, that says nothing
/// about the stream.
void SubscriberCore::set_aside(Stream& s) noexcept {
  constexpr std::int64_t kAgainIn = 100'000'000;  // ns
  s.aside.store(true, std::memory_order_release);
  aside_until_ns_.store(steady_now() + kAgainIn, std::memory_order_release);
  poke_helper();
}

bool SubscriberCore::more_slots_or_out(Stream& s, std::uint32_t seen) noexcept {
  switch (s.find_more_slots(seen)) {
    case Stream::More::Yes:
      return true;
    case Stream::More::No:
      cut_off(s);
      return false;
    case Stream::More::NotKnown:
      set_aside(s);
      return false;
  }
  return false;
}

namespace {
/// In one piece with everything that it calls, so that the ring's copy stays in registers. Separate from take(), which
/// needs fewer registers when there is nothing new.
[[gnu::flatten, gnu::noinline]] CARDAN_TAKE_PATH protocol::Taken take_from(const Stream& s, std::uint32_t slots,
                                                                           std::uint32_t depth) noexcept {
  return protocol::take<Native>(s.ring_of(slots), s.page().hold.data(), s.page().cursor, depth);
}
}  // namespace

CARDAN_TAKE_PATH SampleBlock* SubscriberCore::take() noexcept {
  if (is_forked_child()) {
    reason_.store(Reason::Forked, kRelaxed);
    return nullptr;
  }
  SampleBlock* block = allocate();
  if (block == nullptr) {
    reason_.store(Reason::Limit, kRelaxed);
    return nullptr;
  }
  if (reason_.load(kRelaxed) != Reason::None) reason_.store(Reason::None, kRelaxed);
  RefusalBudget budget;
  std::uint64_t suspects = 0;
  do {
    const Inside inside(*this);
    while (Stream* s = budget.spent() ? nullptr : choose(suspects)) {
      const std::uint32_t slots = s->slots_there();
      protocol::Taken taken = take_from(*s, slots, depth_);
      if (taken.outcome == protocol::Outcome::Corrupt) {
        budget.damaged(0);
        (void)more_slots_or_out(*s, slots);
        continue;
      }
      if (taken.outcome == protocol::Outcome::Nothing) continue;  // another thread of this subscriber was faster
      if (taken.missed != 0) {
        taken.missed = s->owed(taken.entry.sequence, taken.missed);
        s->page().missed.fetch_add(taken.missed, kRelaxed);
        trace::note(trace::Kind::Loss, s->header.stream, taken.entry.sequence, taken.missed);
      }
      const Fit fit = fill(*block, *s, taken);
      if (fit == Fit::Good) {
        if (suspects != 0) suspects_.store(0, kRelaxed);
        if (s->reliable()) tell_progress(*s);
        trace::note(trace::Kind::Take, *block);
        return block;
      }
      refuse(*s, *block, fit, budget);
    }
  } while (!budget.spent() && uses_fd() &&
           rearm());  // nothing taken: the descriptor is emptied, and rung again for the next sample
  const auto index = static_cast<std::size_t>(reinterpret_cast<std::byte*>(block) - blocks_) / block_stride_;
  blocks_used_[index / 64].fetch_and(~(std::uint64_t{1} << (index % 64)), std::memory_order_release);
  return nullptr;
}

CARDAN_TAKE_PATH void SubscriberCore::tell_progress(Stream& s) noexcept {
  if (protocol::somebody_waits_for<Native>(s.page().progress, s.hot().backpressure))
    futex::wake(s.page().progress, std::numeric_limits<int>::max());
}

void SubscriberCore::refuse(Stream& s, const SampleBlock& block, Fit fit, RefusalBudget& budget) noexcept {
  layout::SubscriberPage& page = s.page();
  protocol::drop<Native>(page.hold.data(), block.slot);
  if (s.reliable()) tell_progress(s);
  if (fit == Fit::TooOld) {
    page.missed.fetch_add(1, kRelaxed);
    trace::note(trace::Kind::Loss, s.header.stream, block.sequence, 1);
    budget.too_old();
    return;
  }
  page.bad.fetch_add(1, kRelaxed);
  trace::note(trace::Kind::Drop, s.header.stream, block.sequence);
  const std::uint64_t bytes = message_bytes_ + std::min(block.payload_bytes, s.payload_capacity());
  budget.damaged(bytes);
  for (std::uint32_t i = 0; i < kMaxStreams; ++i)
    if (streams_[i].load(kRelaxed) == &s) suspects_.fetch_or(std::uint64_t{1} << i, kRelaxed);
  if (s.refusals.add(bytes, page.received.load(kRelaxed))) cut_off(s);
}

template <class T>
void SubscriberCore::count_one(Atomic<T>& counter) const noexcept {
  if (one_thread_)
    counter.store(counter.load(kRelaxed) + 1, kRelaxed);  // no other thread writes the page
  else
    counter.fetch_add(1, kRelaxed);
}

CARDAN_TAKE_PATH SubscriberCore::Fit SubscriberCore::fill(SampleBlock& b, Stream& s,
                                                          const protocol::Taken& taken) noexcept {
  const layout::SlotMeta& m = s.meta(taken.entry.slot);
  b.slot = taken.entry.slot;
  b.sequence = taken.entry.sequence;
  b.missed = taken.missed;
  b.publish_ns = s.our_time(m.publish_ns);
  b.source_ns = m.source_ns.load(kRelaxed);
  b.origin_ns = s.origin_of(m, b.publish_ns);
  b.stream_id = s.header.stream;
  b.foreign = s.foreign() && s.owner() != 0;
  b.chain_from = chain_from_;
  b.chain_count = s.chain_entries();
  b.chains = s.chains(b.slot);
  b.payload_bytes = m.payload_bytes.load(kRelaxed);
  b.payload = s.payload(b.slot);
  b.message = s.message(b.slot);
  layout::SubscriberPage& page = s.page();
  if (lifespan_ns_ > 0) {
    constexpr std::int64_t kFuture = 1'000'000;  // all processes have the same clock
    const std::int64_t age = steady_now() - b.publish_ns;
    if (age > lifespan_ns_) return Fit::TooOld;
    if (age < -kFuture) return Fit::Damaged;  // otherwise it would stay young forever
  }
  if (b.payload_bytes > s.payload_capacity()) return Fit::Damaged;
  if (m.has_checksum.load(kRelaxed) != 0) {
    std::uint32_t crc = crc32c({static_cast<const std::byte*>(b.message), message_bytes_});
    crc = crc32c({b.payload, b.payload_bytes}, crc);
    if (crc != m.checksum.load(kRelaxed)) return Fit::Damaged;
  }
  if (adopt_ != nullptr) {
    void* copy = reinterpret_cast<std::byte*>(&b) + layout::align_up(sizeof(SampleBlock), layout::kLine);
    std::memcpy(copy, b.message, message_bytes_);
    if (!adopt_(copy, b.message, b.payload, b.payload_bytes)) return Fit::Damaged;
    b.message = copy;
  }
  count_one(page.received);
  // Reading the clock costs as much as the rest of a hot take, and 2 µs after a sleep. Some samples are enough for the
  // histogram.
  constexpr std::int64_t kFast = 100'000;
  constexpr std::int64_t kSlow = 200'000'000;
  const std::int64_t interval = b.publish_ns - s.rhythm.last_publish_ns.load(kRelaxed);
  const std::uint64_t every = interval < kFast ? 8 : interval < kSlow ? 4 : 1;
  if (page.received.load(kRelaxed) % every == 0) {
    const std::int64_t now = steady_now();
    count_one(page.latency[layout::latency_bucket(now - b.publish_ns)]);
    if (b.origin_ns != kUnknownOrigin) {
      const std::int64_t age = now - b.origin_ns;
      count_one(page.age[layout::latency_bucket(age)]);
      if (age > page.greatest_age_ns.load(kRelaxed)) page.greatest_age_ns.store(age, kRelaxed);
    }
  }
  if (b.origin_ns == kUnknownOrigin) count_one(page.unknown_origins);
  if (waiting_.kind == Waiting::Kind::Anticipate)
    s.rhythm.learn(b.publish_ns);
  else if (waiting_.kind == Waiting::Kind::Follow)
    s.rhythm.learn(b.publish_ns, b.missed, std::min(depth_, s.ring.depth));
  else
    s.rhythm.last_publish_ns.store(b.publish_ns, kRelaxed);
  b.owner = this;
  b.stream = &s;
  add_reference();
  s.add_reference();
  b.references.store(1, std::memory_order_release);
  return Fit::Good;
}

CARDAN_TAKE_PATH bool SubscriberCore::ready() noexcept {
  return ready_streams() || (events_end_wait_ && !helper_.events().empty());
}

CARDAN_TAKE_PATH bool SubscriberCore::ready_streams() noexcept {
  const Inside inside(*this);
  for (const Stream& s : streams())
    if (s.something_new() && s.end.load(kRelaxed) < Stream::End::Misbehaved && !s.aside.load(kRelaxed)) return true;
  return false;
}

std::size_t SubscriberCore::publishers() const noexcept {
  std::size_t count = 0;
  for ([[maybe_unused]] const Stream& s : streams()) ++count;
  return count;
}

bool SubscriberCore::copy_latest(ObservedSample& into) {
  refuse_forked_child();
  Stream* best = nullptr;
  {
    const Inside inside(*this);
    std::int64_t best_time = 0;
    for (Stream& s : streams()) {
      const protocol::Entry newest = protocol::unpack(Native::load<Site::R1>(*s.ring.latest));
      const std::uint32_t there = s.slots_there();
      if (newest.sequence == 0 ||
          (newest.slot >= there && (s.find_more_slots(there) != Stream::More::Yes || newest.slot >= s.slots_there())))
        continue;
      std::int64_t time = s.our_time(s.meta(newest.slot).publish_ns);
      if (time > steady_now()) time = 0;  // a false stamp, which would stay the newest forever
      if (best != nullptr && time <= best_time) continue;
      best = &s;
      best_time = time;
    }
    if (best == nullptr) return false;
    best->add_reference();
  }
  const auto drop = [](Stream* s) { s->drop_reference(); };
  const std::unique_ptr<Stream, decltype(drop)> held(best, drop);  // there may be no memory for the copy
  return detail::copy_latest(*held, into);
}

std::int64_t SubscriberCore::quiet_until(const Stream& s, std::int64_t now) const noexcept {
  if (waiting_.kind != Waiting::Kind::Follow || s.reliable()) return 0;
  if (lifespan_ns_ > 0) return 0;  // a look may come when the sample has expired
  return s.rhythm.look_at(now, waiting_.limit.count(), std::min(depth_, s.ring.depth));
}

bool SubscriberCore::rearm() noexcept {
  eventfd_t ignored = 0;
  ::eventfd_read(helper_.event_fd_.get(), &ignored);
  {
    const Inside inside(*this);
    std::int64_t look = 0;
    const std::int64_t now = waiting_.kind == Waiting::Kind::Follow ? steady_now() : 0;
    for (const Stream& s : streams()) {
      const int fd = s.notify_fd.load(std::memory_order_acquire);
      if (fd < 0) continue;
      // Emptied in any case; a publisher rings it only once it is armed.
      char token = 0;
      for (int i = 0; i < 16 && ::recv(fd, &token, 1, MSG_DONTWAIT) >= 0;
           ++i) {  // an honest publisher leaves at most one
      }
      const std::int64_t until = quiet_until(s, now);
      if (until == 0)
        protocol::arm<Native>(s.page().armed);
      else if (look == 0 || until < look)
        look = until;
    }
    if (!helper_.ring_at(look) && look != 0)  // without its timer it must be woken by all
      for (const Stream& s : streams()) protocol::arm<Native>(s.page().armed);
  }
  return ready_streams();
}

}  // namespace cardan::detail
