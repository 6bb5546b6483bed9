// SPDX-License-Identifier: Apache-2.0
#include "src/transport/endpoint/trace.hpp"

#include <fmt/format.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <new>

#include "src/base/area.hpp"

namespace cardan::detail::trace {
namespace {

constexpr std::uint32_t kSpareRings = 8;  ///< for threads that come before the observer asks again

/// This thread's ring. `ring.written` null: none yet.
struct ThreadRing {
  protocol::TraceWriterRing<Native> ring{};
  std::uint8_t owner = 0;
  std::uint32_t refused = 0;  ///< `tracing` when no ring was left
};
[[gnu::tls_model("initial-exec")]] thread_local constinit ThreadRing ring_here{};

/// Times taken : 32 | thread : 32; 0: free.
constinit std::array<Atomic<std::uint64_t>, layout::kTraceRings> owners{};
constinit Atomic<layout::TraceHeader*> header_of_area{nullptr};

/// Guarded by its mutex. Never destroyed: threads write until the process ends.
struct TraceArea {
  std::mutex mutex;
  Area area;
  std::uint32_t switches = 0;
  std::uint32_t turns = 0;  ///< value of `tracing`: grows when threads without a ring may try again
  std::array<RingOwner, layout::kTraceRings> known{};
};
TraceArea& the_area() {
  static auto& area = *new TraceArea;
  return area;
}

pid_t thread_of(std::uint64_t owner) noexcept { return static_cast<pid_t>(owner & 0xffffffffU); }

bool has_ended(pid_t thread) noexcept { return ::syscall(SYS_tgkill, ::getpid(), thread, 0) != 0 && errno == ESRCH; }

bool take_ring(layout::TraceHeader& header, std::uint32_t r, std::uint64_t before, pid_t self) noexcept {
  const std::uint64_t times = (before >> 32) + 1;
  if (!owners[r].compare_exchange_strong(before, times << 32 | static_cast<std::uint32_t>(self),
                                         std::memory_order_acq_rel, std::memory_order_relaxed))
    return false;
  auto* const area = reinterpret_cast<std::byte*>(&header);
  auto* const line = reinterpret_cast<layout::TraceLine*>(area + layout::kTraceLinesOffset) + r;
  auto* const words = area + layout::kTraceRingsOffset + r * layout::trace_ring_bytes(header.ring_events);
  ring_here.owner = static_cast<std::uint8_t>(times);
  ring_here.ring = {&line->written, reinterpret_cast<Atomic<std::uint64_t>*>(words), header.ring_events};
  return true;
}

/// False: no ring is left, and the event is counted.
[[gnu::cold, gnu::noinline]] bool claim_ring() noexcept {
  layout::TraceHeader* const header = header_of_area.load(std::memory_order_acquire);
  if (header == nullptr) return false;
  const std::uint32_t turn = process_flags.tracing.load(std::memory_order_relaxed);
  if (ring_here.refused == 0 || ring_here.refused != turn) {
    const pid_t self = ::gettid();
    const std::uint32_t rings = std::min(header->committed.load(std::memory_order_acquire), layout::kTraceRings);
    for (std::uint32_t r = 0; r < rings; ++r)
      if (owners[r].load(std::memory_order_relaxed) == 0 && take_ring(*header, r, 0, self)) return true;
    for (std::uint32_t r = 0; r < rings; ++r) {
      const std::uint64_t before = owners[r].load(std::memory_order_relaxed);
      if (before != 0 && has_ended(thread_of(before)) && take_ring(*header, r, before, self)) return true;
    }
    ring_here.refused = turn;
  }
  header->without_ring.fetch_add(1, std::memory_order_relaxed);
  return false;
}

void make_area(TraceArea& all) {
  Area area("trace", layout::trace_area_bytes(layout::kTraceRings, layout::kTraceRingEvents));
  area.commit(0, layout::kTraceRingsOffset);
  auto* const header = new (area.data()) layout::TraceHeader{};
  for (std::uint32_t r = 0; r < layout::kTraceRings; ++r)
    new (area.data() + layout::kTraceLinesOffset + r * sizeof(layout::TraceLine)) layout::TraceLine{};
  header->magic = layout::kTraceMagic;
  header->version = layout::kTraceVersion;
  header->rings = layout::kTraceRings;
  header->ring_events = layout::kTraceRingEvents;
  header->pid = static_cast<std::uint32_t>(::getpid());
  header->area_bytes = area.size();
  all.area = std::move(area);
  header_of_area.store(header, std::memory_order_release);
}

std::uint32_t threads_of_process() {
  std::error_code error;
  std::uint32_t count = 0;
  for (std::filesystem::directory_iterator it("/proc/self/task", error), end; !error && it != end; it.increment(error))
    ++count;
  return count;
}

/// With the mutex.
void grow_to_threads(TraceArea& all) {
  layout::TraceHeader& header = *header_of_area.load(std::memory_order_relaxed);
  const std::uint32_t have = header.committed.load(std::memory_order_relaxed);
  const auto taken = static_cast<std::uint32_t>(std::count_if(
      owners.begin(), owners.end(), [](const auto& owner) { return owner.load(std::memory_order_relaxed) != 0; }));
  const std::uint32_t wanted = std::min(std::max(threads_of_process(), taken) + kSpareRings, layout::kTraceRings);
  if (wanted <= have) return;
  const std::size_t bytes = layout::trace_ring_bytes(header.ring_events);
  all.area.commit(layout::kTraceRingsOffset + have * bytes, (wanted - have) * bytes);
  header.committed.store(wanted, std::memory_order_release);
  ++all.turns;
}

}  // namespace

void write(layout::TraceEvent event) noexcept {
  if (is_forked_child()) return;
  if (ring_here.ring.written == nullptr && !claim_ring()) return;
  event.owner = ring_here.owner;
  const auto& ring = ring_here.ring;
  protocol::write_event<Native>(ring, layout::pack(event));
  // The next line is rarely in a cache any more, and a later barrier would wait for it.
  __builtin_prefetch(
      ring.words + ring.slot_of(ring.written->load(std::memory_order_relaxed) + 1) * protocol::kTraceWords, 1);
}

void write_publication(std::int64_t time_ns, std::uint64_t stream, std::uint64_t sequence, std::uint64_t bytes,
                       const Basis& basis) noexcept {
  write({.time_ns = time_ns, .stream = stream, .sequence = sequence, .argument = bytes, .kind = Kind::Publish});
  if (basis.stream == 0) return;
  write({.time_ns = time_ns,
         .stream = basis.stream,
         .sequence = basis.sequence,
         .argument = sequence,
         .kind = Kind::Rests});
}

Switch::Switch() {
  TraceArea& all = the_area();
  const std::lock_guard lock(all.mutex);
  if (header_of_area.load(std::memory_order_relaxed) == nullptr) make_area(all);
  grow_to_threads(all);
  ++all.switches;
  process_flags.tracing.store(++all.turns, std::memory_order_relaxed);
}

Switch::~Switch() {
  TraceArea& all = the_area();
  const std::lock_guard lock(all.mutex);
  if (--all.switches == 0) process_flags.tracing.store(0, std::memory_order_relaxed);
}

void Switch::grow() {
  TraceArea& all = the_area();
  const std::lock_guard lock(all.mutex);
  grow_to_threads(all);
  process_flags.tracing.store(all.turns, std::memory_order_relaxed);
}

int Switch::read_only_fd() const noexcept { return the_area().area.read_only_fd(); }
std::size_t Switch::bytes() const noexcept { return the_area().area.size(); }

std::vector<RingOwner> ring_owners() {
  TraceArea& all = the_area();
  const std::lock_guard lock(all.mutex);
  std::vector<RingOwner> found;
  for (std::uint32_t r = 0; r < layout::kTraceRings; ++r) {
    const std::uint64_t owner = owners[r].load(std::memory_order_acquire);
    if (owner == 0) continue;
    RingOwner now{.ring = r, .owner = static_cast<std::uint8_t>(owner >> 32), .thread = thread_of(owner), .name = {}};
    std::getline(std::ifstream(fmt::format("/proc/self/task/{}/comm", now.thread)), now.name);
    RingOwner& known = all.known[r];
    if (now.name.empty() && known.owner == now.owner && known.thread == now.thread) now.name = known.name;
    known = now;
    found.push_back(std::move(now));
  }
  return found;
}

}  // namespace cardan::detail::trace
