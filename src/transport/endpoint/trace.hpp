// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sched.h>
#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "cardan/clock.hpp"
#include "cardan/detail/forked.hpp"
#include "cardan/detail/sample_block.hpp"
#include "src/transport/protocol/trace_layout.hpp"

/// The writing side of the trace (docs/protocols/trace.md). While tracing is off, each point costs one load.
namespace cardan::detail::trace {

using Kind = layout::TraceKind;

/// Whether events are written. Any thread; never blocks.
[[nodiscard]] inline bool on() noexcept { return process_flags.tracing.load(std::memory_order_relaxed) != 0; }

/// Writes an event to this thread's ring, if there is one for it. `owner` is set here. Any thread; allocates nothing; a
/// thread's first event makes some system calls.
void write(layout::TraceEvent event) noexcept;
/// The events of a publication: itself, and the cause that `basis` names.
void write_publication(std::int64_t time_ns, std::uint64_t stream, std::uint64_t sequence, std::uint64_t bytes,
                       const Basis& basis) noexcept;

/// As TraceEvent::cpu. Makes no system call.
[[nodiscard]] inline std::uint32_t cpu_here() noexcept { return static_cast<std::uint32_t>(::sched_getcpu() + 1); }

/// The points. They look at their arguments only while tracing is on: a line that nothing else needs would cost more
/// than the rest.
inline void note(Kind kind, const std::uint64_t& stream, const std::uint64_t& sequence,
                 const std::uint64_t& argument = 0) noexcept {
  if (on()) [[unlikely]]
    write({.time_ns = steady_now(), .stream = stream, .sequence = sequence, .argument = argument, .kind = kind});
}
inline void note(Kind kind, const SampleBlock& sample) noexcept { note(kind, sample.stream_id, sample.sequence); }
/// `callback` has a trace_name().
template <class C>
void note(Kind kind, const SampleBlock& sample, const C& callback) noexcept {
  if (on()) [[unlikely]]
    note(kind, sample.stream_id, sample.sequence, callback.trace_name());
}
/// At a time that is known already. `callback` has also a trigger(): a sample, or null.
template <class C>
void note_begin(std::int64_t time_ns, const C& callback) noexcept {
  if (!on()) [[likely]]
    return;
  const SampleBlock* const sample = callback.trigger();
  write({.time_ns = time_ns,
         .stream = sample != nullptr ? sample->stream_id : 0,
         .sequence = sample != nullptr ? sample->sequence : 0,
         .argument = callback.trace_name(),
         .kind = Kind::Begin,
         .cpu = cpu_here()});
}
template <class C>
void note_end(std::int64_t time_ns, const C& callback) noexcept {
  if (on()) [[unlikely]]
    write({.time_ns = time_ns, .argument = callback.trace_name(), .kind = Kind::End, .cpu = cpu_here()});
}
/// A publication of this thread and its cause; `named`: what its loan names. `publisher` has a header().
template <class P>
void note_publication(std::int64_t time_ns, const P& publisher, std::uint64_t sequence, std::uint64_t bytes,
                      const Basis& named) noexcept {
  if (on()) [[unlikely]]
    write_publication(time_ns, publisher.header().stream, sequence, bytes, basis_of_publication(named));
}

/// While it lives, this thread sleeps, or tries to. One that was not traced when it fell asleep is not told.
class Asleep {
 public:
  Asleep() noexcept {
    if (on()) [[unlikely]]
      since_ns_ = steady_now();
  }
  Asleep(const Asleep&) = delete;
  Asleep& operator=(const Asleep&) = delete;
  ~Asleep() {
    if (since_ns_ != 0) [[unlikely]]
      note(Kind::Woken, 0, 0, static_cast<std::uint64_t>(since_ns_));
  }

 private:
  std::int64_t since_ns_ = 0;
};

/// While one lives, tracing is on. Set-up and helper threads.
class Switch {
 public:
  /// The first one makes the area. Throws Error (Limit, NoMemory, Unavailable, System).
  Switch();
  Switch(const Switch&) = delete;
  Switch& operator=(const Switch&) = delete;
  ~Switch();

  /// Gives memory to rings for the threads that the process has by now. Throws as the constructor.
  void grow();
  /// Of the area: for observers, who map it.
  [[nodiscard]] int read_only_fd() const noexcept;
  [[nodiscard]] std::size_t bytes() const noexcept;
};

/// A thread that has, or had, a ring.
struct RingOwner {
  std::uint32_t ring = 0;
  std::uint8_t owner = 0;  ///< as in its events
  pid_t thread = 0;
  std::string name;  ///< as its operating system shows it; empty: it had ended before its name was asked for
};
/// The present owners of the rings. Reads /proc. Helper threads.
[[nodiscard]] std::vector<RingOwner> ring_owners();

}  // namespace cardan::detail::trace
